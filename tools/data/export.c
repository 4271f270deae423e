#include <stdlib.h>

#include "store/regex.h"
#include "store/text/print/moment.h"
#include "store/text/print/print_cells.h"
#include "tools/data/export.h"
#include "tools/data/select.h"
#include "tools/data/wide.h"
#include "tools/input/input.h"
#include "tools/verb/stop.h"
#include "tools/verb/time.h"

/*
 * The words that are export's own are taken out, and what is left is read's.
 * Where a record is a row, columns= names its columns, in their order; without
 * it the snapshot is read twice, the first time for their names.
 */

/* What a large value was loaded into is kept for the next one. */
#define LARGE_KEPT_SIZE ((size_t)1 << 20)

/* What the words say; all of it borrowed, but for others. */
struct export_words {
	const char *path; /* NULL: standard output */
	enum text_format format;
	bool wide, base64;
	const char *columns; /* of wide; NULL: all */
	char **others; /* "export", the table, and what is read's; owned */
	int other_count;
};

struct export
{
	struct text_stream stream; /* first */
	struct store *store;
	bool (*stop)(void);
	struct select_words words; /* owned */
	struct moment moment;      /* owned */
	const struct table *table; /* of its schema */
	struct select_scan *scan;  /* owned */
	struct print_cells cells;  /* unless wide */
	struct wide *wide;         /* owned, or NULL */
	struct buf value;
	size_t held; /* of a row as a record, as MEMORY_VALUES */
	bool begun, ended;
};

static const char *const format_words[] = { ".csv", ".tsv", ".jsonl" };
static const enum text_format formats[] = { TEXT_CSV, TEXT_TSV, TEXT_JSONL };

/* What has a / before its = is a file, too. */
static bool is_path(const char *word)
{
	size_t size = strcspn(word, "=");

	return !word[size] || memchr(word, '/', size);
}

/* Whether path has the name of a format that is none of ours, after it said
 * so. */
static bool has_other_format(struct verb_call *c, const char *path)
{
	static const char *const others[] = { ".parquet", ".xlsx",    ".ods",
					      ".avro",    ".orc",     ".arrow",
					      ".sqlite",  ".sqlite3", ".db" };
	size_t i;

	if (input_has_suffix(path, ".json"))
		return verb_wrong(c,
				  "%s: no JSON document is written; a .jsonl "
				  "has one a line, or say format=",
				  path);
	for (i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		if (input_has_suffix(path, others[i]))
			return verb_wrong(c,
					  "%s: no %s is written; formats are "
					  "csv, tsv and jsonl, by the suffix "
					  "or by format=",
					  path, others[i]);
	return false;
}

/* Sets the format by word or, if that is NULL, by the name of the file. */
static int parse_format(struct verb_call *c, const char *word,
			struct export_words *w)
{
	size_t i;

	w->format = TEXT_CSV;
	for (i = 0; i < 3; i++) {
		if (word ? !strcmp(word, format_words[i] + 1)
			 : w->path && input_has_suffix(w->path,
						       format_words[i])) {
			w->format = formats[i];
			return 0;
		}
	}
	if (!word && w->path)
		return has_other_format(c, w->path);
	return word ? verb_wrong(c,
				 "format must be csv, tsv or jsonl, not "
				 "\"%s\"",
				 word)
		    : 0;
}

/* One of two words. */
static int parse_choice(struct verb_call *c, const char *what, const char *word,
			const char *off, const char *on, bool *out)
{
	if (strcmp(word, on) && strcmp(word, off))
		return verb_wrong(c, "%s must be %s or %s, not \"%s\"", what,
				  off, on, word);
	*out = !strcmp(word, on);
	return 0;
}

/* Takes a word that is export's own: 1; 0 if it is read's; -1 after it said
 * what is wrong. */
static int take_own(struct verb_call *c, const char *word,
		    struct export_words *w, const char **format)
{
	if (!strncmp(word, "format=", 7)) {
		*format = word + 7;
		return 1;
	}
	if (!strncmp(word, "layout=", 7))
		return parse_choice(c, "layout", word + 7, "long", "wide",
				    &w->wide)
			       ? -1
			       : 1;
	if (!strncmp(word, "bytes=", 6))
		return parse_choice(c, "bytes", word + 6, "plain", "base64",
				    &w->base64)
			       ? -1
			       : 1;
	if (!strncmp(word, "include-stats=", 14) ||
	    !strncmp(word, "page=", 5) || !strncmp(word, "explain=", 8))
		return verb_wrong(c, "include-stats, page and explain are of "
				     "read; an "
				     "export has neither a summary nor pages")
			       ? -1
			       : 1;
	return 0;
}

/* 0, or 1 after it said what is wrong; others is to be freed in any case. */
static int parse_words(struct verb_call *c, struct export_words *w)
{
	const char *format = NULL;
	int i, taken;

	*w = (struct export_words){ 0 };
	if (c->argc < 2)
		return verb_usage(c);
	w->others = calloc((size_t)c->argc + 1, sizeof(char *));
	if (!w->others)
		return verb_failed(c, "Exporting", -ENOMEM);
	for (i = 0; i < c->argc; i++) {
		if (i == 2 && is_path(c->argv[i])) {
			w->path = c->argv[i];
			continue;
		}
		taken = i < 2 ? 0 : take_own(c, c->argv[i], w, &format);
		if (taken < 0)
			return 1;
		if (!taken)
			w->others[w->other_count++] = c->argv[i];
	}
	if (parse_format(c, format, w))
		return 1;
	if (w->format == TEXT_JSONL && (w->wide || w->base64))
		return verb_wrong(c, "layout= and bytes= are of csv and tsv; "
				     "of jsonl a row is a line");
	/* Those of a record are names, not patterns. */
	for (i = taken = 0; i < w->other_count; i++) {
		if (w->wide && !strncmp(w->others[i], "columns=", 8))
			w->columns = w->others[i] + 8;
		else
			w->others[taken++] = w->others[i];
	}
	w->other_count = taken;
	return 0;
}

/* Opens the scan, from its start. */
static int open_scan(struct export *e)
{
	struct scan_range how = { .stop = e->stop, .keep_large = true };

	select_close(e->scan);
	return moment_select(e->store, &e->moment, e->table, &e->words.select,
			     &how, &e->scan);
}

/* For print_cells_step. */
static int next_cell(void *export, struct cell *cell)
{
	struct export *e = export;

	return select_next(e->scan, CURSOR_VERSION, cell);
}

static int no_family(const struct table *t, struct bytes name)
{
	return fail(ERR_no_family,
		    "table \"%.*s\" has no column family \"%.*s\"",
		    (int)t->name.size, (const char *)t->name.data,
		    (int)name.size, (const char *)name.data);
}

/* That a pattern has one: a header alone would look like an empty table. */
static int check_family(const struct table *t, struct bytes pattern)
{
	struct regex *regex = NULL;
	int found = regex_new(pattern, &regex);
	size_t i;

	for (i = 0; found == 0 && i < t->family_count; i++)
		found = regex_match(regex, t->families[i].name, NULL);
	regex_free(regex);
	return found == 0 ? no_family(t, pattern) : found < 0 ? found : 0;
}

/* The same of all columns, as select_parse takes them: of a word that is there
 * several times the last counts. */
static int check_families(const struct export *e, const struct export_words *w)
{
	const char *text = "", *colon;
	int err = 0, i;

	for (i = 2; i < w->other_count; i++)
		if (!strncmp(w->others[i], "columns=", 8))
			text = w->others[i] + 8;
	for (; !err && *text; text += text[0] == ',') {
		size_t size = strcspn(text, ",");

		colon = memchr(text, ':', size);
		if (colon && colon > text)
			err = check_family(
				e->table,
				bytes_of(text, (size_t)(colon - text)));
		text += size;
	}
	return err;
}

/* Columns by their names, family:qualifier, each of which may be quoted. */
static int name_columns(struct export *e, const char *text)
{
	struct buf memory = BUF_INIT;
	struct bytes name, family;
	const uint8_t *colon;
	bool added;
	int err;

	while ((err = list_next(&text, &memory, &name)) > 0) {
		colon = name.size > 0 ? memchr(name.data, ':', name.size)
				      : NULL;
		family = bytes_of(name.data,
				  colon ? (size_t)(colon - name.data) : 0);
		if (!colon)
			err = fail(ERR_bad_argument,
				   "columns=: of layout=wide each is "
				   "<family>:<qualifier>, not \"%.*s\"",
				   (int)name.size, (const char *)name.data);
		else if (!table_family(e->table, family))
			err = no_family(e->table, family);
		else
			err = wide_add(e->wide, family,
				       bytes_after(name, family.size + 1),
				       &added);
		if (!err && !added)
			err = fail(ERR_bad_argument,
				   "columns=: \"%.*s\" is there twice",
				   (int)name.size, (const char *)name.data);
		if (err < 0)
			break;
	}
	buf_release(&memory);
	return err;
}

/* Columns as they are found. */
static int find_columns(struct export *e)
{
	struct cell cell;
	bool added;
	int err = open_scan(e);

	while (!err && (err = next_cell(e, &cell)) > 0)
		err = wide_add(e->wide, cell.family, cell.qualifier, &added);
	wide_sort(e->wide);
	return err;
}

/* Counts what a row as a record takes, which is not known before it is there:
 * others wait meanwhile. */
static void hold(struct export *e, size_t size)
{
	struct memory *m = store_memory(e->store);

	if (size == e->held)
		return;
	memory_give(m, MEMORY_VALUES, e->held);
	memory_hold(m, MEMORY_VALUES, size);
	e->held = size;
}

/* Appends what one more cell makes of a row as a record. */
static int step_wide(struct export *e, struct buf *out)
{
	struct cell cell;
	int err;

	if (!e->begun) {
		e->begun = true;
		return wide_header(e->wide, out);
	}
	err = next_cell(e, &cell);
	if (err == 0) {
		e->ended = true;
		return wide_finish(e->wide, out);
	}
	if (err > 0 && cell.blob.size > 0) {
		buf_reset(&e->value);
		err = scan_load(select_source(e->scan), &cell, &e->value);
		cell.value = buf_bytes(&e->value);
	}
	if (err >= 0)
		err = wide_cell(e->wide, &cell, out);
	/* The value is but of this cell. */
	if (e->value.capacity > LARGE_KEPT_SIZE)
		buf_release(&e->value);
	hold(e, wide_size(e->wide) + out->capacity + e->value.capacity);
	return err;
}

static int step(struct export *e, struct buf *out)
{
	int err;

	if (e->wide)
		return step_wide(e, out);
	err = print_cells_step(&e->cells, e->scan, next_cell, e, out);
	e->ended = e->cells.ended;
	return err;
}

/* For text_stream. */
static int export_next(struct text_stream *t, struct buf *out)
{
	struct export *e = (struct export *)t;
	size_t before = out->size;
	int err = 0;

	if (e->ended)
		return 0;
	while (!err && !e->ended && out->size - before < TEXT_STREAM_PIECE)
		err = step(e, out);
	if (!err && !e->ended && print_cells_keep(&e->cells) == 0)
		/* Whoever reads it may go away for a while. */
		select_rest(e->scan);
	return err < 0 ? err : out->size > before;
}

/* For text_stream. */
static void export_close(struct text_stream *t)
{
	struct export *e = (struct export *)t;

	hold(e, 0);
	print_cells_release(&e->cells);
	wide_free(e->wide);
	select_close(e->scan);
	moment_release(e->store, &e->moment);
	select_words_release(&e->words);
	buf_release(&e->value);
	free(e);
}

/* Of a column the newest is shown. */
static int keep_newest(struct select *s)
{
	struct filter *newest;
	int err = filter_new_column_limit(1, &newest);

	return select_filter(s, err, newest);
}

/* Readies what makes the text. */
static int prepare(struct export *e, const struct export_words *w)
{
	const struct print_fields how = { w->format, w->base64 };
	struct bytes name = bytes_string(w->others[1]);
	int err = moment_take(e->store, &e->moment);

	if (!err)
		e->table = schema_table(e->moment.schema, name);
	if (!err && !e->table)
		err = fail(ERR_no_table, "table \"%s\" not found",
			   w->others[1]);
	if (!err)
		err = check_families(e, w);
	if (!err && w->wide)
		err = keep_newest(&e->words.select);
	if (!err && w->wide)
		err = wide_new(&how, &e->wide);
	if (!err && w->wide)
		err = w->columns ? name_columns(e, w->columns)
				 : find_columns(e);
	if (!err && !w->wide)
		err = printer_new(w->format, &e->cells.printer);
	if (!err && w->base64 && !w->wide)
		printer_base64(e->cells.printer);
	return err < 0 ? err : open_scan(e);
}

/* A stream of what the words say; 0, or 1 after it said what is wrong. */
static int open_export(struct verb_call *c, const struct export_words *w,
		       bool (*stop)(void), struct text_stream **out)
{
	struct verb_call read = { c->store, w->other_count, w->others, c->out,
				  c->err };
	struct export *e = calloc(1, sizeof(*e));
	int err, wrong;

	if (!e)
		return verb_failed(c, "Exporting", -ENOMEM);
	e->stream =
		(struct text_stream){ "Exporting", export_next, export_close };
	e->store = c->store;
	e->stop = stop;
	wrong = select_parse(&read, SELECT_READ, &e->words) ||
		verb_moment(c, e->words.as_of, &e->moment.snapshot);
	if (!wrong) {
		err = prepare(e, w);
		wrong = err < 0 ? verb_failed(c, "Exporting", err) : 0;
	}
	if (wrong)
		export_close(&e->stream);
	else
		*out = &e->stream;
	return wrong;
}

int export_stream(struct verb_call *c, bool (*stop)(void),
		  struct text_stream **out)
{
	struct export_words w;
	int wrong = parse_words(c, &w);

	if (!wrong && w.path)
		/* The command's own FILE is not among the words. */
		wrong = verb_wrong(c, "bad arg \"%s\"", w.path);
	if (!wrong)
		wrong = open_export(c, &w, stop, out);
	free(w.others);
	return wrong;
}

int verb_export(struct verb_call *c)
{
	struct text_stream *t = NULL;
	struct export_words w;
	int wrong = parse_words(c, &w);

	if (!wrong)
		wrong = open_export(c, &w, stop_came, &t);
	if (!wrong)
		wrong = output_text(c, w.path, t);
	free(w.others);
	return wrong;
}

/* The daemon gets all words but FILE, and in its place what its name says. */
int remote_export(struct verb_call *c, const struct served *served)
{
	static char words[3][16] = { "format=csv", "format=tsv",
				     "format=jsonl" };
	char **argv = calloc((size_t)c->argc + 2, sizeof(char *));
	struct export_words w;
	int wrong = parse_words(c, &w), argc = 0, i;

	if (!wrong && !argv)
		wrong = verb_failed(c, "Exporting", -ENOMEM);
	for (i = 0; !wrong && i < c->argc; i++)
		if (i != 2 || !w.path)
			argv[argc++] = c->argv[i];
	for (i = 0; !wrong && i < 3; i++)
		if (formats[i] == w.format)
			argv[argc++] = words[i];
	if (!wrong)
		wrong = output_remote(c, served, w.path, argc, argv);
	free(w.others);
	free(argv);
	return wrong;
}
