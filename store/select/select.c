#include <stdlib.h>

#include "store/base/err.h"
#include "store/select.h"

/*
 * Every key and range is kept as the rows from a key, itself included, to
 * before another: no key lies between one and the same with a zero byte behind
 * it, so that what begins behind a key or ends with it has such bounds, too.
 */
#define SPAN_COST 64

static void span_release(struct select_span *span)
{
	buf_release(&span->start);
	buf_release(&span->end);
}

void select_release(struct select *s)
{
	while (s->count > 0)
		span_release(&s->spans[--s->count]);
	free(s->spans);
	while (s->filter_count > 0)
		filter_free(s->filters[--s->filter_count]);
	*s = (struct select)SELECT_INIT;
}

/* Whether no key is in it. */
static bool is_empty(const struct select_span *span)
{
	return span->end.size > 0 && bytes_compare(buf_bytes(&span->start),
						   buf_bytes(&span->end)) >= 0;
}

/* Sets out to a key or, if after, to the one that follows it. */
static int set_bound(struct buf *out, struct bytes key, bool after)
{
	int err = buf_set(out, key);

	return err < 0 || !after ? err : buf_add_byte(out, 0);
}

/* Sets span, which is empty bytes so far. A range that ends before the empty
 * key is made one that is seen to be empty. */
static int span_set(struct select_span *span, const struct filter_range *range)
{
	bool none =
		range->has_end && range->end.size == 0 && !range->end_closed;
	int err = 0;

	if (range->has_start || none)
		err = set_bound(&span->start, range->start,
				range->start_open || none);
	if (!err && range->has_end)
		err = set_bound(&span->end, range->end,
				range->end_closed || none);
	return err;
}

static int add_span(struct select *s, const struct select_span *span)
{
	struct select_span *grown;
	size_t room = s->room * 2 + 4;

	if (s->count == s->room) {
		grown = realloc(s->spans, room * sizeof(*grown));
		if (!grown)
			return -ENOMEM;
		s->spans = grown;
		s->room = room;
	}
	s->spans[s->count++] = *span;
	return 0;
}

int select_add_range(struct select *s, const struct filter_range *range)
{
	struct select_span span = { BUF_INIT, BUF_INIT };
	int err = span_set(&span, range);
	size_t size = span.start.size + span.end.size + SPAN_COST;

	s->chosen = true;
	s->sorted = false;
	if (!err && !is_empty(&span)) {
		err = size > SELECT_SIZE_MAX - s->size
			      ? fail(ERR_bad_argument,
				     "keys and ranges take more than %zu MiB "
				     "together: read them in parts",
				     SELECT_SIZE_MAX >> 20)
			      : add_span(s, &span);
		if (!err) {
			s->size += size;
			return 0;
		}
	}
	span_release(&span);
	return err;
}

int select_add_row(struct select *s, struct bytes key)
{
	const struct filter_range row = { .start = key,
					  .end = key,
					  .has_start = true,
					  .has_end = true,
					  .end_closed = true };
	const struct filter_range none = { .has_end = true };

	return select_add_range(s, key.size > 0 ? &row : &none);
}

int select_prefix_end(struct bytes prefix, struct buf *out)
{
	int err;

	/* The last byte that can grow does, and what is behind it goes: "a\xff"
	 * ends before "b". All 0xff has no end. */
	while (prefix.size > 0 && prefix.data[prefix.size - 1] == 0xff)
		prefix.size--;
	err = buf_set(out, prefix);
	if (!err && out->size > 0)
		out->data[out->size - 1]++;
	return err;
}

/* Calls what with the range of a prefix. */
static int with_prefix(struct select *s, struct bytes prefix,
		       int (*what)(struct select *s,
				   const struct filter_range *range))
{
	struct filter_range range = { .start = prefix, .has_start = true };
	struct buf end = BUF_INIT;
	int err = select_prefix_end(prefix, &end);

	range.end = buf_bytes(&end);
	range.has_end = end.size > 0;
	if (!err)
		err = what(s, &range);
	buf_release(&end);
	return err;
}

int select_add_prefix(struct select *s, struct bytes prefix)
{
	return with_prefix(s, prefix, select_add_range);
}

int select_keep_prefix(struct select *s, struct bytes prefix)
{
	return with_prefix(s, prefix, select_keep_range);
}

/* Leaves of span what is in other as well. 0 or -ENOMEM. */
static int intersect(struct select_span *span, const struct select_span *other)
{
	struct bytes start = buf_bytes(&other->start);
	struct bytes end = buf_bytes(&other->end);
	int err = 0;

	if (bytes_compare(start, buf_bytes(&span->start)) > 0)
		err = buf_set(&span->start, start);
	if (!err && end.size > 0 &&
	    (span->end.size == 0 ||
	     bytes_compare(end, buf_bytes(&span->end)) < 0))
		err = buf_set(&span->end, end);
	return err;
}

int select_keep_range(struct select *s, const struct filter_range *range)
{
	struct select_span kept = { BUF_INIT, BUF_INIT };
	size_t i, count = 0;
	int err;

	if (!s->chosen)
		return select_add_range(s, range);
	err = span_set(&kept, range);
	for (i = 0; !err && i < s->count; i++)
		err = intersect(&s->spans[i], &kept);
	/* Half of them narrowed is still a selection, though not the one that
	 * was asked for. */
	for (i = 0; i < s->count; i++) {
		if (is_empty(&s->spans[i]))
			span_release(&s->spans[i]);
		else
			s->spans[count++] = s->spans[i];
	}
	s->count = count;
	span_release(&kept);
	return err;
}

int select_keep_after(struct select *s, struct bytes row)
{
	const struct filter_range before = { .end = row, .has_end = true };
	const struct filter_range behind = { .start = row,
					     .has_start = true,
					     .start_open = true };

	return select_keep_range(s, s->reverse ? &before : &behind);
}

int select_filter(struct select *s, int err, struct filter *f)
{
	if (!err && s->filter_count == SELECT_FILTERS_MAX)
		err = fail(ERR_bad_argument, "more than %d filters in a row",
			   SELECT_FILTERS_MAX);
	if (!err)
		s->filters[s->filter_count++] = f;
	else
		filter_free(f);
	return err;
}

bool select_is_empty(const struct select *s)
{
	return s->row_limit == 0 || (s->chosen && s->count == 0);
}

/* By their starts, for qsort. */
static int compare_spans(const void *a, const void *b)
{
	const struct select_span *left = a, *right = b;

	return bytes_compare(buf_bytes(&left->start), buf_bytes(&right->start));
}

/* Whether span, which begins no earlier, begins in last or where that ends. */
static bool touches(const struct select_span *last,
		    const struct select_span *span)
{
	return last->end.size == 0 || bytes_compare(buf_bytes(&span->start),
						    buf_bytes(&last->end)) <= 0;
}

static bool ends_later(const struct select_span *span,
		       const struct select_span *last)
{
	return last->end.size > 0 && (span->end.size == 0 ||
				      bytes_compare(buf_bytes(&span->end),
						    buf_bytes(&last->end)) > 0);
}

/* In place, by taking the bounds over. */
static void merge(struct select *s)
{
	struct select_span *last, *span;
	struct buf end;
	size_t i, count = 0;

	if (s->count > 0)
		qsort(s->spans, s->count, sizeof(*s->spans), compare_spans);
	for (i = 0; i < s->count; i++) {
		span = &s->spans[i];
		last = count > 0 ? &s->spans[count - 1] : NULL;
		if (!last || !touches(last, span)) {
			s->spans[count++] = *span;
			continue;
		}
		if (ends_later(span, last)) {
			end = last->end;
			last->end = span->end;
			span->end = end;
		}
		span_release(span);
	}
	s->count = count;
	s->sorted = true;
}

int select_settle(struct select *s)
{
	const struct filter_range all = { .has_start = false };
	struct filter *chain;
	int err = s->chosen ? 0 : select_add_range(s, &all);

	if (!err && !s->sorted)
		merge(s);
	if (err < 0 || s->filter_count < 2)
		return err;
	/* A chain owns its parts, also if it could not be made. */
	err = filter_new_chain(s->filters, s->filter_count, &chain);
	s->filter_count = !err;
	s->filters[0] = chain;
	return err;
}

bool select_hull(const struct select *s, struct bytes *start, struct bytes *end)
{
	assert(s->sorted);
	if (select_is_empty(s))
		return false;
	*start = buf_bytes(&s->spans[0].start);
	*end = buf_bytes(&s->spans[s->count - 1].end);
	return true;
}
