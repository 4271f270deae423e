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
	/* That of which the answer is to be the result; NULL: none. */
	const char *operation;
};

/* Decodes the request and does what answer does, which ends the call and
 * returns 0, or returns an error that the call then ends by. */
enum call_result admin_run(struct call *c, void *context,
			   const struct proto_type *type,
			   int (*answer)(struct admin_call *a));

/* Answers with nothing: 0. */
int admin_answer_empty(struct admin_call *a);

/* Answers with an operation, "CreateInstance", that is done and whose result is
 * message: 0. name is that of what it was about; that of the operation is made
 * of both, see operation.h. */
#define OPERATION_PREFIX "operations/"
int admin_answer_operation(struct admin_call *a, struct bytes name,
			   const char *operation, const struct proto_type *type,
			   const void *message);

/* Answers with message, the resource of this name, or as a->operation says:
 * 0. */
int admin_answer(struct admin_call *a, struct bytes name,
		 const struct proto_type *type, const void *message);

/* Whether an update is of this field. Without a mask it is of all that is set,
 * as it was before there were masks. */
bool admin_updates(const struct proto_field_mask *mask, const char *field,
		   bool set);

/* -ERR_bad_argument if the mask names anything but these fields, or parts of
 * them: it would be passed over. */
int admin_check_mask(const struct proto_field_mask *mask,
		     const char *const *fields, size_t count);

/* The table of a resource's name, see resource_table. */
int admin_table(struct admin_call *a, struct bytes name, struct bytes *table);

/* Makes *out what printf would print, in the arena. 0, -E2BIG, -ENOMEM. */
__attribute__((format(printf, 3, 4))) int admin_print(struct admin_call *a,
						      struct bytes *out,
						      const char *fmt, ...);

#endif
