#include <unistd.h>

#include "tools/serve/method/method.h"

/* What went wrong by whose fault, in the codes that the service documents. */
static const struct {
	int err;
	enum call_status status;
} statuses[] = {
	{ EBADMSG, CALL_INTERNAL },
	{ EOPNOTSUPP, CALL_UNIMPLEMENTED },
	{ E2BIG, CALL_RESOURCE_EXHAUSTED },
	{ EMSGSIZE, CALL_FAILED_PRECONDITION },
	{ ENOMEM, CALL_RESOURCE_EXHAUSTED },
	{ ENOSPC, CALL_RESOURCE_EXHAUSTED },
	{ EDQUOT, CALL_RESOURCE_EXHAUSTED },
	{ EMFILE, CALL_UNAVAILABLE },
	{ ENFILE, CALL_UNAVAILABLE },
	{ EBUSY, CALL_ABORTED },
	{ EINTR, CALL_CANCELLED },
	{ ECANCELED, CALL_CANCELLED },
	{ EPERM, CALL_FAILED_PRECONDITION },
	{ ERR_store_readonly, CALL_FAILED_PRECONDITION },
	{ ERR_no_table, CALL_NOT_FOUND },
	{ ERR_no_family, CALL_NOT_FOUND },
	{ ERR_table_exists, CALL_ALREADY_EXISTS },
	{ ERR_family_exists, CALL_ALREADY_EXISTS },
	{ ERR_bad_name, CALL_INVALID_ARGUMENT },
	{ ERR_name_too_long, CALL_INVALID_ARGUMENT },
	{ ERR_row_key_empty, CALL_INVALID_ARGUMENT },
	{ ERR_row_key_too_long, CALL_INVALID_ARGUMENT },
	{ ERR_qualifier_too_long, CALL_INVALID_ARGUMENT },
	{ ERR_value_too_large, CALL_INVALID_ARGUMENT },
	{ ERR_batch_too_large, CALL_INVALID_ARGUMENT },
	{ ERR_bad_timestamp, CALL_INVALID_ARGUMENT },
	{ ERR_too_many_tables, CALL_RESOURCE_EXHAUSTED },
	{ ERR_too_many_families, CALL_RESOURCE_EXHAUSTED },
	{ ERR_bad_gc_policy, CALL_INVALID_ARGUMENT },
	{ ERR_no_such_type, CALL_INVALID_ARGUMENT },
	{ ERR_type_mismatch, CALL_INVALID_ARGUMENT },
	{ ERR_type_immutable, CALL_INVALID_ARGUMENT },
	{ ERR_family_not_empty, CALL_FAILED_PRECONDITION },
	{ ERR_table_not_empty, CALL_FAILED_PRECONDITION },
	{ ERR_bad_argument, CALL_INVALID_ARGUMENT },
	{ ERR_not_a_number, CALL_FAILED_PRECONDITION },
	{ ERR_condition_failed, CALL_FAILED_PRECONDITION },
};

/* What is not listed is no fault of the request: a disk that fails, damage. */
enum call_status method_status(int err)
{
	size_t i;

	if (err >= 0)
		return CALL_OK;
	for (i = 0; i < sizeof(statuses) / sizeof(statuses[0]); i++)
		if (statuses[i].err == -err)
			return statuses[i].status;
	return err_errno(err) == EIO ? CALL_DATA_LOSS : CALL_INTERNAL;
}

/* The code says what kind it is, so that the sentence is enough. */
const char *method_text(int err)
{
	return err == -ENOMEM || !err_detail()[0] ? err_text(err)
						  : err_detail();
}

static bool take(void *call, size_t size)
{
	return call_take(call, size);
}

static bool hold(void *call, size_t size)
{
	call_hold(call, size);
	return true;
}

/* What the method adds to the arena is in proportion to the request, and comes
 * when it may have done something already: that is not waited for. */
void *method_request(struct call *c, const struct proto_type *type,
		     struct proto_arena *arena)
{
	void *message;
	int err;

	err_clear();
	arena->owner = c;
	arena->take = take;
	err = proto_decode(type, call_message(c), arena, &message);
	arena->take = hold;
	if (err < 0 && err != -EAGAIN)
		method_failed(c, err);
	return message;
}

int method_send(struct call *c, struct buf *message)
{
	int err = call_send(c, message);

	if (err == 0)
		call_end(c, CALL_OK, NULL);
	return err;
}

enum call_result method_answer(struct call *c, const struct proto_type *type,
			       const void *message)
{
	struct buf b = BUF_INIT;
	int err;

	err_clear();
	err = proto_encode(type, message, &b);
	if (err == 0)
		err = method_send(c, &b);
	buf_release(&b);
	return err < 0 ? method_failed(c, err) : CALL_DONE;
}

enum call_result method_failed(struct call *c, int err)
{
	call_end(c, method_status(err), method_text(err));
	return CALL_DONE;
}

int method_await(const struct call *c, const struct write *w)
{
	uint64_t us = write_wait_us(w);

	if (us > 0 && call_is_inline(c))
		return 1;
	if (us > 0)
		usleep((useconds_t)us);
	return 0;
}
