#ifndef STORE_SCHEMA_H
#define STORE_SCHEMA_H

#include <stdatomic.h>

#include "store/aggregate.h"
#include "store/attributes.h"
#include "store/gc_policy.h"

/*
 * The schema: which tables and families there are. A struct schema is an
 * immutable picture of all tables at one moment, shared by reference: get one
 * from store_schema, look things up in it, put it back. Everything that it
 * leads to lives as long as the reference does. admin.h changes the schema,
 * which makes a new picture.
 */
struct store;

/* What the values of a family are. The numbers are those in table records on
 * disk; those from FAMILY_INTSUM on are aggregates, in the order of enum
 * aggregate_kind. */
enum family_type {
	FAMILY_BYTES = 0,  /* no type */
	FAMILY_STRING = 1, /* stringutf8bytes */
	FAMILY_INTSUM = 2,
	FAMILY_INTMIN = 3,
	FAMILY_INTMAX = 4,
	FAMILY_INTHLL = 5,
};

struct family {
	struct bytes name; /* owned */
	enum family_type type;
	uint64_t birth_seq;   /* cells with smaller sequences are not its */
	uint64_t rules_seq;   /* since then it has this policy, and merges or
				 not as it does */
	struct gc_policy *gc; /* owned; NULL keeps all */
};

/* Whose a table is, for a filesystem that shows it; the store does not go by
 * it. Each field may be unset. */
#define TABLE_ACCESS_UNSET UINT32_MAX
struct table_access {
	uint32_t mode, uid, gid;
};

struct table {
	struct bytes name;   /* owned */
	uint32_t id;         /* from 1; never used again */
	uint64_t birth_seq;  /* cells with smaller sequences are not its */
	uint64_t record_seq; /* of the last change to all this */
	bool millis;         /* timestamps are multiples of 1000 */
	struct table_access access;
	struct attributes attributes;
	struct family *families; /* owned; ascending by name */
	size_t family_count;
};

struct schema {
	struct table *tables; /* owned; ascending by name */
	size_t table_count;
	struct attributes attributes; /* the store's own */
	uint64_t seq;                 /* of the last change; grows with each */
	atomic_uint references;
};

/* The schema of now, with a reference for the caller. Never NULL. */
struct schema *store_schema(struct store *s);

/* That of a snapshot's moment, as store_schema; of NULL, that of now. */
struct snapshot;
struct schema *store_schema_at(struct store *s,
			       const struct snapshot *snapshot);

/* The id of the table that a name stands for at a snapshot's moment, or now if
 * it is NULL; 0 if there is none. Who has a name knows it from the present: so
 * it is the table that has it now, if the snapshot sees that, or else the one
 * that had it then. */
uint32_t store_table_id(struct store *s, const struct snapshot *snapshot,
			struct bytes name);

/* Gives a reference back; NULL is allowed. */
void schema_put(struct schema *schema);

/* NULL if there is none of this name. */
const struct table *schema_table(const struct schema *schema,
				 struct bytes name);
/* The same by its id, looked at one after another. */
const struct table *table_by_id(const struct schema *schema, uint32_t id);
const struct family *table_family(const struct table *table, struct bytes name);

/* The attributes of the table of this name, NULL if there is none; or, if the
 * name is empty, the store's own. */
const struct attributes *schema_attributes(const struct schema *schema,
					   struct bytes table);

/* Whether there is a table of this name that has this attribute, or with the
 * empty name the store: *value, which may be NULL, is its value then. */
bool schema_attribute(const struct schema *schema, struct bytes table,
		      struct bytes name, struct bytes *value);

/* What the store's own attributes begin with that say so. */
#define STORE_DROPPED "dropped/"

/* Whose the table of this id was when it was dropped: true with *out, if that
 * was while history was kept, and history may have it still. */
bool schema_dropped_access(const struct schema *schema, uint32_t id,
			   struct table_access *out);

/* 0, or -EPERM with what to do, if the table is protected: see
 * STORE_PROTECTED. */
int table_check_drop(const struct table *table);

/* The policy in force; NULL keeps all. */
const struct gc_policy *family_gc(const struct family *family);

static inline bool family_is_aggregate(const struct family *f)
{
	return f->type >= FAMILY_INTSUM;
}

/* How cells of the family merge; AGGREGATE_NONE if they do not. */
static inline enum aggregate_kind family_aggregate(const struct family *f)
{
	return f->type < FAMILY_INTSUM
		       ? AGGREGATE_NONE
		       : (enum aggregate_kind)(f->type - FAMILY_INTSUM +
					       AGGREGATE_SUM);
}

_Static_assert(FAMILY_INTHLL - FAMILY_INTSUM == AGGREGATE_HLL - AGGREGATE_SUM,
	       "family_aggregate counts on the same order");

#endif
