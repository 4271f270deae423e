#ifndef TOOLS_SERVE_ADMIN_ADMIN_CALL_H
#define TOOLS_SERVE_ADMIN_ADMIN_CALL_H

#include "tools/serve/method/method.h"

/*
 * The frame of methods that administer: each is its request taken apart, some
 * calls on the store, and an answer, all in one run.
 */
struct admin_call {
	struct call *c;
	struct service *service;
	struct proto_arena arena;
	void *request; /* decoded */
};

/* Decodes the request and does what answer does, which ends the call and
 * returns 0, or returns an error that the call then ends by. */
enum call_result admin_run(struct call *c, void *context,
			   const struct proto_type *type,
			   int (*answer)(struct admin_call *a));

/* Answers with nothing: 0. */
int admin_answer_empty(struct admin_call *a);

/* Makes *out what printf would print, in the arena. 0, -E2BIG, -ENOMEM. */
__attribute__((format(printf, 3, 4))) int admin_print(struct admin_call *a,
						      struct bytes *out,
						      const char *fmt, ...);

#endif
