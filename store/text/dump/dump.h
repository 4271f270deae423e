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
 * A dump of what s shows now; stop is that of struct scan_range. *out is closed
 * before s is. Its next fails with -ERR_no_table if a table or family was
 * dropped before it was read, as then nothing of it is any more.
 */
int dump_open(struct store *s, bool (*stop)(void), struct text_stream **out);

#endif
