#include "store/base/coding.h"
#include "tools/serve/proto/wire.h"

/*
 * Encoding asks for the size of each message before it writes it, once for each
 * message that it is in: those that are sent are a few levels deep.
 */

/* A number as it is written. A negative one of 32 bits is as that of 64. */
static uint64_t number_of(const struct proto_field *f, const void *place)
{
	uint64_t v = 0;
	int32_t low;
	bool truth;

	if (f->kind == PROTO_BOOL) {
		memcpy(&truth, place, sizeof(truth));
		return truth;
	}
	if (f->kind == PROTO_INT32) {
		memcpy(&low, place, sizeof(low));
		return (uint64_t)(int64_t)low;
	}
	memcpy(&v, place, sizeof(v));
	return v;
}

/* One item: its value, and what there is of it. */
struct item {
	const void *place; /* of a message, its struct; NULL is an empty one */
	uint64_t number;
	struct bytes bytes;
	size_t size; /* of what follows the tag and, if any, the length */
};

static size_t tag_size(const struct proto_field *f)
{
	return varint_size((uint64_t)f->number << 3);
}

/* Sizes an item, which lies at place: how many bytes it takes, with its tag. */
static size_t look(const struct proto_field *f, const void *place,
		   struct item *it)
{
	it->place = place;
	if (f->kind < PROTO_STRING) {
		it->number = number_of(f, place);
		it->size =
			f->kind == PROTO_DOUBLE ? 8 : varint_size(it->number);
		return tag_size(f) + it->size;
	}
	if (f->kind == PROTO_MESSAGE) {
		it->size = place ? proto_size(f->type, place) : 0;
	} else {
		memcpy(&it->bytes, place, sizeof(it->bytes));
		it->size = it->bytes.size;
	}
	return tag_size(f) + varint_size(it->size) + it->size;
}

/* Whether a field that is not repeated is sent. */
static bool is_set(const struct proto_field *f, const uint8_t *message)
{
	const void *place = message + f->offset, *inner;
	uint32_t now;
	struct bytes b;

	if (f->in_oneof) {
		memcpy(&now, message + f->case_offset, sizeof(now));
		return now == f->number;
	}
	if (f->kind == PROTO_MESSAGE) {
		memcpy(&inner, place, sizeof(inner));
		return inner;
	}
	if (f->kind < PROTO_STRING)
		return number_of(f, place) != 0;
	memcpy(&b, place, sizeof(b));
	return b.size > 0;
}

/* The items of a field: how many, and the first of them. */
static size_t items(const struct proto_field *f, const uint8_t *message,
		    const uint8_t **first)
{
	struct wire_many many;

	*first = message + f->offset;
	if (f->many) {
		memcpy(&many, *first, sizeof(many));
		*first = many.at;
		return many.count;
	}
	if (!is_set(f, message))
		return 0;
	if (f->kind == PROTO_MESSAGE)
		memcpy(first, message + f->offset, sizeof(*first));
	return 1;
}

size_t proto_size(const struct proto_type *type, const void *message)
{
	const uint8_t *place;
	size_t i, n, size = 0;
	struct item it;

	for (i = 0; i < type->count; i++) {
		const struct proto_field *f = &type->fields[i];

		for (n = items(f, message, &place); n > 0; n--) {
			size += look(f, place, &it);
			if (n > 1)
				place += wire_item_size(f);
		}
	}
	return size;
}

static uint8_t *put_message(const struct proto_type *type, const void *message,
			    uint8_t *p);

/* Writes an item at p, where there is room; returns the end. */
static uint8_t *put_item(const struct proto_field *f, const void *place,
			 uint8_t *p)
{
	enum wire wire = wire_of((enum proto_kind)f->kind);
	struct item it;

	look(f, place, &it);
	p = put_varint(p, (uint64_t)f->number << 3 | wire);
	if (f->kind == PROTO_DOUBLE) {
		put_u64le(p, it.number);
		return p + 8;
	}
	if (f->kind < PROTO_STRING)
		return put_varint(p, it.number);
	p = put_varint(p, it.size);
	if (f->kind == PROTO_MESSAGE)
		return it.place ? put_message(f->type, it.place, p) : p;
	if (it.size > 0)
		memcpy(p, it.bytes.data, it.size);
	return p + it.size;
}

static uint8_t *put_message(const struct proto_type *type, const void *message,
			    uint8_t *p)
{
	const uint8_t *place;
	size_t i, n;

	for (i = 0; i < type->count; i++) {
		const struct proto_field *f = &type->fields[i];

		for (n = items(f, message, &place); n > 0; n--) {
			p = put_item(f, place, p);
			if (n > 1)
				place += wire_item_size(f);
		}
	}
	return p;
}

int proto_encode(const struct proto_type *type, const void *message,
		 struct buf *b)
{
	size_t size = proto_size(type, message);
	uint8_t *end;
	int err;

	if (size == 0)
		return 0;
	err = buf_reserve(b, size);
	if (err < 0)
		return err;
	end = put_message(type, message, b->data + b->size);
	assert(end == b->data + b->size + size);
	b->size = (size_t)(end - b->data);
	return 0;
}
