#include "store/format/key.h"
#include "store/model/filter/scan_bounds.h"

/* Narrows the encoded bounds to the rows that the filter needs. If none are
 * left, start may lie behind end, which is an empty range. */
static int narrow_rows(const struct filter_need *need, uint32_t table,
		       struct buf *from, struct buf *to)
{
	struct buf start = BUF_INIT, end = BUF_INIT;
	int err = key_add_table(&start, table);

	if (err == 0)
		err = need->row_is_head
			      ? key_add_part(&start, need->row_head)
			      : key_add_open_part(&start, need->row_head);
	if (err == 0)
		err = key_successor(buf_bytes(&start), &end);
	if (err == 0 && bytes_compare(buf_bytes(&start), buf_bytes(from)) > 0)
		err = buf_set(from, buf_bytes(&start));
	if (err == 0 && bytes_compare(buf_bytes(&end), buf_bytes(to)) < 0)
		err = buf_set(to, buf_bytes(&end));
	buf_release(&start);
	buf_release(&end);
	return err;
}

/* The encoded start of one row, or of what of it is asked for or needed; all of
 * it is what filters of files know. What is asked for goes before what the
 * filter needs: if they differ, the filter passes nothing of it. */
static int encode_row(const struct scan_range *r, const struct filter_need *n,
		      struct buf *start)
{
	bool has_family = r->has_family || n->has_family;
	bool has_qualifier = r->has_family && r->has_qualifier;
	struct bytes family = r->has_family ? r->family : n->family;
	struct bytes qualifier = r->qualifier;
	int err = key_add_part(start, r->row);

	if (!has_qualifier && n->has_qualifier) {
		has_qualifier = true;
		qualifier = n->qualifier;
	}
	if (err == 0 && has_family)
		err = key_add_part(start, family);
	if (err == 0 && has_family && has_qualifier)
		err = key_add_part(start, qualifier);
	return err;
}

int scan_bounds(const struct scan_range *r, const struct filter_need *need,
		uint32_t table, struct buf *start, struct buf *end,
		size_t *prefix)
{
	int err;

	*prefix = 0;
	if (r->row.size > 0) {
		err = key_add_table(start, table);
		if (err == 0)
			err = encode_row(r, need, start);
		*prefix = start->size;
		return err < 0 ? err : key_successor(buf_bytes(start), end);
	}
	err = key_row_range(table, r->start, r->end, start, end);
	if (err == 0 && need->row_head.size > 0)
		err = narrow_rows(need, table, start, end);
	return err;
}
