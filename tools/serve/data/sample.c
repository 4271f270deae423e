#include <stdlib.h>

#include "store/base/coding.h"
#include "tools/serve/data/sample.h"
#include "tools/serve/method/resource.h"

/* The answers as they are made: all are, before the first is sent. They are
 * some hundred, or thousands in a large table. */
struct samples {
	struct buf *messages; /* one after another, sized */
	size_t count;         /* with a row */
	struct bytes last;    /* of the table, for one that is not parted */
};

static int add(struct samples *s, struct bytes row, uint64_t size)
{
	struct proto_sample_row_keys_answer answer = {
		.row_key = row,
		.offset_bytes = (int64_t)size,
	};
	struct buf one = BUF_INIT;
	int err =
		proto_encode(&proto_sample_row_keys_answer_type, &answer, &one);

	if (!err)
		err = buf_add_sized(s->messages, buf_bytes(&one));
	buf_release(&one);
	return err;
}

/* A client that is given no row takes the table for empty, so one that is not
 * parted has its last row. */
static int take(void *context, struct bytes row, uint64_t size)
{
	struct samples *s = context;
	int err = 0;

	if (row.size > 0)
		s->count++;
	else if (s->count == 0 && s->last.size > 0)
		err = add(s, s->last, size);
	return err < 0 ? err : add(s, row, size);
}

/* The last row of the table, if it has one. */
static int find_last(struct store *s, struct bytes table, struct buf *row)
{
	struct scan_range range = { .table = table,
				    .reverse = true,
				    .rows_only = true };
	struct scan *scan;
	struct cell cell;
	int err = scan_open(s, NULL, &range, &scan);

	if (err < 0)
		return err;
	err = scan_next(scan, CURSOR_ROW, &cell);
	if (err == 1)
		err = buf_set(row, cell.row);
	scan_close(scan);
	return err;
}

/* From run to run: what is not sent yet. */
struct sampling {
	struct buf messages; /* sized */
	size_t sent;         /* bytes of them */
	struct buf message;  /* the next one, if it has been taken */
	bool taken;
};

void sample_row_keys_release(void *state)
{
	struct sampling *s = state;

	buf_release(&s->messages);
	buf_release(&s->message);
	free(s);
}

/* All answers at once, in s->messages. */
static int sample(const struct service *service,
		  const struct proto_sample_row_keys *q, struct sampling *s)
{
	struct samples samples = { .messages = &s->messages };
	struct buf last = BUF_INIT;
	struct bytes table;
	int err;

	if (q->authorized_view_name.size > 0 ||
	    q->materialized_view_name.size > 0)
		return fail(EOPNOTSUPP, "views are not implemented");
	err = resource_table("table_name", q->table_name, &table);
	if (!err)
		err = find_last(service->store, table, &last);
	samples.last = buf_bytes(&last);
	if (!err)
		err = store_sample_rows(service->store, table, BYTES_NONE,
					BYTES_NONE, take, &samples);
	buf_release(&last);
	return err;
}

/* 0 when all is sent, or an error of call_send. */
static int send_some(struct call *c, struct sampling *s)
{
	struct bytes rest, one;
	int err = 0;

	while (!err) {
		rest = bytes_after(buf_bytes(&s->messages), s->sent);
		if (!s->taken) {
			if (!take_sized(&rest, &one))
				return 0;
			err = buf_set(&s->message, one);
			s->sent = s->messages.size - rest.size;
			s->taken = true;
		}
		if (!err)
			err = call_send(c, &s->message);
		if (!err)
			s->taken = false;
	}
	return err;
}

enum call_result sample_row_keys(struct call *c, void *context)
{
	struct sampling *s = call_state(c);
	int err = 0;

	if (!s) {
		struct proto_arena arena = { .chunks = NULL };
		const struct proto_sample_row_keys *q =
			method_request(c, &proto_sample_row_keys_type, &arena);

		if (!q) {
			proto_arena_release(&arena);
			return CALL_DONE;
		}
		s = calloc(1, sizeof(*s));
		call_set_state(c, s);
		err = s ? sample(context, q, s) : -ENOMEM;
		proto_arena_release(&arena);
	}
	if (!err)
		err = send_some(c, s);
	if (err == -EAGAIN)
		return CALL_BLOCKED;
	if (err < 0)
		return method_failed(c, err);
	call_end(c, CALL_OK, NULL);
	return CALL_DONE;
}

/* There is nothing to be warmed: the name is looked at, no more. */
enum call_result ping_and_warm(struct call *c, void *context)
{
	struct proto_arena arena = { .chunks = NULL };
	struct bytes parts[RESOURCE_PARTS_MAX];
	const struct proto_ping_and_warm *q =
		method_request(c, &proto_ping_and_warm_type, &arena);
	int err = q ? resource_parse("name", q->name, RESOURCE_INSTANCE, parts)
		    : 0;

	(void)context;
	if (err < 0)
		method_failed(c, err);
	else if (q)
		method_answer(c, &proto_empty_type, &(struct proto_empty){ 0 });
	proto_arena_release(&arena);
	return CALL_DONE;
}
