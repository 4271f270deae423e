#include <stdlib.h>

#include "store/store.h"
#include "tools/serve/data/row_set.h"

/* The next key behind one is it with a zero byte. */
static int behind(struct proto_arena *arena, struct bytes key,
		  struct bytes *out)
{
	int err = 0;
	uint8_t *p = proto_alloc(arena, key.size + 1, &err);

	if (!p)
		return err;
	if (key.size > 0)
		memcpy(p, key.data, key.size);
	*out = bytes_of(p, key.size + 1);
	return 0;
}

/* An empty bound is none, open or closed: no key is empty. What lies between a
 * key and the next one is nothing, and no error: so a client goes on behind the
 * only row of its range. */
static int take_range(const struct proto_row_range *r,
		      struct proto_arena *arena, struct row_span *span)
{
	bool after = r->start_key_case == nr_row_range_start_key_open &&
		     r->start_key_open.size > 0;
	bool through = r->end_key_case == nr_row_range_end_key_closed &&
		       r->end_key_closed.size > 0;
	int order, err = 0;

	span->start = after ? r->start_key_open : r->start_key_closed;
	span->end = through ? r->end_key_closed : r->end_key_open;
	order = bytes_compare(span->start, span->end);
	if (span->end.size > 0 &&
	    (order > 0 || (order == 0 && (after || !through))))
		return fail(ERR_bad_argument, "Error in field 'row_ranges' : "
					      "start_key must be less than "
					      "end_key");
	if (after)
		err = behind(arena, span->start, &span->start);
	if (through && !err)
		err = behind(arena, span->end, &span->end);
	return err;
}

static int compare(const void *a, const void *b)
{
	const struct row_span *x = a, *y = b;

	return bytes_compare(x->start, y->start);
}

/* Of spans in the order of their starts: those that overlap or touch become
 * one. */
static size_t merge(struct row_span *spans, size_t count)
{
	size_t i, last = 0;

	for (i = 1; i < count; i++) {
		struct row_span *to = &spans[last];

		if (to->end.size == 0)
			break;
		if (bytes_compare(spans[i].start, to->end) > 0)
			spans[++last] = spans[i];
		else if (spans[i].end.size == 0 ||
			 bytes_compare(spans[i].end, to->end) > 0)
			to->end = spans[i].end;
	}
	return last + 1;
}

int row_set_init(struct row_set *set, const struct proto_row_set *rows,
		 struct proto_arena *arena)
{
	size_t keys = rows ? rows->row_keys.count : 0, i;
	size_t ranges = rows ? rows->row_ranges.count : 0;
	struct row_span *span;
	int err = 0;

	set->count = keys + ranges > 0 ? keys + ranges : 1;
	set->one_row =
		keys == 1 && ranges == 0 && rows->row_keys.at[0].size > 0;
	set->spans = proto_alloc(arena, set->count * sizeof(*span), &err);
	if (!set->spans)
		return err;
	span = set->spans;
	for (i = 0; i < keys && !err; i++, span++) {
		span->start = rows->row_keys.at[i];
		err = behind(arena, span->start, &span->end);
		/* No row has the empty key, and as a bound it would be none. */
		if (span->start.size == 0)
			span->start = span->end;
	}
	for (i = 0; i < ranges && !err; i++, span++)
		err = take_range(&rows->row_ranges.at[i], arena, span);
	if (err < 0)
		return err;
	qsort(set->spans, set->count, sizeof(*span), compare);
	set->count = merge(set->spans, set->count);
	return 0;
}

size_t row_set_find(const struct row_set *set, struct bytes row)
{
	size_t low = 0, high = set->count;

	while (low < high) {
		size_t middle = (low + high) / 2;
		struct bytes end = set->spans[middle].end;

		if (end.size > 0 && bytes_compare(end, row) <= 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}
