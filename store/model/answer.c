#include <time.h>

#include "store/engine/follow/follow.h"
#include "store/model/model.h"
#include "store/model/schema_load.h"

/*
 * What may be told. An owner, or who keeps owners out, tells what it reads as
 * long as it has the lease. Who follows has none: it tells what it has found,
 * until that is too old, and looks again and again.
 */

/* How often it is asked again. */
#define ANSWER_PAUSE_MS 5

/* Whether it is worth waiting, of who cannot know who has the lease. It is the
 * same wait for all, so that nobody waits twice in a row. What was seen long
 * ago may have passed meanwhile. */
static bool is_patient(struct store *s)
{
	uint64_t now = clock_now(&clock_steady) / 1000;
	uint64_t since = atomic_load(&s->unsure_ms);
	int64_t unseen =
		(int64_t)(now - atomic_exchange(&s->unsure_seen_ms, now));

	if (since == 0 || unseen > (int64_t)s->lease_wait_ms) {
		atomic_store(&s->unsure_ms, now);
		return true;
	}
	return now - since < s->lease_wait_ms;
}

static int owner_answerable(struct store *s, bool wait)
{
	const struct timespec pause = { 0, ANSWER_PAUSE_MS * 1000000L };
	struct volume *v = s->volume;
	int err = v->ops->lease_check(v);

	while (err == -EAGAIN && is_patient(s)) {
		if (!wait)
			return err;
		nanosleep(&pause, NULL);
		err = v->ops->lease_check(v);
	}
	if (err != -EAGAIN && atomic_load(&s->unsure_ms))
		atomic_store(&s->unsure_ms, 0);
	return err < 0 ? fail(ESTALE,
			      "%s: it is not known whether what was read is "
			      "still so: %s",
			      v->path, err_text(err))
		       : 0;
}

/* -EAGAIN: a look is to tell, which waits for the volume. */
static int follower_answerable(struct store *s, bool wait)
{
	if (!store_is_behind(s))
		return 0;
	if (!wait)
		return -EAGAIN;
	/* Another thread may have done it meanwhile. */
	if (store_refresh(s) < 0)
		err_clear();
	return engine_fresh(s->engine);
}

int store_answerable(struct store *s, bool wait)
{
	return s->engine->follower ? follower_answerable(s, wait)
				   : owner_answerable(s, wait);
}

/* What a follower's request has read may be of before the last look, by whose
 * age it goes here: so what is kept of it ends by the next one, and not only
 * when that of the last is over. */
uint64_t store_answer_left(struct store *s)
{
	uint64_t left_ms = engine_fresh_us(s->engine) / 1000;
	uint64_t look_ms = s->engine->options.staleness_ms / STORE_LOOKS;

	if (s->engine->follower)
		return left_ms < look_ms ? left_ms : look_ms;
	return s->volume->ops->lease_left(s->volume);
}

bool store_is_behind(struct store *s)
{
	return engine_fresh_us(s->engine) == 0;
}

/* One look, and what it found: 1 if that is something new. Needs refreshing. */
static int look(struct store *s)
{
	struct engine_snapshot *fresh;
	bool schema;
	int err = follow_look(s->engine, &fresh, &schema);

	if (err <= 0)
		return err;
	err = schema ? schema_follow(s, fresh)
		     : follow_publish(s->engine, fresh, NULL);
	return err < 0 ? err : 1;
}

int store_refresh(struct store *s)
{
	bool is_late;
	int err;

	if (!s->engine->follower)
		return 0;
	pthread_mutex_lock(&s->refreshing);
	err = look(s);
	atomic_fetch_add(&s->look_count, 1);
	/* What others keep of it ends when it is too old, once. */
	is_late = err < 0 && store_is_behind(s);
	if (s->changed && (err > 0 || (is_late && !s->is_late)))
		s->changed(s->changed_context);
	s->is_late = is_late;
	pthread_mutex_unlock(&s->refreshing);
	return err < 0 ? err : 0;
}

void store_on_change(struct store *s, void (*changed)(void *context),
		     void *context)
{
	pthread_mutex_lock(&s->refreshing);
	s->changed = changed;
	s->changed_context = context;
	pthread_mutex_unlock(&s->refreshing);
}
