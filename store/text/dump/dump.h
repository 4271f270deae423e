#ifndef STORE_TEXT_DUMP_DUMP_H
#define STORE_TEXT_DUMP_DUMP_H

#include "store/store.h"
#include "store/text/print/text_stream.h"

/*
 * A dump: all tables of a store at one moment, as text from which load.h makes
 * a store that shows the same. README.md has the format.
 */
struct dump_counts {
	uint64_t tables, rows, cells;
};

/*
 * A dump of what s shows at a moment, which is taken over in every case, or now
 * if it is NULL; stop is that of struct scan_range. *out is closed before s is.
 * Its next fails with -ERR_no_table if a table or family was dropped before it
 * was read, as then nothing of it is any more.
 */
int dump_open(struct store *s, struct snapshot *at, bool (*stop)(void),
	      struct text_stream **out);

/*
 * One table as pieces, by which it comes into another store that goes on, in
 * commands of bounded size: each piece is a dump by itself, of some of the
 * table's cells in their order, with all that it is besides. What is about the
 * store that it comes from is left out: by what imports know it, and whether it
 * is protected.
 */
struct dump;

/* Of the table as it is now, under another name. To be closed before s is. *out
 * is NULL on failure, such as -ERR_no_table. */
int dump_table_open(struct store *s, struct bytes table, struct bytes name,
		    struct dump **out);

/* Appends a piece, of some DUMP_PIECE bytes or one value: 1, 0 at the end, with
 * nothing appended, or an error. The first one is of the table alone, without a
 * cell, so that it is short. */
#define DUMP_PIECE ((size_t)1 << 20)
int dump_piece(struct dump *d, struct buf *out);

/* NULL is allowed. */
void dump_table_close(struct dump *d);

#endif
