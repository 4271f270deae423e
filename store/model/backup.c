#include <stdlib.h>

#include "store/base/volume/volume_posix.h"
#include "store/base/volume/volume_posix_own.h"
#include "store/engine/run/backup.h"
#include "store/model/model.h"

/* Backups into a directory, which is there when it is whole. */

static int backup_into(struct store *s, const char *partial,
		       struct backup_result *result)
{
	struct volume *to;
	int err = volume_posix_open(partial, true, &to);

	if (err < 0)
		return err;
	err = to->ops->lease_take(to, "a backup under way");
	if (err == 0) {
		err = engine_backup(s->engine, to, result);
		to->ops->lease_release(to);
	}
	to->ops->close(to);
	return err;
}

int store_backup(struct store *s, const char *directory,
		 struct backup_result *result)
{
	struct buf partial = BUF_INIT;
	int err;

	err = buf_printf(&partial, "%s.partial", directory);
	if (err == 0)
		err = buf_terminate(&partial);
	if (err == 0)
		err = volume_posix_free_name(directory);
	if (err == 0)
		err = volume_posix_free_name((const char *)partial.data);
	if (err == 0)
		err = backup_into(s, (const char *)partial.data, result);
	if (err == 0)
		err = volume_posix_rename((const char *)partial.data,
					  directory);
	buf_release(&partial);
	return err;
}
