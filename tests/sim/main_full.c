#include <stdio.h>
#include <stdlib.h>

#include "store/base/err.h"
#include "store/engine/run/step.h"
#include "store/model/model.h"
#include "tests/sim/volume_mem.h"

/*
 * The full disk: rows are written and deleted, with flushes, compactions and
 * kills between, while a neighbour takes all space at random moments, and for
 * some time. What was acknowledged has to stay, what was deleted to be gone;
 * deletions are never refused, the store can be opened, and once there is space
 * writes go on. A run is a function of its seed.
 *
 *   main_full [-seeds N] [-first S] [-ops N] [-seed S]
 */
#define ROWS 200

struct full {
	struct rng rng;
	struct volume *volume;
	struct store *store;
	unsigned int value[ROWS]; /* what it was set to; 0: deleted */
	unsigned int writes;
	bool large; /* files and values */
	bool full;
	unsigned int spent; /* of what a full disk allows a few times */
	unsigned long refused, freed, kills;
	char problem[600];
};

static void complain(struct full *t, const char *what, int err)
{
	if (!t->problem[0])
		snprintf(t->problem, sizeof(t->problem), "%s: %s: %s", what,
			 err_detail(), err < 0 ? err_text(err) : "");
}

static void options(const struct full *t, struct store_options *o)
{
	store_options_init(o);
	o->create = true;
	o->background = false;
	/* Many files, or few that are larger than what is always held. */
	o->memtable_size = t->large ? 600000 : 100000;
	o->file_size = t->large ? 1000000 : 20000;
	o->cache_size = 20000;
}

static void open_store(struct full *t)
{
	struct store_options o;
	int err;

	options(t, &o);
	volume_mem_keep(t->volume);
	err = store_open_volume(t->volume, &o, &t->store);
	if (err < 0)
		complain(t, "cannot be opened", err);
}

static struct bytes row_key(unsigned int row, char *text)
{
	snprintf(text, 16, "row%03u", row);
	return bytes_string(text);
}

static void put(struct full *t)
{
	unsigned int row = rng_below(&t->rng, ROWS), n = ++t->writes;
	char name[16], value[12000];
	uint32_t size = 16 + rng_below(&t->rng, t->large ? 11900 : 2900);
	struct write *w;
	int err = write_new(t->store, &w);

	if (err < 0)
		abort();
	for (size_t i = 0; i < size; i++)
		value[i] = (char)rng_next(&t->rng);
	snprintf(value, 16, "%u", n);
	err = write_row(w, bytes_string("t"), row_key(row, name));
	if (err == 0)
		err = write_set(w, bytes_string("f"), bytes_string("q"), 1000,
				bytes_of(value, size));
	if (err == 0)
		err = store_commit(t->store, w, rng_one_in(&t->rng, 8));
	write_free(w);
	if (err == 0)
		t->value[row] = n;
	else if (err == -ENOSPC && t->full)
		t->refused++;
	else
		complain(t, "a write is refused", err);
}

/* A row, or the rows from it on. */
static void take_away(struct full *t)
{
	unsigned int row = rng_below(&t->rng, ROWS), end = row + 1;
	char name[16], end_name[16];
	struct write *w;
	int err = write_new(t->store, &w);

	if (err < 0)
		abort();
	if (rng_one_in(&t->rng, 8)) {
		end = row + rng_below(&t->rng, 60);
		end = end < ROWS ? end : ROWS - 1;
		err = write_delete_range(w, bytes_string("t"),
					 row_key(row, name),
					 row_key(end, end_name));
	} else {
		err = write_row(w, bytes_string("t"), row_key(row, name));
		if (err == 0)
			err = write_delete_row(w);
	}
	if (err == 0)
		err = store_commit(t->store, w, rng_one_in(&t->rng, 8));
	write_free(w);
	if (err < 0)
		complain(t, "a deletion is refused", err);
	t->freed += t->full;
	for (; row < end; row++)
		t->value[row] = 0;
}

static void compare(struct full *t, struct store *s)
{
	struct scan_range range = { .table = BYTES_LITERAL("t") };
	unsigned int seen[ROWS] = { 0 }, row;
	struct scan *scan;
	struct cell cell;
	int err = scan_open(s, NULL, &range, &scan);

	while (err == 0 &&
	       (err = scan_next(scan, CURSOR_VERSION, &cell)) == 1) {
		row = (unsigned int)atoi((const char *)cell.row.data + 3);
		seen[row % ROWS] =
			(unsigned int)atoi((const char *)cell.value.data);
		err = 0;
	}
	if (err < 0) {
		complain(t, "cannot be read", err);
		return;
	}
	scan_close(scan);
	for (row = 0; row < ROWS; row++)
		if (seen[row] != t->value[row])
			complain(t,
				 seen[row] == 0       ? "a row was lost"
				 : t->value[row] == 0 ? "a row is back"
						      : "a row is old",
				 0);
}

/* A hook: nothing may change. */
static void changed(void *context, struct volume *v)
{
	(void)v;
	complain(context, "opening to read has written", 0);
}

/* Beside the writer: it needs no lease, and nothing is written. */
static void read_only(struct full *t, struct volume *v)
{
	struct store_options o;
	struct store *s;
	int err;

	options(t, &o);
	o.create = false;
	o.read_only = true;
	volume_mem_keep(v);
	volume_mem_hook(v, changed, t);
	err = store_open_volume(v, &o, &s);
	if (err < 0) {
		complain(t, "cannot be opened to be read", err);
	} else {
		compare(t, s);
		store_close(s);
	}
	volume_mem_hook(v, NULL, NULL);
}

/* The process dies; the neighbour stays. */
static void kill_store(struct full *t)
{
	struct volume *clone;

	t->kills++;
	if (volume_mem_kill_clone(t->volume, &clone) < 0)
		abort();
	/* What the old one holds of the old volume ends with it. */
	volume_mem_fail(t->volume, 0, 0, false, 0);
	store_close(t->store);
	t->volume->ops->close(t->volume);
	t->volume = clone;
	if (t->full)
		volume_mem_fill(clone, 1, rng_next(&t->rng));
	read_only(t, clone);
	open_store(t);
}

static void set_full(struct full *t, bool full)
{
	int err;

	t->full = full;
	t->spent = 0;
	volume_mem_fill(t->volume, full ? 1 + rng_below(&t->rng, 20) : 0,
			rng_next(&t->rng));
	if (full)
		return;
	/* What a neighbour left of the pieces is made whole. */
	err = engine_step(store_engine(t->store));
	if (err < 0)
		complain(t, "does not go on", err);
	put(t);
}

/* Sometimes only, what takes pieces while none can be made. */
static bool may_spend(struct full *t)
{
	return !t->full || t->spent++ < 2;
}

static void step(struct full *t)
{
	unsigned int kind = rng_below(&t->rng, 100);
	int err = 0;

	if (kind < 60)
		put(t);
	else if (kind < 85)
		take_away(t);
	else if (kind < 90)
		err = engine_step(store_engine(t->store));
	else if (kind < 92 && may_spend(t))
		err = engine_flush(store_engine(t->store));
	else if (kind < 93 && may_spend(t))
		err = store_compact(t->store, bytes_string("t"));
	else if (kind < 94 && may_spend(t))
		kill_store(t);
	else if (kind < 97)
		set_full(t, !t->full);
	else if (t->store)
		compare(t, t->store);
	if (err < 0 && !(err == -ENOSPC && t->full))
		complain(t, "background work fails", err);
}

static void run(struct full *t, uint64_t seed, unsigned int ops)
{
	struct family_spec family = { .name = BYTES_LITERAL("f") };
	int err;

	t->rng.state = seed;
	t->large = seed % 2 == 0;
	if (volume_mem_new(&t->volume) < 0)
		abort();
	open_store(t);
	err = store_create_table(t->store, bytes_string("t"), false, &family,
				 1);
	if (err < 0)
		complain(t, "no table", err);
	for (unsigned int i = 0; i < ops && !t->problem[0]; i++)
		step(t);
	if (!t->problem[0]) {
		set_full(t, false);
		compare(t, t->store);
	}
	if (t->store)
		store_close(t->store);
	t->volume->ops->close(t->volume);
}

int main(int argc, char **argv)
{
	unsigned long long seeds = 30, first = 1, seed, ops = 600;
	unsigned long failed = 0, refused = 0, freed = 0, kills = 0;

	for (int i = 1; i + 1 < argc; i += 2) {
		unsigned long long n = strtoull(argv[i + 1], NULL, 0);

		if (strcmp(argv[i], "-seeds") == 0)
			seeds = n;
		else if (strcmp(argv[i], "-first") == 0)
			first = n;
		else if (strcmp(argv[i], "-ops") == 0)
			ops = n;
		else if (strcmp(argv[i], "-seed") == 0)
			first = n, seeds = 1;
	}
	for (seed = first; seed < first + seeds; seed++) {
		struct full t = { 0 };

		run(&t, seed, (unsigned int)ops);
		if (t.problem[0]) {
			failed++;
			printf("seed %llu: %s\n", seed, t.problem);
		}
		refused += t.refused;
		freed += t.freed;
		kills += t.kills;
	}
	printf("%lu writes refused and %lu deletions taken on a full disk, %lu "
	       "kills\n",
	       refused, freed, kills);
	printf("%llu passed, %lu failed, 0 skipped\n", seeds - failed, failed);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
