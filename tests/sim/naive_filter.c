#include <stdlib.h>

#include "tests/sim/naive_filter.h"

void filtered_add(struct filtered_list *l, const struct filtered *c)
{
	if (l->count == l->room) {
		l->room = l->room * 2 + 8;
		l->items = realloc(l->items, l->room * sizeof(*l->items));
		if (!l->items)
			abort();
	}
	l->items[l->count++] = *c;
}

void filtered_release(struct filtered_list *l)
{
	free(l->items);
	*l = (struct filtered_list){ NULL, 0, 0 };
}

/* Whether b comes behind a in a scan: 1, 0 at the same place, -1. */
int compare_places(const struct cell *a, const struct cell *b)
{
	int order = bytes_compare(a->row, b->row);

	if (!order)
		order = bytes_compare(a->family, b->family);
	if (!order)
		order = bytes_compare(a->qualifier, b->qualifier);
	if (!order)
		order = (a->timestamp_us < b->timestamp_us) -
			(a->timestamp_us > b->timestamp_us);
	return order;
}

static bool range_holds(const struct filter_range *r, struct bytes b)
{
	if (r->has_start && r->start_open && bytes_compare(b, r->start) <= 0)
		return false;
	if (r->has_start && !r->start_open && bytes_compare(b, r->start) < 0)
		return false;
	if (r->has_end && r->end_closed && bytes_compare(b, r->end) > 0)
		return false;
	return !r->has_end || r->end_closed || bytes_compare(b, r->end) < 0;
}

bool same_column(const struct cell *a, const struct cell *b)
{
	return bytes_equal(a->family, b->family) &&
	       bytes_equal(a->qualifier, b->qualifier);
}

static uint64_t rank_in_column(const struct filtered_list *in, size_t i)
{
	uint64_t rank = 0;
	size_t j;

	for (j = 0; j < i; j++)
		rank += same_column(&in->items[j].cell, &in->items[i].cell);
	return rank;
}

static bool bits_hold(struct bytes mask, struct bytes value)
{
	size_t bit;

	for (bit = 0; bit < 8 * mask.size && mask.size == value.size; bit++)
		if ((mask.data[bit / 8] >> bit % 8 & 1) &&
		    !(value.data[bit / 8] >> bit % 8 & 1))
			return false;
	return mask.size == value.size;
}

static bool holds(struct filter *f, const struct filtered_list *in, size_t i)
{
	const struct cell *c = &in->items[i].cell;

	switch (f->kind) {
	case FILTER_BLOCK:
		return false;
	case FILTER_ROW:
		return regex_match(f->regex, c->row, NULL) == 1;
	case FILTER_FAMILY:
		return regex_match(f->regex, c->family, NULL) == 1;
	case FILTER_QUALIFIER:
		return regex_match(f->regex, c->qualifier, NULL) == 1;
	case FILTER_VALUE:
		return regex_match(f->regex, c->value, NULL) == 1;
	case FILTER_COLUMNS:
		return bytes_equal(c->family, buf_bytes(&f->name)) &&
		       range_holds(&f->range, c->qualifier);
	case FILTER_VALUES:
		return range_holds(&f->range, c->value);
	case FILTER_BITMASK:
		return bits_hold(buf_bytes(&f->name), c->value);
	case FILTER_TIMESTAMPS:
		return c->timestamp_us >= f->from_us &&
		       c->timestamp_us < f->to_us;
	case FILTER_ROW_LIMIT:
		return i < f->limit;
	case FILTER_ROW_OFFSET:
		return i >= f->limit;
	case FILTER_COLUMN_LIMIT:
		return rank_in_column(in, i) < f->limit;
	default:
		return true;
	}
}

void filtered_append(struct filtered_list *to, struct filtered_list from)
{
	size_t i;

	for (i = 0; i < from.count; i++)
		filtered_add(to, &from.items[i]);
	filtered_release(&from);
}

static unsigned int nested;

/* The order in which an interleave gives cells: by place, then, which is up to
 * us, cell by cell, through one part after another. */
static int compare_interleaved(const struct filtered *a,
			       const struct filtered *b)
{
	int order = compare_places(&a->cell, &b->cell);

	if (!order && a->origin[nested] != b->origin[nested])
		return a->origin[nested] < b->origin[nested] ? -1 : 1;
	if (!order && a->part[nested] != b->part[nested])
		return a->part[nested] < b->part[nested] ? -1 : 1;
	return order;
}

/* Keeps the order of what is equal. */
static void sort_interleaved(struct filtered_list *l)
{
	size_t i, j;

	for (i = 1; i < l->count; i++) {
		struct filtered c = l->items[i];

		for (j = i;
		     j > 0 && compare_interleaved(&l->items[j - 1], &c) > 0;
		     j--)
			l->items[j] = l->items[j - 1];
		l->items[j] = c;
	}
}

static struct filtered_list eval_interleave(struct filter *f,
					    const struct filtered_list *in,
					    struct filtered_list *sunk)
{
	struct filtered_list out = { NULL, 0, 0 }, copies = { NULL, 0, 0 };
	size_t i, j;

	nested++;
	if (nested == NESTED_MAX)
		abort();
	for (i = 0; i < f->part_count; i++) {
		filtered_release(&copies);
		for (j = 0; j < in->count; j++) {
			filtered_add(&copies, &in->items[j]);
			copies.items[j].origin[nested] = j;
			copies.items[j].part[nested] = i;
		}
		filtered_append(&out, naive_filter(f->parts[i], &copies, sunk));
	}
	filtered_release(&copies);
	sort_interleaved(&out);
	nested--;
	return out;
}

static struct filtered_list eval_composed(struct filter *f,
					  const struct filtered_list *in,
					  struct filtered_list *sunk)
{
	struct filtered_list out = { NULL, 0, 0 }, next;
	struct filter *branch;
	size_t i;

	switch (f->kind) {
	case FILTER_CHAIN:
		out = naive_filter(f->parts[0], in, sunk);
		for (i = 1; i < f->part_count; i++) {
			next = naive_filter(f->parts[i], &out, sunk);
			filtered_release(&out);
			out = next;
		}
		return out;
	case FILTER_INTERLEAVE:
		return eval_interleave(f, in, sunk);
	default:
		next = naive_filter(f->parts[0], in, sunk);
		branch = next.count > 0 ? f->parts[1] : f->parts[2];
		filtered_release(&next);
		return branch ? naive_filter(branch, in, sunk) : out;
	}
}

struct filtered_list naive_filter(struct filter *f,
				  const struct filtered_list *in,
				  struct filtered_list *sunk)
{
	struct filtered_list out = { NULL, 0, 0 };
	size_t i;

	if (f->kind >= FILTER_CHAIN)
		return eval_composed(f, in, sunk);
	for (i = 0; i < in->count; i++) {
		struct filtered c = in->items[i];

		if (f->kind == FILTER_STRIP)
			c.cell.value = BYTES_NONE;
		if (f->kind == FILTER_LABEL)
			c.label = buf_bytes(&f->name);
		if (f->kind == FILTER_SINK)
			filtered_add(sunk, &c);
		else if (holds(f, in, i))
			filtered_add(&out, &c);
	}
	return out;
}
