#ifndef STORE_ENGINE_READ_SOURCES_H
#define STORE_ENGINE_READ_SOURCES_H

#include "store/engine/core/state.h"
#include "store/format/sst/sst_tombstones.h"

/*
 * The sources of a read: the memtables and the ssts that may hold something of
 * a key range, at one moment, with references on all of them, as one merged
 * iterator over entries and one question about range tombstones. The iterator
 * shows every write, also of later sequences than the read's, deletions, and
 * what tombstones or GC rules hide: to leave that out is the user's part.
 *
 * References are all that a read holds; it takes the engine's lock only while
 * it collects them. One thread uses a struct sources at a time. One that was
 * opened on a snapshot may rest (rest.h), and then the snapshot has to outlive
 * it.
 */

/* The range tombstones of one source, and the answer that it gave last: keys
 * are asked in ascending order mostly, so the next lies in the same span. */
struct cover {
	const struct memtable *memtable; /* or those of the ssts of */
	const struct level *run;         /* a sorted run, file by file */
	struct tombstone_reader reader;  /* of its file that was asked last */
	struct tombstone span; /* where the answer in span.seq holds */
	bool valid;            /* span is filled */
};

/* A history file, which the version keeps, as a run. */
struct past_run {
	struct level run; /* of one file: */
	struct sst_file *files[1];
	struct sst_file file; /* a picture of it; nobody counts references */
};

struct sources {
	/* Newest writes first: what is pending, the present memtable, and those
	 * that wait for their flush. Each referenced. */
	struct memtable *memtables[IMMUTABLES_MAX + 2];
	size_t memtable_count;
	struct version *version; /* referenced */
	struct gc_rules *rules;  /* the snapshot's, or those of now,
				    referenced; NULL: none are known yet */
	uint64_t seq;            /* later writes are not visible */
	uint64_t gc_time_us;     /* not set by sources_take */
	struct iter *iter;       /* owned; NULL: nothing is in the range */
	struct gaps *gaps;       /* the engine's; NULL: they do not hold here */
	struct cover *covers;    /* only of sources that have tombstones */
	size_t cover_count;
	size_t iter_count; /* that iter is made of */
	/* Of a moment of the past: the history files that it reads, each a run
	 * of its own; owned. */
	struct past_run *pasts;
	size_t past_count;
	bool is_past;
	bool is_gone; /* its history was given up */

	/* To rest, see rest.h. */
	struct engine *engine;
	const struct engine_snapshot *snapshot; /* borrowed; NULL: it cannot */
	uint64_t epoch;                /* of the engine's rests, when taken */
	bool resting;                  /* since sources_rest; the reader's */
	bool listed;                   /* has its sources yet; with the three */
	struct sources *older, *newer; /* of those that rest; rests.lock */
};

/*
 * Takes what e has now; sequence and GC time are of the snapshot, or of now if
 * it is NULL. The snapshot is needed during the call only. [start, end) and
 * prefix as in cursor_open. On failure nothing is held: -ENOMEM, or an error of
 * reading a filter or an index; -ERR_moment_gone.
 */
int sources_open(struct engine *e, const struct engine_snapshot *snapshot,
		 struct bytes start, struct bytes end, struct bytes prefix,
		 struct sources *s);

/* As sources_open, without a prefix; iter is over rows instead of entries, as
 * row_view.h shows them. */
int sources_open_rows(struct engine *e, const struct engine_snapshot *snapshot,
		      struct bytes start, struct bytes end, struct sources *s);

/* The memtables, version, sequence and time of of, with references of their
 * own, and an iterator over the entries of [start, end), which must lie in the
 * range of of. On failure nothing is held. */
int sources_open_again(const struct sources *of, struct bytes start,
		       struct bytes end, struct sources *s);

/* The references and the sequence alone: no GC time, because the clock need not
 * be asked for it, no covers and no iterator. Cannot fail. */
void sources_take(struct engine *e, const struct engine_snapshot *snapshot,
		  struct sources *s);

/* Gives everything back; sources_wake comes before. After it, or zeroed, s may
 * be closed again. */
void sources_close(struct sources *s);

/* The snapshot's GC time, or that of now if it is NULL. Takes lock. */
uint64_t sources_time(struct engine *e, const struct engine_snapshot *snapshot);

/* Whether a range tombstone that the read sees hides the entry with this key
 * and seq: 1, 0 or an error of reading. Needs covers, so not after
 * sources_take. */
int sources_covered(struct sources *s, struct bytes key, uint64_t seq);

/* The newest range tombstone that the read sees over key is *seq, or that is 0;
 * from *end on, if that is not empty, it may be another one. *end is borrowed
 * from s, until the next call. Needs covers. 0, or an error of reading. */
int sources_cover(struct sources *s, struct bytes key, uint64_t *seq,
		  struct bytes *end);

/* Fills r, empty or zeroed, for a walk over s by one reader. */
void sources_start_run(const struct sources *s, struct gap_run *r);

/* Whether a range tombstone may hide something of the row with this prefix,
 * which is changed during the call and the same again on return: 1, 0 or an
 * error of reading. */
int sources_may_cover(struct sources *s, struct buf *row);

#endif
