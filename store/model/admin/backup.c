#include <stdlib.h>

#include "store/base/place/place.h"
#include "store/base/volume/volume_posix_own.h"
#include "store/engine/run/backup.h"
#include "store/model/model.h"

/*
 * Backups into a directory, which is there when it is whole: made under another
 * name, and renamed at the end. That name is free before, so that two backups
 * to one directory do not meet; what a failure leaves under it shows how far it
 * went, and is the user's to remove.
 */

/* That there is no store yet, where the name alone does not tell it. */
static int check_empty(struct volume *to)
{
	struct buf root = BUF_INIT;
	uint64_t version;
	int err = to->ops->root_get(to, &version, &root);

	buf_release(&root);
	if (err == -ENOENT) {
		err_clear();
		return 0;
	}
	return err < 0 ? err : fail(EEXIST, "%s: is there already", to->path);
}

int backup_free_place(const char *where)
{
	struct volume *to;
	int err = volume_open(where, true, &to);

	if (err < 0)
		return err;
	err = check_empty(to);
	to->ops->close(to);
	return err;
}

/* The lease of the new store is held while it is made, so that nobody opens it
 * half done. */
static int backup_into(const struct backup_source *from, const char *where,
		       struct backup_result *result)
{
	struct volume *to;
	int err = volume_open(where, true, &to);

	if (err < 0)
		return err;
	err = to->ops->lease_take(to, "a backup under way", NULL, NULL);
	if (err == 0)
		err = check_empty(to);
	if (err == 0) {
		err = backup_bring(from, to, result);
		to->ops->lease_release(to);
	}
	to->ops->close(to);
	return err;
}

/* Both names are asked about before anything is copied. That the rename finds
 * its name taken after all is found by itself. A store that is no directory is
 * there with its root, which is the last to come. */
int backup_make(const struct backup_source *from, const char *directory,
		struct backup_result *result)
{
	struct buf partial = BUF_INIT;
	const struct volume_kind *kind;
	const char *place;
	int err = volume_place(directory, &kind, &place);

	if (kind)
		return backup_into(from, directory, result);
	if (err == 0)
		err = volume_posix_partial(directory, &partial);
	if (err == 0)
		err = volume_posix_free_name((const char *)partial.data);
	if (err == 0)
		err = backup_into(from, (const char *)partial.data, result);
	if (err == 0)
		err = volume_posix_rename((const char *)partial.data,
					  directory);
	buf_release(&partial);
	return err;
}

int store_backup(struct store *s, const char *directory,
		 struct backup_result *result)
{
	struct engine_source own;
	struct backup_source from = engine_source(s->engine, &own);

	return backup_make(&from, directory, result);
}

/* A pin is a version of the engine's, under another name. */
int store_pin(struct store *s, struct buf *contents, struct backup_pin **out)
{
	struct version *version;
	int err = engine_pin(s->engine, contents, &version);

	*out = (struct backup_pin *)version;
	return err;
}

void store_unpin(struct store *s, struct backup_pin *pin)
{
	engine_unpin(s->engine, (struct version *)pin);
}
