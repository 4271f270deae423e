#include <stdlib.h>

#include "store/base/coding.h"
#include "tools/serve/data/sample.h"
#include "tools/serve/method/attributes.h"
#include "tools/serve/method/resource.h"

/* The answers as they are made: all are, before the first is sent. They are
 * some hundred, or thousands in a large table. */
struct samples {
	struct buf *messages; /* one after another, sized */
	size_t count;         /* with a row */
	struct bytes last;    /* of the table, for one that is not parted */
	/* Those that the table was made with, and how many came. */
	struct proto_split *splits;
	size_t split_count, passed;
	uint64_t size; /* before the last row */
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

/* The splits before row, all if it is empty, which are at no known place
 * between two samples. */
static int add_splits(struct samples *s, struct bytes row)
{
	int err = 0;

	for (; s->passed < s->split_count && !err; s->passed++) {
		struct bytes key = s->splits[s->passed].key;
		int order = row.size > 0 ? bytes_compare(key, row) : -1;

		if (order > 0)
			break;
		if (order == 0)
			continue;
		err = add(s, key, s->size);
		s->count++;
	}
	return err;
}

/* A client that is given no row takes the table for empty, so one that is not
 * parted has its last row. */
static int take(void *context, struct bytes row, uint64_t size)
{
	struct samples *s = context;
	int err = add_splits(s, row);

	s->size = size;
	if (err < 0)
		return err;
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

static int compare_splits(const void *left, const void *right)
{
	const struct proto_split *a = left, *b = right;

	return bytes_compare(a->key, b->key);
}

/* The splits that the table was made with, ascending, each once and none empty;
 * the arena's. */
static int find_splits(struct store *s, struct bytes table,
		       struct proto_arena *arena, struct samples *out)
{
	struct schema *schema = store_schema(s);
	struct proto_create_table *kept;
	struct bytes value, copy = BYTES_NONE;
	void *message;
	uint8_t *p;
	size_t i;
	int err = 0;

	if (schema_attribute(schema, table, BYTES_LITERAL(TABLE_SPLITS),
			     &value)) {
		p = proto_alloc(arena, value.size + 1, &err);
		if (p && value.size > 0)
			memcpy(p, value.data, value.size);
		copy = bytes_of(p, value.size);
	}
	schema_put(schema);
	if (err < 0 || copy.size == 0)
		return err;
	err = proto_decode(&proto_create_table_type, copy, arena, &message);
	if (err < 0)
		return err;
	kept = message;
	out->splits = kept->initial_splits.at;
	qsort(out->splits, kept->initial_splits.count, sizeof(*out->splits),
	      compare_splits);
	for (i = 0; i < kept->initial_splits.count; i++) {
		struct bytes key = out->splits[i].key;

		if (key.size > 0 &&
		    (out->split_count == 0 ||
		     !bytes_equal(out->splits[out->split_count - 1].key, key)))
			out->splits[out->split_count++].key = key;
	}
	return 0;
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
		  const struct proto_sample_row_keys *q,
		  struct proto_arena *arena, struct sampling *s)
{
	struct samples samples = { .messages = &s->messages };
	struct buf last = BUF_INIT;
	struct bytes table;
	int err;

	if (q->authorized_view_name.size > 0 ||
	    q->materialized_view_name.size > 0)
		return fail(EOPNOTSUPP, "views are not implemented");
	err = resource_table(service->store, arena, "table_name", q->table_name,
			     &table);
	if (!err)
		err = find_last(service->store, table, &last);
	if (err >= 0)
		err = find_splits(service->store, table, arena, &samples);
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
		err = s ? sample(context, q, &arena, s) : -ENOMEM;
		if (s)
			call_hold(c, s->messages.capacity);
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
