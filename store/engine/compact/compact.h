#ifndef STORE_ENGINE_COMPACT_COMPACT_H
#define STORE_ENGINE_COMPACT_COMPACT_H

#include "store/engine/compact/gc.h"
#include "store/engine/files/manifest.h"
#include "store/engine/files/memtable.h"

/*
 * Flush and compaction: each is a merge of sorted inputs into new ssts and an
 * edit that puts them in the inputs' place. Neither takes a lock nor changes
 * shared state; the caller applies the edit, and keeps what it passes
 * (memtable, version, rules, snapshots) referenced and unchanged meanwhile. One
 * thread runs a merge; the engine runs one at a time. Which compaction is due
 * is decided in pick.c, which entries go on in sieve.c, in what order they come
 * in merge.c.
 *
 * What a merge may drop, with oldest = the oldest live snapshot, and reader =
 * the oldest that sees the entry, the present being the last of them:
 *   - a version overwritten by one with the same version key and seq <= reader
 *   - an entry covered by a range tombstone with seq <= reader, of the inputs
 *     or of compaction.above
 *   - a put that its family's GC rule hides from its reader, its rank counted
 *     among what that one sees and what came before any deletion that the merge
 *     does not see (above_seq), at the GC time of that; not if that one is
 *     older than the rule, nor for another reader than the present while oldest
 *     goes by an older rule (rules_seq). gc.h says why
 *   - of adjacent KEY_MERGE entries of one version, and a put below them, all
 *     but the first, which takes their values, if each live snapshot that sees
 *     one sees the others
 *   - everything of a dropped table or family (seq < its birth, or unknown),
 *     by the rules of now and by those of each live snapshot
 *   - tombstones, point or range, with seq <= oldest, when no older file below
 *     the output level overlaps them
 * Where a live snapshot lies between two writes of one version, both stay.
 *
 * Of what it drops, what some moment sees (history/moments.h) goes into history
 * files by the same edit; past.h says what that is.
 */

/* Of entries that go in: a fraction of a millisecond. */
#define YIELD_BYTES (16 << 10)

/* What a merge goes by; all of it is borrowed. */
struct merge_context {
	struct volume *volume;     /* the outputs are written to it */
	struct gc_rules *rules;    /* NULL: not known yet, keep all */
	struct gc_rules **moments; /* other ones, of live snapshots */
	size_t moment_count;
	const uint64_t *snapshots;   /* live, ascending; the visible seq is
					   the last */
	const uint64_t *snapshot_us; /* GC time of each, ascending */
	size_t snapshot_count;       /* at least 1 */
	/* Moments that the past can be read at; the last has the visible seq,
	 * whether it is one or not. With 0 of them no history is kept. */
	bool no_room; /* for history files: to begin one is -ENOSPC */
	const struct moment *history;
	size_t history_count;
	const uint64_t *readers; /* snapshots and moments, ascending; only if
				    there are moments */
	size_t reader_count;
	uint64_t rules_seq;  /* of the oldest snapshot's rules */
	uint64_t above_seq;  /* not above that of any deletion which
				      is not of the inputs and a snapshot
				      sees; UINT64_MAX: there is none */
	uint64_t above_us;   /* no later than the GC time of the first
				      of these, UINT64_MAX if there is none;
				      0: not known */
	uint64_t file_size;  /* target of an output; bytes */
	uint64_t spare_size; /* not 0: outputs take pieces of held room,
				      of so many bytes if there are */
	enum row_directory_rule rows;
	const struct bytes *guards; /* row prefixes, ascending, at which
				       outputs are cut */
	size_t guard_count;
	uint64_t (*new_id)(void *context); /* an id that no file has */
	void *new_id_context;
	/* NULL: not needed. Sees the references of each large value that stays,
	 * and may replace them by others that are valid until the next call. */
	int (*move)(void *context, struct bytes *list);
	void *move_context;
	/* NULL: nothing is more urgent. Called between entries, every
	 * YIELD_BYTES or so; does what is due, which may add files to level 0.
	 * An error ends the merge. */
	int (*yield)(void *context);
	void *yield_context;
};

/* A compaction that was chosen. The files are borrowed from the version that it
 * was chosen of, which must stay referenced; the arrays are owned. Zeroed, it
 * is empty. */
struct compaction {
	unsigned int level;          /* of the first inputs */
	unsigned int output_level;   /* level or one below it; one file may be
				      written anew in its place */
	struct sst_file **inputs[2]; /* of level and of output_level */
	size_t input_count[2];
	bool trivial;  /* the inputs just move down */
	bool for_held; /* see compact_pick_held */
	/* Chunks move out of blob files one in so many of whose bytes is
	 * garbage; 0: as of any compaction. See large/blob_gc.h. */
	unsigned int blob_share;
	/* Not empty: the only input is written anew as one file at most, in its
	 * place, without what these cover. They are of any file and stay where
	 * they are; each live snapshot sees them. Owned. */
	struct tombstone_list above;
	uint64_t rest_size; /* with above: about what stays of it; bytes */
};

struct compaction_options {
	unsigned int level0_trigger; /* files; 4 */
	uint64_t base_size;          /* bytes: least target of the first level
					used */
	unsigned int fan_out;        /* of a level's target to that above; 10 */
	bool writing; /* somebody is: fewer bytes at the cost of readers */
};

/*
 * Writes m, to which nothing is written any more, as ssts of level 0, cut at
 * c's guards, none if nothing is left of it; fills edit->added. The edit is
 * EDIT_INIT before; it lacks what the caller knows: sequence, GC time, logs. On
 * failure no new file remains; edit is to be released in any case.
 */
int compact_flush(const struct merge_context *c, struct memtable *m,
		  struct edit *edit);

/*
 * Runs compaction on v, of which it was chosen, and fills edit, which is
 * EDIT_INIT before: the inputs as removed, the outputs as added. On failure no
 * new file remains. Errors are those of reading, which may be damage, and of
 * writing; -ENOMEM. edit is to be released in any case.
 */
int compact_run(const struct merge_context *c, struct version *v,
		const struct compaction *compaction, struct edit *edit);

#endif
