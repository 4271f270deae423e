#ifndef STORE_GC_POLICY_H
#define STORE_GC_POLICY_H

#include "store/base/buf.h"

/*
 * Garbage-collection policies and the one pure rule that cursors and compaction
 * both ask, so that answers never depend on compaction.
 *
 * A policy is a tree as Bigtable's: max versions, max age, union (any rule
 * drops), intersection (all rules drop). NULL is the policy that keeps all.
 * Depth is bounded by GC_DEPTH_MAX, so walking it may recurse.
 */
#define GC_DEPTH_MAX 16
#define GC_NODES_MAX 64

enum gc_type {
	GC_MAX_VERSIONS = 1,
	GC_MAX_AGE = 2,
	GC_UNION = 3,
	GC_INTERSECTION = 4,
};

struct gc_policy {
	enum gc_type type;
	uint64_t limit;                 /* versions, or microseconds */
	struct gc_policy *left, *right; /* of a union or intersection; owned */
};

/* NULL when there is no memory. The nodes take ownership of left and right,
 * which must not be NULL, also on failure. */
struct gc_policy *gc_policy_leaf(enum gc_type type, uint64_t limit);
struct gc_policy *gc_policy_pair(enum gc_type type, struct gc_policy *left,
				 struct gc_policy *right);
void gc_policy_free(struct gc_policy *p);
/* *out is NULL for NULL. 0 or -ENOMEM. */
int gc_policy_copy(const struct gc_policy *p, struct gc_policy **out);
bool gc_policy_equal(const struct gc_policy *a, const struct gc_policy *b);

/* Binary form for schema records; -ERR_schema_malformed. */
int gc_policy_encode(const struct gc_policy *p, struct buf *out);
int gc_policy_decode(struct bytes *in, struct gc_policy **out);

/*
 * Whether the policy lets the version of the given rank (0 is a column's
 * newest) and timestamp stay, at time now_us.
 */
bool gc_keep(const struct gc_policy *p, uint64_t rank, uint64_t timestamp_us,
	     uint64_t now_us);
/* The smallest max-versions limit that can hide a version by rank alone;
 * UINT64_MAX if none can. */
uint64_t gc_rank_limit(const struct gc_policy *p);
/* When the version with this timestamp and rank will be hidden by age;
 * UINT64_MAX if never. */
uint64_t gc_expiry(const struct gc_policy *p, uint64_t rank,
		   uint64_t timestamp_us);

#endif
