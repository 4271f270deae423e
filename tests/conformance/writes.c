#include <stdlib.h>

#include "store/text/import/import.h"
#include "store/text/value/number.h"
#include "tests/conformance/target.h"

/* Operations that change rows. */

static bool parse_set(struct run *r, const struct operation *m,
		      struct proto_mutation *out)
{
	struct proto_set_cell *set = run_alloc(r, sizeof(*set));

	out->mutation_case = nr_mutation_set_cell;
	out->set_cell = set;
	return set && m->words.count == 5 &&
	       parse_name(r, word(m, 1), &set->family_name) &&
	       parse_bytes(r, word(m, 2), &set->column_qualifier) &&
	       parse_time(r, word(m, 3), &set->timestamp_micros) &&
	       parse_bytes(r, word(m, 4), &set->value);
}

/* add F QUAL TS INT | merge F QUAL TS STATE, whose messages have the same
 * fields. */
static bool parse_aggregate(struct run *r, const struct operation *m,
			    struct proto_add_to_cell *out)
{
	struct proto_value *v = run_alloc(r, 3 * sizeof(*v));

	if (!v || m->words.count != 5)
		return false;
	v[0].kind_case = v[2].kind_case = nr_value_raw_value;
	v[1].kind_case = nr_value_raw_timestamp_micros;
	out->column_qualifier = &v[0];
	out->timestamp = &v[1];
	out->input = &v[2];
	if (!parse_name(r, word(m, 1), &out->family_name) ||
	    !parse_bytes(r, word(m, 2), &v[0].raw_value) ||
	    !parse_time(r, word(m, 3), &v[1].raw_timestamp_micros))
		return false;
	if (!strcmp(word(m, 0), "merge"))
		return parse_bytes(r, word(m, 4), &v[2].raw_value);
	v[2].kind_case = nr_value_int_value;
	return int_parse_go(bytes_string(word(m, 4)), &v[2].int_value);
}

static bool parse_delcol(struct run *r, const struct operation *m,
			 struct proto_mutation *out)
{
	struct proto_delete_from_column *d = run_alloc(r, sizeof(*d));
	struct proto_timestamp_range *t = run_alloc(r, sizeof(*t));
	const char *from = option(m, 3, "from"), *to = option(m, 3, "to");

	out->mutation_case = nr_mutation_delete_from_column;
	out->delete_from_column = d;
	if (!d || !t || !parse_name(r, word(m, 1), &d->family_name) ||
	    !parse_bytes(r, word(m, 2), &d->column_qualifier))
		return false;
	if (from || to)
		d->time_range = t;
	return (!from || parse_time(r, from, &t->start_timestamp_micros)) &&
	       (!to || parse_time(r, to, &t->end_timestamp_micros));
}

static bool parse_delfam(struct run *r, const struct operation *m,
			 struct proto_mutation *out)
{
	struct proto_delete_from_family *d = run_alloc(r, sizeof(*d));

	out->mutation_case = nr_mutation_delete_from_family;
	out->delete_from_family = d;
	return d && parse_name(r, word(m, 1), &d->family_name);
}

bool parse_mutation(struct run *r, const struct operation *m,
		    struct proto_mutation *out)
{
	const char *name = word(m, 0);

	if (!strcmp(name, "set"))
		return parse_set(r, m, out);
	if (!strcmp(name, "delcol"))
		return parse_delcol(r, m, out);
	if (!strcmp(name, "delfam"))
		return parse_delfam(r, m, out);
	if (!strcmp(name, "add")) {
		out->mutation_case = nr_mutation_add_to_cell;
		out->add_to_cell = run_alloc(r, sizeof(*out->add_to_cell));
		return out->add_to_cell &&
		       parse_aggregate(r, m, out->add_to_cell);
	}
	if (!strcmp(name, "merge")) {
		struct proto_add_to_cell same = { .family_name = BYTES_NONE };

		out->mutation_case = nr_mutation_merge_to_cell;
		out->merge_to_cell = run_alloc(r, sizeof(*out->merge_to_cell));
		if (!out->merge_to_cell || !parse_aggregate(r, m, &same))
			return false;
		*out->merge_to_cell = (struct proto_merge_to_cell){
			.family_name = same.family_name,
			.column_qualifier = same.column_qualifier,
			.timestamp = same.timestamp,
			.input = same.input,
		};
		return true;
	}
	out->mutation_case = nr_mutation_delete_from_row;
	out->delete_from_row = run_alloc(r, sizeof(*out->delete_from_row));
	return out->delete_from_row && !strcmp(name, "delrow");
}

bool parse_line(struct run *r, const char *line, size_t first,
		struct proto_mutation *out)
{
	struct operation m = { .line = 0 };
	bool ok = run_words(r, line, &m.words) == 0 && m.words.count >= first;

	if (ok) {
		m.words.items += first;
		m.words.count -= first;
		ok = parse_mutation(r, &m, out);
		m.words.items -= first;
	}
	free(m.words.items);
	return ok;
}

/* Names the row of what follows: T ROW. */
static bool begin_row(struct run *r, const struct operation *o,
		      struct proto_mutate_row *q)
{
	*q = (struct proto_mutate_row){ .table_name = BYTES_NONE };
	q->mutations.at =
		run_alloc(r, (o->block.count + 1) * sizeof(*q->mutations.at));
	return q->mutations.at && parse_name(r, word(o, 1), &q->table_name) &&
	       parse_bytes(r, word(o, 2), &q->row_key);
}

static int put_ok(struct run *r, int err)
{
	return err ? err : buf_add_string(&r->out, "ok\n");
}

/* NAME T ROW REST...: the mutation is NAME REST.... */
static int run_single(struct run *r, const struct operation *o)
{
	struct operation m = { .line = o->line };
	struct proto_mutate_row q;
	bool ok = list_add(&m.words, o->words.items[0]) == 0;
	size_t i;

	for (i = 3; ok && i < o->words.count; i++)
		ok = list_add(&m.words, o->words.items[i]) == 0;
	ok = ok && begin_row(r, o, &q) && parse_mutation(r, &m, q.mutations.at);
	free(m.words.items);
	q.mutations.count = 1;
	return ok ? put_ok(r, r->target->mutate_row(r, &q)) : RUN_MALFORMED;
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

int run_mutate(struct run *r, const struct operation *o)
{
	struct proto_mutate_row q;
	size_t i;

	if (!begin_row(r, o, &q))
		return RUN_MALFORMED;
	for (i = 0; i < o->block.count; i++)
		if (!parse_line(r, o->block.items[i], 0,
				&q.mutations.at[q.mutations.count++]))
			return RUN_MALFORMED;
	return put_ok(r, r->target->mutate_row(r, &q));
}

/* ROW MUTATION */
static bool parse_entry(struct run *r, const char *line,
			struct proto_mutate_entry *entry)
{
	struct bytes row = run_keep(r, bytes_of(line, strcspn(line, " ")));

	entry->mutations.at = run_alloc(r, sizeof(*entry->mutations.at));
	entry->mutations.count = 1;
	return row.data && entry->mutations.at &&
	       parse_bytes(r, (const char *)row.data, &entry->row_key) &&
	       parse_line(r, line, 1, entry->mutations.at);
}

/* Each line is an entry of its own. */
int run_bulk(struct run *r, const struct operation *o)
{
	struct proto_mutate_rows q = { .table_name = BYTES_NONE };
	size_t count = o->block.count, i;
	bool *failed = run_alloc(r, count + 1);
	int err;

	q.entries.at = run_alloc(r, (count + 1) * sizeof(*q.entries.at));
	q.entries.count = count;
	if (!failed || !q.entries.at ||
	    !parse_name(r, word(o, 1), &q.table_name))
		return RUN_MALFORMED;
	for (i = 0; i < count; i++)
		if (!parse_entry(r, o->block.items[i], &q.entries.at[i]))
			return RUN_MALFORMED;
	err = r->target->mutate_rows(r, &q, failed);
	for (i = 0; !err && i < count; i++)
		err = buf_printf(&r->out, "e %zu %s\n", i,
				 failed[i] ? "failed" : "OK");
	return err;
}

int run_dropprefix(struct run *r, const struct operation *o)
{
	struct proto_drop_row_range q = {
		.target_case = nr_drop_row_range_row_key_prefix
	};

	if (!parse_name(r, word(o, 1), &q.name) ||
	    !parse_bytes(r, word(o, 2), &q.row_key_prefix))
		return RUN_MALFORMED;
	return put_ok(r, r->target->drop_rows(r, &q));
}

int run_dropall(struct run *r, const struct operation *o)
{
	struct proto_drop_row_range q = {
		.target_case = nr_drop_row_range_delete_all_data_from_table,
		.delete_all_data_from_table = true
	};

	if (!parse_name(r, word(o, 1), &q.name))
		return RUN_MALFORMED;
	return put_ok(r, r->target->drop_rows(r, &q));
}

/* A command, which no request asks for: it has the store itself. */
int run_import(struct run *r, const struct operation *o)
{
	const char *family = option(o, 2, "family");
	const char *csv_text = option(o, 2, "csv");
	const char *ts = option(o, 2, "ts");
	struct import_options options = { .strict = true };
	struct importer *im = NULL;
	struct bytes csv;
	size_t at;
	int err;

	if (!csv_text || !parse_bytes(r, csv_text, &csv) ||
	    !parse_name(r, word(o, 1), &options.table) ||
	    (family && !parse_name(r, family, &options.family)))
		return RUN_MALFORMED;
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
	importer_free(im);
	return err;
}
