#ifndef STORE_SELECT_H
#define STORE_SELECT_H

#include "store/base/buf.h"
#include "store/filter.h"

/*
 * What to read of a table: which rows, in which order, how many, and which of
 * their cells. Whatever reads by the words of a user builds one, piece by
 * piece, and keeps it; select_scan.h reads by it, as often as wanted, one at a
 * time since a filter is of one scan. It is of no table and no moment.
 *
 * Rows are keys and ranges, as many as wanted, in any order: they are sorted
 * and merged, so that each row comes once. Until one is added all rows are
 * meant; after that none but those, even if all of them are empty.
 */
#define SELECT_SIZE_MAX \
	((size_t)8 << 20) /* of keys and ranges, each counted \
					     as 64 bytes and its keys */
#define SELECT_FILTERS_MAX 8

/* Rows with start <= key < end; an empty end is none. */
struct select_span {
	struct buf start, end;
};

struct select {
	/* For select_scan.h; all of it owned. */
	struct select_span *spans;
	size_t count, room; /* of spans */
	size_t size;        /* as SELECT_SIZE_MAX counts */
	bool chosen;        /* only rows of spans, else all */
	bool sorted;        /* spans ascend and do not touch */
	struct filter *filters[SELECT_FILTERS_MAX];
	size_t filter_count;

	/* To be set as wanted. */
	bool reverse;       /* rows descend */
	uint64_t row_limit; /* of rows with a cell that passes */
};

#define SELECT_INIT                     \
	{                               \
		.row_limit = UINT64_MAX \
	}

void select_release(struct select *s);

/* Each adds rows: one, those of a range, those that begin with a prefix. What
 * is given is copied. An empty range, or the empty key, which no row has, adds
 * none. -ENOMEM, or -ERR_bad_argument beyond SELECT_SIZE_MAX. */
int select_add_row(struct select *s, struct bytes key);
int select_add_range(struct select *s, const struct filter_range *range);
int select_add_prefix(struct select *s, struct bytes prefix);

/* Each leaves, of the rows so far, those of a range, those that begin with a
 * prefix, those that come behind row in the order that reverse says, which is
 * where to go on after it. 0 or -ENOMEM. */
int select_keep_range(struct select *s, const struct filter_range *range);
int select_keep_prefix(struct select *s, struct bytes prefix);
int select_keep_after(struct select *s, struct bytes row);

/* The cells that f lets pass of those that the filters before it did: all are
 * one chain. Takes f, also on failure: -ERR_bad_argument beyond
 * SELECT_FILTERS_MAX. f may be NULL if err is an error, which is returned: so
 * that a constructor's result can be handed on. */
int select_filter(struct select *s, int err, struct filter *f);

/* Whether no row can come, without reading: an empty range, a limit of 0. */
bool select_is_empty(const struct select *s);

/* For select_scan.h: sorts and merges the spans and makes one filter, or none,
 * of all. 0, -ENOMEM, or -ERR_bad_argument if the filters do not go together.
 */
int select_settle(struct select *s);

/* Where all rows lie: start <= key < end, each empty if open, both as long as s
 * is not changed; false if no row can come. For estimates; needs select_settle.
 */
bool select_hull(const struct select *s, struct bytes *start,
		 struct bytes *end);

/* Sets out, which must not lie in prefix, to the least key behind all that
 * begin with prefix; empty if there is none. 0 or -ENOMEM. */
int select_prefix_end(struct bytes prefix, struct buf *out);

#endif
