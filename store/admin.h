#ifndef STORE_ADMIN_H
#define STORE_ADMIN_H

#include "store/schema.h"

/* For createtable: a family to start with. */
struct family_spec {
	struct bytes name;
	const struct gc_policy *gc; /* borrowed */
	enum family_type type;
};

/* Each is durable when it returns 0. Errors: no_table, table_exists, bad_name,
 * name_too_long, too_many_tables, no_family, family_exists, too_many_families,
 * type_immutable, table_not_empty. */
int store_create_table(struct store *s, struct bytes name, bool millis,
		       const struct family_spec *families, size_t count);
/* With only_empty, -ERR_table_not_empty if a row has a cell. */
int store_drop_table(struct store *s, struct bytes name, bool only_empty);
int store_rename_table(struct store *s, struct bytes from, struct bytes to);
int store_set_granularity(struct store *s, struct bytes table, bool millis);
/* What is unset in access stays as it is. */
int store_set_access(struct store *s, struct bytes table,
		     const struct table_access *access);
int store_create_family(struct store *s, struct bytes table,
			const struct family_spec *family);
int store_drop_family(struct store *s, struct bytes table, struct bytes family);
int store_set_gc(struct store *s, struct bytes table, struct bytes family,
		 const struct gc_policy *gc);
int store_set_type(struct store *s, struct bytes table, struct bytes family,
		   enum family_type type);

/* Rules for names: 0, -ERR_bad_name or -ERR_name_too_long, with the reason. */
int store_check_table_name(struct bytes name);
int store_check_family_name(struct bytes name);

#endif
