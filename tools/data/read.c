#include "tools/data/read.h"
#include "tools/data/select.h"
#include "tools/data/select_print.h"

/*
 * read and lookup are the same but for their arguments: a scan, and a selection
 * of what it gives (select.c), printed (select_print.c). Without a snapshot of
 * its own a scan sees the store as it is when it begins.
 */

/* As cbt with include-stats=full, which shows the latency of a server, too. */
static void print_stats(FILE *out, const struct select_counts *counts)
{
	fprintf(out,
		"Summary Stats\n"
		"====================\n"
		"rows_seen_count: %llu\n"
		"rows_returned_count: %llu\n"
		"cells_seen_count: %llu\n"
		"cells_returned_count: %llu\n"
		"frontend_server_latency: 0ms\n\n",
		(unsigned long long)counts->rows_seen,
		(unsigned long long)counts->rows_returned,
		(unsigned long long)counts->cells_seen,
		(unsigned long long)counts->cells_returned);
}

/* Opens the scan even if there is nothing to read, to refuse an unknown table.
 * 0 or an error. */
static int read_rows(struct verb_call *c, const struct select *s,
		     const struct scan_range *range,
		     struct select_counts *counts)
{
	struct scan *scan;
	int err = scan_open(c->store, NULL, range, &scan);

	if (err < 0)
		return err;
	if (!s->nothing)
		err = select_print(s, scan, c->out, counts);
	scan_close(scan);
	return err;
}

/* The table is told unknown even where the range is empty. After an error no
 * summary follows, for it would count a part. */
int verb_read(struct verb_call *c)
{
	struct select_counts counts = { 0 };
	struct scan_range range = { 0 };
	struct select s;
	int err, wrong;

	if (c->argc < 2)
		return verb_usage(c);
	wrong = select_parse(c, 2, true, &s);
	if (!wrong) {
		range.table = bytes_string(c->argv[1]);
		range.start = buf_bytes(&s.start);
		/* A range with its end before its start is empty too, but the
		 * scan is not to be asked what it makes of that. */
		range.end = s.nothing ? range.start : buf_bytes(&s.end);
		range.reverse = s.reversed;
		range.filter = s.filter;
		err = read_rows(c, &s, &range, &counts);
		if (err < 0)
			wrong = verb_failed(c, "Reading rows", err);
		else if (s.stats)
			print_stats(c->out, &counts);
	}
	select_release(&s);
	return wrong;
}

/* cbt prints an empty row for one that is missing, which is no failure. */
#define MISSING_ROW "----------------------------------------\n\n\n"

int verb_lookup(struct verb_call *c)
{
	struct select_counts counts = { 0 };
	struct scan_range range = { 0 };
	struct select s;
	int err = 0, wrong;

	if (c->argc < 3)
		return verb_usage(c);
	wrong = select_parse(c, 3, false, &s);
	if (!wrong) {
		range.table = bytes_string(c->argv[1]);
		range.row = bytes_string(c->argv[2]);
		range.filter = s.filter;
		/* No row has the empty key, but the table has to exist. */
		s.nothing = range.row.size == 0;
		err = read_rows(c, &s, &range, &counts);
		if (err < 0)
			wrong = verb_failed(c, "Reading row", err);
		if (!wrong && counts.rows_returned == 0)
			fputs(MISSING_ROW, c->out);
		if (!wrong && s.stats)
			print_stats(c->out, &counts);
	}
	select_release(&s);
	return wrong;
}

/* Rows that have a cell, of all or of a prefix. The count is printed only if it
 * is whole. */
int verb_count(struct verb_call *c)
{
	static const char *const keys[] = { "prefix", NULL };
	const char *prefix = NULL;
	struct scan_range range = { 0 };
	struct buf end = BUF_INIT;
	unsigned long long count = 0;
	struct scan *scan;
	struct cell cell;
	int err;

	if (c->argc < 2)
		return verb_usage(c);
	if (verb_arguments(c, 2, keys, &prefix))
		return 1;
	range.table = bytes_string(c->argv[1]);
	range.start = bytes_string(prefix ? prefix : "");
	/* Exact, so every row is looked at, but not its cells. */
	range.rows_only = true;
	err = prefix_end(range.start, &end);
	range.end = buf_bytes(&end);
	if (!err)
		err = scan_open(c->store, NULL, &range, &scan);
	if (!err) {
		while ((err = scan_next(scan, CURSOR_ROW, &cell)) > 0)
			count++;
		scan_close(scan);
	}
	buf_release(&end);
	if (err < 0)
		return verb_failed(c, "Reading rows", err);
	fprintf(c->out, "%llu\n", count);
	return 0;
}

/* A line of samplekeys; the last one has no key. */
static int print_sample(void *context, struct bytes row, uint64_t size)
{
	fprintf(context, "%llu", (unsigned long long)size);
	if (row.size > 0) {
		fputc(' ', context);
		fwrite(row.data, 1, row.size, context);
	}
	fputc('\n', context);
	return 0;
}

int verb_samplekeys(struct verb_call *c)
{
	int err;

	if (c->argc != 2)
		return verb_usage(c);
	err = store_sample_rows(c->store, bytes_string(c->argv[1]), BYTES_NONE,
				BYTES_NONE, print_sample, c->out);
	return err < 0 ? verb_failed(c, "Sampling rows", err) : 0;
}
