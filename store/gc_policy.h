#ifndef STORE_GC_POLICY_H
#define STORE_GC_POLICY_H

#include "store/base/buf.h"

/*
 * Garbage-collection policies and the one pure rule that reads and compaction
 * both ask, so that answers never depend on compaction.
 *
 * A policy is a tree as Bigtable's: max versions, max age, union (any rule
 * drops), intersection (all rules drop). NULL is the policy that keeps all.
 * Whoever builds one keeps to GC_DEPTH_MAX pairs inside one another, which
 * those read from disk are checked for, so walking it may recurse.
 */
#define GC_DEPTH_MAX 16
#define GC_NODES_MAX 64 /* of a policy that is parsed from text */

/* The numbers are those in table records on disk. */
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

/* A node, or NULL when there is no memory. A pair takes ownership of left and
 * right, which must not be NULL, also on failure. */
struct gc_policy *gc_policy_leaf(enum gc_type type, uint64_t limit);
struct gc_policy *gc_policy_pair(enum gc_type type, struct gc_policy *left,
				 struct gc_policy *right);

/* Frees the tree; NULL is allowed. */
void gc_policy_free(struct gc_policy *p);

/* A deep copy; *out is NULL for NULL. 0 or -ENOMEM. */
int gc_policy_copy(const struct gc_policy *p, struct gc_policy **out);

/* Whether both are the same tree: two that are written differently and mean the
 * same are not equal. */
bool gc_policy_equal(const struct gc_policy *a, const struct gc_policy *b);

/* Appends the binary form that table records have, see README.md. 0 or -ENOMEM.
 */
int gc_policy_encode(const struct gc_policy *p, struct buf *out);

/* Takes a policy from the front of *in. -ERR_schema_malformed, -ENOMEM; *out is
 * then NULL. */
int gc_policy_decode(struct bytes *in, struct gc_policy **out);

/*
 * Whether the policy lets the version of the given rank (0 is a column's
 * newest) and timestamp stay, at time now_us. What it drops are always the
 * column's oldest versions, and time only adds to them.
 */
bool gc_keep(const struct gc_policy *p, uint64_t rank, uint64_t timestamp_us,
	     uint64_t now_us);

/* The smallest max-versions limit in the policy: versions of a smaller rank are
 * hidden by their age alone. UINT64_MAX if no rule of it counts versions. */
uint64_t gc_rank_limit(const struct gc_policy *p);

/* The last moment at which the version with this timestamp and rank stays; 0 if
 * its rank hides it whatever the time, UINT64_MAX if it stays for ever. */
uint64_t gc_expiry(const struct gc_policy *p, uint64_t rank,
		   uint64_t timestamp_us);

#endif
