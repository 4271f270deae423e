#ifndef STORE_ENGINE_READ_CURSOR_H
#define STORE_ENGINE_READ_CURSOR_H

#include "store/cell.h"
#include "store/engine/core/engine.h"

/*
 * A cursor over the visible cells of a key range, as of a snapshot: newest
 * write of each version, not deleted, not hidden by birth or GC rule; in a
 * family of aggregates the writes of a version merged into one. It holds
 * references of its own on memtables and files, and on the rules, and so may
 * outlive the snapshot; and it keeps these from being freed, so it is not to be
 * left open for long, unless it rests. One thread uses it at a time.
 *
 * Steps return 1 with *cell filled, 0 at the end, negative on error, after
 * which only cursor_close is allowed. A cell's bytes are valid until the next
 * call on the cursor.
 */
struct sources;

/*
 * Over [start, end) of encoded keys, which are copied; an empty end is
 * unbounded. prefix is empty, or a row, family or column prefix that starts
 * every key of the range: then files are first asked through their filters.
 * snapshot NULL takes the present moment. -ENOMEM, or an error of reading a
 * filter or an index; *out is NULL then.
 */
int cursor_open(struct engine *e, const struct engine_snapshot *snapshot,
		struct bytes start, struct bytes end, struct bytes prefix,
		struct cursor **out);

/* Over [start, end) of the sources of of, at their moment. [start, end) must
 * lie in their range. of may be closed before the cursor. */
int cursor_over(const struct sources *of, struct bytes start, struct bytes end,
		struct cursor **out);

/* NULL is allowed. */
void cursor_close(struct cursor *c);

/* After a step: c is not used for a while, and what it reads from may be taken
 * from it; the next call finds its place again. Of the cell given last value
 * and blob end with this. If c was opened on a snapshot, that has to outlive
 * it; if not, this does nothing. */
void cursor_rest(struct cursor *c);

/* Before the first step: gives the cells that a GC rule hides and nothing else,
 * instead of those that it lets be seen. */
void cursor_show_hidden(struct cursor *c);

/* Before the first step: asks stop, which may be NULL, every CURSOR_STOP_CELLS
 * entries that are passed, visible or not; once it is true, a step fails with
 * -EINTR. */
#define CURSOR_STOP_CELLS 1024
void cursor_stop(struct cursor *c, bool (*stop)(void));

/* Before the first step: asks pause, which may be NULL, as often; once it is
 * true, a step ends with -EAGAIN. It is not over then: the next cursor_next,
 * whatever its step, goes on with it, or cursor_row_before without a key, if it
 * was one of these. Inside a row that these look at nothing pauses. */
void cursor_pause(struct cursor *c, bool (*pause)(void));

/* Before the first step: versions with a smaller timestamp are not wanted, so
 * that blocks and files with no others need not be read; some may be given all
 * the same. Not with cursor_row_before, which finds rows by any entry. */
void cursor_since(struct cursor *c, uint64_t timestamp_us);

/* Before the first step: versions with a greater timestamp, unless it is 0, are
 * not wanted, and passed by a seek where the family's rule does not count
 * versions; some may be given all the same. */
void cursor_until(struct cursor *c, uint64_t timestamp_us);

/* The first cell after the present one that step leads to. The first call,
 * whatever the step, gives the first cell of the range. */
int cursor_next(struct cursor *c, enum cursor_step step, struct cell *cell);

/* The first cell at or after the encoded key, which need not be in range; it
 * may lie before the present one. cursor_next goes on from there. */
int cursor_seek(struct cursor *c, struct bytes key, struct cell *cell);

/* Appends the value of a cell of this cursor, which is large, to out: 0,
 * -ENOMEM, or an error of reading, such as -ERR_blob_damaged. Asks what
 * cursor_stop was given before each chunk: -EINTR. */
int cursor_load(const struct cursor *c, const struct cell *cell,
		struct buf *out);

/* Whether the present cell, of a family that is not of aggregates, was made by
 * adding to one that was (KEY_MERGE). There must be a present cell. */
bool cursor_is_part(const struct cursor *c);

/* Of a step that has paused, the encoded table and row prefix that it came to,
 * of which some may be left; backwards the one that is behind it. Empty if it
 * has not come to any yet. */
struct bytes cursor_place(const struct cursor *c);

/* The encoded table and row prefix of the present cell; valid until the next
 * step. There must be a present cell. */
struct bytes cursor_row_prefix(const struct cursor *c);

/* The encoded column prefix of the present cell; valid until the next step. */
struct bytes cursor_column_prefix(const struct cursor *c);

#endif
