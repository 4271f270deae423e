#include "tools/serve/admin/admin_call.h"
#include "tools/serve/admin/instance_admin.h"
#include "tools/serve/method/resource.h"

#define READY 1      /* of Instance.State, and of Cluster.State */
#define PRODUCTION 1 /* of Instance.Type */
#define SSD 1        /* of StorageType */

static struct proto_instance instance(struct bytes name, struct bytes id)
{
	return (struct proto_instance){ .name = name,
					.display_name = id,
					.state = READY,
					.type = PRODUCTION };
}

static int do_get_instance(struct admin_call *a)
{
	const struct proto_get_instance *q = a->request;
	struct bytes parts[RESOURCE_PARTS_MAX];
	struct proto_instance answer;
	int err = resource_parse("name", q->name, RESOURCE_INSTANCE, parts);

	if (err < 0)
		return err;
	answer = instance(q->name, parts[1]);
	method_answer(a->c, &proto_instance_type, &answer);
	return 0;
}

static int do_list_instances(struct admin_call *a)
{
	const struct proto_list_instances *q = a->request;
	struct bytes parts[RESOURCE_PARTS_MAX], name;
	struct proto_list_instances_answer answer;
	struct proto_instance one;
	int err = resource_parse("parent", q->parent, RESOURCE_PROJECT, parts);

	if (!err)
		err = admin_print(a, &name, "%.*s/instances/" DEFAULT_INSTANCE,
				  (int)q->parent.size,
				  (const char *)q->parent.data);
	if (err < 0)
		return err;
	one = instance(name, BYTES_LITERAL(DEFAULT_INSTANCE));
	answer = (struct proto_list_instances_answer){
		.instances = { &one, 1 },
	};
	method_answer(a->c, &proto_list_instances_answer_type, &answer);
	return 0;
}

/* name is the cluster's, or NULL for that of the instance. */
static int fill_cluster(struct admin_call *a, struct bytes project,
			struct bytes id, const struct bytes *name,
			struct proto_cluster *out)
{
	int err;

	*out = (struct proto_cluster){ .state = READY,
				       .serve_nodes = 1,
				       .default_storage_type = SSD };
	err = admin_print(a, &out->location, "projects/%.*s/locations/local",
			  (int)project.size, (const char *)project.data);
	if (err < 0)
		return err;
	if (name) {
		out->name = *name;
		return 0;
	}
	return admin_print(
		a, &out->name,
		"projects/%.*s/instances/%.*s/clusters/" DEFAULT_CLUSTER,
		(int)project.size, (const char *)project.data, (int)id.size,
		(const char *)id.data);
}

/* The only one that there is. */
static int must_be(const char *what, struct bytes id, const char *only)
{
	return bytes_equal(id, bytes_string(only))
		       ? 0
		       : fail(ERR_no_table, "%s \"%.*s\" not found", what,
			      (int)id.size, (const char *)id.data);
}

static int do_get_cluster(struct admin_call *a)
{
	const struct proto_get_cluster *q = a->request;
	struct bytes parts[RESOURCE_PARTS_MAX];
	struct proto_cluster answer;
	int err = resource_parse("name", q->name, RESOURCE_CLUSTER, parts);

	if (!err)
		err = must_be("cluster", parts[2], DEFAULT_CLUSTER);
	if (!err)
		err = fill_cluster(a, parts[0], parts[1], &q->name, &answer);
	if (!err)
		method_answer(a->c, &proto_cluster_type, &answer);
	return err;
}

/* Of "-", which is every instance, it is that of the one that is listed. */
static int do_list_clusters(struct admin_call *a)
{
	const struct proto_list_clusters *q = a->request;
	struct proto_list_clusters_answer answer;
	struct bytes parts[RESOURCE_PARTS_MAX];
	struct proto_cluster one;
	int err = resource_parse("parent", q->parent, RESOURCE_INSTANCE, parts);

	if (!err && bytes_equal(parts[1], BYTES_LITERAL("-")))
		parts[1] = BYTES_LITERAL(DEFAULT_INSTANCE);
	if (!err)
		err = fill_cluster(a, parts[0], parts[1], NULL, &one);
	if (err < 0)
		return err;
	answer = (struct proto_list_clusters_answer){ .clusters = { &one, 1 } };
	method_answer(a->c, &proto_list_clusters_answer_type, &answer);
	return 0;
}

static void fill_profile(struct bytes name,
			 struct proto_single_cluster_routing *routing,
			 struct proto_app_profile *out)
{
	*routing = (struct proto_single_cluster_routing){
		.cluster_id = BYTES_LITERAL(DEFAULT_CLUSTER),
		.allow_transactional_writes = true,
	};
	*out = (struct proto_app_profile){
		.name = name,
		.etag = BYTES_LITERAL("0"),
		.routing_policy_case = nr_app_profile_single_cluster_routing,
		.single_cluster_routing = routing,
	};
}

static int do_get_profile(struct admin_call *a)
{
	const struct proto_get_profile *q = a->request;
	struct proto_single_cluster_routing routing;
	struct bytes parts[RESOURCE_PARTS_MAX];
	struct proto_app_profile answer;
	int err = resource_parse("name", q->name, RESOURCE_PROFILE, parts);

	if (!err)
		err = must_be("app profile", parts[2], DEFAULT_PROFILE);
	if (err < 0)
		return err;
	fill_profile(q->name, &routing, &answer);
	method_answer(a->c, &proto_app_profile_type, &answer);
	return 0;
}

static int do_list_profiles(struct admin_call *a)
{
	const struct proto_list_profiles *q = a->request;
	struct proto_list_profiles_answer answer;
	struct proto_single_cluster_routing routing;
	struct bytes parts[RESOURCE_PARTS_MAX], name;
	struct proto_app_profile one;
	int err = resource_parse("parent", q->parent, RESOURCE_INSTANCE, parts);

	if (!err)
		err = admin_print(a, &name, "%.*s/appProfiles/" DEFAULT_PROFILE,
				  (int)q->parent.size,
				  (const char *)q->parent.data);
	if (err < 0)
		return err;
	fill_profile(name, &routing, &one);
	answer = (struct proto_list_profiles_answer){
		.app_profiles = { &one, 1 },
	};
	method_answer(a->c, &proto_list_profiles_answer_type, &answer);
	return 0;
}

/* Any resource: a name is all that is asked of it. */
static int must_name(struct bytes resource)
{
	return resource.size > 0
		       ? 0
		       : fail(ERR_bad_argument,
			      "Error in field 'resource' : must not be empty");
}

static int do_get_policy(struct admin_call *a)
{
	const struct proto_get_iam_policy *q = a->request;
	struct proto_policy answer = { .etag = BYTES_LITERAL("0") };
	int err = must_name(q->resource);

	if (!err)
		method_answer(a->c, &proto_policy_type, &answer);
	return err;
}

static int do_test_permissions(struct admin_call *a)
{
	const struct proto_test_iam *q = a->request;
	struct proto_test_iam_answer answer = {
		.permissions = { q->permissions.at, q->permissions.count },
	};
	int err = must_name(q->resource);

	if (!err)
		method_answer(a->c, &proto_test_iam_answer_type, &answer);
	return err;
}

enum call_result get_instance(struct call *c, void *context)
{
	return admin_run(c, context, &proto_get_instance_type, do_get_instance);
}

enum call_result list_instances(struct call *c, void *context)
{
	return admin_run(c, context, &proto_list_instances_type,
			 do_list_instances);
}

enum call_result get_cluster(struct call *c, void *context)
{
	return admin_run(c, context, &proto_get_cluster_type, do_get_cluster);
}

enum call_result list_clusters(struct call *c, void *context)
{
	return admin_run(c, context, &proto_list_clusters_type,
			 do_list_clusters);
}

enum call_result get_app_profile(struct call *c, void *context)
{
	return admin_run(c, context, &proto_get_profile_type, do_get_profile);
}

enum call_result list_app_profiles(struct call *c, void *context)
{
	return admin_run(c, context, &proto_list_profiles_type,
			 do_list_profiles);
}

enum call_result get_iam_policy(struct call *c, void *context)
{
	return admin_run(c, context, &proto_get_iam_policy_type, do_get_policy);
}

enum call_result test_iam_permissions(struct call *c, void *context)
{
	return admin_run(c, context, &proto_test_iam_type, do_test_permissions);
}
