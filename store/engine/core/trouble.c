#include <assert.h>
#include <stdarg.h>
#include <stdio.h>

#include "store/base/err.h"
#include "store/base/invariant.h"
#include "store/engine/core/state.h"
#include "store/engine/core/trouble.h"

/*
 * What a failure makes of the store. Where it is not known any more what is
 * durable, after a failed sync or a log with an unknown end, the store is
 * read-only from then on. But a flush or a compaction that fails before the
 * manifest was told has changed nothing. For lack of space, of memory, or of
 * luck with a file it can be tried again, and until then only those who need
 * the room that it would make are refused.
 */

/* Keeps why err happened for those who are refused later. Needs lock. */
static void set_text(struct engine *e, int err)
{
	snprintf(e->trouble_text, sizeof(e->trouble_text), "%s%s%s",
		 err_detail(), err_detail()[0] ? ": " : "", err_text(err));
}

int engine_poison(struct engine *e, int err)
{
	int none = 0;
	bool first;

	assert(err < 0);
	pthread_mutex_lock(&e->lock);
	first = atomic_compare_exchange_strong(&e->error, &none, err);
	if (first)
		set_text(e, err);
	pthread_cond_broadcast(&e->progress);
	pthread_mutex_unlock(&e->lock);
	/* The text is set once. */
	if (first)
		event_add(&e->events, EVENTS_ERRORS, "read_only why=%s",
			  e->trouble_text);
	return err;
}

void engine_lost(void *engine)
{
	struct engine *e = engine;

	engine_poison(e, fail(ERR_store_lost, "%s: the lease is another's",
			      e->volume->path));
}

int engine_invariant(struct engine *e, bool holds, const char *what, ...)
{
	char text[256];
	va_list args;

	if (holds)
		return 0;
	va_start(args, what);
	vsnprintf(text, sizeof(text), what, args);
	va_end(args);
	return engine_poison(e,
			     invariant(false, "%s: %s", e->volume->path, text));
}

/* Whether trying again may help. An EIO may be a cable or one bad block that a
 * new file does not meet; damage has a code of its own and stays. */
static bool may_pass(int err)
{
	return err == -ENOSPC || err == -EDQUOT || err == -EIO ||
	       err == -ENOMEM || err == -EMFILE || err == -ENFILE;
}

int engine_work_failed(struct engine *e, int err)
{
	char text[sizeof(e->trouble_text)];
	bool other = false;

	assert(err < 0);
	if (!may_pass(err))
		return engine_poison(e, err);
	pthread_mutex_lock(&e->lock);
	/* What made it read-only is told, not what came of that. */
	if (atomic_load(&e->error) == 0) {
		other = e->trouble != err;
		e->trouble = err;
		set_text(e, err);
		snprintf(text, sizeof(text), "%s", e->trouble_text);
		pthread_cond_broadcast(&e->progress);
	}
	pthread_mutex_unlock(&e->lock);
	if (other)
		event_add(&e->events, EVENTS_ERRORS, "trouble why=%s", text);
	return err;
}

int engine_sync_failed(struct engine *e, int err)
{
	if (err != -ENOSPC)
		return engine_poison(e, err);
	if (!atomic_exchange(&e->sync_short, true))
		event_add(&e->events, EVENTS_ERRORS, "trouble why=%s",
			  err_detail());
	return err;
}

void engine_synced(struct engine *e)
{
	if (atomic_load(&e->sync_short) &&
	    atomic_exchange(&e->sync_short, false))
		event_add(&e->events, EVENTS_ERRORS, "trouble_over");
}

void engine_work_done(struct engine *e)
{
	int trouble;

	pthread_mutex_lock(&e->lock);
	trouble = e->trouble;
	e->trouble = 0;
	pthread_cond_broadcast(&e->progress);
	pthread_mutex_unlock(&e->lock);
	if (trouble < 0)
		event_add(&e->events, EVENTS_ERRORS, "trouble_over");
}

void engine_wake(struct engine *e)
{
	if (e->wake)
		e->wake(e->wake_context);
}

void engine_want_room(struct engine *e)
{
	atomic_store(&e->room_wanted, true);
	engine_wake(e);
}

int engine_writable(struct engine *e)
{
	char text[sizeof(e->trouble_text)];

	if (e->follower)
		return fail(ERR_store_readonly,
			    "%s: this follows what another process writes; "
			    "write where the store is mounted or served",
			    e->volume->path);
	if (e->options.read_only)
		return fail(ERR_store_readonly, "%s: opened for reading only",
			    e->volume->path);
	if (atomic_load(&e->error) == 0)
		return 0;
	if (atomic_load(&e->error) == -ERR_store_lost)
		return fail(ERR_store_lost,
			    "%s: another process has taken the store since, "
			    "and what it did is not to be seen here; open it "
			    "again",
			    e->volume->path);
	/* Set before lock was released, so the text is there. */
	pthread_mutex_lock(&e->lock);
	snprintf(text, sizeof(text), "%s", e->trouble_text);
	pthread_mutex_unlock(&e->lock);
	return fail(ERR_store_readonly,
		    "%s: an earlier write failed: %s; what was read stays "
		    "readable, restart to write again",
		    e->volume->path, text);
}

int engine_no_room(struct engine *e)
{
	char text[sizeof(e->trouble_text)];
	int err;

	pthread_mutex_lock(&e->lock);
	err = e->trouble;
	snprintf(text, sizeof(text), "%s", e->trouble_text);
	pthread_mutex_unlock(&e->lock);
	if (err < 0)
		fail(-err,
		     "%s: what was written cannot be moved from the log to an "
		     "sst, and no more will fit; it is tried again and again: "
		     "%s",
		     e->volume->path, text);
	return err;
}

int engine_health(struct engine *e)
{
	int err = e->options.read_only ? 0 : engine_writable(e);

	if (err == 0)
		err = engine_no_room(e);
	if (err == 0 && atomic_load(&e->sync_short))
		err = fail(ENOSPC,
			   "%s: there was no space to make durable what was "
			   "written; nothing is lost, and it is tried again",
			   e->volume->path);
	return err;
}
