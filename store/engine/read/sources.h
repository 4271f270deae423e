#ifndef STORE_ENGINE_READ_SOURCES_H
#define STORE_ENGINE_READ_SOURCES_H

#include "store/engine/core/state.h"

/*
 * The sources of a read: the memtables and the ssts that may hold something of
 * a key range, at one moment, with references on all of them, as one merged
 * iterator over entries and one question about range tombstones.
 */
struct cover {
	const struct memtable *memtable; /* or a list of an sst */
	const struct tombstone_list *list;
	struct tombstone span; /* where the answer in span.seq holds */
	bool valid;            /* span is filled */
};

struct sources {
	struct memtable *memtables[IMMUTABLES_MAX + 2];
	size_t memtable_count;
	struct version *version;
	struct gc_rules *rules;
	uint64_t seq;
	uint64_t gc_time_us;
	struct iter *iter;
	struct cover *covers; /* only of sources that have tombstones */
	size_t cover_count;
};

/*
 * Takes what e has now; seq and GC time are of the snapshot, or of now if it is
 * NULL. [start, end) and prefix as in cursor_open. On failure nothing is held.
 */
int sources_open(struct engine *e, const struct engine_snapshot *snapshot,
		 struct bytes start, struct bytes end, struct bytes prefix,
		 struct sources *s);
/* The same over rows instead of entries, as row_view.h shows them. */
int sources_open_rows(struct engine *e, const struct engine_snapshot *snapshot,
		      struct bytes start, struct bytes end, struct sources *s);
/* The same sources, seq and time as of's, over entries of [start, end). */
int sources_open_again(const struct sources *of, struct bytes start,
		       struct bytes end, struct sources *s);
/* The references and seq alone, without GC time and iterator. */
void sources_take(struct engine *e, const struct engine_snapshot *snapshot,
		  struct sources *s);
/* The snapshot's GC time, or that of now if it is NULL. */
uint64_t sources_time(struct engine *e, const struct engine_snapshot *snapshot);
void sources_close(struct sources *s);

/* Whether a range tombstone hides the entry with this key and seq. */
bool sources_covered(struct sources *s, struct bytes key, uint64_t seq);

/* Whether a range tombstone may hide something of the row with this prefix,
 * which is the same again on return. */
bool sources_may_cover(struct sources *s, struct buf *row);

#endif
