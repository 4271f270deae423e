#include <stdlib.h>

#include "store/text/import/import.h"
#include "store/text/value/number.h"
#include "tests/conformance/run.h"

/* Operations that change rows. */

static int add_set(struct run *r, const struct operation *m, struct write *w)
{
	struct buf family = BUF_INIT, qualifier = BUF_INIT, value = BUF_INIT;
	int64_t us;
	int err = RUN_MALFORMED;

	if (m->words.count == 5 && parse_name(word(m, 1), &family) &&
	    parse_bytes(word(m, 2), &qualifier) &&
	    parse_time(r, word(m, 3), &us) && parse_bytes(word(m, 4), &value))
		err = us < -1 ? -ERR_bad_timestamp
			      : write_set(w, buf_bytes(&family),
					  buf_bytes(&qualifier),
					  us < 0 ? STORE_NOW : (uint64_t)us,
					  buf_bytes(&value));
	buf_release(&family);
	buf_release(&qualifier);
	buf_release(&value);
	return err;
}

/* add F QUAL TS INT | merge F QUAL TS STATE; the time must be said. */
static int add_aggregate(struct run *r, const struct operation *m,
			 struct write *w)
{
	struct buf family = BUF_INIT, qualifier = BUF_INIT, state = BUF_INIT;
	bool is_add = !strcmp(word(m, 0), "add");
	int64_t us, number = 0;
	int err = RUN_MALFORMED;

	if (m->words.count == 5 && parse_name(word(m, 1), &family) &&
	    parse_bytes(word(m, 2), &qualifier) &&
	    parse_time(r, word(m, 3), &us) &&
	    (is_add ? int_parse_go(bytes_string(word(m, 4)), &number)
		    : parse_bytes(word(m, 4), &state))) {
		if (us < 0)
			err = fail(ERR_bad_timestamp,
				   "AddToCell must set timestamp >= 0");
		else if (is_add)
			err = write_add(w, buf_bytes(&family),
					buf_bytes(&qualifier), (uint64_t)us,
					number);
		else
			err = write_merge(w, buf_bytes(&family),
					  buf_bytes(&qualifier), (uint64_t)us,
					  buf_bytes(&state));
	}
	buf_release(&family);
	buf_release(&qualifier);
	buf_release(&state);
	return err;
}

static int add_delcol(struct run *r, const struct operation *m, struct write *w)
{
	const char *from_text = option(m, 3, "from");
	const char *to_text = option(m, 3, "to");
	struct buf family = BUF_INIT, qualifier = BUF_INIT;
	int64_t from = 0, to = 0;
	int err = RUN_MALFORMED;

	if (parse_name(word(m, 1), &family) &&
	    parse_bytes(word(m, 2), &qualifier) &&
	    (!from_text || parse_time(r, from_text, &from)) &&
	    (!to_text || parse_time(r, to_text, &to)))
		err = write_delete_cells(w, buf_bytes(&family),
					 buf_bytes(&qualifier), (uint64_t)from,
					 (uint64_t)to);
	buf_release(&family);
	buf_release(&qualifier);
	return err;
}

int add_mutation(struct run *r, const struct operation *m, struct write *w)
{
	struct buf family = BUF_INIT;
	int err = RUN_MALFORMED;

	if (!strcmp(word(m, 0), "set"))
		return add_set(r, m, w);
	if (!strcmp(word(m, 0), "delcol"))
		return add_delcol(r, m, w);
	if (!strcmp(word(m, 0), "delrow"))
		return write_delete_row(w);
	if (!strcmp(word(m, 0), "add") || !strcmp(word(m, 0), "merge"))
		return add_aggregate(r, m, w);
	if (!strcmp(word(m, 0), "delfam") && parse_name(word(m, 1), &family))
		err = write_delete_family(w, buf_bytes(&family));
	buf_release(&family);
	return err;
}

/* Names the row of what follows: T ROW. */
static int begin_row(struct run *r, const char *table_text,
		     const char *row_text)
{
	struct buf table = BUF_INIT, row = BUF_INIT;
	int err = RUN_MALFORMED;

	if (parse_name(table_text, &table) && parse_bytes(row_text, &row))
		err = write_row(r->w, buf_bytes(&table), buf_bytes(&row));
	buf_release(&table);
	buf_release(&row);
	return err;
}

static int commit_ok(struct run *r, int err)
{
	if (!err)
		err = store_commit(r->store, r->w, false);
	write_reset(r->w);
	return err ? err : buf_add_string(&r->out, "ok\n");
}

/* NAME T ROW REST...: the mutation is NAME REST.... */
static int run_single(struct run *r, const struct operation *o)
{
	struct operation m = { .line = o->line };
	size_t i;
	int err = list_add(&m.words, o->words.items[0]);

	for (i = 3; !err && i < o->words.count; i++)
		err = list_add(&m.words, o->words.items[i]);
	if (!err)
		err = begin_row(r, word(o, 1), word(o, 2));
	if (!err)
		err = add_mutation(r, &m, r->w);
	free(m.words.items);
	return commit_ok(r, err);
}

int run_set(struct run *r, const struct operation *o)
{
	return run_single(r, o);
}

int run_delcol(struct run *r, const struct operation *o)
{
	return run_single(r, o);
}

int run_delfam(struct run *r, const struct operation *o)
{
	return run_single(r, o);
}

int run_delrow(struct run *r, const struct operation *o)
{
	return run_single(r, o);
}

int add_line(struct run *r, const char *line, size_t first, struct write *w)
{
	struct operation m = { .line = 0 };
	char *text = strdup(line);
	int err = text ? list_split(&m.words, text) : -ENOMEM;

	if (!err && m.words.count < first)
		err = RUN_MALFORMED;
	if (!err) {
		m.words.items += first;
		m.words.count -= first;
		err = add_mutation(r, &m, w);
		m.words.items -= first;
	}
	free(m.words.items);
	free(text);
	return err;
}

int run_mutate(struct run *r, const struct operation *o)
{
	size_t i;
	int err = begin_row(r, word(o, 1), word(o, 2));

	/* A request has mutations; the C interface commits nothing as well. */
	if (!err && o->block.count == 0)
		err = fail(ERR_bad_argument, "No mutations provided");
	for (i = 0; !err && i < o->block.count; i++)
		err = add_line(r, o->block.items[i], 0, r->w);
	return commit_ok(r, err);
}

/* Names the row of a line that begins with it. */
static int begin_line_row(struct run *r, const char *table, const char *line)
{
	char *row = strndup(line, strcspn(line, " "));
	int err = row ? begin_row(r, table, row) : -ENOMEM;

	free(row);
	return err;
}

/* Each line is an entry of its own: ROW MUTATION. */
int run_bulk(struct run *r, const struct operation *o)
{
	size_t i;
	int err = 0;

	for (i = 0; !err && i < o->block.count; i++) {
		int failed = begin_line_row(r, word(o, 1), o->block.items[i]);

		if (!failed)
			failed = add_line(r, o->block.items[i], 1, r->w);
		if (failed > 0)
			return failed;
		if (!failed)
			failed = store_commit(r->store, r->w, false);
		write_reset(r->w);
		err = buf_printf(&r->out, "e %zu %s\n", i,
				 failed ? "failed" : "OK");
	}
	return err;
}

int run_dropprefix(struct run *r, const struct operation *o)
{
	struct buf table = BUF_INIT, prefix = BUF_INIT;
	int err = RUN_MALFORMED;

	if (parse_name(word(o, 1), &table) && parse_bytes(word(o, 2), &prefix))
		err = write_delete_prefix(r->w, buf_bytes(&table),
					  buf_bytes(&prefix));
	buf_release(&table);
	buf_release(&prefix);
	return commit_ok(r, err);
}

int run_dropall(struct run *r, const struct operation *o)
{
	struct buf table = BUF_INIT;
	int err = RUN_MALFORMED;

	if (parse_name(word(o, 1), &table))
		err = write_delete_range(r->w, buf_bytes(&table), BYTES_NONE,
					 BYTES_NONE);
	buf_release(&table);
	return commit_ok(r, err);
}

int run_import(struct run *r, const struct operation *o)
{
	struct buf table = BUF_INIT, family = BUF_INIT, csv = BUF_INIT;
	const char *family_text = option(o, 2, "family");
	const char *csv_text = option(o, 2, "csv");
	const char *ts = option(o, 2, "ts");
	struct import_options options = { .strict = true };
	struct importer *im = NULL;
	size_t at;
	int err = RUN_MALFORMED;

	if (!csv_text || !parse_bytes(csv_text, &csv) ||
	    !parse_name(word(o, 1), &table) ||
	    (family_text && !parse_name(family_text, &family)))
		goto release;
	options.table = buf_bytes(&table);
	options.family = buf_bytes(&family);
	options.value_timestamps = ts && !strcmp(ts, "value");
	err = importer_new(r->store, TEXT_CSV, &options, &im);
	/* In pieces of three bytes, because pieces must not matter. */
	for (at = 0; !err && at < csv.size; at += 3)
		err = importer_feed(
			im, bytes_of(csv.data + at,
				     csv.size - at < 3 ? csv.size - at : 3));
	if (!err)
		err = importer_finish(im, false);
	if (!err)
		err = buf_printf(
			&r->out, "imported %llu\n",
			(unsigned long long)importer_result(im)->row_count);
release:
	importer_free(im);
	buf_release(&table);
	buf_release(&family);
	buf_release(&csv);
	return err;
}
