#include <stdlib.h>

#include "tools/serve/admin/admin_call.h"
#include "tools/serve/admin/table_admin.h"
#include "tools/serve/admin/wire_family.h"
#include "tools/serve/admin/wire_table.h"
#include "tools/serve/method/resource.h"

/* Answers with a table as it is now. instance is its name up to /tables. */
static int answer_table(struct admin_call *a, struct bytes instance,
			struct bytes name, enum table_view view)
{
	struct schema *schema = store_schema(a->service->store);
	const struct table *t = schema_table(schema, name);
	struct proto_table table = { .name = BYTES_NONE };
	int err;

	err = t ? wire_table(t, instance, view, &a->arena, &table)
		: fail(ERR_no_table, "table \"%.*s\" not found", (int)name.size,
		       (const char *)name.data);
	if (!err)
		method_answer(a->c, &proto_table_type, &table);
	schema_put(schema);
	return err;
}

/* The name of a table's instance, out of that of the table. */
static struct bytes instance_of(struct bytes name, struct bytes table)
{
	return bytes_of(name.data,
			name.size - table.size - sizeof("/tables/") + 1);
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

static int do_create_table(struct admin_call *a)
{
	const struct proto_create_table *q = a->request;
	struct bytes parts[RESOURCE_PARTS_MAX];
	struct specs specs = { .count = 0 };
	int err = resource_parse("parent", q->parent, RESOURCE_INSTANCE, parts);

	if (!err && q->table)
		err = take_families(a, q->table, &specs);
	if (!err) {
		err = store_create_table(a->service->store, q->table_id, true,
					 specs.specs, specs.count);
		method_changed(a->service);
	}
	specs_release(&specs);
	return err < 0 ? err
		       : answer_table(a, q->parent, q->table_id, TABLE_SCHEMA);
}

/* The first table behind the one that a page ended with. */
static size_t page_start(const struct schema *schema, struct bytes token)
{
	size_t i = 0;

	while (i < schema->table_count && token.size > 0 &&
	       bytes_compare(schema->tables[i].name, token) <= 0)
		i++;
	return i;
}

static int do_list_tables(struct admin_call *a)
{
	const struct proto_list_tables *q = a->request;
	struct proto_list_tables_answer answer = { .tables = { NULL, 0 } };
	enum table_view view = (enum table_view)q->view;
	struct bytes parts[RESOURCE_PARTS_MAX];
	struct schema *schema;
	size_t i, end;
	int err = resource_parse("parent", q->parent, RESOURCE_INSTANCE, parts);

	if (!err && q->page_size < 0)
		err = fail(ERR_bad_argument,
			   "Error in field 'page_size' : must not be negative");
	if (err < 0)
		return err;
	schema = store_schema(a->service->store);
	i = page_start(schema, q->page_token);
	end = schema->table_count;
	if (q->page_size > 0 && end - i > (size_t)q->page_size)
		end = i + (size_t)q->page_size;
	answer.tables.at = proto_alloc(
		&a->arena, (end - i + 1) * sizeof(*answer.tables.at), &err);
	for (; i < end && !err; i++)
		err = wire_table(&schema->tables[i], q->parent, view, &a->arena,
				 &answer.tables.at[answer.tables.count++]);
	if (!err && end < schema->table_count)
		answer.next_page_token = schema->tables[end - 1].name;
	if (!err)
		method_answer(a->c, &proto_list_tables_answer_type, &answer);
	schema_put(schema);
	return err;
}

static int do_get_table(struct admin_call *a)
{
	const struct proto_get_table *q = a->request;
	struct bytes table;
	int err = resource_table("name", q->name, &table);

	return err < 0 ? err
		       : answer_table(a, instance_of(q->name, table), table,
				      q->view == TABLE_VIEW_UNSPECIFIED
					      ? TABLE_SCHEMA
					      : (enum table_view)q->view);
}

static int do_delete_table(struct admin_call *a)
{
	const struct proto_delete_table *q = a->request;
	struct bytes table;
	int err = resource_table("name", q->name, &table);

	if (!err) {
		err = store_drop_table(a->service->store, table, false);
		method_changed(a->service);
	}
	return err < 0 ? err : admin_answer_empty(a);
}

/* Whether an update is of this field. Without a mask it is of all that is set,
 * as it was before there were masks. */
static bool updates(const struct proto_field_mask *mask, const char *field,
		    bool set)
{
	struct bytes name = bytes_string(field), path;
	size_t i;

	if (!mask || mask->paths.count == 0)
		return set;
	for (i = 0; i < mask->paths.count; i++) {
		path = mask->paths.at[i];
		/* Also of a part of it. */
		if (bytes_equal(path, name) || (bytes_starts_with(path, name) &&
						path.data[name.size] == '.'))
			return true;
	}
	return false;
}

static int take_change(const struct proto_modification *m,
		       struct family_change *change)
{
	const struct proto_column_family *f = NULL;

	change->family.name = m->id;
	switch (m->mod_case) {
	case nr_modification_create:
		change->kind = FAMILY_CREATE;
		f = m->create;
		break;
	case nr_modification_update:
		change->kind = FAMILY_UPDATE;
		f = m->update;
		change->set_gc = updates(m->update_mask, "gc_rule", true);
		change->set_type = updates(m->update_mask, "value_type",
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
	int err = resource_table("name", q->name, &table);

	if (!err && count == 0)
		err = fail(ERR_bad_argument, "No modifications provided");
	if (err < 0)
		return err;
	changes = proto_alloc(&a->arena, count * sizeof(*changes), &err);
	for (; made < count && !err; made++)
		err = take_change(&q->modifications.at[made], &changes[made]);
	if (!err) {
		err = change_families(a, table, changes, count);
		method_changed(a->service);
	}
	while (made > 0)
		gc_policy_free((struct gc_policy *)(uintptr_t)changes[--made]
				       .family.gc);
	return err < 0 ? err
		       : answer_table(a, instance_of(q->name, table), table,
				      TABLE_SCHEMA);
}

static int do_drop_rows(struct admin_call *a)
{
	const struct proto_drop_row_range *q = a->request;
	struct service *s = a->service;
	struct bytes table;
	struct write *w = NULL;
	int err = resource_table("name", q->name, &table);

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
		method_changed(s);
	}
	write_free(w);
	return err < 0 ? err : admin_answer_empty(a);
}

/* Whether there is a table of this name. */
static int must_exist(struct admin_call *a, struct bytes name)
{
	struct schema *schema;
	struct bytes table;
	int err = resource_table("name", name, &table);

	if (err < 0)
		return err;
	schema = store_schema(a->service->store);
	if (!schema_table(schema, table))
		err = fail(ERR_no_table, "table \"%.*s\" not found",
			   (int)table.size, (const char *)table.data);
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
