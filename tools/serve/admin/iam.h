#ifndef TOOLS_SERVE_ADMIN_IAM_H
#define TOOLS_SERVE_ADMIN_IAM_H

#include "tools/serve/method/method.h"

/* Whoever may connect may do everything; no policy is kept. */
enum call_result get_iam_policy(struct call *c, void *context);
enum call_result set_iam_policy(struct call *c, void *context);
enum call_result test_iam_permissions(struct call *c, void *context);

#endif
