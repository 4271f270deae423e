#include "tools/serve/proto/messages.h"

/* The lists once more, now as tables. */
#define KIND_BOOL PROTO_BOOL
#define KIND_INT32 PROTO_INT32
#define KIND_INT64 PROTO_INT64
#define KIND_DOUBLE PROTO_DOUBLE
#define KIND_STRING PROTO_STRING
#define KIND_BYTES PROTO_BYTES
#define KIND_MESSAGE(t) PROTO_MESSAGE
#define TYPE_BOOL NULL
#define TYPE_INT32 NULL
#define TYPE_INT64 NULL
#define TYPE_DOUBLE NULL
#define TYPE_STRING NULL
#define TYPE_BYTES NULL
#define TYPE_MESSAGE(t) &proto_##t##_type

#define IS_MANY_ONE false
#define IS_MANY_MANY true
#define IS_MANY_OF(oneof) false
#define IN_ONEOF_ONE false
#define IN_ONEOF_MANY false
#define IN_ONEOF_OF(oneof) true
#define CASE_ONE unused
#define CASE_MANY unused
#define CASE_OF(oneof) oneof##_case

#define NO_FIELD(c, oneof)
#define FIELD(c, label, nr, k, n)                                            \
	{ .number = (nr),                                                    \
	  .kind = KIND_##k,                                                  \
	  .many = IS_MANY_##label,                                           \
	  .in_oneof = IN_ONEOF_##label,                                      \
	  .offset = (uint16_t)offsetof(struct proto_##c, n),                 \
	  .case_offset = (uint16_t)offsetof(struct proto_##c, CASE_##label), \
	  .type = TYPE_##k,                                                  \
	  .name = #n },

/* Each ends with a field without a number: C knows no empty array. */
#define FIELDS(list, c, full)                                          \
	static const struct proto_field c##_fields[] = { PROTO_##list( \
		NO_FIELD, FIELD, c){ .number = 0 } };
PROTO_MESSAGE_LIST(FIELDS)

#define TYPE(list, c, full)                                    \
	const struct proto_type proto_##c##_type = {           \
		full, sizeof(struct proto_##c), c##_fields,    \
		sizeof(c##_fields) / sizeof(c##_fields[0]) - 1 \
	};
PROTO_MESSAGE_LIST(TYPE)

#define ADDRESS(list, c, full) &proto_##c##_type,
const struct proto_type *const proto_types[] = { PROTO_MESSAGE_LIST(ADDRESS)
							 NULL };
