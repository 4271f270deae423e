#include <stdlib.h>

#include "store/text/value/gcpolicy.h"
#include "tests/sim/sim.h"

static void log_policy(const struct sim *s, const struct gc_policy *p)
{
	struct buf words = BUF_INIT;

	if (s->verbose && gc_policy_print_words(p, &words) == 0)
		sim_log(s, " at %llu: %.*s", (unsigned long long)s->now_us,
			(int)words.size, words.data);
	buf_release(&words);
}

static struct gc_policy *draw_policy(struct sim *s, unsigned int depth)
{
	uint32_t n = rng_below(&s->rng, depth > 1 ? 4 : 6);

	if (n < 2)
		return gc_policy_leaf(GC_MAX_VERSIONS,
				      1 + rng_below(&s->rng, 3));
	if (n < 4)
		return gc_policy_leaf(GC_MAX_AGE,
				      (uint64_t)(1 + rng_below(&s->rng, 10)) *
					      40000000);
	return gc_policy_pair(n == 4 ? GC_UNION : GC_INTERSECTION,
			      draw_policy(s, depth + 1),
			      draw_policy(s, depth + 1));
}

static enum family_type draw_type(struct sim *s)
{
	return rng_below(&s->rng, 3) ? FAMILY_BYTES
				     : FAMILY_INTSUM + rng_below(&s->rng, 4);
}

static int create_table(struct sim *s, struct bytes name)
{
	static const char *const names[] = { "f", "f2", "g" };
	struct family_spec specs[3] = { { .name = BYTES_NONE } };
	struct gc_policy *policies[3] = { NULL };
	uint32_t count = rng_below(&s->rng, 4), i;
	bool millis = rng_one_in(&s->rng, 2);
	int want = naive_create_table(&s->naive, name, millis), err;

	for (i = 0; i < count; i++) {
		if (rng_one_in(&s->rng, 2))
			policies[i] = draw_policy(s, 0);
		log_policy(s, policies[i]);
		specs[i].name = bytes_string(names[i]);
		specs[i].gc = policies[i];
		specs[i].type = draw_type(s);
		if (!want)
			naive_create_family(&s->naive, name, &specs[i]);
	}
	err = store_create_table(s->store, name, millis, specs, count);
	for (i = 0; i < count; i++)
		gc_policy_free(policies[i]);
	sim_want(s, "create table", err, want);
	return err;
}

static int drop_table(struct sim *s, struct bytes name)
{
	const struct naive_table *t = naive_table(&s->naive, name);
	bool only_empty = rng_one_in(&s->rng, 2);
	struct naive_view view;
	int want = -ERR_no_table, err;

	sim_close_rested(s);
	err = store_drop_table(s->store, name, only_empty);

	if (t && only_empty) {
		sim_want(
			s, "view",
			naive_view(&s->naive, t, s->naive.seq, s->gc_us, &view),
			0);
		want = view.count > 0 ? -ERR_table_not_empty : 0;
		free(view.items);
	} else if (t) {
		want = 0;
	}
	sim_want(s, "drop table", err, want);
	if (!err)
		naive_drop_table(&s->naive, name);
	return err;
}

static int create_family(struct sim *s, struct bytes table, struct bytes name,
			 bool set)
{
	struct gc_policy *gc =
		rng_one_in(&s->rng, 4) ? NULL : draw_policy(s, 0);
	struct family_spec spec = { .name = name,
				    .gc = gc,
				    .type = draw_type(s) };
	int err, want;

	log_policy(s, gc);
	if (set) {
		s->buries = true;
		err = store_set_gc(s->store, table, name, gc);
		want = naive_set_gc(&s->naive, table, name, gc, s->gc_us);
	} else {
		err = store_create_family(s->store, table, &spec);
		want = naive_create_family(&s->naive, table, &spec);
	}
	gc_policy_free(gc);
	sim_want(s, set ? "set gc" : "create family", err, want);
	return err;
}

/* Whether a cell of a table is not at a whole millisecond. */
static bool has_micros(struct sim *s, const struct naive_table *t)
{
	struct naive_view view;
	bool has = false;
	size_t i;

	sim_want(s, "view",
		 naive_view(&s->naive, t, s->naive.seq, s->gc_us, &view), 0);
	for (i = 0; i < view.count; i++)
		has |= view.items[i]->timestamp_us % 1000 > 0;
	free(view.items);
	return has;
}

static int set_granularity(struct sim *s, struct bytes name)
{
	struct naive_table *t = naive_table(&s->naive, name);
	bool millis = rng_one_in(&s->rng, 2);
	int err = store_set_granularity(s->store, name, millis), want = 0;

	if (!t)
		want = -ERR_no_table;
	else if (millis && !t->millis && has_micros(s, t))
		want = -ERR_bad_timestamp;
	sim_want(s, "set granularity", err, want);
	if (!err)
		t->millis = millis;
	return err;
}

/* Those of the table of this name or, if that is empty, of the store; NULL if
 * there is no such table. */
static struct naive_attributes *attributes_of(struct sim *s, struct bytes table)
{
	struct naive_table *t = naive_table(&s->naive, table);

	if (table.size == 0)
		return &s->naive.schema.attributes;
	return t ? &t->attributes : NULL;
}

static const char *const attribute_names[NAIVE_ATTRIBUTES] = { "a", "b/1",
							       "b/2" };

/* The value that a number makes: some are large, some empty. */
static struct bytes attribute_value(uint32_t number, char room[9000])
{
	size_t size = number % 3 == 0 ? number % 9000 : number % 30;

	memset(room, 'a' + (int)(number % 26), size);
	return bytes_of(room, size);
}

static int set_attributes(struct sim *s, struct bytes table)
{
	struct naive_attributes *a = attributes_of(s, table);
	struct attribute changes[2];
	uint32_t numbers[2], places[2], i;
	char rooms[2][9000];
	int err;

	for (i = 0; i < 2; i++) {
		places[i] = rng_below(&s->rng, NAIVE_ATTRIBUTES);
		numbers[i] = rng_one_in(&s->rng, 3)
				     ? 0
				     : 1 + rng_below(&s->rng, 100000);
		changes[i].name = bytes_string(attribute_names[places[i]]);
		changes[i].value =
			numbers[i] ? attribute_value(numbers[i], rooms[i])
				   : BYTES_NONE;
	}
	err = store_set_attributes(s->store, table, changes, 2);
	sim_want(s, "set attributes", err, a ? 0 : -ERR_no_table);
	for (i = 0; i < 2 && !err; i++)
		a->numbers[places[i]] = numbers[i];
	return err;
}

void sim_compare_attributes(struct sim *s, struct bytes table)
{
	const struct naive_attributes *want = attributes_of(s, table);
	struct schema *schema = store_schema(s->store);
	const struct attributes *have = schema_attributes(schema, table);
	size_t count = 0, i;
	struct bytes value;
	char room[9000];

	if (!have || !want)
		sim_fail(s, "attributes of no table");
	for (i = 0; i < NAIVE_ATTRIBUTES; i++) {
		if (want->numbers[i] == 0)
			continue;
		if (!attributes_find(have, bytes_string(attribute_names[i]),
				     &value) ||
		    !bytes_equal(value,
				 attribute_value(want->numbers[i], room)))
			sim_fail(s, "attribute %s of \"%.*s\" differs",
				 attribute_names[i], (int)table.size,
				 (const char *)table.data);
		count++;
	}
	/* What the store notes of itself. */
	if (attributes_find(have, BYTES_LITERAL(STORE_HISTORY), NULL))
		count++;
	for (i = attributes_from(have, BYTES_LITERAL(STORE_DROPPED));
	     i < have->count && bytes_starts_with(have->items[i].name,
						  BYTES_LITERAL(STORE_DROPPED));
	     i++)
		count++;
	if (have->count != count)
		sim_fail(s, "\"%.*s\" has %zu attributes, not %zu",
			 (int)table.size, (const char *)table.data, have->count,
			 count);
	schema_put(schema);
}

void sim_schema_op(struct sim *s)
{
	uint32_t kind = rng_below(&s->rng, 24);
	struct bytes table = sim_draw_table(s), name = sim_draw_family(s);
	struct bytes to = sim_draw_table(s);
	int err, want;

	sim_log(s, "schema %u of table %.*s, family %.*s", kind,
		(int)table.size, table.data, (int)name.size, name.data);
	if (kind < 7) {
		err = create_table(s, table);
	} else if (kind < 8) {
		err = drop_table(s, table);
	} else if (kind < 9) {
		err = set_granularity(s, table);
	} else if (kind < 10) {
		err = store_rename_table(s->store, table, to);
		want = naive_rename_table(&s->naive, table, to);
		sim_want(s, "rename table", err, want);
	} else if (kind < 12) {
		sim_close_rested(s);
		err = store_drop_family(s->store, table, name);
		want = naive_drop_family(&s->naive, table, name);
		sim_want(s, "drop family", err, want);
	} else if (kind < 21) {
		err = create_family(s, table, name, kind >= 17);
	} else {
		err = set_attributes(s, kind < 23 ? table : BYTES_NONE);
	}
	if (!err)
		s->states.count = 0; /* a schema change is durable */
}
