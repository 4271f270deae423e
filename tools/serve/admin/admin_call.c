#include <stdarg.h>
#include <stdio.h>

#include "tools/serve/admin/admin_call.h"

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
