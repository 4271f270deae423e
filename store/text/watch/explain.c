#include "store/base/watch/cost.h"
#include "store/base/watch/histogram.h"
#include "store/text/value/quote.h"
#include "store/text/watch/explain.h"

/* What the lines of one selection are made with. */
struct explaining {
	struct buf *out;
	bool told; /* what of the filter is pushed down */
};

struct number {
	const char *name;
	uint64_t value;
};

/* " name=value" of each, and the end of the line. */
static int add_numbers(const struct number *numbers, size_t count,
		       struct buf *out)
{
	size_t i;
	int err = 0;

	for (i = 0; i < count && !err; i++)
		err = buf_printf(out, " %s=%llu", numbers[i].name,
				 (unsigned long long)numbers[i].value);
	return err ? err : buf_add_byte(out, '\n');
}

/* " name=" and a quoted key. */
static int add_key(const char *name, struct bytes key, struct buf *out)
{
	int err = buf_printf(out, " %s=", name);

	return err ? err : quote_go(key, out);
}

/* What of the filter leaves out beforehand: the same for all ranges. */
static int tell_pushed(const struct scan_plan *p, struct buf *out)
{
	int err;

	if (p->row_head.size == 0 && !p->has_family && p->since_us == 0)
		return 0;
	err = buf_add_string(out, "pushed");
	if (!err && p->row_head.size > 0)
		err = add_key(p->row_is_head ? "row" : "rows_begin",
			      p->row_head, out);
	if (!err && p->has_family)
		err = add_key("family", p->family, out);
	if (!err && p->has_qualifier)
		err = add_key("column", p->qualifier, out);
	if (!err && p->since_us > 0)
		err = buf_printf(out, " since=%llu",
				 (unsigned long long)p->since_us);
	return err ? err : buf_add_byte(out, '\n');
}

/* For select_plan. */
static int tell_range(void *context, struct bytes start, struct bytes end,
		      const struct scan_plan *p)
{
	const struct number numbers[] = {
		{ "memtables", p->memtables }, { "ssts", p->ssts },
		{ "excluded", p->excluded },   { "too_old", p->too_old },
		{ "all_ssts", p->all_ssts },   { "blocks", p->blocks },
		{ "bytes", p->bytes },
	};
	struct explaining *x = context;
	int err = 0;

	if (!x->told)
		err = tell_pushed(p, x->out);
	x->told = true;
	if (!err)
		err = buf_add_string(x->out, "range");
	if (!err)
		err = add_key("start", start, x->out);
	if (!err)
		err = add_key("end", end, x->out);
	return err ? err
		   : add_numbers(numbers, sizeof(numbers) / sizeof(*numbers),
				 x->out);
}

/* Reads all of it, drops what comes, and tells what that cost. */
static int tell_cost(struct store *s, const struct snapshot *snapshot,
		     struct select *select, const struct scan_range *how,
		     struct buf *out)
{
	uint64_t cells = 0, size = 0, rows, start_ns = histogram_now_ns();
	struct cost before = thread_cost, taken;
	struct select_scan *scan;
	struct cell cell;
	int err = select_open(s, snapshot, select, how, &scan);

	if (err)
		return err;
	while ((err = select_next(scan, CURSOR_VERSION, &cell)) == 1) {
		cells++;
		size += cell_size(&cell);
	}
	rows = select_row_count(scan);
	select_close(scan);
	taken = cost_since(&before);
	if (!err)
		err = buf_add_string(out, "cost");
	if (!err) {
		const struct number numbers[] = {
			{ "rows", rows },
			{ "cells", cells },
			{ "bytes", size },
			{ "passed", taken.cells },
			{ "files", taken.files },
			{ "excluded", taken.excluded },
			{ "blocks", taken.blocks },
			{ "blocks_read", taken.blocks_read },
			{ "bytes_read", taken.bytes_read },
			{ "us", (histogram_now_ns() - start_ns) / 1000 },
		};

		err = add_numbers(numbers, sizeof(numbers) / sizeof(*numbers),
				  out);
	}
	return err;
}

int explain_print(struct store *s, const struct snapshot *snapshot,
		  struct select *select, const struct scan_range *how,
		  struct buf *out)
{
	struct explaining x = { .out = out };
	int err = select_plan(s, select, how, EXPLAIN_RANGES, tell_range, &x);

	if (!err)
		err = buf_printf(out, "ranges count=%zu\n", select->count);
	return err ? err : tell_cost(s, snapshot, select, how, out);
}
