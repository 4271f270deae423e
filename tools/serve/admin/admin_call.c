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

/* Bytes of the arena as Any has them: a type's name and a message. */
static int pack(struct admin_call *a, const char *type, struct bytes value,
		struct proto_any *out)
{
	int err =
		admin_print(a, &out->type_url, "type.googleapis.com/%s", type);

	out->value = value;
	return err;
}

int admin_answer_operation(struct admin_call *a, struct bytes name,
			   const char *metadata, const struct proto_type *type,
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

	if (!err)
		err = pack(a, type->name, buf_bytes(&value), &result);
	if (!err)
		err = pack(a, metadata, BYTES_NONE, &course);
	if (!err)
		err = admin_print(a, &answer.name, "operations/%.*s/done",
				  (int)name.size, (const char *)name.data);
	if (!err)
		method_answer(a->c, &proto_operation_type, &answer);
	buf_release(&value);
	return err;
}

bool admin_updates(const struct proto_field_mask *mask, const char *field,
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
