#include <time.h>

#include "tools/serve/admin/instance_admin.h"
#include "tools/serve/admin/records.h"
#include "tools/serve/method/attributes.h"
#include "tools/serve/method/resource.h"

#define READY 1      /* of Instance.State */
#define PRODUCTION 1 /* of Instance.Type */

/* The one that is there without a record: it is listed, and told. */
static bool is_default(struct bytes id)
{
	return bytes_equal(id, BYTES_LITERAL(DEFAULT_INSTANCE));
}

/* What to say of an instance without a record that is to change. */
static int no_record(const struct record *r)
{
	return is_default(r->instance) ? record_stays(r) : record_missing(r);
}

/* Of a record, or of a name without one, as an answer has it. */
static int fill(struct admin_call *a, struct bytes project,
		const struct record *r, struct proto_instance *out)
{
	if (r->message)
		*out = *(const struct proto_instance *)r->message;
	else
		*out = (struct proto_instance){ .display_name = r->instance };
	out->state = READY;
	if (!out->type)
		out->type = PRODUCTION;
	return admin_print(a, &out->name, "projects/%.*s/instances/%.*s",
			   (int)project.size, (const char *)project.data,
			   (int)r->instance.size,
			   (const char *)r->instance.data);
}

/* The records of a new instance: its own, then those of its clusters. */
static int take_instance(const struct proto_create_instance *q,
			 struct record *records)
{
	size_t i;
	int err = 0;

	for (i = 0; i < q->clusters.count && !err; i++) {
		records[i + 1] = (struct record){
			.kind = RECORD_CLUSTER,
			.instance = q->instance_id,
			.id = q->clusters.at[i].key,
			.message = q->clusters.at[i].value,
		};
		err = record_check_id(RECORD_CLUSTER, records[i + 1].id);
		if (!err && !records[i + 1].message)
			err = fail(ERR_bad_argument,
				   "Error in field 'clusters' : a cluster is "
				   "empty");
	}
	return err;
}

/* -ERR_table_exists if clients have made tables in an instance by this name,
 * that are a mount's: with one of its own they would not find them again. */
static int check_unused(struct admin_call *a, struct bytes id)
{
	struct schema *schema = store_schema(a->service->store);
	struct bytes named;
	size_t i;
	int err = 0;

	for (i = 0; i < schema->table_count && !err; i++) {
		const struct table *t = &schema->tables[i];

		if (attributes_find(&t->attributes,
				    BYTES_LITERAL(TABLE_INSTANCE), &named) &&
		    bytes_equal(named, id))
			err = fail(ERR_table_exists,
				   "instance \"%s\" already exists: it is "
				   "that of the files, and table \"%s\" was "
				   "made in it",
				   err_name(id), err_name(t->name));
	}
	schema_put(schema);
	return err;
}

static int do_create(struct admin_call *a)
{
	const struct proto_create_instance *q = a->request;
	struct proto_instance answer, kept = { .name = BYTES_NONE };
	struct proto_timestamp now = { .seconds = (int64_t)time(NULL) };
	struct bytes parts[RESOURCE_PARTS_MAX];
	struct record *records;
	int err = resource_parse("parent", q->parent, RESOURCE_PROJECT, parts);

	if (!err)
		err = record_check_instance(q->instance_id);
	if (err < 0)
		return err;
	records = proto_alloc(&a->arena,
			      (q->clusters.count + 1) * sizeof(*records), &err);
	if (!records)
		return err;
	if (q->instance)
		kept = *q->instance;
	kept.name = BYTES_NONE;
	kept.create_time = &now;
	*records = (struct record){ .kind = RECORD_INSTANCE,
				    .instance = q->instance_id,
				    .message = &kept };
	err = take_instance(q, records);
	if (err < 0)
		return err;
	records_lock();
	err = check_unused(a, q->instance_id);
	if (!err)
		err = records_create(a, records, q->clusters.count + 1,
				     is_default(q->instance_id));
	records_unlock();
	if (!err)
		err = fill(a, parts[0], records, &answer);
	return err < 0 ? err
		       : admin_answer_operation(a, answer.name,
						"CreateInstance",
						&proto_instance_type, &answer);
}

int instance_get(struct admin_call *a, struct bytes name)
{
	struct bytes parts[RESOURCE_PARTS_MAX];
	struct record r = { .kind = RECORD_INSTANCE };
	struct proto_instance answer;
	int err = resource_parse("name", name, RESOURCE_INSTANCE, parts);

	r.instance = parts[1];
	if (!err)
		err = record_read(a, &r);
	/* As lists have it, so that who asks first makes the one he means. */
	if (err == 0 && !is_default(r.instance))
		err = record_missing(&r);
	if (err >= 0)
		err = fill(a, parts[0], &r, &answer);
	return err < 0 ? err
		       : admin_answer(a, answer.name, &proto_instance_type,
				      &answer);
}

static int do_get(struct admin_call *a)
{
	const struct proto_get_instance *q = a->request;

	return instance_get(a, q->name);
}

static int do_list(struct admin_call *a)
{
	const struct proto_list_instances *q = a->request;
	struct proto_list_instances_answer answer = { .instances = { NULL } };
	const struct record plain = {
		.instance = BYTES_LITERAL(DEFAULT_INSTANCE),
	};
	struct bytes parts[RESOURCE_PARTS_MAX];
	struct record *records;
	size_t count, i;
	int err = resource_parse("parent", q->parent, RESOURCE_PROJECT, parts);

	if (!err)
		err = records_list(a, RECORD_INSTANCE, BYTES_NONE, &records,
				   &count);
	if (err < 0)
		return err;
	answer.instances.at = proto_alloc(
		&a->arena, (count + 1) * sizeof(*answer.instances.at), &err);
	for (i = 0; i <= count && !err; i++)
		err = fill(a, parts[0], i == 0 ? &plain : &records[i - 1],
			   &answer.instances.at[answer.instances.count++]);
	if (!err)
		method_answer(a->c, &proto_list_instances_answer_type, &answer);
	return err;
}

/* Changes what the mask names of the instance that is named, or all. *out is
 * the instance afterwards. */
static int change(struct admin_call *a, const struct proto_instance *to,
		  const struct proto_field_mask *mask,
		  struct proto_instance *out)
{
	struct bytes parts[RESOURCE_PARTS_MAX];
	struct record r = { .kind = RECORD_INSTANCE };
	struct proto_instance *kept;
	int err =
		to ? resource_parse("name", to->name, RESOURCE_INSTANCE, parts)
		   : fail(ERR_bad_argument,
			  "Error in field 'instance' : must be set");

	if (err < 0)
		return err;
	r.instance = parts[1];
	records_lock();
	err = record_read(a, &r);
	if (err == 0)
		err = no_record(&r);
	if (err > 0) {
		kept = r.message;
		if (admin_updates(mask, "display_name", true))
			kept->display_name = to->display_name;
		if (admin_updates(mask, "labels", true))
			kept->labels = to->labels;
		if (admin_updates(mask, "type", to->type != 0))
			kept->type = to->type;
		err = records_write(a, &r, 1);
	}
	records_unlock();
	return err < 0 ? err : fill(a, parts[0], &r, out);
}

static int do_update(struct admin_call *a)
{
	struct proto_instance answer;
	int err = change(a, a->request, NULL, &answer);

	if (!err)
		method_answer(a->c, &proto_instance_type, &answer);
	return err;
}

static int do_partial_update(struct admin_call *a)
{
	const struct proto_partial_update_instance *q = a->request;
	struct proto_instance answer;
	int err = change(a, q->instance, q->update_mask, &answer);

	return err < 0 ? err
		       : admin_answer_operation(a, answer.name,
						"UpdateInstance",
						&proto_instance_type, &answer);
}

/* The names of its tables, the arena's; -EPERM if one is protected. */
static int find_tables(struct admin_call *a, struct bytes instance,
		       struct bytes **names, size_t *count)
{
	struct schema *schema = store_schema(a->service->store);
	struct bytes prefix;
	size_t i;
	int err = 0;

	*count = 0;
	*names = proto_alloc(&a->arena,
			     (schema->table_count + 1) * sizeof(**names), &err);
	if (!err)
		err = admin_print(a, &prefix, "%.*s~", (int)instance.size,
				  (const char *)instance.data);
	for (i = 0; i < schema->table_count && !err; i++) {
		const struct table *t = &schema->tables[i];

		if (!bytes_starts_with(t->name, prefix))
			continue;
		err = table_check_drop(t);
		if (!err)
			err = admin_print(a, &(*names)[(*count)++], "%.*s",
					  (int)t->name.size,
					  (const char *)t->name.data);
	}
	schema_put(schema);
	return err;
}

/* Its tables first: whoever is interrupted does it again. */
static int delete (struct admin_call *a, struct record *r)
{
	struct record *clusters, *profiles, *all;
	size_t cluster_count, profile_count, table_count, i, n = 0;
	struct bytes *tables;
	int err = record_read(a, r);

	if (err == 0)
		return no_record(r);
	if (err > 0)
		err = find_tables(a, r->instance, &tables, &table_count);
	if (!err)
		err = records_list(a, RECORD_CLUSTER, r->instance, &clusters,
				   &cluster_count);
	if (!err)
		err = records_list(a, RECORD_PROFILE, r->instance, &profiles,
				   &profile_count);
	if (err < 0)
		return err;
	all = proto_alloc(&a->arena,
			  (cluster_count + profile_count + 1) * sizeof(*all),
			  &err);
	for (i = 0; i < table_count && !err; i++) {
		err = store_drop_table(a->service->store, tables[i], false);
		method_changed(a->c, a->service, err);
	}
	if (err < 0)
		return err;
	for (i = 0; i < cluster_count; i++)
		all[n++] = clusters[i];
	for (i = 0; i < profile_count; i++)
		all[n++] = profiles[i];
	all[n++] = *r;
	for (i = 0; i < n; i++)
		all[i].message = NULL;
	return records_write(a, all, n);
}

static int do_delete(struct admin_call *a)
{
	const struct proto_delete_instance *q = a->request;
	struct bytes parts[RESOURCE_PARTS_MAX];
	struct record r = { .kind = RECORD_INSTANCE };
	int err = resource_parse("name", q->name, RESOURCE_INSTANCE, parts);

	if (err < 0)
		return err;
	r.instance = parts[1];
	records_lock();
	err = delete (a, &r);
	records_unlock();
	return err < 0 ? err : admin_answer_empty(a);
}

enum call_result create_instance(struct call *c, void *context)
{
	return admin_run(c, context, &proto_create_instance_type, do_create);
}

enum call_result get_instance(struct call *c, void *context)
{
	return admin_run(c, context, &proto_get_instance_type, do_get);
}

enum call_result list_instances(struct call *c, void *context)
{
	return admin_run(c, context, &proto_list_instances_type, do_list);
}

enum call_result update_instance(struct call *c, void *context)
{
	return admin_run(c, context, &proto_instance_type, do_update);
}

enum call_result partial_update_instance(struct call *c, void *context)
{
	return admin_run(c, context, &proto_partial_update_instance_type,
			 do_partial_update);
}

enum call_result delete_instance(struct call *c, void *context)
{
	return admin_run(c, context, &proto_delete_instance_type, do_delete);
}
