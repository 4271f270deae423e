#ifndef TOOLS_SERVE_ADMIN_OPERATION_H
#define TOOLS_SERVE_ADMIN_OPERATION_H

#include "tools/serve/method/method.h"

/*
 * google.longrunning. Operations are done when they are answered, and none is
 * kept: its name, "operations/RESOURCE/CreateInstance", says all of it, and its
 * result is the resource as it is now. None is listed.
 */
enum call_result get_operation(struct call *c, void *context);
enum call_result list_operations(struct call *c, void *context);

#endif
