#include <assert.h>

#include "store/base/err.h"
#include "store/engine/core/state.h"
#include "store/engine/run/step.h"
#include "store/model/events.h"
#include "store/schema.h"

/* What the model and those who use the store tell; the rest, the engine does.
 */

static const char *const words[] = {
	[EVENTS_OFF] = "off",
	[EVENTS_ERRORS] = "errors",
	[EVENTS_MAIN] = "events",
	[EVENTS_ALL] = "all",
};
#define WORD_COUNT (sizeof(words) / sizeof(*words))

const char *event_level_word(enum event_level level)
{
	assert((size_t)level < WORD_COUNT);
	return words[level];
}

int event_level_parse(struct bytes word, enum event_level *out)
{
	size_t i;

	for (i = 0; i < WORD_COUNT; i++)
		if (bytes_equal(word, bytes_string(words[i]))) {
			*out = (enum event_level)i;
			return 0;
		}
	return fail(ERR_bad_argument,
		    "\"%s\": the words are off, errors, events and all",
		    err_name(word));
}

/* Told while both levels have it. */
void store_set_event_level(struct store *s, enum event_level level)
{
	struct event_log *l = &s->engine->events;
	enum event_level before = atomic_load(&l->level);

	if (level < before)
		event_add(l, EVENTS_ERRORS, "log level=%s",
			  event_level_word(level));
	atomic_store(&l->level, level);
	if (level > before)
		event_add(l, EVENTS_ERRORS, "log level=%s",
			  event_level_word(level));
}

enum event_level store_event_level(struct store *s)
{
	return atomic_load(&s->engine->events.level);
}

void store_write_events(struct store *s)
{
	engine_write_events(s->engine);
}

int store_check_events(struct store *s)
{
	return event_log_check(&s->engine->events);
}

void store_set_slow(struct store *s, uint64_t us)
{
	atomic_store(&s->engine->events.slow_us, us > 0 ? us : UINT64_MAX);
}

void store_tell_request(struct store *s, const char *word, uint64_t us,
			const struct cost *cost)
{
	if (event_is_slow(&s->engine->events, us))
		event_add(&s->engine->events, EVENTS_MAIN,
			  "slow_request request=%s us=%llu cells=%llu "
			  "files=%llu excluded=%llu blocks=%llu "
			  "blocks_read=%llu bytes_read=%llu",
			  word, (unsigned long long)us,
			  (unsigned long long)cost->cells,
			  (unsigned long long)cost->files,
			  (unsigned long long)cost->excluded,
			  (unsigned long long)cost->blocks,
			  (unsigned long long)cost->blocks_read,
			  (unsigned long long)cost->bytes_read);
}

/* Names have been checked, so they have no blanks. */
static void tell(struct store *s, const char *change, const struct table *t,
		 const char *key, struct bytes name)
{
	event_add(&s->engine->events, EVENTS_MAIN,
		  "schema change=%s table=%.*s table_id=%u%s%.*s", change,
		  (int)t->name.size, (const char *)t->name.data, t->id, key,
		  (int)name.size, (const char *)name.data);
}

static void tell_family(struct store *s, const char *change,
			const struct table *t, const struct family *f)
{
	tell(s, change, t, " family=", f->name);
}

static void tell_families(struct store *s, const struct table *old,
			  const struct table *new)
{
	const struct family *f, *other;
	size_t i;

	for (i = 0; i < old->family_count; i++)
		if (!table_family(new, old->families[i].name))
			tell_family(s, "family_dropped", new,
				    &old->families[i]);
	for (i = 0; i < new->family_count; i++) {
		f = &new->families[i];
		other = table_family(old, f->name);
		if (!other)
			tell_family(s, "family_made", new, f);
		else if (!gc_policy_equal(other->gc, f->gc))
			tell_family(s, "policy", new, f);
		else if (other->type != f->type)
			tell_family(s, "type", new, f);
	}
}

/* An attribute of t, or of the store if that is NULL. */
static void tell_attribute(struct store *s, const struct table *t,
			   struct bytes name)
{
	if (t)
		tell(s, "attribute", t, " attribute=", name);
	else
		event_add(&s->engine->events, EVENTS_MAIN,
			  "schema change=attribute attribute=%.*s",
			  (int)name.size, (const char *)name.data);
}

/* Those that one of the two has and the other has not, or not as it is. */
static void tell_attributes(struct store *s, const struct table *t,
			    const struct attributes *old,
			    const struct attributes *new)
{
	struct bytes value;
	size_t i;

	if (old->shared == new->shared)
		return;
	for (i = 0; i < old->count; i++)
		if (!attributes_find(new, old->items[i].name, NULL))
			tell_attribute(s, t, old->items[i].name);
	for (i = 0; i < new->count; i++)
		if (!attributes_find(old, new->items[i].name, &value) ||
		    !bytes_equal(value, new->items[i].value))
			tell_attribute(s, t, new->items[i].name);
}

/* The same table, by its id. */
static void tell_table(struct store *s, const struct table *old,
		       const struct table *new)
{
	if (!bytes_equal(old->name, new->name))
		tell(s, "table_renamed", new, " from=", old->name);
	if (old->millis != new->millis)
		tell(s, "granularity", new, "", BYTES_LITERAL(""));
	if (memcmp(&old->access, &new->access, sizeof(old->access)) != 0)
		tell(s, "access", new, "", BYTES_LITERAL(""));
	tell_attributes(s, new, &old->attributes, &new->attributes);
	tell_families(s, old, new);
}

void tell_schema(struct store *s, const struct schema *old,
		 const struct schema *new)
{
	const struct table *t, *other;
	size_t i;

	for (i = 0; i < old->table_count; i++)
		if (!table_by_id(new, old->tables[i].id))
			tell(s, "table_dropped", &old->tables[i], "",
			     BYTES_LITERAL(""));
	tell_attributes(s, NULL, &old->attributes, &new->attributes);
	for (i = 0; i < new->table_count; i++) {
		t = &new->tables[i];
		other = table_by_id(old, t->id);
		if (!other)
			tell(s, "table_made", t, "", BYTES_LITERAL(""));
		else if (other->record_seq != t->record_seq)
			tell_table(s, other, t);
	}
}
