#ifndef TOOLS_SERVE_ADMIN_INSTANCE_ADMIN_H
#define TOOLS_SERVE_ADMIN_INSTANCE_ADMIN_H

#include "tools/serve/method/method.h"

/*
 * The methods of BigtableInstanceAdmin that only look, and those about
 * permissions. An instance is there by being named, with one cluster and one
 * app profile; lists have the one that is called DEFAULT_INSTANCE.
 */
#define DEFAULT_INSTANCE "tabletfs"
#define DEFAULT_CLUSTER "cluster"
#define DEFAULT_PROFILE "default"

enum call_result get_instance(struct call *c, void *context);
enum call_result list_instances(struct call *c, void *context);
enum call_result get_cluster(struct call *c, void *context);
enum call_result list_clusters(struct call *c, void *context);
enum call_result get_app_profile(struct call *c, void *context);
enum call_result list_app_profiles(struct call *c, void *context);

/* Whoever may connect may do everything; no policy is kept. */
enum call_result get_iam_policy(struct call *c, void *context);
enum call_result test_iam_permissions(struct call *c, void *context);

#endif
