#ifndef STORE_TEXT_H
#define STORE_TEXT_H

#include "store/store.h"

/*
 * Cells, mutations and policies as text, for control files and commands alike.
 * Parsers are pure over bytes: they keep no reference to their input, never
 * abort on it, and say in err_detail() what is wrong and where.
 */

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

#endif
