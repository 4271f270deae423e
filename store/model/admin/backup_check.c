#include <unistd.h>

#include "store/base/backups/backups.h"
#include "store/base/err.h"
#include "store/base/volume/volume_posix.h"
#include "store/engine/run/backup.h"
#include "store/model/admin/backup_one.h"
#include "store/model/model.h"

/* Whether s is a directory that may be a backup and was not written to: 1 or 0,
 * or an error. */
static int may_be_backup(struct store *s)
{
	struct manifest_root root;
	struct stat st;
	int err = backup_read_root(s->volume, &root);

	if (err)
		return err;
	if (!store_id_is_none(&root.identity.id))
		return 0;
	/* Other places have the files of the store alone. */
	if (!volume_posix_stat(s->volume, &st))
		return 1;
	err_clear();
	return 0;
}

/* As of store_check_backup, of the digests in its directory at. */
static int check(struct store *s, int at,
		 void (*report)(void *context, const char *problem),
		 void *context)
{
	const char *path = s->volume->path;
	struct backup_digests expected;
	int err = backup_read_digests(at, path, &expected);

	if (err == -ENOENT) {
		err_clear();
		err = 0;
	} else if (err == -ERR_check_failed) {
		report(context, err_detail());
		err = 1;
	} else if (!err) {
		err = backup_compare(s->volume, &expected, report, context);
	}
	backup_digests_release(&expected);
	return err > 0 ? fail(ERR_check_failed,
			      "%s: %d problems of the backup: its files are "
			      "not those that its digests tell of; take "
			      "another one",
			      path, err)
		       : err;
}

int store_check_backup(struct store *s,
		       void (*report)(void *context, const char *problem),
		       void *context)
{
	int err = may_be_backup(s), at;

	if (err <= 0)
		return err;
	at = backups_open_path(s->volume->path);
	if (at < 0)
		return at;
	err = check(s, at, report, context);
	close(at);
	return err;
}
