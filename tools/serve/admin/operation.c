#include "tools/serve/admin/cluster_admin.h"
#include "tools/serve/admin/instance_admin.h"
#include "tools/serve/admin/operation.h"
#include "tools/serve/admin/profile_admin.h"
#include "tools/serve/admin/table_admin.h"

/* Those that admin_answer_operation answers, and what their results are. */
static const struct {
	const char *name;
	int (*get)(struct admin_call *a, struct bytes resource);
} operations[] = {
	{ "CreateInstance", instance_get },
	{ "UpdateInstance", instance_get },
	{ "CreateCluster", cluster_get },
	{ "UpdateCluster", cluster_get },
	{ "PartialUpdateCluster", cluster_get },
	{ "UpdateAppProfile", profile_get },
	{ "UpdateTable", table_get },
};

static int no_operation(struct bytes name)
{
	return fail(ERR_no_table, "operation \"%s\" not found", err_name(name));
}

static int do_get(struct admin_call *a)
{
	const struct proto_get_operation *q = a->request;
	struct bytes prefix = BYTES_LITERAL(OPERATION_PREFIX), word;
	size_t end = q->name.size, i;

	while (end > 0 && q->name.data[end - 1] != '/')
		end--;
	if (!bytes_starts_with(q->name, prefix) || end <= prefix.size)
		return no_operation(q->name);
	word = bytes_after(q->name, end);
	for (i = 0; i < sizeof(operations) / sizeof(operations[0]); i++) {
		if (!bytes_equal(word, bytes_string(operations[i].name)))
			continue;
		a->operation = operations[i].name;
		return operations[i].get(a, bytes_of(q->name.data + prefix.size,
						     end - 1 - prefix.size));
	}
	return no_operation(q->name);
}

static int do_list(struct admin_call *a)
{
	const struct proto_list_operations *q = a->request;

	if (q->name.size == 0)
		return fail(ERR_bad_argument,
			    "Error in field 'name' : must not be empty");
	method_answer(a->c, &proto_list_operations_answer_type,
		      &(struct proto_list_operations_answer){
			      .operations = { NULL, 0 } });
	return 0;
}

enum call_result get_operation(struct call *c, void *context)
{
	return admin_run(c, context, &proto_get_operation_type, do_get);
}

enum call_result list_operations(struct call *c, void *context)
{
	return admin_run(c, context, &proto_list_operations_type, do_list);
}
