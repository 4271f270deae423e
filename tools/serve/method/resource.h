#ifndef TOOLS_SERVE_METHOD_RESOURCE_H
#define TOOLS_SERVE_METHOD_RESOURCE_H

#include "store/store.h"
#include "tools/serve/proto/proto.h"

/*
 * Names of resources: projects/P/instances/I/tables/T and so on. The project is
 * not looked at.
 */
#define RESOURCE_PARTS_MAX 4

#define RESOURCE_PROJECT "projects/*"
#define RESOURCE_INSTANCE "projects/*/instances/*"
#define RESOURCE_TABLE "projects/*/instances/*/tables/*"
#define RESOURCE_CLUSTER "projects/*/instances/*/clusters/*"
#define RESOURCE_PROFILE "projects/*/instances/*/appProfiles/*"

/* Takes the name apart by the pattern: each part is what stands for a *, not
 * empty and without slash, and borrowed from name. 0, or -ERR_bad_argument with
 * field, that of the request, in the reason. */
int resource_parse(const char *field, struct bytes name, const char *pattern,
		   struct bytes parts[RESOURCE_PARTS_MAX]);

/*
 * The table of a resource's name, as the store has it; borrowed from name or in
 * the arena. An instance that was made has tables of its own, which the store
 * has as INSTANCE~TABLE; all others have those that a mount shows by their
 * plain names. -ERR_no_table for a name that no table can have.
 */
int resource_table(struct store *s, struct proto_arena *arena,
		   const char *field, struct bytes name, struct bytes *table);

/* The same of its parts. */
int resource_place(struct store *s, struct proto_arena *arena,
		   struct bytes instance, struct bytes table,
		   struct bytes *out);

/* Whether CreateInstance made it. */
bool resource_is_made(struct store *s, struct bytes instance);

#endif
