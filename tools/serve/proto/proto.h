#ifndef TOOLS_SERVE_PROTO_PROTO_H
#define TOOLS_SERVE_PROTO_PROTO_H

#include "store/base/buf.h"

/*
 * Protocol buffers: bytes to structs and back, by tables of what a message
 * consists of. The messages and their structs are in messages.h.
 *
 * A message is decoded as a whole or not at all. What is not in the table, or
 * comes with another wire type, is skipped, groups included. Of a field that
 * comes twice the last value counts, messages merge, and of a oneof the last
 * member counts. Strings must be UTF-8. No message here has repeated numbers,
 * so packing does not arise.
 */

/* What a field is. In a struct: bool, int32_t (also of enumerations), int64_t,
 * double, struct bytes, and a pointer to the struct of a message, NULL if it is
 * absent. */
enum proto_kind {
	PROTO_BOOL,
	PROTO_INT32,
	PROTO_INT64,
	PROTO_DOUBLE,
	PROTO_STRING,
	PROTO_BYTES,
	PROTO_MESSAGE,
};

struct proto_type;

struct proto_field {
	uint32_t number;
	uint8_t kind;    /* enum proto_kind */
	bool many;       /* repeated: the member is a pointer to the
				  items, in an array, and their count */
	bool in_oneof;   /* its case is a uint32_t: the number of the
				  field that is set, or 0 */
	uint16_t offset; /* of the member in the struct */
	uint16_t case_offset;
	const struct proto_type *type; /* of a message */
	const char *name;
};

struct proto_type {
	const char *name; /* with its package */
	size_t size;      /* of the struct */
	const struct proto_field *fields;
	size_t count;
};

/* How deep messages, and groups that are skipped, may be in one another. */
#define PROTO_DEPTH_MAX 100

/*
 * The memory of decoded messages, given back at once. Zeroed, it is ready; the
 * content of limit, in bytes, which 0 makes PROTO_ARENA_LIMIT, bounds what a
 * request of many small parts can take.
 */
#define PROTO_ARENA_LIMIT ((size_t)64 << 20)
struct proto_arena {
	struct proto_chunk *chunks; /* the current one first */
	size_t used;                /* of the current one */
	size_t total;               /* bytes in all chunks */
	size_t limit;
	/* Counts what is about to be allocated for owner: whether it may be.
	 * NULL: nobody counts. What is released is not told. */
	bool (*take)(void *owner, size_t size);
	void *owner;
};

/* Zeroed and aligned for any struct; NULL when there is no memory, or the limit
 * is reached, or take says no, which the error tells apart: it is set to
 * -ENOMEM, -E2BIG with a sentence that names the limit, or -EAGAIN. */
void *proto_alloc(struct proto_arena *a, size_t size, int *err);

/* All that was allocated ends; one chunk stays for what comes next. */
void proto_arena_reset(struct proto_arena *a);
void proto_arena_release(struct proto_arena *a);

/*
 * Makes *out, the type's struct, of what in says. Its strings and bytes are
 * in's, all else the arena's. -EBADMSG with the reason if in is malformed,
 * or an error of proto_alloc; *out is then NULL.
 */
int proto_decode(const struct proto_type *type, struct bytes in,
		 struct proto_arena *a, void **out);

/* Appends the struct's message: numbers that are 0 and bytes that are empty are
 * left out but in a oneof. 0, or -ENOMEM and b is as it was. */
int proto_encode(const struct proto_type *type, const void *message,
		 struct buf *b);

/* How many bytes that appends. */
size_t proto_size(const struct proto_type *type, const void *message);

#endif
