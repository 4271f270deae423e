#ifndef STORE_ENGINE_COMPACT_GC_H
#define STORE_ENGINE_COMPACT_GC_H

#include <stdatomic.h>

#include "store/aggregate.h"
#include "store/base/buf.h"
#include "store/gc_policy.h"

/*
 * GC rules as the engine knows them: which table and family a key belongs to,
 * since when they are, and which versions of a column the family's policy lets
 * be. The model makes them of the schema (engine_set_rules); compaction asks
 * them to drop, reading asks them to hide, and both must come to the same.
 */

/*
 * What the engine has to know of a family. Versions with seq < birth_seq are
 * never seen. Of one policy, what it hides are always a column's oldest
 * versions, and time only adds to them; so it makes no difference which of them
 * compaction has dropped already. That is why whoever replaces a policy, or
 * deletes single versions, first deletes what is hidden (see
 * cursor_show_hidden): under another policy some of it might be seen again.
 * A snapshot does not see that deletion if it is older, so it goes on by the
 * policy of its moment, and while one is held whose policies are not those of
 * now, merges go by either for nothing that a snapshot sees; but by those of
 * now for what came after all of them.
 * A deletion from before the policy gave no such care to what the policy hides.
 * So a merge that may not see all of those must not go by the policy, because
 * it would count versions that are deleted. One that may not see a later
 * deletion counts what is deleted, too, and has to come to no more than what
 * was hidden, and deleted with it, just before: it counts what is older than
 * the first such deletion, at the GC time of that. At a later time a policy
 * such as "older than a week and not the newest" hides what the deletion has
 * made the newest.
 */
struct gc_family {
	struct bytes name; /* owned by the rules */
	uint64_t birth_seq;
	uint64_t rules_seq;        /* what follows is since then */
	struct gc_policy *policy;  /* owned; NULL keeps all */
	enum aggregate_kind merge; /* of KEY_MERGE entries; or NONE */
};

struct gc_table {
	uint32_t id; /* that its keys begin with */
	uint64_t birth_seq;
	struct gc_family *families; /* by name */
	size_t family_count;
};

/*
 * The rules of all tables at one moment, the schema's own (id 0) among them:
 * immutable once shared, counted by references. A key of a table or family that
 * is not here belongs to a dropped one: readers of this moment never see it,
 * and compaction drops it unless a snapshot has rules in which it is.
 */
struct gc_rules {
	struct gc_table *tables; /* by id */
	size_t table_count;
	uint64_t seq; /* no rules_seq is greater, but those of later changes */
	void *schema; /* that they were made of, for who made them; or NULL */
	void (*put_schema)(void *schema); /* ends it with the rules */
	atomic_uint references;
};

/* NULL stays NULL. */
struct gc_rules *gc_rules_get(struct gc_rules *r);

/* Frees with the last reference: tables, families, names, policies. NULL is
 * allowed. */
void gc_rules_put(struct gc_rules *r);

/* NULL if the table was dropped. All live as long as the rules. */
const struct gc_table *gc_rules_table(const struct gc_rules *r, uint32_t id);

/* The first table with an id from id to last; NULL if all were dropped. */
const struct gc_table *gc_rules_first(const struct gc_rules *r, uint32_t id,
				      uint32_t last);

/* NULL if the family was dropped. name is as it is written, not escaped. */
const struct gc_family *gc_table_family(const struct gc_table *t,
					struct bytes name);

/* From which sequence on the cells of a column in this table and family are
 * seen by these rules; UINT64_MAX: none are. */
uint64_t gc_rules_birth(const struct gc_rules *r, uint32_t table,
			struct bytes family);

/*
 * One column's versions on their way past, newest first. Start it for each
 * column; ask it about every version that is otherwise visible (not deleted,
 * not overwritten): whether it is kept.
 */
struct gc_column {
	const struct gc_family *family; /* borrowed from the rules */
	uint64_t now_us;                /* GC time */
	uint64_t counted_us;            /* that of what goes by the rank */
	uint64_t rank;                  /* versions kept so far */
};

/* counted_us: now_us, or an earlier time up to which versions are counted. */
void gc_column_start(struct gc_column *c, const struct gc_family *family,
		     uint64_t now_us, uint64_t counted_us);

bool gc_column_keep(struct gc_column *c, uint64_t timestamp_us);

/* The same of a version that is not counted, whose rank nobody can tell:
 * whether it is kept if it is the newest. */
bool gc_column_keep_newest(const struct gc_column *c, uint64_t timestamp_us);

#endif
