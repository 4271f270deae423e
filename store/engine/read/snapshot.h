#ifndef STORE_ENGINE_READ_SNAPSHOT_H
#define STORE_ENGINE_READ_SNAPSHOT_H

#include "store/engine/core/engine.h"

/*
 * Moments of the store, and the rules by which it is read from now on. A
 * snapshot is a visible sequence and a GC time: every read through it shows the
 * same cells, whatever is written, flushed, compacted or expires meanwhile. It
 * holds no file and no memory of the store; but as long as it lives, merges
 * keep what it sees, so one that is forgotten lets garbage grow. All calls may
 * come from any thread and take the engine's lock.
 */

/* Holds the time that rules go by where it is, or lets it go on: nothing more
 * expires meanwhile, for any reader. */
void engine_hold_gc_time(struct engine *e, bool hold);

/* The present moment, to be released: 0 or -ENOMEM. */
int engine_snapshot(struct engine *e, struct engine_snapshot **out);

/* NULL is allowed. A cursor that was opened on it may outlive it. */
void engine_snapshot_release(struct engine *e, struct engine_snapshot *s);

/* The sequence of the last write that it sees. */
uint64_t engine_snapshot_seq(const struct engine_snapshot *s);

/*
 * The rules that merges and cursors which begin from now on go by; those under
 * way keep the ones that they have. Takes a reference of its own on rules.
 * Until the first call no rules are known: nothing is hidden and nothing
 * dropped.
 */
void engine_set_rules(struct engine *e, struct gc_rules *rules);

#endif
