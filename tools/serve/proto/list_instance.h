#ifndef TOOLS_SERVE_PROTO_LIST_INSTANCE_H
#define TOOLS_SERVE_PROTO_LIST_INSTANCE_H

/* Messages of google.bigtable.admin.v2 for instances, clusters and app
 * profiles; list_common.h says how they are written. */
/* clang-format off */
#define PROTO_INSTANCE_LIST(m) \
	m(CREATE_INSTANCE, create_instance, \
		"google.bigtable.admin.v2.CreateInstanceRequest") \
	m(GET_INSTANCE, get_instance, \
		"google.bigtable.admin.v2.GetInstanceRequest") \
	m(LIST_INSTANCES, list_instances, \
		"google.bigtable.admin.v2.ListInstancesRequest") \
	m(LIST_INSTANCES_ANSWER, list_instances_answer, \
		"google.bigtable.admin.v2.ListInstancesResponse") \
	m(PARTIAL_UPDATE_INSTANCE, partial_update_instance, \
		"google.bigtable.admin.v2.PartialUpdateInstanceRequest") \
	m(DELETE_INSTANCE, delete_instance, \
		"google.bigtable.admin.v2.DeleteInstanceRequest") \
	m(CREATE_CLUSTER, create_cluster, \
		"google.bigtable.admin.v2.CreateClusterRequest") \
	m(GET_CLUSTER, get_cluster, \
		"google.bigtable.admin.v2.GetClusterRequest") \
	m(LIST_CLUSTERS, list_clusters, \
		"google.bigtable.admin.v2.ListClustersRequest") \
	m(LIST_CLUSTERS_ANSWER, list_clusters_answer, \
		"google.bigtable.admin.v2.ListClustersResponse") \
	m(DELETE_CLUSTER, delete_cluster, \
		"google.bigtable.admin.v2.DeleteClusterRequest") \
	m(PARTIAL_UPDATE_CLUSTER, partial_update_cluster, \
		"google.bigtable.admin.v2.PartialUpdateClusterRequest") \
	m(CREATE_PROFILE, create_profile, \
		"google.bigtable.admin.v2.CreateAppProfileRequest") \
	m(GET_PROFILE, get_profile, \
		"google.bigtable.admin.v2.GetAppProfileRequest") \
	m(LIST_PROFILES, list_profiles, \
		"google.bigtable.admin.v2.ListAppProfilesRequest") \
	m(LIST_PROFILES_ANSWER, list_profiles_answer, \
		"google.bigtable.admin.v2.ListAppProfilesResponse") \
	m(UPDATE_PROFILE, update_profile, \
		"google.bigtable.admin.v2.UpdateAppProfileRequest") \
	m(DELETE_PROFILE, delete_profile, \
		"google.bigtable.admin.v2.DeleteAppProfileRequest") \
	m(INSTANCE, instance, "google.bigtable.admin.v2.Instance") \
	m(LABEL_ENTRY, label_entry, "map string") \
	m(CLUSTER, cluster, "google.bigtable.admin.v2.Cluster") \
	m(CLUSTER_ENTRY, cluster_entry, \
		"map google.bigtable.admin.v2.Cluster") \
	m(CLUSTER_CONFIG, cluster_config, \
		"google.bigtable.admin.v2.Cluster.ClusterConfig") \
	m(AUTOSCALING_CONFIG, autoscaling_config, \
		"google.bigtable.admin.v2.Cluster.ClusterAutoscalingConfig") \
	m(AUTOSCALING_LIMITS, autoscaling_limits, \
		"google.bigtable.admin.v2.AutoscalingLimits") \
	m(AUTOSCALING_TARGETS, autoscaling_targets, \
		"google.bigtable.admin.v2.AutoscalingTargets") \
	m(APP_PROFILE, app_profile, "google.bigtable.admin.v2.AppProfile") \
	m(MULTI_CLUSTER_ROUTING, multi_cluster_routing, \
		"google.bigtable.admin.v2.AppProfile." \
		"MultiClusterRoutingUseAny") \
	m(SINGLE_CLUSTER_ROUTING, single_cluster_routing, \
		"google.bigtable.admin.v2.AppProfile.SingleClusterRouting") \
	m(STANDARD_ISOLATION, standard_isolation, \
		"google.bigtable.admin.v2.AppProfile.StandardIsolation")

#define PROTO_CREATE_INSTANCE(o, x, c) \
	x(c, ONE, 1, STRING, parent) \
	x(c, ONE, 2, STRING, instance_id) \
	x(c, ONE, 3, MESSAGE(instance), instance) \
	x(c, MANY, 4, MESSAGE(cluster_entry), clusters)
#define PROTO_GET_INSTANCE(o, x, c) \
	x(c, ONE, 1, STRING, name)
#define PROTO_LIST_INSTANCES(o, x, c) \
	x(c, ONE, 1, STRING, parent) \
	x(c, ONE, 2, STRING, page_token)
#define PROTO_LIST_INSTANCES_ANSWER(o, x, c) \
	x(c, MANY, 1, MESSAGE(instance), instances) \
	x(c, ONE, 3, STRING, next_page_token)
#define PROTO_PARTIAL_UPDATE_INSTANCE(o, x, c) \
	x(c, ONE, 1, MESSAGE(instance), instance) \
	x(c, ONE, 2, MESSAGE(field_mask), update_mask)
#define PROTO_DELETE_INSTANCE(o, x, c) \
	x(c, ONE, 1, STRING, name)
#define PROTO_CREATE_CLUSTER(o, x, c) \
	x(c, ONE, 1, STRING, parent) \
	x(c, ONE, 2, STRING, cluster_id) \
	x(c, ONE, 3, MESSAGE(cluster), cluster)
#define PROTO_GET_CLUSTER(o, x, c) \
	x(c, ONE, 1, STRING, name)
#define PROTO_LIST_CLUSTERS(o, x, c) \
	x(c, ONE, 1, STRING, parent) \
	x(c, ONE, 2, STRING, page_token)
#define PROTO_LIST_CLUSTERS_ANSWER(o, x, c) \
	x(c, MANY, 1, MESSAGE(cluster), clusters) \
	x(c, ONE, 3, STRING, next_page_token)
#define PROTO_DELETE_CLUSTER(o, x, c) \
	x(c, ONE, 1, STRING, name)
#define PROTO_PARTIAL_UPDATE_CLUSTER(o, x, c) \
	x(c, ONE, 1, MESSAGE(cluster), cluster) \
	x(c, ONE, 2, MESSAGE(field_mask), update_mask)
#define PROTO_CREATE_PROFILE(o, x, c) \
	x(c, ONE, 1, STRING, parent) \
	x(c, ONE, 2, STRING, app_profile_id) \
	x(c, ONE, 3, MESSAGE(app_profile), app_profile)
#define PROTO_GET_PROFILE(o, x, c) \
	x(c, ONE, 1, STRING, name)
#define PROTO_LIST_PROFILES(o, x, c) \
	x(c, ONE, 1, STRING, parent) \
	x(c, ONE, 3, INT32, page_size) \
	x(c, ONE, 2, STRING, page_token)
#define PROTO_LIST_PROFILES_ANSWER(o, x, c) \
	x(c, MANY, 1, MESSAGE(app_profile), app_profiles) \
	x(c, ONE, 2, STRING, next_page_token)
#define PROTO_UPDATE_PROFILE(o, x, c) \
	x(c, ONE, 1, MESSAGE(app_profile), app_profile) \
	x(c, ONE, 2, MESSAGE(field_mask), update_mask)
#define PROTO_DELETE_PROFILE(o, x, c) \
	x(c, ONE, 1, STRING, name)
#define PROTO_INSTANCE(o, x, c) \
	x(c, ONE, 1, STRING, name) \
	x(c, ONE, 2, STRING, display_name) \
	x(c, ONE, 3, INT32, state) \
	x(c, ONE, 4, INT32, type) \
	x(c, MANY, 5, MESSAGE(label_entry), labels) \
	x(c, ONE, 7, MESSAGE(timestamp), create_time)
#define PROTO_LABEL_ENTRY(o, x, c) \
	x(c, ONE, 1, STRING, key) \
	x(c, ONE, 2, STRING, value)
#define PROTO_CLUSTER(o, x, c) \
	o(c, config) \
	x(c, ONE, 1, STRING, name) \
	x(c, ONE, 2, STRING, location) \
	x(c, ONE, 3, INT32, state) \
	x(c, ONE, 4, INT32, serve_nodes) \
	x(c, OF(config), 7, MESSAGE(cluster_config), cluster_config) \
	x(c, ONE, 5, INT32, default_storage_type)
#define PROTO_CLUSTER_ENTRY(o, x, c) \
	x(c, ONE, 1, STRING, key) \
	x(c, ONE, 2, MESSAGE(cluster), value)
#define PROTO_CLUSTER_CONFIG(o, x, c) \
	x(c, ONE, 1, MESSAGE(autoscaling_config), cluster_autoscaling_config)
#define PROTO_AUTOSCALING_CONFIG(o, x, c) \
	x(c, ONE, 1, MESSAGE(autoscaling_limits), autoscaling_limits) \
	x(c, ONE, 2, MESSAGE(autoscaling_targets), autoscaling_targets)
#define PROTO_AUTOSCALING_LIMITS(o, x, c) \
	x(c, ONE, 1, INT32, min_serve_nodes) \
	x(c, ONE, 2, INT32, max_serve_nodes)
#define PROTO_AUTOSCALING_TARGETS(o, x, c) \
	x(c, ONE, 2, INT32, cpu_utilization_percent) \
	x(c, ONE, 3, INT32, storage_utilization_gib_per_node)
#define PROTO_APP_PROFILE(o, x, c) \
	o(c, routing_policy) \
	o(c, isolation) \
	x(c, ONE, 1, STRING, name) \
	x(c, ONE, 2, STRING, etag) \
	x(c, ONE, 3, STRING, description) \
	x(c, OF(routing_policy), 5, MESSAGE(multi_cluster_routing), \
		multi_cluster_routing_use_any) \
	x(c, OF(routing_policy), 6, MESSAGE(single_cluster_routing), \
		single_cluster_routing) \
	x(c, OF(isolation), 7, INT32, priority) \
	x(c, OF(isolation), 11, MESSAGE(standard_isolation), \
		standard_isolation)
#define PROTO_MULTI_CLUSTER_ROUTING(o, x, c) \
	x(c, MANY, 1, STRING, cluster_ids)
#define PROTO_SINGLE_CLUSTER_ROUTING(o, x, c) \
	x(c, ONE, 1, STRING, cluster_id) \
	x(c, ONE, 2, BOOL, allow_transactional_writes)
#define PROTO_STANDARD_ISOLATION(o, x, c) \
	x(c, ONE, 1, INT32, priority)
/* clang-format on */

#endif
