#include <stdarg.h>
#include <stdio.h>

#include "tools/serve/admin/admin_call.h"
#include "tools/serve/method/resource.h"

enum call_result admin_run(struct call *c, void *context,
			   const struct proto_type *type,
			   int (*answer)(struct admin_call *a))
{
	struct admin_call a = { .c = c, .service = context };
	int err;

	a.request = method_request(c, type, &a.arena);
	err = a.request ? answer(&a) : 0;
	if (err < 0)
		method_failed(c, err);
	proto_arena_release(&a.arena);
	return CALL_DONE;
}

int admin_answer_empty(struct admin_call *a)
{
	method_answer(a->c, &proto_empty_type, &(struct proto_empty){ 0 });
	return 0;
}

#define TYPE_PREFIX "type.googleapis.com/"

int admin_answer_operation(struct admin_call *a, struct bytes name,
			   const char *operation, const struct proto_type *type,
			   const void *message)
{
	struct proto_any course = { .value = BYTES_NONE }, result = course;
	struct proto_operation answer = {
		.metadata = &course,
		.done = true,
		.result_case = nr_operation_response,
		.response = &result,
	};
	struct buf value = BUF_INIT;
	int err = proto_encode(type, message, &value);

	result.value = buf_bytes(&value);
	if (!err)
		err = admin_print(a, &result.type_url, TYPE_PREFIX "%s",
				  type->name);
	/* Of its course there is nothing to say. */
	if (!err)
		err = admin_print(a, &course.type_url,
				  TYPE_PREFIX
				  "google.bigtable.admin.v2.%sMetadata",
				  operation);
	if (!err)
		err = admin_print(a, &answer.name, OPERATION_PREFIX "%.*s/%s",
				  (int)name.size, (const char *)name.data,
				  operation);
	if (!err)
		method_answer(a->c, &proto_operation_type, &answer);
	buf_release(&value);
	return err;
}

int admin_answer(struct admin_call *a, struct bytes name,
		 const struct proto_type *type, const void *message)
{
	if (a->operation)
		return admin_answer_operation(a, name, a->operation, type,
					      message);
	method_answer(a->c, type, message);
	return 0;
}

/* Whether a path of a mask is this field, or a part of it. */
static bool is_of(struct bytes path, const char *field)
{
	struct bytes name = bytes_string(field);

	return bytes_equal(path, name) ||
	       (bytes_starts_with(path, name) && path.data[name.size] == '.');
}

int admin_check_mask(const struct proto_field_mask *mask,
		     const char *const *fields, size_t count)
{
	size_t i, k;

	for (i = 0; mask && i < mask->paths.count; i++) {
		for (k = 0; k < count; k++)
			if (is_of(mask->paths.at[i], fields[k]))
				break;
		if (k == count)
			return fail(ERR_bad_argument,
				    "Error in field 'update_mask' : %s is "
				    "nothing that can be updated",
				    err_name(mask->paths.at[i]));
	}
	return 0;
}

bool admin_updates(const struct proto_field_mask *mask, const char *field,
		   bool set)
{
	size_t i;

	if (!mask || mask->paths.count == 0)
		return set;
	for (i = 0; i < mask->paths.count; i++)
		if (is_of(mask->paths.at[i], field))
			return true;
	return false;
}

int admin_table(struct admin_call *a, struct bytes name, struct bytes *table)
{
	return resource_table(a->service->store, &a->arena, "name", name,
			      table);
}

int admin_print(struct admin_call *a, struct bytes *out, const char *fmt, ...)
{
	va_list args;
	int size, err = 0;
	char *p;

	va_start(args, fmt);
	size = vsnprintf(NULL, 0, fmt, args);
	va_end(args);
	p = proto_alloc(&a->arena, (size_t)size + 1, &err);
	if (!p)
		return err;
	va_start(args, fmt);
	vsnprintf(p, (size_t)size + 1, fmt, args);
	va_end(args);
	*out = bytes_of(p, (size_t)size);
	return 0;
}
