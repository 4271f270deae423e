#ifndef TOOLS_SERVE_PROTO_MESSAGES_H
#define TOOLS_SERVE_PROTO_MESSAGES_H

#include "tools/serve/proto/list_common.h"
#include "tools/serve/proto/list_data.h"
#include "tools/serve/proto/list_instance.h"
#include "tools/serve/proto/list_table.h"
#include "tools/serve/proto/proto.h"

/*
 * The messages as structs: m(LIST, name, "full name") makes struct proto_NAME
 * of PROTO_LIST, and proto_NAME_type, by which it is decoded and encoded. A
 * repeated field f is f.at and f.count. A oneof o is o_case, the number of the
 * field that is set, nr_NAME_FIELD, or 0.
 */
#define PROTO_MESSAGE_LIST(m) \
	PROTO_COMMON_LIST(m)  \
	PROTO_DATA_LIST(m) PROTO_TABLE_LIST(m) PROTO_INSTANCE_LIST(m)

#define PROTO_C_BOOL bool
#define PROTO_C_INT32 int32_t
#define PROTO_C_INT64 int64_t
#define PROTO_C_DOUBLE double
#define PROTO_C_STRING struct bytes
#define PROTO_C_BYTES struct bytes
#define PROTO_C_MESSAGE(t) struct proto_##t *
/* Of an item, to be pointed to. */
#define PROTO_ITEM_STRING struct bytes *
#define PROTO_ITEM_BYTES struct bytes *
#define PROTO_ITEM_MESSAGE(t) struct proto_##t *

#define PROTO_MEMBER_ONE(kind, name) PROTO_C_##kind name;
#define PROTO_MEMBER_MANY(kind, name) \
	struct {                      \
		PROTO_ITEM_##kind at; \
		size_t count;         \
	} name;
#define PROTO_MEMBER_OF(oneof) PROTO_MEMBER_ONE
#define PROTO_MEMBER(c, label, number, kind, name) \
	PROTO_MEMBER_##label(kind, name)
#define PROTO_CASE(c, oneof) uint32_t oneof##_case;

/* A message without fields has no bytes, but a struct has. */
#define PROTO_STRUCT(list, c, full)                                       \
	struct proto_##c {                                                \
		PROTO_##list(PROTO_CASE, PROTO_MEMBER, c) uint8_t unused; \
	};                                                                \
	extern const struct proto_type proto_##c##_type;
PROTO_MESSAGE_LIST(PROTO_STRUCT)

#define PROTO_NO_NUMBER(c, oneof)
#define PROTO_NUMBER(c, label, number, kind, name) nr_##c##_##name = number,
#define PROTO_NUMBERS(list, c, full) \
	PROTO_##list(PROTO_NO_NUMBER, PROTO_NUMBER, c)
/* clang-format off */
enum proto_number { PROTO_MESSAGE_LIST(PROTO_NUMBERS) };
/* clang-format on */

/* All of them, ended by NULL. */
extern const struct proto_type *const proto_types[];

#endif
