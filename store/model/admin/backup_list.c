#include <unistd.h>

#include "store/base/backups/backups.h"
#include "store/base/err.h"
#include "store/base/volume/volume_posix.h"
#include "store/engine/run/backup.h"
#include "store/model/admin/backup_one.h"

/* Going through a directory of backups. */
struct listing {
	struct backups *b;
	bool verify;
	/* The last one that was found sound, or NULL, and its digests: what the
	 * next shares with it is not read again. Both owned. */
	struct volume *like;
	struct backup_digests known;
};

/* Goes on from a backup that is sound; takes both over. NULL and zeroed are
 * allowed. */
static void go_on(struct listing *l, struct volume *v, struct backup_digests d)
{
	if (l->like)
		l->like->ops->close(l->like);
	backup_digests_release(&l->known);
	l->like = v;
	l->known = d;
}

/* Reads the backup of this moment; *v is NULL if it was taken over. */
static int verify(struct listing *l, const char *moment, struct volume **v)
{
	struct backup_digests expected;
	int at = backups_open_one(l->b, moment, false), err;

	if (at < 0)
		return at;
	err = backup_read_digests(at, (*v)->path, &expected);
	close(at);

	if (!err)
		err = backup_verify(*v, &expected, l->like, &l->known);
	if (err) {
		backup_digests_release(&expected);
		return err;
	}
	go_on(l, *v, expected);
	*v = NULL;
	return 0;
}

/* What is told of the i-th. */
static int describe(struct listing *l, size_t i, struct backup_info *info)
{
	struct manifest_root root;
	struct buf path = BUF_INIT;
	struct volume *v = NULL;
	int err = backups_path(l->b, l->b->moments[i], false, &path);

	*info = (struct backup_info){ .size = 0 };
	memcpy(info->moment, l->b->moments[i], sizeof(info->moment));
	if (!err)
		err = volume_posix_open((const char *)path.data, false, &v);
	if (!err)
		err = backup_read_root(v, &root);
	if (!err)
		err = backups_size(l->b, info->moment, &info->size,
				   &info->own_size);
	info->was_written_to = !err && !store_id_is_none(&root.identity.id);
	info->is_damaged = backup_is_none(err);
	if (!err && l->verify && !info->was_written_to) {
		err = verify(l, info->moment, &v);
		info->is_damaged = err < 0 && err != -ENOMEM;
	}
	if (v)
		v->ops->close(v);
	buf_release(&path);
	return err;
}

int backup_list(const char *directory, bool verify,
		int (*each)(void *context, const struct backup_info *info),
		void *context)
{
	struct listing l = { .verify = verify };
	struct backup_info info;
	size_t i;
	int err = backups_open(directory, false, &l.b);

	if (err)
		return err;
	for (i = 0; i < l.b->count && !err; i++) {
		err = describe(&l, i, &info);
		info.err = info.is_damaged ? 0 : err;
		if (err != -ENOMEM)
			err = each(context, &info);
	}
	go_on(&l, NULL, (struct backup_digests){ 0 });
	backups_close(l.b);
	return err;
}
