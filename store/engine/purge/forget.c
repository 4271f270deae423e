#include <errno.h>
#include <time.h>

#include "store/base/err.h"
#include "store/engine/purge/forget.h"
#include "store/engine/read/rest.h"
#include "store/engine/run/step.h"
#include "store/engine/run/unit.h"

/* Between two looks. */
#define PAUSE_MS 10

/* For a sentence: who keeps files from being removed, as far as is known. */
static const char *who_reads(struct engine *e)
{
	bool past;

	pthread_mutex_lock(&e->lock);
	past = e->past != NULL;
	pthread_mutex_unlock(&e->lock);
	if (atomic_load(&e->pin_count) > 0)
		return "a backup that is under way";
	if (past)
		return "who reads a moment of the past, such as a restore, a "
		       "read with as-of= or a directory .as-of that is open";
	return "who reads the store: a scan, an export or an open file";
}

/* With work held nothing becomes obsolete meanwhile but what this waits for. */
static int remove_all(struct engine *e, unsigned int wait_ms)
{
	const struct timespec pause = { 0, PAUSE_MS * 1000000L };
	unsigned int waited = 0;
	int err = 0;

	for (;;) {
		engine_end_rests(e);
		while (engine_remove_unused(e, true) > 0)
			;
		if (atomic_load(&e->owner.obsolete_size) == 0)
			return 0;
		if (waited >= wait_ms)
			break;
		err = engine_yield(e);
		if (err < 0)
			return err;
		nanosleep(&pause, NULL);
		waited += PAUSE_MS;
	}
	return fail(EBUSY,
		    "%s: files with %llu bytes that are to go are still read "
		    "by %s; say it again when that has ended",
		    e->volume->path,
		    (unsigned long long)atomic_load(&e->owner.obsolete_size),
		    who_reads(e));
}

int forget_files(struct engine *e, unsigned int wait_ms)
{
	int err = engine_renew_edits(e);

	if (err == 0)
		err = remove_all(e, wait_ms);
	if (err == 0 && atomic_load(&e->stuck_count) > 0)
		err = fail(EIO,
			   "%s: %u files that are no part of it any more could "
			   "not be removed; open it again, which removes them, "
			   "and say it again",
			   e->volume->path, atomic_load(&e->stuck_count));
	return err == 0 ? e->volume->ops->spare_wipe(e->volume) : err;
}
