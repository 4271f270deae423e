#ifndef STORE_ENGINE_READ_SNAPSHOT_H
#define STORE_ENGINE_READ_SNAPSHOT_H

#include "store/engine/core/engine.h"

/*
 * Moments of the store, and the rules by which it is read from now on. A
 * snapshot is a visible sequence, a GC time and rules: every read through it
 * shows the same cells, whatever is written, flushed, compacted or expires
 * meanwhile and whatever rules are set, tables and families that are dropped
 * since among it. It holds no file and no memory of the store but the rules;
 * but as long as it lives, merges keep what it sees, so one that is forgotten
 * lets garbage grow. All calls may come from any thread and take the engine's
 * lock.
 *
 * That no answer depends on merges, for the versions of a table that is there:
 * A merge that begins while the snapshot lives goes by a family's policy, for
 * what some snapshot sees, only if that is not newer than the rules of the
 * oldest. Then all snapshots have the same policies, and what these hide from
 * the oldest that sees an entry, counted as it sees it and at its GC time, they
 * hide from all later ones. What none sees goes by the policy of now. A merge
 * that began earlier knew no sequence that the snapshot does not see and no
 * later GC time. If it goes by the snapshot's policies, the same holds; if by
 * former ones, then what they hide was deleted before the snapshot's were in
 * force, and it sees that deletion.
 */

/* Who holds the GC time, each one at a time. */
enum gc_time_holder {
	GC_HELD_BY_LOOK = 1,  /* a change of policies */
	GC_HELD_BY_WRITE = 2, /* one that deletes what is hidden */
};

/* Holds the time that rules go by where it is, or lets it go on once nobody
 * else holds it: nothing more expires meanwhile, for any reader. */
void engine_hold_gc_time(struct engine *e, enum gc_time_holder by, bool hold);

/* The rules of now, the first, and those of live snapshots that are others:
 * what none of them knows, nobody can look at. */
struct rules_seen {
	struct gc_rules **items; /* owned, each with a reference; only the
				    first may be NULL */
	size_t count;
	uint64_t turn; /* since it nobody has let go of any; never 0 */
};

/* 0 or -ENOMEM, and then there is nothing to release. The first needs lock, the
 * second takes it. */
int rules_seen_locked(struct engine *e, struct rules_seen *out);
int rules_seen_take(struct engine *e, struct rules_seen *out);
void rules_seen_release(struct rules_seen *r);

/* Those of the snapshot's moment, as long as it lives, or NULL. */
const struct gc_rules *engine_snapshot_rules(const struct engine_snapshot *s);

/* The present moment, to be released: 0, -ENOMEM, or -ESTALE of a follower that
 * knows of none so new as it has to be. */
int engine_snapshot(struct engine *e, struct engine_snapshot **out);

/* NULL is allowed. A cursor that was opened on it may outlive it. */
void engine_snapshot_release(struct engine *e, struct engine_snapshot *s);

/* The sequence of the last write that it sees. */
uint64_t engine_snapshot_seq(const struct engine_snapshot *s);

/*
 * The rules that merges, snapshots and cursors without one go by which begin
 * from now on; those under way keep the ones that they have. Takes a reference
 * of its own on rules. Until the first call no rules are known: nothing is
 * hidden and nothing dropped.
 */
void engine_set_rules(struct engine *e, struct gc_rules *rules);

#endif
