#include "tools/serve/admin/admin_call.h"
#include "tools/serve/admin/iam.h"

#define ETAG "0" /* of the policy that never changes */

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
	struct proto_policy answer = { .etag = BYTES_LITERAL(ETAG) };
	int err = must_name(q->resource);

	if (!err)
		method_answer(a->c, &proto_policy_type, &answer);
	return err;
}

/* What is set is told, and forgotten. */
static int do_set_policy(struct admin_call *a)
{
	const struct proto_set_iam_policy *q = a->request;
	struct proto_policy answer = { .etag = BYTES_NONE };
	int err = must_name(q->resource);

	if (q->policy)
		answer = *q->policy;
	if (answer.etag.size == 0)
		answer.etag = BYTES_LITERAL(ETAG);
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

enum call_result get_iam_policy(struct call *c, void *context)
{
	return admin_run(c, context, &proto_get_iam_policy_type, do_get_policy);
}

enum call_result set_iam_policy(struct call *c, void *context)
{
	return admin_run(c, context, &proto_set_iam_policy_type, do_set_policy);
}

enum call_result test_iam_permissions(struct call *c, void *context)
{
	return admin_run(c, context, &proto_test_iam_type, do_test_permissions);
}
