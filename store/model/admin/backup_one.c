#include "store/base/backups/backups.h"
#include "store/base/err.h"
#include "store/model/admin/backup_one.h"

#define DIGESTS "digests"
/* Bytes that it may have beyond what the files that are there need: some may
 * have been lost. */
#define DIGESTS_SPARE (1 << 20)

int backup_read_root(struct volume *v, struct manifest_root *root)
{
	struct buf raw = BUF_INIT;
	uint64_t version;
	int err = v->ops->root_get(v, &version, &raw);

	if (!err)
		err = manifest_root_decode(v->path, buf_bytes(&raw), root);
	buf_release(&raw);
	return err;
}

bool backup_is_none(int err)
{
	return err == -ERR_not_a_store || err == -ERR_manifest_damaged ||
	       err == -ENOENT;
}

int backup_read_digests(int at, const char *path, struct backup_digests *out)
{
	struct buf text = BUF_INIT, file = BUF_INIT;
	size_t names;
	int err = backups_count_names(at, path, &names);

	if (!err)
		err = backups_read_file(
			at, path, DIGESTS,
			DIGESTS_SPARE + names * BACKUP_FILE_TEXT_MAX, &text);
	*out = (struct backup_digests){ 0 };
	if (err == -EFBIG)
		err = -ERR_check_failed;
	else if (err == -ENOENT && backups_hold(at))
		err = fail(ERR_check_failed,
			   "%s: its file " DIGESTS " is missing, so nothing "
			   "tells whether it is what was backed up; take "
			   "another one, or copy it by cp -a and look at that",
			   path);
	if (!err)
		err = buf_printf(&file, "%s/" DIGESTS, path);
	if (!err)
		err = buf_terminate(&file);
	if (!err)
		err = backup_digests_decode((const char *)file.data,
					    buf_bytes(&text), out);
	buf_release(&text);
	buf_release(&file);
	return err;
}

int backup_write_digests(int at, const char *path, struct backup_digests *d)
{
	struct buf text = BUF_INIT;
	int err;

	backup_digests_sort(d);
	err = backup_digests_encode(d, &text);
	if (!err)
		err = backups_write_file(at, path, DIGESTS, buf_bytes(&text));
	buf_release(&text);
	return err;
}
