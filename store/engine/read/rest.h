#ifndef STORE_ENGINE_READ_REST_H
#define STORE_ENGINE_READ_REST_H

#include "store/engine/read/sources.h"

/*
 * Readers that rest. Between two calls a reader of a snapshot may be idle for
 * hours: a directory that stays open, an export that nobody goes on to read. It
 * keeps its sources, so that it goes on at once, only until somebody else needs
 * what they take: they are taken from it when a memtable was flushed or files
 * were merged, and when all that rest hold more than a share of the memory, of
 * whoever has rested the longest. Then it opens them again, as they are by that
 * time, and seeks its place: what its snapshot sees is there still.
 *
 * The lock of struct rests is taken by whoever begins or ends a rest, not by a
 * step, so an active reader pays nothing.
 */

/* After a call of its reader: s rests, as it may already, and is not touched
 * until sources_wake. Without a snapshot, or if something is pending there, it
 * does not, since its place could not be found again. Takes rests.lock. */
void sources_rest(struct sources *s);

/* Before the next call, or the end: whether s was let go meanwhile, and is to
 * be opened again. Nothing to do if it does not rest. Takes rests.lock. */
bool sources_wake(struct sources *s);

/* Takes from all that rest what they hold: after memtables or files have gone
 * from e. Takes rests.lock, so it is not held, nor any lock below it. */
void engine_end_rests(struct engine *e);

#endif
