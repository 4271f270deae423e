#ifndef TOOLS_SERVE_ADMIN_INSTANCE_ADMIN_H
#define TOOLS_SERVE_ADMIN_INSTANCE_ADMIN_H

#include "tools/serve/admin/admin_call.h"

/*
 * Instances. One that CreateInstance made has a record and tables of its own,
 * which go with it. All other names stand for one and the same instance, that
 * of the tables that a mount shows by their plain names; lists have it as
 * DEFAULT_INSTANCE.
 */
#define DEFAULT_INSTANCE "tabletfs"

enum call_result create_instance(struct call *c, void *context);
/* Answers with the instance of this name, see admin_answer. */
int instance_get(struct admin_call *a, struct bytes name);
enum call_result get_instance(struct call *c, void *context);
enum call_result list_instances(struct call *c, void *context);
enum call_result update_instance(struct call *c, void *context);
enum call_result partial_update_instance(struct call *c, void *context);
enum call_result delete_instance(struct call *c, void *context);

#endif
