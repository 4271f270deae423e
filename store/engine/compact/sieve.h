#ifndef STORE_ENGINE_COMPACT_SIEVE_H
#define STORE_ENGINE_COMPACT_SIEVE_H

#include "store/engine/compact/compact.h"

/*
 * Sieve: which of the entries that a merge yields must go on into its output,
 * by the rules of compact.h. It is shown every entry in key order and keeps
 * what it needs to know of those before.
 *
 * Let x, its reader, be the oldest snapshot that sees an entry, if it is not
 * overwritten or deleted. If the entry is hidden at x, it is hidden for all
 * later ones, so one look is enough. How many newer versions x sees is counted
 * for each snapshot by itself, or what came after one that is held would stay
 * until it goes. Snapshots are numbered as in the context, and a reader that
 * has the number of all of them is none yet: only later ones will see the
 * entry, and nobody can tell what will hide it from them.
 *
 * It belongs to one merge and borrows all that it is given.
 */
struct sieve {
	const struct merge_context *context;
	/* All range tombstones that are to hide entries. */
	const struct tombstone_list *tombstones;
	const struct version *version; /* NULL: older data may be anywhere */
	unsigned int output_level;

	struct buf column; /* prefix of the column under way */
	struct key_parts parts;
	struct buf scratch;             /* a decoded family name */
	const struct gc_family *family; /* NULL: none is to be asked */
	uint64_t birth_seq;             /* what is older is dropped */
	/* By the rules of now, whether they may be asked or not: NULL if the
	 * family was dropped or none are known; and, if history is kept, its
	 * birth. */
	const struct gc_family *found;
	uint64_t found_birth;
	size_t asked_from; /* the first snapshot that goes by family */
	/* For each snapshot, the versions of the column that it sees. Owned. */
	uint64_t *ranks;

	uint64_t last_timestamp; /* of the entry before */
	uint64_t last_seq;       /* of the entry before: what a repair gathers
				    has doubles */
	bool version_seen;       /* the entry before is of this column */
	/* Of the present version: the last write that hides older ones, the
	 * first snapshot that has seen some write of it, and whether the rule
	 * lets it be for who is its reader. */
	uint64_t hider_seq; /* UINT64_MAX: none yet */
	size_t seen_from;
	bool gc_keeps;
	/* The reader of the entry kept last if older writes of its version may
	 * be merged into it, else 0. */
	uint64_t open_reader;
	struct tombstone span; /* where span.seq is the cover at span_seq */
	uint64_t span_seq;
	bool span_known;
};

/* What becomes of an entry. */
enum {
	SIEVE_DROP = 0,
	SIEVE_KEEP = 1,
	SIEVE_JOIN = 2,
};

/* Everything stays the caller's and unchanged until sieve_release. version is
 * what the inputs are part of; NULL keeps all tombstones. */
void sieve_init(struct sieve *s, const struct merge_context *context,
		const struct tombstone_list *tombstones,
		const struct version *version, unsigned int output_level);

void sieve_release(struct sieve *s);

/*
 * SIEVE_DROP, SIEVE_KEEP, or a negative error: key is malformed, or no memory.
 * Entries come in key order, each once.
 * SIEVE_JOIN: no reader sees the entry that was kept last without this one:
 * they may be merged, by s->family->merge, under the key of the first, as
 * KEY_MERGE, or as KEY_PUT if this one is; s->open_reader tells whether more
 * may follow.
 */
int sieve_entry(struct sieve *s, struct bytes key);

/* What tombstones has is another list's from now on, of later keys. */
static inline void sieve_forget_span(struct sieve *s)
{
	s->span_known = false;
}

/* Whether a range tombstone is still needed: a snapshot may see past it, or
 * older data below the output lies in its range. newer is the sequence of the
 * one before it with the same bounds, if that may be there for a moment's sake
 * alone; else UINT64_MAX. */
bool sieve_tombstone(const struct sieve *s, const struct tombstone *t,
		     uint64_t newer);

/* The seq of the range tombstone that a reader at seq visible meets at key; 0
 * if there is none. */
uint64_t sieve_cover(struct sieve *s, struct bytes key, uint64_t visible);

#endif
