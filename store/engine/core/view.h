#ifndef STORE_ENGINE_CORE_VIEW_H
#define STORE_ENGINE_CORE_VIEW_H

#include "store/engine/core/engine.h"
#include "store/engine/files/memtable.h"
#include "store/engine/files/version.h"

/*
 * What a follower shows at one moment: a version, and the memtables that belong
 * to it. Who writes the store keeps for snapshots what they see; a follower has
 * no say in that, so its snapshots hold a view, in which nothing that they see
 * goes. It is immutable, but that records are added to the last memtable which
 * nobody sees who has the view's sequence. Counted by references, from any
 * thread.
 */
struct engine_view {
	atomic_uint references;
	struct version *version; /* referenced */
	size_t count;
	struct memtable *memtables[]; /* oldest first; each referenced */
};

/* With one reference, and references of its own. 0 or -ENOMEM. */
int view_new(struct version *version, struct memtable *const *memtables,
	     size_t count, struct engine_view **out);

/* NULL stays NULL. */
struct engine_view *view_get(struct engine_view *v);

/* NULL is allowed. */
void view_put(struct engine_view *v);

/* How old what e shows is, in microseconds: since the last look at the store
 * that found all there was by then began. 0 if it does not follow. */
uint64_t engine_age_us(struct engine *e);

/* For how long that may be told, in microseconds: 0 if it is too old already,
 * UINT64_MAX if it does not follow. */
uint64_t engine_fresh_us(struct engine *e);

/* Whether it may be told now: 0, or -ESTALE with the reason. Takes
 * lock only then. 0 if it does not follow. */
int engine_fresh(struct engine *e);

#endif
