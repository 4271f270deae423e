#include <math.h>
#include <stdio.h>
#include <unistd.h>

#include "tests/soak/soak.h"

/*
 * What a store is put to that goes on. A turn is a commit, or as much as one.
 * All values are as if random, so that bytes written are bytes stored.
 */
#define CELLS_A_TURN 8

static const char *const three_tables[] = { "x0", "x1", "x2", NULL };

static struct gc_policy *policy(struct soak *k, enum gc_type type,
				uint64_t limit)
{
	struct gc_policy *p = gc_policy_leaf(type, limit);

	if (!p)
		soak_fail(k, "no memory");
	return p;
}

static void create(struct soak *k, const char *table, struct gc_policy *gc)
{
	struct family_spec family = { .name = BYTES_LITERAL("f"), .gc = gc };

	soak_must(k, "create table",
		  store_create_table(k->store, bytes_string(table), false,
				     &family, 1));
	gc_policy_free(gc);
}

static void one_version(struct soak *k)
{
	create(k, "t", policy(k, GC_MAX_VERSIONS, 1));
}

static void all_versions(struct soak *k)
{
	create(k, "t", NULL);
}

static void row(struct soak *k, const char *table, uint64_t number)
{
	char key[32];

	snprintf(key, sizeof(key), "r%08llu", (unsigned long long)number);
	soak_must(k, "row",
		  write_row(k->w, bytes_string(table), bytes_string(key)));
}

/* Sets the cell of a row, which is slot at + row, at this timestamp. */
static void set(struct soak *k, const char *family, uint64_t number,
		uint64_t at, uint64_t timestamp, uint32_t max)
{
	uint32_t size = max / 2 + rng_below(&k->rng, max / 2);

	soak_must(k, "set",
		  write_set(k->w, bytes_string(family), bytes_string("q"),
			    timestamp, soak_value(k, size)));
	soak_slot(k, at + number, size);
}

/* The same version again. */
static void uniform(struct soak *k)
{
	uint32_t i, number;

	for (i = 0; i < CELLS_A_TURN; i++) {
		number = rng_below(&k->rng, k->rows);
		row(k, "t", number);
		set(k, "f", number, 0, 1000, k->value_max);
	}
	soak_commit(k);
}

/* Version on version, of which the newest stays, some cells much more often
 * than others. */
static void zipf(struct soak *k)
{
	uint32_t i, number;
	double u;

	for (i = 0; i < CELLS_A_TURN; i++) {
		u = (double)rng_below(&k->rng, 1 << 30) / (1 << 30);
		number = (uint32_t)(pow(k->rows, u) - 1);
		row(k, "t", number);
		set(k, "f", number, 0, STORE_NOW, k->value_max);
	}
	soak_commit(k);
	if (!k->simulated) /* A microsecond is one version. */
		usleep(1);
}

/* Pushed at the end, popped at the front. */
static void queue(struct soak *k)
{
	uint32_t i;

	for (i = 0; i < CELLS_A_TURN; i++) {
		row(k, "t", k->tail);
		set(k, "f", k->tail++, 0, 1000, k->value_max);
		if (k->tail - k->head <= k->rows)
			continue;
		row(k, "t", k->head);
		soak_must(k, "pop", write_delete_row(k->w));
		soak_slot(k, k->head++, SOAK_GONE);
	}
	soak_commit(k);
}

static void pop_all(struct soak *k)
{
	uint32_t i;

	while (k->head < k->tail) {
		for (i = 0; i < CELLS_A_TURN && k->head < k->tail; i++) {
			row(k, "t", k->head);
			soak_must(k, "pop", write_delete_row(k->w));
			soak_slot(k, k->head++, SOAK_GONE);
		}
		soak_commit(k);
	}
}

static void start_counters(struct soak *k)
{
	struct family_spec sum = { .name = BYTES_LITERAL("sum"),
				   .type = FAMILY_INTSUM };

	one_version(k);
	soak_must(k, "create family",
		  store_create_family(k->store, bytes_string("t"), &sum));
}

/* Sums are slots from rows on. */
static void counters(struct soak *k)
{
	struct modify_rule rule = { .family = BYTES_LITERAL("f"),
				    .qualifier = BYTES_LITERAL("q"),
				    .is_increment = true,
				    .amount = 1 };
	struct buf memory = BUF_INIT;
	struct cell cell;
	uint32_t i, number;

	for (i = 0; i < CELLS_A_TURN; i++) {
		number = rng_below(&k->rng, 20);
		row(k, "t", number);
		soak_must(k, "add",
			  write_add(k->w, bytes_string("sum"),
				    bytes_string("q"), 0, number));
		soak_slot(k, k->rows + number, 8);
	}
	soak_commit(k);
	soak_must(k, "increment",
		  store_modify(k->store, bytes_string("t"),
			       bytes_string("r00000000"), &rule, 1, false,
			       &cell, &memory));
	buf_release(&memory);
	soak_slot(k, 0, 8);
}

static void start_series(struct soak *k)
{
	create(k, "t", policy(k, GC_MAX_AGE, k->max_age_us));
}

/* What is measured, and forgotten after some time. */
static void series(struct soak *k)
{
	uint32_t i;

	if (k->tail - k->head > SOAK_SLOTS - CELLS_A_TURN) {
		usleep(1000);
		return;
	}
	for (i = 0; i < CELLS_A_TURN; i++) {
		uint64_t now = soak_now(k);

		row(k, "t", k->tail);
		set(k, "f", k->tail, 0, now, k->value_max);
		/* As the store counts its age, not from a moment later. */
		k->stamps[k->tail++ % SOAK_SLOTS] = now;
	}
	soak_commit(k);
}

static void delete_rows(struct soak *k)
{
	uint32_t i;

	for (i = 0; i < CELLS_A_TURN && k->head < k->rows; i++, k->head++) {
		row(k, "t", k->head);
		soak_must(k, "delete", write_delete_row(k->w));
		soak_slot(k, k->head, SOAK_GONE);
	}
	if (k->head == k->rows)
		k->phase = 0, k->head = 0;
}

static void empty_rows(struct soak *k)
{
	k->head = 0;
	do {
		delete_rows(k);
		soak_commit(k);
	} while (k->head > 0);
}

static void delete_all(struct soak *k)
{
	uint32_t i;

	row(k, "t", 0);
	soak_must(k, "delete all",
		  write_delete_range(k->w, bytes_string("t"), BYTES_NONE,
				     BYTES_NONE));
	for (i = 0; i < k->rows; i++)
		soak_slot(k, i, SOAK_GONE);
	k->phase = 0;
}

/* Filled, and emptied at once or row by row, in turn. */
static void refill(struct soak *k)
{
	uint32_t i;

	for (i = 0; i < CELLS_A_TURN && k->phase == 0; i++) {
		row(k, "t", k->tail);
		set(k, "f", k->tail, 0, 1000, k->value_max);
		if (++k->tail == k->rows) {
			k->tail = 0;
			k->phase = 1 + rng_below(&k->rng, 2);
		}
	}
	if (i == 0 && k->phase == 1)
		delete_rows(k);
	else if (i == 0)
		delete_all(k);
	soak_commit(k);
}

static void no_tables(struct soak *k)
{
	(void)k;
}

static void drop(struct soak *k, uint32_t table)
{
	uint64_t fill = k->rows / 3, i;

	soak_must(k, "drop",
		  store_drop_table(k->store, bytes_string(three_tables[table]),
				   false));
	for (i = 0; i < fill; i++)
		soak_slot(k, table * fill + i, SOAK_GONE);
	k->head--;
}

/* Three tables in turn: made, filled with a third of the rows, dropped when
 * it is their turn again. head counts those that are there. */
static void tables(struct soak *k)
{
	uint64_t fill = k->rows / 3, i;
	const char *name = three_tables[k->phase];

	if (k->tail == 0) {
		if (k->head == 3)
			drop(k, k->phase);
		create(k, name, NULL);
		k->head++;
	}
	for (i = 0; i < CELLS_A_TURN && k->tail < fill; i++, k->tail++) {
		row(k, name, k->tail);
		set(k, "f", k->tail, k->phase * fill, 1000, k->value_max);
	}
	soak_commit(k);
	if (k->tail == fill) {
		k->tail = 0;
		k->phase = (k->phase + 1) % 3;
	}
}

static void drop_all(struct soak *k)
{
	uint32_t table = k->tail > 0 ? (k->phase + 1) % 3 : k->phase;

	/* With fewer, the first was made first. */
	for (table = k->head < 3 ? 0 : table; k->head > 0;
	     table = (table + 1) % 3)
		drop(k, table);
}

static void large(struct soak *k)
{
	uint32_t number = rng_below(&k->rng, 12);

	row(k, "t", number);
	set(k, "f", number, 0, 1000, k->large_max);
	soak_commit(k);
}

/* All rows anew in one load, of which a policy that came later leaves one. */
static void imports(struct soak *k)
{
	struct bulk_load *load;
	struct gc_policy *gc;
	uint64_t now = soak_now(k) + k->turn;
	uint32_t i;

	soak_must(k, "load", store_bulk_begin(k->store, &load));
	for (i = 0; i < k->rows / 8; i++) {
		row(k, "t", i);
		set(k, "f", i, 0, now, k->value_max);
		soak_must(k, "load", store_bulk_add(load, k->w));
	}
	soak_must(k, "publish", store_bulk_publish(load));
	store_bulk_free(load);
	if (k->turn > 0)
		return;
	gc = policy(k, GC_MAX_VERSIONS, 1);
	soak_must(k, "policy",
		  store_set_gc(k->store, bytes_string("t"), bytes_string("f"),
			       gc));
	gc_policy_free(gc);
}

/* A scan that takes its time. */
static void scan_beside(struct soak *k)
{
	struct scan_range range = { .table = BYTES_LITERAL("t") };
	struct cell cell;
	uint32_t i;
	int more = 1;

	uniform(k);
	if (!k->scan) {
		soak_must(k, "scan",
			  scan_open(k->store, NULL, &range, &k->scan));
		k->scan_turn = k->turn;
	}
	for (i = 0; i < 2 && more > 0; i++)
		more = scan_next(k->scan, CURSOR_ROW, &cell);
	soak_must(k, "scan", more);
	if (more > 0 && k->turn - k->scan_turn < k->rows)
		return;
	scan_close(k->scan);
	k->scan = NULL;
}

/* Families come and go, and so do policies; g's slots are from rows on. */
static void schema_beside(struct soak *k)
{
	struct family_spec g = { .name = BYTES_LITERAL("g") };
	struct bytes t = bytes_string("t");
	struct gc_policy *gc;
	uint32_t i;

	uniform(k);
	switch (k->turn % 60) {
	case 10:
		soak_must(k, "create family",
			  store_create_family(k->store, t, &g));
		for (i = 0; i < k->rows / 10; i++) {
			row(k, "t", i);
			set(k, "g", i, k->rows, 1000, k->value_max);
		}
		soak_commit(k);
		break;
	case 30:
		gc = policy(k, GC_MAX_VERSIONS, 1 + rng_below(&k->rng, 3));
		soak_must(k, "policy",
			  store_set_gc(k->store, t, bytes_string("f"), gc));
		gc_policy_free(gc);
		break;
	case 50:
		soak_must(k, "drop family",
			  store_drop_family(k->store, t, g.name));
		for (i = 0; i < k->rows / 10; i++)
			soak_slot(k, k->rows + i, SOAK_GONE);
		break;
	}
}

const struct workload workloads[] = {
	{ .name = "uniform", .start = all_versions, .turn = uniform },
	{ .name = "zipf", .start = one_version, .turn = zipf },
	{ .name = "queue",
	  .start = all_versions,
	  .turn = queue,
	  .empty = pop_all },
	{ .name = "counters", .start = start_counters, .turn = counters },
	{ .name = "series",
	  .start = start_series,
	  .turn = series,
	  .expires = true },
	{ .name = "refill",
	  .start = all_versions,
	  .turn = refill,
	  .empty = empty_rows },
	{ .name = "tables",
	  .start = no_tables,
	  .turn = tables,
	  .empty = drop_all,
	  .tables = three_tables },
	{ .name = "large", .start = all_versions, .turn = large },
	{ .name = "imports", .start = all_versions, .turn = imports },
	{ .name = "scan", .start = all_versions, .turn = scan_beside },
	{ .name = "schema", .start = all_versions, .turn = schema_beside },
};

const size_t workload_count = sizeof(workloads) / sizeof(*workloads);
