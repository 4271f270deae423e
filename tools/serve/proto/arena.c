#include <errno.h>
#include <stdlib.h>

#include "store/base/err.h"
#include "tools/serve/proto/proto.h"

/* The first is small, so that a point request costs one allocation for many;
 * each later one is as large as all before, so that there are few. */
#define CHUNK_FIRST ((size_t)4096)

struct proto_chunk {
	struct proto_chunk *next;
	size_t size; /* of data */
	_Alignas(16) uint8_t data[];
};

static int add_chunk(struct proto_arena *a, size_t size)
{
	size_t limit = a->limit ? a->limit : PROTO_ARENA_LIMIT;
	size_t room = a->total > CHUNK_FIRST ? a->total : CHUNK_FIRST;
	struct proto_chunk *chunk;

	if (room < size)
		room = size;
	if (room > limit - a->total)
		room = limit - a->total;
	if (room < size)
		return fail(E2BIG,
			    "the parts of the request, keys and ranges as "
			    "well, take more than %zu MiB: send fewer at a "
			    "time",
			    limit >> 20);
	if (a->take && !a->take(a->owner, sizeof(*chunk) + room))
		return -EAGAIN;
	chunk = malloc(sizeof(*chunk) + room);
	if (!chunk)
		return -ENOMEM;
	chunk->next = a->chunks;
	chunk->size = room;
	a->chunks = chunk;
	a->total += room;
	a->used = 0;
	return 0;
}

void *proto_alloc(struct proto_arena *a, size_t size, int *err)
{
	void *p;

	size = (size + 15) & ~(size_t)15;
	if (!a->chunks || size > a->chunks->size - a->used) {
		*err = add_chunk(a, size);
		if (*err < 0)
			return NULL;
	}
	p = a->chunks->data + a->used;
	a->used += size;
	return memset(p, 0, size);
}

static void drop(struct proto_arena *a, bool keep_one)
{
	struct proto_chunk *chunk = a->chunks, *next;

	for (; chunk && (!keep_one || chunk->next); chunk = next) {
		next = chunk->next;
		free(chunk);
	}
	a->chunks = chunk;
	a->total = chunk ? chunk->size : 0;
	a->used = 0;
}

/* The oldest chunk, which is the small one, stays. */
void proto_arena_reset(struct proto_arena *a)
{
	drop(a, true);
}

void proto_arena_release(struct proto_arena *a)
{
	drop(a, false);
}
