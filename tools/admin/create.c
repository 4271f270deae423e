#include <stdlib.h>
#include <unistd.h>

#include "store/base/volume/volume_posix.h"
#include "store/base/place/place.h"
#include "store/base/volume/volume_posix_lease.h"
#include "store/base/volume/volume_posix_own.h"
#include "tools/admin/create.h"

/*
 * A store is made by opening it; what this verb adds is that nothing else may
 * be there before, and nothing is left if it fails. So it looks first whether
 * there is a store, opens one to be made, and on a failure removes what that
 * has written, and the directory if that was missing. Another process may do
 * the same in the same place at any moment: who has the lease decides, and the
 * root that another has made meanwhile is a store, and stays.
 */

/* What to do about an error of creating; the text of the error says what it
 * is. */
static const char *advice(int err)
{
	switch (-err) {
	case ENOENT:
		return "make the directory that holds it first";
	case EACCES:
	case EPERM:
	case EROFS:
		return "name a directory where you may write";
	case ENOSPC:
	case EDQUOT:
		return "make room, or name a directory on another disk";
	case ERR_store_in_use:
		return "wait until that has made a store there";
	default:
		return "name a new or empty directory";
	}
}

/* Opens the store as any command does that makes one, and closes it: 0 or an
 * error. The holder's line is what another create sees meanwhile. */
static int make_store(const char *directory)
{
	struct store_options options;
	struct store *s;
	char holder[64];
	int err;

	snprintf(holder, sizeof(holder), "a tabletfs command, pid %d",
		 (int)getpid());
	store_options_init(&options);
	options.create = options.fresh = true;
	options.background = false;
	options.holder = holder;
	err = store_open_kept(directory, &options, &s);
	return err < 0 ? err : store_close(s);
}

/*
 * Removes what make_store left behind when it failed with err in a directory
 * that held no store before. The errors that return at once come before the
 * first file is written, or tell of another process that makes a store there at
 * the same time, whose files must stay. With the lease nobody comes between;
 * where there is no space for its file, nobody has it either. A root is of this
 * call if nobody had the lease since.
 */
static void undo(const char *directory, int err)
{
	struct buf root = BUF_INIT;
	uint64_t version;
	struct volume *v;

	if (err == -ERR_not_a_store || err == -ERR_store_in_use ||
	    err == -ERR_store_exists || err == -ENOENT)
		return;
	/* Not even the mark of a store: then the files there are not its. */
	if (volume_posix_open(directory, false, &v) < 0)
		return;
	err = v->ops->lease_take(v, "a tabletfs command", NULL, NULL);
	if ((err == 0 && volume_posix_had_lease(v)) ||
	    ((err == 0 || err == -ENOSPC || err == -EDQUOT) &&
	     v->ops->root_get(v, &version, &root) == -ENOENT))
		volume_posix_clear(directory);
	v->ops->close(v);
	buf_release(&root);
}

/* Whether there is a store in a directory: 0 if not, 1 if not even that is
 * there, or an error. What is no directory is only asked as it is made. */
static int look(const char *where)
{
	const struct volume_kind *kind;
	const char *place;
	struct volume *v;
	int err = volume_place(where, &kind, &place);

	if (err)
		return err < 0 ? err : 0;
	err = volume_posix_open(where, false, &v);
	if (err == -ENOENT || err == -ERR_not_a_store)
		return err == -ENOENT;
	if (err == 0) {
		v->ops->close(v);
		err = fail(ERR_store_exists, "%s: holds a store already",
			   where);
	}
	return err;
}

int verb_create(struct verb_call *c)
{
	const char *directory =
		c->argc > 1 ? c->argv[1] : getenv("TABLETFS_STORE");
	int err, missing;

	if (c->argc > 2 || !directory || directory[0] == '-')
		return verb_usage(c);
	if (!directory[0])
		return verb_wrong(c, "the name of the directory is empty; say "
				     "tabletfs create DIR");
	missing = err = look(directory);
	if (err >= 0)
		err = make_store(directory);
	if (!err)
		return 0;
	/* Told before undo, whose calls replace the detail. */
	verb_wrong(c, "%s; %s", verb_error_text(err), advice(err));
	undo(directory, err);
	/* Of a directory that another process has made, it fails or takes
	 * nothing but the empty directory. */
	if (missing > 0)
		rmdir(directory);
	return 1;
}
