#include "tools/serve/admin/autoscaling.h"
#include "tools/serve/admin/cluster_admin.h"
#include "tools/serve/admin/instance_admin.h"
#include "tools/serve/admin/records.h"
#include "tools/serve/method/resource.h"

#define READY 1 /* of Cluster.State */
#define SSD 1   /* of StorageType */

/* The one that an instance has without a record. */
static bool is_default(struct admin_call *a, const struct record *r)
{
	return bytes_equal(r->id, BYTES_LITERAL(DEFAULT_CLUSTER)) &&
	       !resource_is_made(a->service->store, r->instance);
}

static int fill(struct admin_call *a, struct bytes project,
		const struct record *r, struct proto_cluster *out)
{
	int err = 0;

	if (r->message)
		*out = *(const struct proto_cluster *)r->message;
	else
		*out = (struct proto_cluster){ .serve_nodes = 1 };
	out->state = READY;
	if (!out->serve_nodes)
		out->serve_nodes = autoscaling_nodes(out);
	if (!out->default_storage_type)
		out->default_storage_type = SSD;
	if (out->location.size == 0)
		err = admin_print(
			a, &out->location, "projects/%.*s/locations/local",
			(int)project.size, (const char *)project.data);
	return err < 0 ? err
		       : admin_print(
				 a, &out->name,
				 "projects/%.*s/instances/%.*s/clusters/%.*s",
				 (int)project.size, (const char *)project.data,
				 (int)r->instance.size,
				 (const char *)r->instance.data,
				 (int)r->id.size, (const char *)r->id.data);
}

/* By name; also the default one, without a message. */
static int find(struct admin_call *a, struct bytes name, struct record *r,
		struct bytes *project)
{
	struct bytes parts[RESOURCE_PARTS_MAX];
	int err = resource_parse("name", name, RESOURCE_CLUSTER, parts);

	if (err < 0)
		return err;
	*project = parts[0];
	*r = (struct record){ .kind = RECORD_CLUSTER,
			      .instance = parts[1],
			      .id = parts[2] };
	err = record_read(a, r);
	if (err == 0 && !is_default(a, r))
		err = record_missing(r);
	return err < 0 ? err : 0;
}

static int do_create(struct admin_call *a)
{
	const struct proto_create_cluster *q = a->request;
	struct proto_cluster answer, kept = { .name = BYTES_NONE };
	struct record r = { .kind = RECORD_CLUSTER, .message = &kept };
	struct bytes parts[RESOURCE_PARTS_MAX];
	int err = resource_parse("parent", q->parent, RESOURCE_INSTANCE, parts);

	if (!err)
		err = record_check_instance(parts[1]);
	if (!err)
		err = record_check_id(RECORD_CLUSTER, q->cluster_id);
	if (err < 0)
		return err;
	r.instance = parts[1];
	r.id = q->cluster_id;
	if (q->cluster)
		kept = *q->cluster;
	kept.name = BYTES_NONE;
	records_lock();
	err = records_create(a, &r, 1, is_default(a, &r));
	records_unlock();
	if (!err)
		err = fill(a, parts[0], &r, &answer);
	return err < 0 ? err
		       : admin_answer_operation(a, answer.name, "CreateCluster",
						&proto_cluster_type, &answer);
}

int cluster_get(struct admin_call *a, struct bytes name)
{
	struct proto_cluster answer;
	struct bytes project;
	struct record r;
	int err = find(a, name, &r, &project);

	if (!err)
		err = fill(a, project, &r, &answer);
	return err < 0 ? err
		       : admin_answer(a, answer.name, &proto_cluster_type,
				      &answer);
}

static int do_get(struct admin_call *a)
{
	const struct proto_get_cluster *q = a->request;

	return cluster_get(a, q->name);
}

/* Of "-" it is those of all instances. */
static int do_list(struct admin_call *a)
{
	const struct proto_list_clusters *q = a->request;
	struct proto_list_clusters_answer answer = { .clusters = { NULL } };
	struct bytes parts[RESOURCE_PARTS_MAX];
	struct record *records, plain = { .kind = RECORD_CLUSTER };
	size_t count, i;
	int err = resource_parse("parent", q->parent, RESOURCE_INSTANCE, parts);
	bool all = !err && bytes_equal(parts[1], BYTES_LITERAL("-"));

	if (!err)
		err = records_list(a, RECORD_CLUSTER,
				   all ? BYTES_NONE : parts[1], &records,
				   &count);
	if (err < 0)
		return err;
	plain.instance = all ? BYTES_LITERAL(DEFAULT_INSTANCE) : parts[1];
	plain.id = BYTES_LITERAL(DEFAULT_CLUSTER);
	answer.clusters.at = proto_alloc(
		&a->arena, (count + 1) * sizeof(*answer.clusters.at), &err);
	if (!err && is_default(a, &plain))
		err = fill(a, parts[0], &plain,
			   &answer.clusters.at[answer.clusters.count++]);
	for (i = 0; i < count && !err; i++)
		err = fill(a, parts[0], &records[i],
			   &answer.clusters.at[answer.clusters.count++]);
	if (!err)
		method_answer(a->c, &proto_list_clusters_answer_type, &answer);
	return err;
}

/* Changes what the mask names. */
static int change(struct admin_call *a, const struct proto_cluster *to,
		  const struct proto_field_mask *mask,
		  struct proto_cluster *out)
{
	struct proto_cluster none = { .name = BYTES_NONE }, *kept;
	struct bytes project;
	struct record r;
	int err;

	if (!to)
		return fail(ERR_bad_argument,
			    "Error in field 'cluster' : must be set");
	records_lock();
	err = find(a, to->name, &r, &project);
	if (!err) {
		if (!r.message)
			r.message = &none;
		kept = r.message;
		if (admin_updates(mask, "serve_nodes", to->serve_nodes != 0))
			kept->serve_nodes = to->serve_nodes;
		err = autoscaling_update(kept, to, mask, &a->arena);
		if (!err)
			err = records_write(a, &r, 1);
	}
	records_unlock();
	return err < 0 ? err : fill(a, project, &r, out);
}

static int answer_change(struct admin_call *a, const struct proto_cluster *to,
			 const struct proto_field_mask *mask,
			 const char *operation)
{
	struct proto_cluster answer;
	int err = change(a, to, mask, &answer);

	return err < 0 ? err
		       : admin_answer_operation(a, answer.name, operation,
						&proto_cluster_type, &answer);
}

static int do_update(struct admin_call *a)
{
	return answer_change(a, a->request, NULL, "UpdateCluster");
}

static int do_partial_update(struct admin_call *a)
{
	const struct proto_partial_update_cluster *q = a->request;

	return answer_change(a, q->cluster, q->update_mask,
			     "PartialUpdateCluster");
}

static int do_delete(struct admin_call *a)
{
	const struct proto_delete_cluster *q = a->request;
	struct bytes project;
	struct record r;
	int err;

	records_lock();
	err = find(a, q->name, &r, &project);
	if (!err)
		err = record_remove(a, &r);
	records_unlock();
	return err < 0 ? err : admin_answer_empty(a);
}

enum call_result create_cluster(struct call *c, void *context)
{
	return admin_run(c, context, &proto_create_cluster_type, do_create);
}

enum call_result get_cluster(struct call *c, void *context)
{
	return admin_run(c, context, &proto_get_cluster_type, do_get);
}

enum call_result list_clusters(struct call *c, void *context)
{
	return admin_run(c, context, &proto_list_clusters_type, do_list);
}

enum call_result update_cluster(struct call *c, void *context)
{
	return admin_run(c, context, &proto_cluster_type, do_update);
}

enum call_result partial_update_cluster(struct call *c, void *context)
{
	return admin_run(c, context, &proto_partial_update_cluster_type,
			 do_partial_update);
}

enum call_result delete_cluster(struct call *c, void *context)
{
	return admin_run(c, context, &proto_delete_cluster_type, do_delete);
}
