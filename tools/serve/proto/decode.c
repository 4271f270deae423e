#include "store/base/coding.h"
#include "store/base/err.h"
#include "store/text/value/utf8.h"
#include "tools/serve/proto/wire.h"

/*
 * Decoding calls itself for each message in a message, PROTO_DEPTH_MAX deep at
 * most. Repeated items are in arrays that double in the arena, so the items of
 * an array must not be pointed to before its message ends; only the one that is
 * being decoded is.
 */
struct decoder {
	struct proto_arena *arena;
	unsigned int depth;
};

static int malformed(const char *what)
{
	return fail(EBADMSG, "the request is no valid protocol buffer: %s",
		    what);
}

/* A tag is 32 bits, of which 3 are the wire type; no field has the number
 * 0. */
static int take_tag(struct bytes *in, uint32_t *number, enum wire *wire)
{
	uint64_t tag;

	if (!take_varint(in, &tag))
		return malformed("a field's number is cut off or too long");
	if (tag > UINT32_MAX || tag >> 3 == 0)
		return malformed("a field has an impossible number");
	*number = (uint32_t)(tag >> 3);
	*wire = (enum wire)(tag & 7);
	return 0;
}

/* Passes over a value that is no group. */
static int skip_value(struct bytes *in, enum wire wire)
{
	struct bytes skipped;
	uint64_t number;
	bool ok;

	switch (wire) {
	case WIRE_VARINT:
		ok = take_varint(in, &number);
		break;
	case WIRE_FIXED64:
		ok = take_bytes(in, 8, &skipped);
		break;
	case WIRE_SIZED:
		ok = take_sized(in, &skipped);
		break;
	case WIRE_FIXED32:
		ok = take_bytes(in, 4, &skipped);
		break;
	default:
		return malformed("a field has an impossible wire type");
	}
	return ok ? 0 : malformed("a field is cut off");
}

/* Passes over what belongs to a field that is not in the table. Groups lie in
 * one another, and each ends with its own number. */
static int skip(const struct decoder *d, struct bytes *in, uint32_t number,
		enum wire wire)
{
	uint32_t open[PROTO_DEPTH_MAX];
	unsigned int depth = 0;
	int err = 0;

	for (;;) {
		if (wire == WIRE_GROUP) {
			if (d->depth + depth >= PROTO_DEPTH_MAX)
				return malformed("groups are too deep");
			open[depth++] = number;
		} else if (wire == WIRE_END_GROUP) {
			if (depth == 0 || open[--depth] != number)
				return malformed("a group ends that did not "
						 "begin");
		} else {
			err = skip_value(in, wire);
		}
		if (err < 0 || depth == 0)
			return err;
		if (in->size == 0)
			return malformed("a group does not end");
		err = take_tag(in, &number, &wire);
		if (err < 0)
			return err;
	}
}

/* Fields mostly come in the order of the table, often one several times: so it
 * goes on from the one found last. */
static const struct proto_field *find(const struct proto_type *type,
				      uint32_t number, size_t *last)
{
	size_t i, n;

	for (n = 0, i = *last; n < type->count; n++) {
		if (type->fields[i].number == number) {
			*last = i;
			return &type->fields[i];
		}
		if (++i == type->count)
			i = 0;
	}
	return NULL;
}

/* Room for one more item of a repeated field: the count grows by doubling,
 * which happens when it is a power of two. */
static int add_item(struct decoder *d, const struct proto_field *f, void *place,
		    void **item)
{
	size_t size = wire_item_size(f);
	struct wire_many many;
	int err = 0;

	memcpy(&many, place, sizeof(many));
	if ((many.count & (many.count - 1)) == 0) {
		size_t room = many.count > 0 ? 2 * many.count : 1;
		void *at = proto_alloc(d->arena, room * size, &err);

		if (!at)
			return err;
		if (many.count > 0)
			memcpy(at, many.at, many.count * size);
		many.at = at;
	}
	*item = (uint8_t *)many.at + many.count * size;
	many.count++;
	memcpy(place, &many, sizeof(many));
	return 0;
}

static int decode_number(const struct proto_field *f, struct bytes *in,
			 void *place)
{
	uint64_t v;
	int32_t low;
	bool truth;

	if (f->kind == PROTO_DOUBLE) {
		if (!take_u64le(in, &v))
			return malformed("a field is cut off");
		memcpy(place, &v, sizeof(v));
		return 0;
	}
	if (!take_varint(in, &v))
		return malformed("a number is cut off or too long");
	low = (int32_t)(uint32_t)v;
	truth = v != 0;
	if (f->kind == PROTO_BOOL)
		memcpy(place, &truth, sizeof(truth));
	else if (f->kind == PROTO_INT32)
		memcpy(place, &low, sizeof(low));
	else
		memcpy(place, &v, sizeof(v));
	return 0;
}

static int decode_bytes(const struct proto_field *f, struct bytes *in,
			struct bytes *place)
{
	if (!take_sized(in, place))
		return malformed("a field is cut off");
	if (f->kind == PROTO_STRING && !utf8_valid(*place))
		return fail(EBADMSG,
			    "the request is no valid protocol buffer: "
			    "%s is not UTF-8",
			    f->name);
	return 0;
}

static int decode_fields(struct decoder *d, const struct proto_type *type,
			 struct bytes in, uint8_t *out);

/* A message of its own, or, of a field that has come before, into that. */
static int decode_inner(struct decoder *d, const struct proto_field *f,
			struct bytes *in, void *place)
{
	struct bytes content;
	void *inner;
	int err = 0;

	if (!take_sized(in, &content))
		return malformed("a message is cut off");
	if (f->many) {
		inner = place;
	} else {
		memcpy(&inner, place, sizeof(inner));
		if (!inner) {
			inner = proto_alloc(d->arena, f->type->size, &err);
			if (!inner)
				return err;
			memcpy(place, &inner, sizeof(inner));
		}
	}
	/* It is a protocol buffer, but for who reads it: as of a filter that is
	 * not quite so deep. */
	if (++d->depth > PROTO_DEPTH_MAX)
		return fail(ERR_bad_argument,
			    "the request has messages nested deeper than %d: "
			    "nest filters or rules less",
			    PROTO_DEPTH_MAX);
	err = decode_fields(d, f->type, content, inner);
	d->depth--;
	return err;
}

/* Another member of a oneof than before begins anew: what it had of before the
 * one in between is gone. */
static void set_case(const struct proto_field *f, uint8_t *out)
{
	static const struct bytes none;
	uint32_t now;

	if (!f->in_oneof)
		return;
	memcpy(&now, out + f->case_offset, sizeof(now));
	if (now == f->number)
		return;
	if (f->kind == PROTO_MESSAGE)
		memset(out + f->offset, 0, sizeof(void *));
	else if (f->kind >= PROTO_STRING)
		memcpy(out + f->offset, &none, sizeof(none));
	memcpy(out + f->case_offset, &f->number, sizeof(f->number));
}

static int decode_field(struct decoder *d, const struct proto_field *f,
			struct bytes *in, uint8_t *out)
{
	void *place = out + f->offset;
	int err = 0;

	set_case(f, out);
	if (f->many)
		err = add_item(d, f, place, &place);
	if (err < 0)
		return err;
	if (f->kind == PROTO_MESSAGE)
		return decode_inner(d, f, in, place);
	if (f->kind >= PROTO_STRING)
		return decode_bytes(f, in, place);
	return decode_number(f, in, place);
}

static int decode_fields(struct decoder *d, const struct proto_type *type,
			 struct bytes in, uint8_t *out)
{
	const struct proto_field *f;
	uint32_t number;
	size_t last = 0;
	enum wire wire;
	int err;

	while (in.size > 0) {
		err = take_tag(&in, &number, &wire);
		if (err < 0)
			return err;
		f = find(type, number, &last);
		if (f && wire == wire_of(f->kind))
			err = decode_field(d, f, &in, out);
		else
			err = skip(d, &in, number, wire);
		if (err < 0)
			return err;
	}
	return 0;
}

int proto_decode(const struct proto_type *type, struct bytes in,
		 struct proto_arena *a, void **out)
{
	struct decoder d = { .arena = a };
	int err = 0;
	void *message = proto_alloc(a, type->size, &err);

	*out = NULL;
	if (!message)
		return err;
	err = decode_fields(&d, type, in, message);
	if (!err)
		*out = message;
	return err;
}
