#include "tools/serve/admin/cluster_admin.h"
#include "tools/serve/admin/profile_admin.h"
#include "tools/serve/admin/records.h"
#include "tools/serve/method/resource.h"

static bool is_default(const struct record *r)
{
	return bytes_equal(r->id, BYTES_LITERAL(DEFAULT_PROFILE));
}

/* routing is of the one without a record. */
static int fill(struct admin_call *a, struct bytes project,
		const struct record *r, struct proto_app_profile *out)
{
	struct proto_single_cluster_routing *routing;
	int err = 0;

	if (r->message) {
		*out = *(const struct proto_app_profile *)r->message;
	} else {
		routing = proto_alloc(&a->arena, sizeof(*routing), &err);
		if (!routing)
			return err;
		routing->cluster_id = BYTES_LITERAL(DEFAULT_CLUSTER);
		routing->allow_transactional_writes = true;
		*out = (struct proto_app_profile){
			.routing_policy_case =
				nr_app_profile_single_cluster_routing,
			.single_cluster_routing = routing,
		};
	}
	out->etag = BYTES_LITERAL("0");
	return admin_print(
		a, &out->name, "projects/%.*s/instances/%.*s/appProfiles/%.*s",
		(int)project.size, (const char *)project.data,
		(int)r->instance.size, (const char *)r->instance.data,
		(int)r->id.size, (const char *)r->id.data);
}

/* By name; also the default one, without a message. */
static int find(struct admin_call *a, struct bytes name, struct record *r,
		struct bytes *project)
{
	struct bytes parts[RESOURCE_PARTS_MAX];
	int err = resource_parse("name", name, RESOURCE_PROFILE, parts);

	if (err < 0)
		return err;
	*project = parts[0];
	*r = (struct record){ .kind = RECORD_PROFILE,
			      .instance = parts[1],
			      .id = parts[2] };
	err = record_read(a, r);
	if (err == 0 && !is_default(r))
		err = record_missing(r);
	return err < 0 ? err : 0;
}

static int do_create(struct admin_call *a)
{
	const struct proto_create_profile *q = a->request;
	struct proto_app_profile answer, kept = { .name = BYTES_NONE };
	struct record r = { .kind = RECORD_PROFILE, .message = &kept };
	struct bytes parts[RESOURCE_PARTS_MAX];
	int err = resource_parse("parent", q->parent, RESOURCE_INSTANCE, parts);

	if (!err)
		err = record_check_id(RECORD_PROFILE, q->app_profile_id);
	if (!err && (!q->app_profile || !q->app_profile->routing_policy_case))
		err = fail(ERR_bad_argument, "Error in field 'app_profile' : "
					     "must have a routing policy");
	if (err < 0)
		return err;
	r.instance = parts[1];
	r.id = q->app_profile_id;
	kept = *q->app_profile;
	kept.name = BYTES_NONE;
	records_lock();
	err = records_create(a, &r, 1, is_default(&r));
	records_unlock();
	if (!err)
		err = fill(a, parts[0], &r, &answer);
	if (!err)
		method_answer(a->c, &proto_app_profile_type, &answer);
	return err;
}

int profile_get(struct admin_call *a, struct bytes name)
{
	struct proto_app_profile answer;
	struct bytes project;
	struct record r;
	int err = find(a, name, &r, &project);

	if (!err)
		err = fill(a, project, &r, &answer);
	return err < 0 ? err
		       : admin_answer(a, answer.name, &proto_app_profile_type,
				      &answer);
}

static int do_get(struct admin_call *a)
{
	const struct proto_get_profile *q = a->request;

	return profile_get(a, q->name);
}

/* Whether a record has changed the default one. */
static bool has_default(const struct record *records, size_t count)
{
	size_t i = 0;

	while (i < count && !is_default(&records[i]))
		i++;
	return i < count;
}

/* All on one page, also of "-", which is all instances. */
static int do_list(struct admin_call *a)
{
	const struct proto_list_profiles *q = a->request;
	struct proto_list_profiles_answer answer = { .app_profiles = { NULL } };
	struct bytes parts[RESOURCE_PARTS_MAX];
	struct record *records, plain = { .kind = RECORD_PROFILE };
	size_t count, i;
	int err = resource_parse("parent", q->parent, RESOURCE_INSTANCE, parts);
	bool all = !err && bytes_equal(parts[1], BYTES_LITERAL("-"));

	/* All are on one page. */
	if (!err && q->page_token.size > 0)
		err = fail(ERR_bad_argument,
			   "Error in field 'page_token' : must be a "
			   "next_page_token of ListAppProfiles");
	if (!err)
		err = records_list(a, RECORD_PROFILE,
				   all ? BYTES_NONE : parts[1], &records,
				   &count);
	if (err < 0)
		return err;
	plain.instance = parts[1];
	plain.id = BYTES_LITERAL(DEFAULT_PROFILE);
	answer.app_profiles.at = proto_alloc(
		&a->arena, (count + 1) * sizeof(*answer.app_profiles.at), &err);
	if (!err && !all && !has_default(records, count))
		err = fill(
			a, parts[0], &plain,
			&answer.app_profiles.at[answer.app_profiles.count++]);
	for (i = 0; i < count && !err; i++)
		err = fill(
			a, parts[0], &records[i],
			&answer.app_profiles.at[answer.app_profiles.count++]);
	if (!err)
		method_answer(a->c, &proto_list_profiles_answer_type, &answer);
	return err;
}

/* What the mask names. A oneof is named by any of its members. */
static void take_changes(const struct proto_app_profile *to,
			 const struct proto_field_mask *mask,
			 struct proto_app_profile *kept)
{
	if (admin_updates(mask, "description", to->description.size > 0))
		kept->description = to->description;
	if (to->routing_policy_case &&
	    (admin_updates(mask, "multi_cluster_routing_use_any", true) ||
	     admin_updates(mask, "single_cluster_routing", true))) {
		kept->routing_policy_case = to->routing_policy_case;
		kept->multi_cluster_routing_use_any =
			to->multi_cluster_routing_use_any;
		kept->single_cluster_routing = to->single_cluster_routing;
	}
	if (to->isolation_case &&
	    (admin_updates(mask, "priority", true) ||
	     admin_updates(mask, "standard_isolation", true))) {
		kept->isolation_case = to->isolation_case;
		kept->priority = to->priority;
		kept->standard_isolation = to->standard_isolation;
	}
}

static int change(struct admin_call *a, const struct proto_update_profile *q,
		  struct proto_app_profile *out)
{
	struct proto_app_profile plain;
	struct bytes project;
	struct record r;
	int err = find(a, q->app_profile->name, &r, &project);

	if (!err && !r.message) {
		err = fill(a, project, &r, &plain);
		plain.name = BYTES_NONE;
		r.message = &plain;
	}
	if (err < 0)
		return err;
	take_changes(q->app_profile, q->update_mask, r.message);
	err = records_write(a, &r, 1);
	return err < 0 ? err : fill(a, project, &r, out);
}

static int do_update(struct admin_call *a)
{
	const struct proto_update_profile *q = a->request;
	struct proto_app_profile answer;
	int err;

	if (!q->app_profile)
		return fail(ERR_bad_argument,
			    "Error in field 'app_profile' : must be set");
	records_lock();
	err = change(a, q, &answer);
	records_unlock();
	return err < 0 ? err
		       : admin_answer_operation(
				 a, answer.name, "UpdateAppProfile",
				 &proto_app_profile_type, &answer);
}

/* Of the default one only what was changed goes. */
static int do_delete(struct admin_call *a)
{
	const struct proto_delete_profile *q = a->request;
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

enum call_result create_app_profile(struct call *c, void *context)
{
	return admin_run(c, context, &proto_create_profile_type, do_create);
}

enum call_result get_app_profile(struct call *c, void *context)
{
	return admin_run(c, context, &proto_get_profile_type, do_get);
}

enum call_result list_app_profiles(struct call *c, void *context)
{
	return admin_run(c, context, &proto_list_profiles_type, do_list);
}

enum call_result update_app_profile(struct call *c, void *context)
{
	return admin_run(c, context, &proto_update_profile_type, do_update);
}

enum call_result delete_app_profile(struct call *c, void *context)
{
	return admin_run(c, context, &proto_delete_profile_type, do_delete);
}
