#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "fs/query/sized_points.h"

/* Frees the row of a point, whose bytes are borrowed everywhere else. */
static void free_row(const struct sized_point *point)
{
	free((uint8_t *)(uintptr_t)point->row.data);
}

static uint64_t point_memory(const struct sized_point *point)
{
	return sizeof(*point) + point->row.size;
}

/* Keeps every other one. */
static void thin(struct sized_points *p, struct memory *m)
{
	size_t i, kept = 0;

	for (i = 0; i < p->count; i++) {
		if (i % 2) {
			p->items[kept++] = p->items[i];
			continue;
		}
		memory_give(m, MEMORY_EXPORTS, point_memory(&p->items[i]));
		p->memory -= point_memory(&p->items[i]);
		free_row(&p->items[i]);
	}
	p->count = kept;
	p->stride *= 2;
}

int sized_points_add(struct sized_points *p, struct memory *m, uint64_t offset,
		     struct bytes row)
{
	struct sized_point point = { offset, row };
	struct sized_point *grown = p->items;
	uint8_t *copy;

	while (!memory_take(m, MEMORY_EXPORTS, point_memory(&point), 0)) {
		if (p->count == 0)
			return 0;
		thin(p, m);
	}
	p->memory += point_memory(&point);
	if (p->count == p->room) {
		p->room = p->room ? 2 * p->room : 16;
		grown = reallocarray(p->items, p->room, sizeof(*grown));
		if (!grown)
			return -ENOMEM;
		p->items = grown;
	}
	copy = malloc(row.size + 1);
	if (!copy)
		return -ENOMEM;
	memcpy(copy, row.data, row.size);
	point.row.data = copy;
	p->items[p->count++] = point;
	return 0;
}

const struct sized_point *sized_points_before(const struct sized_points *p,
					      uint64_t offset)
{
	size_t low = 0, high = p->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (p->items[middle].offset <= offset)
			low = middle + 1;
		else
			high = middle;
	}
	return low > 0 ? &p->items[low - 1] : NULL;
}

void sized_points_release(struct sized_points *p, struct memory *m)
{
	size_t i;

	for (i = 0; i < p->count; i++)
		free_row(&p->items[i]);
	free(p->items);
	memory_give(m, MEMORY_EXPORTS, p->memory);
	*p = SIZED_POINTS_INIT;
}
