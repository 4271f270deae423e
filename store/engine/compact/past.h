#ifndef STORE_ENGINE_COMPACT_PAST_H
#define STORE_ENGINE_COMPACT_PAST_H

#include "store/engine/compact/sieve.h"
#include "store/format/sst/sst_build.h"

/*
 * What a merge leaves out of the tree and some moment still sees, into history
 * files. The sieve decides for the tree, as if there was no history; this is
 * shown each entry after it, with its verdict, and keeps accounts of its own.
 *
 * Let x be the first moment that sees an entry, if nothing hides it. What is
 * hidden at x is hidden for all later ones, so one look is enough, as in the
 * sieve; but here x is any moment, and so it has to be known since when each
 * version was there: a policy that keeps n hides what n newer ones precede at
 * x, which is those that were written by then.
 *
 * The merge's own sequence counts as a moment: one may be noted with it later.
 *
 * For a moment the family's policy is that of now if it was in force then and
 * all deletions up to the moment are seen by the merge; else nothing is left
 * out by policy. Of a family that is dropped nobody knows when it was: what it
 * had goes over.
 *
 * Deletions go over if a moment sees them, whatever lies below: what they hide
 * may be in a history file.
 */
struct past_version {
	uint64_t from, until; /* it is there for who sees the first and not the
				 second */
};

/* Versions of a column that are known of; of more, none counts, so that less is
 * left out. */
#define PAST_VERSIONS 64

struct past {
	const struct merge_context *context;
	struct sieve *sieve;
	struct edit *edit;
	unsigned int level; /* recorded in the files */

	struct sst_builder *builder; /* NULL: none begun */
	uint64_t id;                 /* of the output under way */

	struct buf last;    /* key of the entry before; empty: none */
	uint64_t hider_seq; /* of the present version: of the last write that
			       hides older ones; UINT64_MAX: none yet */
	struct past_version versions[PAST_VERSIONS];
	size_t version_count; /* of the present column */
	size_t newer_count;   /* of these, newer than the present one */

	/* A part of an aggregate that is held back, as others that no moment
	 * separates from it may follow. */
	struct buf held_key; /* empty: none */
	struct aggregate held;
	uint64_t held_until;  /* see sst_is_past */
	uint64_t held_reader; /* the first moment that sees it */
	uint64_t joined_seq;  /* of the merge that parts are joined into */
	struct buf value;     /* of the entry that is written */
};

/* All is borrowed until past_release. */
void past_init(struct past *p, const struct merge_context *context,
	       struct sieve *sieve, struct edit *edit, unsigned int level);

/* Takes an entry of which the sieve gave this verdict, right after it: each
 * entry, in order. 0 or a negative error. */
int past_entry(struct past *p, struct bytes key, struct bytes value,
	       int verdict);

/* Takes a piece of a range tombstone that the merge leaves out. newer is the
 * sequence of the one before with the same bounds; UINT64_MAX: there is none.
 * They come in the order of sst_build_tombstone. */
int past_tombstone(struct past *p, const struct tombstone *t, uint64_t newer);

/* Nothing more comes: the last output is finished and added to the edit. */
int past_finish(struct past *p);

/* After a failure, too. */
void past_release(struct past *p);

#endif
