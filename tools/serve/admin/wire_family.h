#ifndef TOOLS_SERVE_ADMIN_WIRE_FAMILY_H
#define TOOLS_SERVE_ADMIN_WIRE_FAMILY_H

#include "store/store.h"
#include "tools/serve/proto/messages.h"

/*
 * Families, policies and types between a request and the store. Policies that
 * are made are the caller's to free; NULL keeps all. What is made for an answer
 * is the arena's.
 */

/* -ERR_bad_gc_policy with the reason, -ENOMEM; *out is then NULL. A rule in
 * which nothing is set is no rule. */
int wire_gc(const struct proto_gc_rule *rule, struct gc_policy **out);

/* -ERR_no_such_type for what no family can be here. */
int wire_type(const struct proto_value_type *type, enum family_type *out);

/* Each is 0, -E2BIG or -ENOMEM. A policy that keeps all is a rule in which
 * nothing is set, as clients send it; *out is NULL for a family without a
 * type. */
int wire_gc_answer(const struct gc_policy *p, struct proto_arena *arena,
		   struct proto_gc_rule **out);
int wire_type_answer(enum family_type type, struct proto_arena *arena,
		     struct proto_value_type **out);

#endif
