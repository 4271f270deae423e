#ifndef STORE_TEXT_H
#define STORE_TEXT_H

#include "store/store.h"

/*
 * Cells, mutations and policies as text, for control files and commands alike.
 * Parsers are pure over bytes: they keep no reference to their input, never
 * abort on it, and say in err_detail() what is wrong and where.
 */

/* "30d", "1h", "500ms": one unit of us ms s m h d; -ERR_bad_gc_policy, with
 * cbt's words. Result in microseconds. */
int duration_parse(struct bytes text, uint64_t *us);
/* As duration_parse takes it, in the largest unit that divides it: "10d",
 * "90m", "500ms". */
int duration_print(uint64_t us, struct buf *out);

/* cbt's grammar: maxage=30d || maxversions=2 && (...), or the word never; and,
 * or have no precedence, strictly left to right. *out NULL is never. */
int gc_policy_parse(struct bytes text, struct gc_policy **out);
/* As cbt ls prints it: "(age() > 10d || versions() > 1)"; empty for NULL. */
int gc_policy_print(const struct gc_policy *p, struct buf *out);
/* As setgcpolicy takes it: "maxage=10d||maxversions=1"; "never" for NULL. */
int gc_policy_print_words(const struct gc_policy *p, struct buf *out);

/* intsum intmin intmax inthll stringutf8bytes, and bytes for none. */
int family_type_parse(struct bytes text, enum family_type *out);
const char *family_type_word(enum family_type type);
/* The JSON that cbt ls prints. */
const char *family_type_json(enum family_type type);

/* A family as createtable takes it: F[:GC[:TYPE]]. spec->gc is the caller's to
 * free; spec->name points into text. */
int family_spec_parse(struct bytes text, struct family_spec *spec);

/*
 * A filter, see filter.h, as an expression by Bigtable's names:
 *
 *   pass_all  block_all  sink  strip_value
 *   row_key_regex('re')  family_name_regex('re')  column_qualifier_regex('re')
 *   value_regex('re')  apply_label('text')
 *   column_range('family', >= 'a', < 'b')  value_range(> 'a', <= 'b')
 *   timestamp_range(from[, to])   from <= microseconds < to
 *   cells_per_row_limit(n)  cells_per_row_offset(n)  cells_per_column_limit(n)
 *   row_sample(0.1)  chain(filter, filter, ...)  interleave(filter, ...)
 *   condition(predicate, filter if it holds[, filter if not])
 *
 * Strings are in ' or " quotes, in which nothing is special but the quote, that
 * stands for itself when doubled; x'00ff' is one in hexadecimal digits. Space
 * between the parts means nothing. -ERR_bad_argument says what is wrong at
 * which byte.
 */
int filter_parse(struct bytes text, struct filter **out);

/* Go's %q: a double-quoted string with escapes. */
int quote_go(struct bytes value, struct buf *out);
/* Go's strconv.ParseInt(text, 0, 64): 0x3e8, 0777, 1_000_000, -1. */
bool int_parse_go(struct bytes text, int64_t *out);

/* "2023-09-10T15:21:48.000001Z" or microseconds; -ERR_bad_timestamp. */
int time_parse(struct bytes text, uint64_t *us);

/* The number that an aggregate cell holds, in decimal; see aggregate.h. */
int aggregate_print(const struct cell *cell, struct buf *out);

/*
 * Printers: each turns a stream of cells, in scan order, into text appended to
 * out. Feed every cell, then finish; the caller drains out between calls, so
 * memory does not grow with the stream.
 */
enum text_format {
	TEXT_CSV,
	TEXT_TSV,
	TEXT_JSONL,
	TEXT_CBT, /* as cbt read prints */
};

struct printer;

int printer_new(enum text_format format, struct printer **out);
void printer_free(struct printer *p);
int printer_cell(struct printer *p, const struct cell *cell, struct buf *out);
/* What a filter labelled the next cell, borrowed until that is fed; "" if
 * nothing, as mostly. Only the cbt layout and JSON lines show it. */
void printer_label(struct printer *p, struct bytes label);
int printer_finish(struct printer *p, struct buf *out);

/*
 * Importers: bytes in, rows committed. Feed any pieces; complete lines (for
 * CSV records, which may span lines) are taken as they come, in batches, within
 * bounded memory. A line that is wrong is refused with its number and reason
 * and the rest goes on; a line is one row mutation and is whole or absent.
 *
 * TEXT_CSV and TEXT_TSV: cbt import's layout. Two header records, families
 * (a family covers the empty fields to its right) and qualifiers, both with an
 * empty first field; with options.family only the second. A data record is a
 * row key and values; an empty field is no cell. TSV escapes: \t \n \\.
 * TEXT_JSONL: one object a line, see fs/README.md.
 */
struct importer;

struct import_options {
	struct bytes table;
	struct bytes family;   /* CSV, TSV: the one family; or empty */
	bool value_timestamps; /* "@<us>" ends a value */
	bool strict;           /* stop at the first wrong line */
};

struct import_result {
	uint64_t line_count; /* lines read */
	uint64_t row_count;  /* row mutations committed */
	uint64_t cell_count; /* mutations in them */
	uint64_t byte_count;
	uint64_t committed_line; /* all good lines up to it are in */
	uint64_t refused_count;
	struct buf refused; /* the first 1,000: "line N: reason\n" */
};

int importer_new(struct store *s, enum text_format format,
		 const struct import_options *options, struct importer **out);
/* 0, or an error that ends the import (a bad header, a full disk, a read-only
 * store); lines committed stay, and the result says how far. */
int importer_feed(struct importer *im, struct bytes data);
/* Commits what is whole and pending, unless it goes by bulk load, as a long
 * import does: that is committed by the next flush or finish. */
int importer_settle(struct importer *im);
/* Commits what is whole and pending; with sync, durably. */
int importer_flush(struct importer *im, bool sync);
/* The end of input: takes a last line without newline, then flushes. A refused
 * line is no error here; look at the result. */
int importer_finish(struct importer *im, bool sync);
/* Valid until the next call. */
const struct import_result *importer_result(const struct importer *im);
void importer_free(struct importer *im);

/* Runs one JSON row mutation (the body of .row.jsonl, a line of .mutate) as one
 * atomic change. row, if not empty, is the row it is about: the key "row" may
 * then be absent or must match. -ERR_bad_line says what is wrong, and
 * -ERR_condition_failed that its "if" does not hold and there is no "else". */
int mutation_run_json(struct store *s, struct bytes table, struct bytes row,
		      struct bytes text, bool sync);

/* A whole row as one JSON line, newest versions only or all of them. */
int row_print_json(struct scan *scan, bool all_versions, struct buf *out);

#endif
