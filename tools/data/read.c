#include "store/text/watch/explain.h"
#include "tools/data/page.h"
#include "tools/data/read.h"
#include "tools/data/select.h"
#include "tools/data/select_print.h"
#include "tools/verb/time.h"

/*
 * read, lookup and count are the same but for their words: what select.c makes
 * of these is read, and printed or counted.
 */

/* What a summary tells: rows and cells that were in the way, and of them those
 * that were printed. */
struct read_counts {
	uint64_t rows_seen, rows_returned, cells_seen, cells_returned;
};

/* As cbt with include-stats=full, which shows the latency of a server, too. */
static void print_stats(FILE *out, const struct read_counts *counts)
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

/* Counts what lies in the rows of s, up to last unless that is empty: what a
 * scan with the filters of s does not tell, as it steps over what they have no
 * use for. */
static int count_seen(struct verb_call *c, const struct snapshot *snapshot,
		      const struct select *s, struct bytes last,
		      struct read_counts *counts)
{
	/* Borrows all of s, which is settled. */
	struct select all = *s;
	const struct scan_range how = { .table = bytes_string(c->argv[1]),
					.keep_large = true };
	struct select_scan *scan;
	struct cell cell;
	int err, order;

	all.filter_count = 0;
	all.row_limit = UINT64_MAX;
	err = select_open(c->store, snapshot, &all, &how, &scan);
	while (!err && (err = select_next(scan, CURSOR_VERSION, &cell)) == 1) {
		order = last.size > 0 ? bytes_compare(cell.row, last) : 0;
		err = 0;
		if (s->reverse ? order < 0 : order > 0)
			break;
		counts->rows_seen = select_row_count(scan);
		counts->cells_seen++;
	}
	select_close(scan);
	return err;
}

/* The word that goes on behind the row, on standard error, where it is in
 * nobody's way. 0 or -ENOMEM. */
static int print_page(FILE *out, struct bytes row)
{
	struct buf token = BUF_INIT;
	int err = page_print(row, &token);

	if (!err)
		fprintf(out, "page=%.*s\n", (int)token.size, token.data);
	buf_release(&token);
	return err;
}

/* Prints the rows and, after all of them, what else is asked for; a summary
 * would count a part after an error. 0 or an error. */
static int read_rows(struct verb_call *c, struct select_words *w,
		     const struct snapshot *snapshot,
		     struct read_counts *counts)
{
	const struct scan_range how = { .table = bytes_string(c->argv[1]),
					.keep_large = true };
	struct bytes last = BYTES_NONE;
	struct select_scan *scan;
	int err = select_open(c->store, snapshot, &w->select, &how, &scan);

	if (err < 0)
		return err;
	err = select_print(scan, c->out, &counts->cells_returned);
	counts->rows_returned = select_row_count(scan);
	if (select_was_limited(scan))
		last = select_row(scan);
	if (!err && w->stats && w->select.row_limit > 0)
		err = count_seen(c, snapshot, &w->select, last, counts);
	if (!err && w->paged && last.size > 0)
		err = print_page(c->err, last);
	select_close(scan);
	return err;
}

/* What follows the words: of one moment, if it is read twice. 0, or 1 after it
 * said what is wrong. */
static int run_words(struct verb_call *c, struct select_words *w,
		     const char *doing, struct read_counts *counts)
{
	struct snapshot *snapshot;
	int err = 0;

	if (verb_moment(c, w->as_of, &snapshot))
		return 1;
	if (w->stats && !snapshot)
		err = store_snapshot(c->store, &snapshot);
	if (!err)
		err = read_rows(c, w, snapshot, counts);
	store_snapshot_release(c->store, snapshot);
	return err < 0 ? verb_failed(c, doing, err) : 0;
}

/* explain=yes: how the rows are read, and what that costs, instead of them. */
static int explain(struct verb_call *c, struct select_words *w)
{
	const struct scan_range how = { .table = bytes_string(c->argv[1]),
					.keep_large = true };
	struct buf text = BUF_INIT;
	struct snapshot *moment;
	int err;

	if (verb_moment(c, w->as_of, &moment))
		return 1;
	err = explain_print(c->store, moment, &w->select, &how, &text);
	store_snapshot_release(c->store, moment);
	fwrite(text.data, 1, text.size, c->out);
	buf_release(&text);
	return err < 0 ? verb_failed(c, "Reading rows", err) : 0;
}

int verb_read(struct verb_call *c)
{
	struct read_counts counts = { 0 };
	struct select_words w;
	int wrong;

	if (c->argc < 2)
		return verb_usage(c);
	wrong = select_parse(c, SELECT_READ, &w);
	if (!wrong && w.explained) {
		wrong = explain(c, &w);
	} else if (!wrong) {
		wrong = run_words(c, &w, "Reading rows", &counts);
		if (!wrong && w.stats)
			print_stats(c->out, &counts);
	}
	select_words_release(&w);
	return wrong;
}

/* cbt, which takes one key, prints an empty row for one that is missing, which
 * is no failure. Of several keys those that are there are shown. */
#define MISSING_ROW "----------------------------------------\n\n\n"

int verb_lookup(struct verb_call *c)
{
	struct read_counts counts = { 0 };
	struct select_words w;
	int wrong;

	if (c->argc < 3)
		return verb_usage(c);
	wrong = select_parse(c, SELECT_LOOKUP, &w);
	if (!wrong) {
		wrong = run_words(c, &w, "Reading row", &counts);
		if (!wrong && counts.rows_returned == 0 && w.select.count <= 1)
			fputs(MISSING_ROW, c->out);
		if (!wrong && w.stats)
			print_stats(c->out, &counts);
	}
	select_words_release(&w);
	return wrong;
}

/* Rows that have a cell, exact: each is looked at, but without a filter none of
 * its cells. The count is printed only if it is whole. */
int verb_count(struct verb_call *c)
{
	struct scan_range how = { .rows_only = true };
	struct select_scan *scan = NULL;
	struct snapshot *moment = NULL;
	struct select_words w;
	struct cell cell;
	int err, wrong;

	if (c->argc < 2)
		return verb_usage(c);
	wrong = select_parse(c, SELECT_COUNT, &w) ||
		verb_moment(c, w.as_of, &moment);
	if (!wrong) {
		how.table = bytes_string(c->argv[1]);
		err = select_open(c->store, moment, &w.select, &how, &scan);
		while (!err &&
		       (err = select_next(scan, CURSOR_ROW, &cell)) == 1)
			err = 0;
		if (err < 0)
			wrong = verb_failed(c, "Reading rows", err);
		else
			fprintf(c->out, "%llu\n",
				(unsigned long long)select_row_count(scan));
		select_close(scan);
	}
	store_snapshot_release(c->store, moment);
	select_words_release(&w);
	return wrong;
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
