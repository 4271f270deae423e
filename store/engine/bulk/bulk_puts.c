#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "store/base/coding.h"
#include "store/engine/bulk/bulk_puts.h"

/* Memory is asked for in such steps, of bytes. Loads that get none become runs,
 * but not of less than this. */
#define TAKE_SIZE ((size_t)1 << 20)
#define RUN_MIN ((size_t)2 << 20)

#define HEAD_SIZE 9

static_assert(sizeof(struct put) == 16, "bulk.h tells what a put takes");

void puts_init(struct puts *p, struct memory *memory)
{
	*p = (struct puts){ .memory = memory, .sorted = true };
}

void puts_release(struct puts *p)
{
	buf_release(&p->data);
	buf_release(&p->last);
	free(p->list);
	memory_give(p->memory, MEMORY_IMPORTS, p->taken);
	puts_init(p, p->memory);
}

static struct bytes key_of(const struct puts *p, const struct put *put)
{
	const uint8_t *at = p->data.data + put->place;

	return bytes_of(at + HEAD_SIZE, get_u32le(at));
}

struct bytes puts_key(const struct puts *p, size_t i)
{
	return key_of(p, &p->list[i]);
}

enum key_kind puts_kind(const struct puts *p, size_t i)
{
	return p->data.data[p->list[i].place + HEAD_SIZE - 1];
}

struct bytes puts_value(const struct puts *p, size_t i)
{
	const uint8_t *at = p->data.data + p->list[i].place;

	return bytes_of(at + HEAD_SIZE + get_u32le(at), get_u32le(at + 4));
}

static int compare(const void *x, const void *y, void *context)
{
	const struct put *a = x, *b = y;
	const struct puts *p = context;
	int order;

	if (a->head != b->head && !p->many_tables)
		return a->head < b->head ? -1 : 1;
	order = bytes_compare(key_of(p, a), key_of(p, b));
	if (order)
		return order;
	return a->place < b->place ? 1 : -1;
}

void puts_sort(struct puts *p)
{
	if (!p->sorted)
		qsort_r(p->list, p->count, sizeof(*p->list), compare, p);
}

/* The first bytes of the row as a number that orders like them: most
 * comparisons while sorting end there, without a look at the keys. */
static uint64_t key_head(struct bytes key)
{
	uint8_t raw[8] = { 0 };
	size_t size = key.size - KEY_TABLE_SIZE;

	assert(key.size > KEY_TABLE_SIZE + KEY_TIMESTAMP_SIZE);
	memcpy(raw, key.data + KEY_TABLE_SIZE, size < 8 ? size : 8);
	return get_u64be(raw);
}

size_t puts_size(const struct puts *p, struct bytes version_key,
		 struct bytes value)
{
	return p->data.size + HEAD_SIZE + version_key.size + value.size +
	       (p->count + 1) * sizeof(*p->list);
}

bool puts_take_memory(struct puts *p, struct bytes version_key,
		      struct bytes value)
{
	size_t wanted = puts_size(p, version_key, value);
	size_t more;

	if (wanted <= p->taken)
		return true;
	more = (wanted - p->taken + TAKE_SIZE - 1) / TAKE_SIZE * TAKE_SIZE;
	if (!memory_take(p->memory, MEMORY_IMPORTS, more, 0)) {
		if (p->data.size >= RUN_MIN)
			return false;
		memory_hold(p->memory, MEMORY_IMPORTS, more);
	}
	p->taken += more;
	return true;
}

/* Room for one more whose bytes are so many. */
static int reserve(struct puts *p, size_t size)
{
	struct put *grown;
	size_t capacity;

	if (p->count == p->capacity) {
		capacity = p->capacity * 2 + 1024;
		grown = realloc(p->list, capacity * sizeof(*grown));
		if (!grown)
			return -ENOMEM;
		p->list = grown;
		p->capacity = capacity;
	}
	return buf_reserve(&p->data, size);
}

int puts_add(struct puts *p, struct bytes version_key, enum key_kind kind,
	     struct bytes value)
{
	size_t size = HEAD_SIZE + version_key.size + value.size;
	struct bytes last = buf_bytes(&p->last);
	uint8_t head[HEAD_SIZE];
	int err = reserve(p, size);

	if (err < 0)
		return err;
	if (p->count > 0) {
		if (bytes_compare(last, version_key) >= 0)
			p->sorted = false;
		if (key_table(last) != key_table(version_key))
			p->many_tables = true;
	}
	p->list[p->count++] =
		(struct put){ key_head(version_key), p->data.size };
	put_u32le(head, (uint32_t)version_key.size);
	put_u32le(head + 4, (uint32_t)value.size);
	head[8] = (uint8_t)kind;
	/* Room is reserved, so these cannot fail. */
	buf_add(&p->data, head, sizeof(head));
	buf_add_bytes(&p->data, version_key);
	buf_add_bytes(&p->data, value);
	return buf_set(&p->last, version_key);
}
