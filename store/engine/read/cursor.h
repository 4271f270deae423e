#ifndef STORE_ENGINE_READ_CURSOR_H
#define STORE_ENGINE_READ_CURSOR_H

#include "store/cell.h"
#include "store/engine/core/engine.h"
#include "store/engine/large/large.h"

/*
 * A cursor over the visible cells of a key range, as of a snapshot: newest
 * write of each version, not deleted, not hidden by birth or GC rule. It holds
 * its own reference on memtables and files, and on the rules.
 */
/*
 * Over [start, end) of encoded keys; an empty end is unbounded. With a prefix
 * (a row, family or column prefix that starts every key of the range, else
 * empty) files are first asked through their filters. snapshot NULL takes
 * the present one.
 */
int cursor_open(struct engine *e, const struct engine_snapshot *snapshot,
		struct bytes start, struct bytes end, struct bytes prefix,
		struct cursor **out);
void cursor_close(struct cursor *c);
/* Before the first step: gives the cells that a GC rule hides and nothing else,
 * instead of those that it lets be seen. */
void cursor_show_hidden(struct cursor *c);
/* So too: versions with a smaller timestamp are not wanted, so that blocks and
 * files with no others need not be read; some may be given. */
void cursor_since(struct cursor *c, uint64_t timestamp_us);

/*
 * Each returns 1 with *cell filled, 0 at the end, negative on error (then only
 * close is allowed). The cell's bytes stay valid until the next call. The first
 * cursor_next, whatever the step, gives the first cell.
 */
int cursor_next(struct cursor *c, enum cursor_step step, struct cell *cell);
/* The first cell at or after the encoded key, which need not be in range. */
int cursor_seek(struct cursor *c, struct bytes key, struct cell *cell);
/* The first cell of the last live row before the encoded key, or before the
 * range's end if key is empty. */
int cursor_row_before(struct cursor *c, struct bytes key, struct cell *cell);

/* Appends the value of the present cell, which is large, to out. */
int cursor_load(const struct cursor *c, const struct cell *cell,
		struct buf *out);

/* Over [start, end) of the same sources as of's, at the same moment. */
struct sources;
int cursor_over(const struct sources *of, struct bytes start, struct bytes end,
		struct cursor **out);
/* The first cell of the row with this prefix: 1, or 0 if it has none. */
int cursor_row_at(struct cursor *c, struct bytes row, struct cell *cell);

/* The encoded table and row prefix of the present cell. */
struct bytes cursor_row_prefix(const struct cursor *c);
/* The present cell's encoded column prefix. */
struct bytes cursor_column_prefix(const struct cursor *c);

#endif
