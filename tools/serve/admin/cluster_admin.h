#ifndef TOOLS_SERVE_ADMIN_CLUSTER_ADMIN_H
#define TOOLS_SERVE_ADMIN_CLUSTER_ADMIN_H

#include "tools/serve/admin/admin_call.h"

/*
 * Clusters: records that nothing else goes by. An instance that nobody made has
 * one that is called DEFAULT_CLUSTER, too.
 */
#define DEFAULT_CLUSTER "cluster"

enum call_result create_cluster(struct call *c, void *context);
/* Answers with the cluster of this name, see admin_answer. */
int cluster_get(struct admin_call *a, struct bytes name);
enum call_result get_cluster(struct call *c, void *context);
enum call_result list_clusters(struct call *c, void *context);
enum call_result update_cluster(struct call *c, void *context);
enum call_result partial_update_cluster(struct call *c, void *context);
enum call_result delete_cluster(struct call *c, void *context);

#endif
