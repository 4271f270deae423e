#ifndef TOOLS_SERVE_PROTO_WIRE_H
#define TOOLS_SERVE_PROTO_WIRE_H

#include "tools/serve/proto/proto.h"

/* The wire types, the low three bits of a tag. */
enum wire {
	WIRE_VARINT = 0,
	WIRE_FIXED64 = 1,
	WIRE_SIZED = 2,
	WIRE_GROUP = 3,
	WIRE_END_GROUP = 4,
	WIRE_FIXED32 = 5,
};

/* That of a kind. */
static inline enum wire wire_of(enum proto_kind kind)
{
	if (kind >= PROTO_STRING)
		return WIRE_SIZED;
	return kind == PROTO_DOUBLE ? WIRE_FIXED64 : WIRE_VARINT;
}

/* How much memory a value takes: of a repeated message its struct. */
static inline size_t wire_item_size(const struct proto_field *f)
{
	return f->kind == PROTO_MESSAGE ? f->type->size : sizeof(struct bytes);
}

/* The member of a repeated field, whatever its items are; it is read and
 * written by memcpy. */
struct wire_many {
	void *at;
	size_t count;
};

#endif
