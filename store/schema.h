#ifndef STORE_SCHEMA_H
#define STORE_SCHEMA_H

#include <stdatomic.h>

#include "store/aggregate.h"
#include "store/gc_policy.h"

struct store;

/*
 * Schema. A struct schema is an immutable picture of all tables at one moment;
 * get one, look things up in it, put it back. Its pointers live as long as the
 * reference does.
 */
enum family_type {
	FAMILY_BYTES = 0,  /* no type */
	FAMILY_STRING = 1, /* stringutf8bytes */
	FAMILY_INTSUM = 2,
	FAMILY_INTMIN = 3,
	FAMILY_INTMAX = 4,
	FAMILY_INTHLL = 5,
};

struct family {
	struct bytes name;
	enum family_type type;
	uint64_t birth_seq;
	struct gc_policy *gc; /* owned; NULL keeps all */
};

/* Whose a table is, for a filesystem that shows it; each may be unset. */
#define TABLE_ACCESS_UNSET UINT32_MAX
struct table_access {
	uint32_t mode, uid, gid;
};

struct table {
	struct bytes name;
	uint32_t id; /* never used again */
	uint64_t birth_seq;
	uint64_t record_seq; /* of the last change to all this */
	bool millis;         /* timestamps are multiples of 1000 */
	struct table_access access;
	struct family *families; /* by name */
	size_t family_count;
};

struct schema {
	struct table *tables; /* by name */
	size_t table_count;
	uint64_t seq; /* grows with each change */
	atomic_uint references;
};

struct schema *store_schema(struct store *s);
void schema_put(struct schema *schema);
/* NULL if there is none. */
const struct table *schema_table(const struct schema *schema,
				 struct bytes name);
const struct family *table_family(const struct table *table, struct bytes name);
/* The policy in force; NULL keeps all. */
const struct gc_policy *family_gc(const struct family *family);
static inline bool family_is_aggregate(const struct family *f)
{
	return f->type >= FAMILY_INTSUM;
}
static inline enum aggregate_kind family_aggregate(const struct family *f)
{
	return f->type < FAMILY_INTSUM
		       ? AGGREGATE_NONE
		       : (enum aggregate_kind)(f->type - FAMILY_INTSUM +
					       AGGREGATE_SUM);
}

#endif
