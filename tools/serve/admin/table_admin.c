#include <assert.h>
#include <stdlib.h>

#include "tools/serve/admin/records.h"
#include "tools/serve/admin/table_admin.h"
#include "tools/serve/admin/wire_family.h"
#include "tools/serve/admin/wire_table.h"
#include "tools/serve/method/attributes.h"
#include "tools/serve/method/resource.h"

/* Answers with a table as it is now. instance is its name up to /tables. */
static int answer_table(struct admin_call *a, struct bytes instance,
			struct bytes name, enum table_view view)
{
	struct schema *schema = store_schema(a->service->store);
	const struct table *t = schema_table(schema, name);
	struct proto_table table = { .name = BYTES_NONE };
	int err;

	err = t ? wire_table(schema, t, instance, view, &a->arena, &table)
		: fail(ERR_no_table, "table \"%s\" not found", err_name(name));
	if (!err)
		err = admin_answer(a, table.name, &proto_table_type, &table);
	schema_put(schema);
	return err;
}

/* The name of a table's instance, out of that of the table. */
static struct bytes instance_of(struct bytes name)
{
	size_t size = name.size;

	while (size > 0 && name.data[size - 1] != '/')
		size--;
	assert(size >= sizeof("/tables/") - 1);
	return bytes_of(name.data, size - (sizeof("/tables/") - 1));
}

/* Families to be made, and the policies that they borrow. */
struct specs {
	struct family_spec *specs;
	size_t count;
};

static void specs_release(struct specs *s)
{
	while (s->count > 0)
		gc_policy_free(
			(struct gc_policy *)(uintptr_t)s->specs[--s->count].gc);
}

static int take_family(const struct proto_column_family *f,
		       struct family_spec *spec)
{
	struct gc_policy *gc = NULL;
	int err = 0;

	if (f)
		err = wire_type(f->value_type, &spec->type);
	if (f && !err)
		err = wire_gc(f->gc_rule, &gc);
	spec->gc = gc;
	return err;
}

/* A name that comes twice in the map is the last one's. */
static int take_families(struct admin_call *a, const struct proto_table *t,
			 struct specs *s)
{
	size_t count = t->column_families.count, i, j;
	int err = 0;

	s->specs =
		proto_alloc(&a->arena, (count + 1) * sizeof(*s->specs), &err);
	if (!s->specs)
		return err;
	if (count > STORE_FAMILIES_MAX)
		return fail(ERR_too_many_families,
			    "%zu families are more than "
			    "%d",
			    count, STORE_FAMILIES_MAX);
	for (i = 0; i < count && !err; i++) {
		const struct proto_column_family_entry *entry =
			&t->column_families.at[i];

		for (j = i + 1; j < count; j++)
			if (bytes_equal(entry->key,
					t->column_families.at[j].key))
				break;
		if (j < count)
			continue;
		s->specs[s->count].name = entry->key;
		err = take_family(entry->value, &s->specs[s->count]);
		s->count++;
	}
	return err;
}

/* What is kept beside the families: the splits that were asked for, whether the
 * table is protected, and if nobody made its instance, by which name that goes.
 */
static int take_attributes(struct admin_call *a,
			   const struct proto_create_table *q,
			   struct bytes instance, struct table_spec *spec)
{
	const struct proto_create_table splits = {
		.initial_splits = q->initial_splits,
	};
	struct attribute *kept;
	struct buf value = BUF_INIT;
	uint8_t *copy;
	int err = 0;

	kept = proto_alloc(&a->arena, 3 * sizeof(*kept), &err);
	if (!err && q->initial_splits.count > 0)
		err = proto_encode(&proto_create_table_type, &splits, &value);
	if (!err && value.size > STORE_ATTRIBUTE_VALUE_MAX)
		err = fail(ERR_bad_argument,
			   "Error in field 'initial_splits' : %zu bytes are "
			   "more than the %d that are kept",
			   value.size, STORE_ATTRIBUTE_VALUE_MAX);
	copy = err < 0 ? NULL : proto_alloc(&a->arena, value.size + 1, &err);
	if (copy && value.size > 0) {
		memcpy(copy, value.data, value.size);
		kept[spec->attribute_count++] =
			(struct attribute){ BYTES_LITERAL(TABLE_SPLITS),
					    bytes_of(copy, value.size) };
	}
	if (copy && q->table && q->table->deletion_protection)
		kept[spec->attribute_count++] =
			(struct attribute){ BYTES_LITERAL(STORE_PROTECTED),
					    BYTES_LITERAL("1") };
	if (copy && !resource_is_made(a->service->store, instance) &&
	    instance.size <= STORE_INSTANCE_NAME_MAX)
		kept[spec->attribute_count++] =
			(struct attribute){ BYTES_LITERAL(TABLE_INSTANCE),
					    instance };
	spec->attributes = kept;
	buf_release(&value);
	return err;
}

/* With the lock of records, so that no instance goes meanwhile and leaves the
 * table to nobody. */
static int make_table(struct admin_call *a, struct bytes instance,
		      struct bytes id, struct table_spec *spec)
{
	struct store *s = a->service->store;
	int err = store_check_table_name(id);

	records_lock();
	if (!err)
		err = resource_place(s, &a->arena, instance, id, &spec->name);
	if (!err) {
		err = store_make_table(s, spec);
		method_changed(a->c, a->service, err);
	}
	records_unlock();
	return err;
}

static int do_create_table(struct admin_call *a)
{
	const struct proto_create_table *q = a->request;
	struct table_spec spec = { .in_instance = true, .millis = true };
	struct bytes parts[RESOURCE_PARTS_MAX];
	struct specs specs = { .count = 0 };
	int err = resource_parse("parent", q->parent, RESOURCE_INSTANCE, parts);

	if (!err && q->table && q->table->granularity != 0 &&
	    q->table->granularity != TABLE_MILLIS)
		err = fail(ERR_bad_argument,
			   "Error in field 'granularity' : must be MILLIS");
	if (!err && q->table)
		err = take_families(a, q->table, &specs);
	if (!err)
		err = take_attributes(a, q, parts[1], &spec);
	spec.families = specs.specs;
	spec.family_count = specs.count;
	if (!err)
		err = make_table(a, parts[1], q->table_id, &spec);
	specs_release(&specs);
	return err < 0 ? err
		       : answer_table(a, q->parent, spec.name, TABLE_SCHEMA);
}

/* A page's token is this and the name of its last table, which may be gone when
 * it comes back; what is none is not taken for a name. */
#define TOKEN BYTES_LITERAL("after:")

static int take_token(struct bytes token, struct bytes *last)
{
	*last = BYTES_NONE;
	if (token.size == 0)
		return 0;
	if (!bytes_starts_with(token, TOKEN))
		return fail(ERR_bad_argument,
			    "Error in field 'page_token' : must be a "
			    "next_page_token of ListTables");
	*last = bytes_after(token, TOKEN.size);
	return 0;
}

/* Whether the table is listed: of the instance by this name and a ~, or of all
 * that have no ~ if that is empty; behind the one that a page ended with. */
static bool is_listed(const struct table *t, struct bytes prefix,
		      struct bytes last)
{
	if (prefix.size > 0 ? !bytes_starts_with(t->name, prefix)
			    : memchr(t->name.data, '~', t->name.size) != NULL)
		return false;
	return last.size == 0 ||
	       bytes_compare(bytes_after(t->name, prefix.size), last) > 0;
}

static int add_tables(struct admin_call *a, const struct schema *schema,
		      struct bytes prefix,
		      struct proto_list_tables_answer *answer)
{
	const struct proto_list_tables *q = a->request;
	size_t i, max = q->page_size > 0 ? (size_t)q->page_size : SIZE_MAX;
	struct bytes last;
	int err = take_token(q->page_token, &last);

	if (err < 0)
		return err;
	answer->tables.at = proto_alloc(
		&a->arena,
		(schema->table_count + 1) * sizeof(*answer->tables.at), &err);
	for (i = 0; i < schema->table_count && !err; i++) {
		const struct table *t = &schema->tables[i];

		if (!is_listed(t, prefix, last))
			continue;
		if (answer->tables.count == max) {
			err = admin_print(a, &answer->next_page_token,
					  "after:%.*s", (int)last.size,
					  (const char *)last.data);
			break;
		}
		last = bytes_after(t->name, prefix.size);
		err = wire_table(schema, t, q->parent, (enum table_view)q->view,
				 &a->arena,
				 &answer->tables.at[answer->tables.count++]);
	}
	return err;
}

static int do_list_tables(struct admin_call *a)
{
	const struct proto_list_tables *q = a->request;
	struct proto_list_tables_answer answer = { .tables = { NULL, 0 } };
	struct bytes parts[RESOURCE_PARTS_MAX], prefix = BYTES_NONE;
	struct schema *schema;
	int err = resource_parse("parent", q->parent, RESOURCE_INSTANCE, parts);

	if (!err && q->page_size < 0)
		err = fail(ERR_bad_argument,
			   "Error in field 'page_size' : must not be negative");
	if (!err && resource_is_made(a->service->store, parts[1]))
		err = admin_print(a, &prefix, "%.*s~", (int)parts[1].size,
				  (const char *)parts[1].data);
	if (err < 0)
		return err;
	schema = store_schema(a->service->store);
	err = add_tables(a, schema, prefix, &answer);
	if (!err)
		method_answer(a->c, &proto_list_tables_answer_type, &answer);
	schema_put(schema);
	return err;
}

int table_get(struct admin_call *a, struct bytes name)
{
	struct bytes table;
	int err = admin_table(a, name, &table);

	return err < 0 ? err
		       : answer_table(a, instance_of(name), table,
				      TABLE_SCHEMA);
}

static int do_get_table(struct admin_call *a)
{
	const struct proto_get_table *q = a->request;
	struct bytes table;
	int err = admin_table(a, q->name, &table);

	return err < 0 ? err
		       : answer_table(a, instance_of(q->name), table,
				      q->view == TABLE_VIEW_UNSPECIFIED
					      ? TABLE_SCHEMA
					      : (enum table_view)q->view);
}

/* Its protection is all that is updated of a table. */
static int do_update_table(struct admin_call *a)
{
	const struct proto_update_table *q = a->request;
	struct proto_table answer = { .name = BYTES_NONE };
	struct schema *schema;
	const struct table *t;
	struct bytes table;
	int err;

	if (!q->table)
		return fail(ERR_bad_argument,
			    "Error in field 'table' : must be set");
	err = admin_table(a, q->table->name, &table);
	if (!err &&
	    (!q->update_mask || q->update_mask->paths.count != 1 ||
	     !admin_updates(q->update_mask, "deletion_protection", false)))
		err = fail(EOPNOTSUPP, "of a table, only deletion_protection "
				       "can be updated");
	if (!err) {
		err = store_set_attribute(a->service->store, table,
					  BYTES_LITERAL(STORE_PROTECTED),
					  q->table->deletion_protection
						  ? BYTES_LITERAL("1")
						  : BYTES_NONE);
		method_changed(a->c, a->service, err);
	}
	if (err < 0)
		return err;
	schema = store_schema(a->service->store);
	t = schema_table(schema, table);
	err = t ? wire_table(schema, t, instance_of(q->table->name),
			     TABLE_SCHEMA, &a->arena, &answer)
		: fail(ERR_no_table, "the table was dropped meanwhile");
	if (!err)
		err = admin_answer_operation(a, answer.name, "UpdateTable",
					     &proto_table_type, &answer);
	schema_put(schema);
	return err;
}

static int do_delete_table(struct admin_call *a)
{
	const struct proto_delete_table *q = a->request;
	struct bytes table;
	int err = admin_table(a, q->name, &table);

	if (!err) {
		err = store_drop_table(a->service->store, table, false);
		method_changed(a->c, a->service, err);
	}
	return err < 0 ? err : admin_answer_empty(a);
}

static int take_change(const struct proto_modification *m,
		       struct family_change *change)
{
	static const char *const fields[] = { "gc_rule", "value_type" };
	const struct proto_column_family *f = NULL;
	int err;

	change->family.name = m->id;
	switch (m->mod_case) {
	case nr_modification_create:
		change->kind = FAMILY_CREATE;
		f = m->create;
		break;
	case nr_modification_update:
		change->kind = FAMILY_UPDATE;
		f = m->update;
		err = admin_check_mask(m->update_mask, fields,
				       sizeof(fields) / sizeof(*fields));
		if (err < 0)
			return err;
		change->set_gc = admin_updates(m->update_mask, "gc_rule", true);
		change->set_type = admin_updates(m->update_mask, "value_type",
						 f->value_type != NULL);
		break;
	case nr_modification_drop:
		change->kind = FAMILY_DROP;
		if (m->drop)
			return 0;
		return fail(ERR_bad_argument,
			    "Error in field 'drop' : must be true");
	default:
		return fail(ERR_bad_argument, "a modification is empty");
	}
	return take_family(f, &change->family);
}

/* One alone goes the way that lets commits go on meanwhile. */
static int change_families(struct admin_call *a, struct bytes table,
			   const struct family_change *changes, size_t count)
{
	struct store *s = a->service->store;

	if (count == 1 && changes->kind == FAMILY_UPDATE && changes->set_gc &&
	    !changes->set_type)
		return store_set_gc(s, table, changes->family.name,
				    changes->family.gc);
	if (count == 1 && changes->kind == FAMILY_UPDATE && !changes->set_gc &&
	    changes->set_type)
		return store_set_type(s, table, changes->family.name,
				      changes->family.type);
	return store_change_families(s, table, changes, count);
}

static int do_modify(struct admin_call *a)
{
	const struct proto_modify_families *q = a->request;
	size_t count = q->modifications.count, made = 0;
	struct family_change *changes;
	struct bytes table;
	int err = admin_table(a, q->name, &table);

	if (!err && count == 0)
		err = fail(ERR_bad_argument, "No modifications provided");
	if (err < 0)
		return err;
	changes = proto_alloc(&a->arena, count * sizeof(*changes), &err);
	for (; made < count && !err; made++)
		err = take_change(&q->modifications.at[made], &changes[made]);
	if (!err) {
		err = change_families(a, table, changes, count);
		method_changed(a->c, a->service, err);
	}
	while (made > 0)
		gc_policy_free((struct gc_policy *)(uintptr_t)changes[--made]
				       .family.gc);
	return err < 0 ? err
		       : answer_table(a, instance_of(q->name), table,
				      TABLE_SCHEMA);
}

static int do_drop_rows(struct admin_call *a)
{
	const struct proto_drop_row_range *q = a->request;
	struct service *s = a->service;
	struct bytes table;
	struct write *w = NULL;
	int err = admin_table(a, q->name, &table);

	if (!err)
		err = write_new(s->store, &w);
	if (!err && q->target_case == nr_drop_row_range_row_key_prefix)
		err = write_delete_prefix(w, table, q->row_key_prefix);
	else if (!err && q->delete_all_data_from_table)
		err = write_delete_range(w, table, BYTES_NONE, BYTES_NONE);
	else if (!err)
		err = fail(ERR_bad_argument,
			   "row_key_prefix or delete_all_data_from_table must "
			   "be set");
	if (!err) {
		err = store_commit(s->store, w, true);
		method_changed(a->c, s, err);
	}
	write_free(w);
	return err < 0 ? err : admin_answer_empty(a);
}

/* Whether there is a table of this name. */
static int must_exist(struct admin_call *a, struct bytes name)
{
	struct schema *schema;
	struct bytes table;
	int err = admin_table(a, name, &table);

	if (err < 0)
		return err;
	schema = store_schema(a->service->store);
	if (!schema_table(schema, table))
		err = fail(ERR_no_table, "table \"%s\" not found",
			   err_name(table));
	schema_put(schema);
	return err;
}

#define CONSISTENCY_TOKEN "consistent"

static int do_token(struct admin_call *a)
{
	const struct proto_consistency_token *q = a->request;
	struct proto_consistency_token_answer answer = {
		.consistency_token = BYTES_LITERAL(CONSISTENCY_TOKEN),
	};
	int err = must_exist(a, q->name);

	if (!err)
		method_answer(a->c, &proto_consistency_token_answer_type,
			      &answer);
	return err;
}

static int do_check(struct admin_call *a)
{
	const struct proto_check_consistency *q = a->request;
	struct proto_check_consistency_answer answer = { .consistent = true };
	int err = must_exist(a, q->name);

	if (!err && !bytes_equal(q->consistency_token,
				 BYTES_LITERAL(CONSISTENCY_TOKEN)))
		err = fail(ERR_bad_argument, "the consistency token is none "
					     "that was given");
	if (!err)
		method_answer(a->c, &proto_check_consistency_answer_type,
			      &answer);
	return err;
}

enum call_result create_table(struct call *c, void *context)
{
	return admin_run(c, context, &proto_create_table_type, do_create_table);
}

enum call_result list_tables(struct call *c, void *context)
{
	return admin_run(c, context, &proto_list_tables_type, do_list_tables);
}

enum call_result get_table(struct call *c, void *context)
{
	return admin_run(c, context, &proto_get_table_type, do_get_table);
}

enum call_result update_table(struct call *c, void *context)
{
	return admin_run(c, context, &proto_update_table_type, do_update_table);
}

enum call_result delete_table(struct call *c, void *context)
{
	return admin_run(c, context, &proto_delete_table_type, do_delete_table);
}

enum call_result modify_column_families(struct call *c, void *context)
{
	return admin_run(c, context, &proto_modify_families_type, do_modify);
}

enum call_result drop_row_range(struct call *c, void *context)
{
	return admin_run(c, context, &proto_drop_row_range_type, do_drop_rows);
}

enum call_result generate_consistency_token(struct call *c, void *context)
{
	return admin_run(c, context, &proto_consistency_token_type, do_token);
}

enum call_result check_consistency(struct call *c, void *context)
{
	return admin_run(c, context, &proto_check_consistency_type, do_check);
}
