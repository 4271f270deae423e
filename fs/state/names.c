#include <assert.h>
#include <errno.h>
#include <stdlib.h>

#include "fs/state/names.h"

int names_add(struct names *n, struct bytes name)
{
	struct bytes *grown;
	size_t capacity = n->capacity * 2 + 8;

	/* A sort has given the names their places, which would be lost. */
	assert(n->count == 0 || !n->names[0].data);
	if (n->count == n->capacity) {
		grown = realloc(n->names, capacity * sizeof(*grown));
		if (!grown)
			return -ENOMEM;
		n->names = grown;
		n->capacity = capacity;
	}
	if (buf_add_bytes(&n->memory, name))
		return -ENOMEM;
	/* Where it is, is known when memory moves no more. */
	n->names[n->count++] = bytes_of(NULL, name.size);
	return 0;
}

static int compare(const void *a, const void *b)
{
	return bytes_compare(*(const struct bytes *)a,
			     *(const struct bytes *)b);
}

void names_sort(struct names *n)
{
	size_t i, at = 0, kept = 0;

	assert(n->count == 0 || !n->names[0].data);
	for (i = 0; i < n->count; i++) {
		n->names[i].data = n->memory.data + at;
		at += n->names[i].size;
	}
	assert(at == n->memory.size);
	/* qsort must not be given NULL. */
	if (n->count > 1)
		qsort(n->names, n->count, sizeof(*n->names), compare);
	for (i = 0; i < n->count; i++)
		if (kept == 0 || !bytes_equal(n->names[kept - 1], n->names[i]))
			n->names[kept++] = n->names[i];
	n->count = kept;
}

int names_cut(struct names *n, size_t size, struct buf *last)
{
	struct names first = { .names = NULL };
	size_t i;
	int err = 0;

	names_sort(n);
	for (i = 0; i < n->count && first.memory.size <= size && !err; i++)
		err = names_add(&first, n->names[i]);
	if (i > 0 && !err)
		err = buf_set(last, n->names[i - 1]);
	names_release(n);
	*n = first;
	return err;
}

void names_release(struct names *n)
{
	free(n->names);
	buf_release(&n->memory);
	*n = (struct names){ .names = NULL };
}
