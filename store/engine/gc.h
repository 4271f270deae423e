#ifndef STORE_ENGINE_GC_H
#define STORE_ENGINE_GC_H

#include <stdatomic.h>

#include "store/base/buf.h"
#include "store/engine/aggregate.h"

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

/*
 * What the engine has to know of a family. Versions with seq < birth_seq are
 * never seen. Of one policy, what it hides are always a column's oldest
 * versions, and time only adds to them; so it makes no difference which of them
 * compaction has dropped already. That is why whoever replaces a policy, or
 * deletes single versions, first deletes what is hidden (see
 * cursor_show_hidden): under another policy some of it might be seen again.
 * A deletion from before the policy gave no such care to what the policy hides.
 * So a merge that may not see all of those must not go by the policy, because
 * it would count versions that are deleted.
 */
struct gc_family {
	struct bytes name; /* owned by the rules */
	uint64_t birth_seq;
	struct gc_policy *policy;  /* owned; NULL keeps all */
	enum aggregate_kind merge; /* how KEY_MERGE entries merge */
};

struct gc_table {
	uint32_t id;
	uint64_t birth_seq;
	uint64_t rules_seq;         /* policies are not older than this */
	struct gc_family *families; /* by name */
	size_t family_count;
};

/*
 * The rules of all tables at one moment, the schema's own (id 0) among them:
 * immutable once shared, counted by references. A key of a table or family that
 * is not here belongs to a dropped one: readers never see it and compaction
 * drops it.
 */
struct gc_rules {
	struct gc_table *tables; /* by id */
	size_t table_count;
	atomic_uint references;
};

struct gc_rules *gc_rules_get(struct gc_rules *r);
/* Frees with the last reference: tables, families, names, policies. */
void gc_rules_put(struct gc_rules *r);
const struct gc_table *gc_rules_table(const struct gc_rules *r, uint32_t id);
const struct gc_family *gc_table_family(const struct gc_table *t,
					struct bytes name);

/*
 * One column's versions on their way past, newest first. Start it for each
 * column; ask it about every version that is otherwise visible (not deleted,
 * not overwritten): whether it is kept.
 */
struct gc_column {
	const struct gc_family *family;
	uint64_t now_us;
	uint64_t rank;
};

void gc_column_start(struct gc_column *c, const struct gc_family *family,
		     uint64_t now_us);
bool gc_column_keep(struct gc_column *c, uint64_t timestamp_us);

#endif
