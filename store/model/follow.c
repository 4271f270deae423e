#include "store/engine/follow/follow.h"
#include "store/engine/core/trouble.h"
#include "store/model/follow.h"
#include "store/model/schema_load.h"

/* What is shown may be so old; it is looked for so many times as often. */
#define LOOKS 4

static void tell_changed(struct store *s)
{
	void (*changed)(void *context);
	void *context;

	pthread_mutex_lock(&s->schema_lock);
	changed = s->changed;
	context = s->changed_context;
	pthread_mutex_unlock(&s->schema_lock);
	if (changed)
		changed(context);
}

/* One look, and what it found: 1 if that is something new. Needs refreshing. */
static int refresh(struct store *s)
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
	bool told;
	int err;

	if (!s->engine->follower)
		return 0;
	pthread_mutex_lock(&s->refreshing);
	err = refresh(s);
	/* What others keep of it ends when it is too old, once. */
	told = err < 0 && !s->behind && store_is_behind(s);
	s->behind = err < 0 && (s->behind || told);
	atomic_fetch_add(&s->look_count, 1);
	if (err > 0 || told)
		tell_changed(s);
	pthread_mutex_unlock(&s->refreshing);
	return err < 0 ? err : 0;
}

bool store_is_behind(struct store *s)
{
	return engine_age_us(s->engine) >
	       (uint64_t)s->engine->options.staleness_ms * 1000;
}

void store_on_change(struct store *s, void (*changed)(void *context),
		     void *context)
{
	pthread_mutex_lock(&s->refreshing);
	pthread_mutex_lock(&s->schema_lock);
	s->changed = changed;
	s->changed_context = context;
	pthread_mutex_unlock(&s->schema_lock);
	pthread_mutex_unlock(&s->refreshing);
}

int follow_answerable(struct store *s, bool wait)
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

/* For bg_start; there is nothing but looks. */
static int no_step(void *context)
{
	(void)context;
	return 0;
}

/* What failed is told to who reads when it is too old. */
static void look_tick(void *context)
{
	if (store_refresh(context) < 0)
		err_clear();
}

int follow_start(struct store *s, const struct store_options *o)
{
	unsigned int interval_ms = o->staleness_ms / LOOKS;

	if (!o->background)
		return 0;
	return bg_start(no_step, look_tick, interval_ms > 0 ? interval_ms : 1,
			s, &s->bg);
}
