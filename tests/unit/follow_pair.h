#ifndef TESTS_UNIT_FOLLOW_PAIR_H
#define TESTS_UNIT_FOLLOW_PAIR_H

#include <stdio.h>

#include "store/engine/run/step.h"
#include "store/model/model.h"
#include "tests/unit/mem_store.h"

/*
 * An owner that commits rows 1, 2, ... in order, and what a follower may see of
 * it: rows up to one with which a commit ended, from the first that was not
 * deleted with it, and a sum of as many ones as commits had added. In between
 * it flushes, merges, loads, deletes ranges, makes and drops tables.
 */
#define ROWS_MAX 30000
#define LOADED 40
#define LARGE 3000

struct pair {
	struct store *owner;
	unsigned int events; /* so far */
	unsigned int last;   /* row */
	unsigned int first;  /* that is not deleted */
	unsigned int adds;
	unsigned int seen; /* the last row that the follower has shown */
	/* By the last row. */
	bool ends[ROWS_MAX];
	unsigned int firsts[ROWS_MAX], sums[ROWS_MAX];
};

static inline void must(int err)
{
	ck_assert_msg(err >= 0, "%s: %s", err_text(err), err_detail());
}

static inline void owner_options(struct store_options *o)
{
	mem_store_options(o);
	o->memtable_size = 256 << 10;
	o->file_size = 64 << 10;
	o->blob_threshold = 2000;
	o->blob_chunk_size = 1000;
	o->blob_file_size = 20000;
}

static inline void make_tables(struct store *s)
{
	const struct family_spec families[] = {
		{ .name = BYTES_LITERAL("f") },
		{ .name = BYTES_LITERAL("n"), .type = FAMILY_INTSUM },
	};

	must(store_create_table(s, BYTES_LITERAL("t"), false, families, 2));
}

static inline struct bytes row_key(unsigned int row, char *text)
{
	snprintf(text, 16, "r%06u", row);
	return bytes_string(text);
}

static inline void set_row(struct write *w, unsigned int row, size_t size)
{
	static char value[LARGE];
	char key[16];

	memset(value, 'a' + (int)(row % 26), sizeof(value));
	must(write_row(w, BYTES_LITERAL("t"), row_key(row, key)));
	must(write_set(w, BYTES_LITERAL("f"), BYTES_LITERAL("q"), 1000,
		       bytes_of(value, size)));
}

/* The commit that is next ends with this row. */
static inline void expect(struct pair *p, unsigned int row)
{
	ck_assert_uint_lt(row, ROWS_MAX);
	p->ends[row] = true;
	p->firsts[row] = p->first;
	p->sums[row] = p->adds;
}

static inline void commit_row(struct pair *p, bool deletes, size_t size)
{
	char start[16], end[16];
	struct write *w;

	must(write_new(p->owner, &w));
	if (deletes && p->last > 30) {
		must(write_delete_range(w, BYTES_LITERAL("t"),
					row_key(p->first, start),
					row_key(p->last - 20, end)));
		p->first = p->last - 20;
	}
	p->last++;
	p->adds++;
	set_row(w, p->last, size);
	must(write_row(w, BYTES_LITERAL("t"), BYTES_LITERAL("sum")));
	must(write_add(w, BYTES_LITERAL("n"), BYTES_LITERAL("c"), 1000, 1));
	expect(p, p->last);
	must(store_commit(p->owner, w, p->events % 4 == 0));
	write_free(w);
}

static inline void load_rows(struct pair *p)
{
	struct bulk_load *load;
	struct write *w;
	unsigned int i;

	must(write_new(p->owner, &w));
	must(store_bulk_begin(p->owner, &load));
	for (i = 1; i <= 2 * LOADED; i++) {
		set_row(w, p->last + i, 200);
		if (i % LOADED == 0)
			must(store_bulk_add(load, w));
	}
	p->last += 2 * LOADED;
	expect(p, p->last);
	must(store_bulk_publish(load));
	store_bulk_free(load);
	write_free(w);
}

static inline void change_schema(struct pair *p)
{
	char name[16];

	snprintf(name, sizeof(name), "x%u", p->events);
	must(store_create_table(p->owner, bytes_string(name), false, NULL, 0));
	snprintf(name, sizeof(name), "x%u", p->events - 40);
	if (p->events > 40)
		must(store_drop_table(p->owner, bytes_string(name), false));
}

/* One thing after the other, always in the same order. */
static inline void happen(struct pair *p)
{
	unsigned int i = ++p->events;

	if (i % 20 == 9)
		change_schema(p);
	else if (i % 10 == 5)
		load_rows(p);
	else
		commit_row(p, i % 10 == 7, i % 10 == 3 ? LARGE : 100);
	if (i % 11 == 0)
		must(engine_flush(store_engine(p->owner)));
	if (i % 3 == 0)
		while (engine_step(store_engine(p->owner)) > 0)
			continue;
	if (i % 50 == 0)
		must(store_compact(p->owner, BYTES_NONE));
}

static inline unsigned int sum_of(struct store *s, const struct snapshot *at)
{
	struct buf memory = BUF_INIT;
	unsigned int sum = 0;
	struct cell cell;
	int found = store_get(s, at, BYTES_LITERAL("t"), BYTES_LITERAL("sum"),
			      BYTES_LITERAL("n"), BYTES_LITERAL("c"), &cell,
			      &memory);

	must(found);
	if (found == 1)
		sum = (unsigned int)cell.value.data[7] |
		      (unsigned int)cell.value.data[6] << 8;
	buf_release(&memory);
	return sum;
}

/* What s shows is what was there after some commit, not before the one that was
 * seen last. */
static inline void look_at(struct pair *p, struct store *s,
			   const struct snapshot *at)
{
	struct scan_range range = { .table = BYTES_LITERAL("t"),
				    .start = BYTES_LITERAL("r"),
				    .end = BYTES_LITERAL("s") };
	unsigned int first = 0, last = 0, row;
	struct scan *scan;
	struct cell cell;
	int more;

	must(scan_open(s, at, &range, &scan));
	while ((more = scan_next(scan, CURSOR_ROW, &cell)) == 1) {
		row = (unsigned int)strtoul((const char *)cell.row.data + 1,
					    NULL, 10);
		ck_assert_msg(last == 0 || row == last + 1, "%u comes after %u",
			      row, last);
		ck_assert_uint_gt(cell.value.size, 0);
		ck_assert_int_eq(cell.value.data[0], 'a' + (int)(row % 26));
		first = first ? first : row;
		last = row;
	}
	must(more);
	scan_close(scan);
	ck_assert_msg(last >= p->seen, "back from %u to %u", p->seen, last);
	p->seen = last;
	if (last == 0)
		return;
	ck_assert_msg(p->ends[last], "half of a commit, up to %u", last);
	ck_assert_uint_eq(first, p->firsts[last]);
	ck_assert_uint_eq(sum_of(s, at), p->sums[last]);
}

static inline void look(struct pair *p, struct store *follower)
{
	struct snapshot *at;

	must(store_refresh(follower));
	must(store_snapshot(follower, &at));
	look_at(p, follower, at);
	store_snapshot_release(follower, at);
}

#endif
