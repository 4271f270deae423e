#ifndef STORE_ADMIN_H
#define STORE_ADMIN_H

#include "store/schema.h"

/*
 * Changes to the schema. Each is one write: it takes effect at one moment, for
 * all readers and writers, and is durable when it returns 0. Of a write that
 * was begun before and needs what was dropped, the commit fails. Dropping takes
 * no time that depends on the data, which compaction removes later.
 *
 * Errors of all that name a table or a family: -ERR_no_table, -ERR_no_family;
 * of all: what a commit can fail with, such as -ERR_store_readonly. If the sync
 * alone fails, the change is in force in this process all the same.
 */

/* A family to make. */
struct family_spec {
	struct bytes name;
	const struct gc_policy *gc; /* borrowed; NULL keeps all */
	enum family_type type;
};

/* Makes a table with count families. Errors: table_exists, bad_name,
 * name_too_long, too_many_tables, family_exists, too_many_families. */
int store_create_table(struct store *s, struct bytes name, bool millis,
		       const struct family_spec *families, size_t count);

/* store_create_table for who owns it, without families. */
int store_create_table_for(struct store *s, struct bytes name,
			   const struct table_access *access);

/* A table to make, with all that it can have from the first moment on. */
struct table_spec {
	struct bytes name;
	bool in_instance; /* the name may be INSTANCE~TABLE, see below */
	bool millis;
	const struct table_access *access; /* NULL: nothing is set */
	const struct family_spec *families;
	size_t family_count;
	const struct attribute *attributes; /* as store_set_attributes */
	size_t attribute_count;
	uint32_t *id; /* told when it is made, or NULL */
};

/* Makes it. Errors as of store_create_table and store_set_attributes. */
int store_make_table(struct store *s, const struct table_spec *spec);

/* With only_empty, -ERR_table_not_empty if a row has a cell. -EPERM of a table
 * that is protected, see STORE_PROTECTED. */
int store_drop_table(struct store *s, struct bytes name, bool only_empty);

/* Keeps all cells. -ERR_table_exists, also if both names are the same;
 * bad_name, name_too_long. -EPERM as of store_drop_table: whoever looks for the
 * table by its name would miss it. */
int store_rename_table(struct store *s, struct bytes from, struct bytes to);

/*
 * For who fills a table under another name than it is to have, and so that it
 * is not taken for one that somebody makes of this name meanwhile: by its id.
 * -ERR_no_table if it was dropped. The first goes by the name, the families and
 * the attributes of last: it sets policies of families that have none, changes
 * attributes as store_set_attributes does and renames the table, at once, also
 * if it is protected; other errors as of store_set_gc, store_set_attributes and
 * store_rename_table. The second drops it, as store_drop_table does.
 */
int store_finish_table(struct store *s, uint32_t id,
		       const struct table_spec *last);
int store_discard_table(struct store *s, uint32_t id);

/* What timestamps are: multiples of 1000, or any. -ERR_bad_timestamp if a cell
 * that is there has none of the former; for this all of the table is read while
 * no commit can be made. */
int store_set_granularity(struct store *s, struct bytes table, bool millis);

/* What is unset in access stays as it is. */
int store_set_access(struct store *s, struct bytes table,
		     const struct table_access *access);

/* -ERR_family_exists, too_many_families, bad_name, name_too_long. A family that
 * was dropped comes back empty. */
int store_create_family(struct store *s, struct bytes table,
			const struct family_spec *family);
/* -EPERM as of store_drop_table. */
int store_drop_family(struct store *s, struct bytes table, struct bytes family);

/* gc is copied; NULL keeps all. What the former policy hides is deleted first,
 * for good, so that the new one cannot show it again: for this all of the
 * family is read while no commit can be made. Snapshots and scans that are open
 * go on by the former one. */
int store_set_gc(struct store *s, struct bytes table, struct bytes family,
		 const struct gc_policy *gc);

/* -ERR_type_immutable for a family of aggregates. Any other may become one
 * while nothing is set in it, else -ERR_family_not_empty; for this the table is
 * read up to the first such cell while no commit can be made. */
int store_set_type(struct store *s, struct bytes table, struct bytes family,
		   enum family_type type);

/* One of several changes to families of a table. */
struct family_change {
	enum {
		FAMILY_CREATE, /* family, as store_create_family */
		FAMILY_UPDATE, /* what set_gc and set_type say of it */
		FAMILY_DROP    /* the one of this name */
	} kind;
	struct family_spec family;
	bool set_gc, set_type;
};

/* All of the changes, one after another, or none: one write. Errors are those
 * of the calls above. While a policy is changed no commit can be made. */
int store_change_families(struct store *s, struct bytes table,
			  const struct family_change *changes, size_t count);

/* Changes attributes of a table, or with an empty name of the store: count
 * changes, one after another, or none. Each sets the value of a name; one
 * without value.data removes it, which may be missing. Limits are in
 * attributes.h. Errors: no_table, bad_name, name_too_long,
 * attribute_too_large; attributes_full, also if all tables' attributes would be
 * too much together. */
int store_set_attributes(struct store *s, struct bytes table,
			 const struct attribute *changes, size_t count);

/* store_set_attributes of one. */
int store_set_attribute(struct store *s, struct bytes table, struct bytes name,
			struct bytes value);

/* Rules for names: 0, -ERR_bad_name or -ERR_name_too_long, with the reason. */
int store_check_table_name(struct bytes name);
int store_check_family_name(struct bytes name);

/* The name of a table that is in an instance by that name, INSTANCE~TABLE, each
 * a name by itself; the store knows no instances, but keeps such names apart.
 * Only table_spec makes one. */
int store_check_instance_table_name(struct bytes name);

#endif
