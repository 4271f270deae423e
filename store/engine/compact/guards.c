#include "store/engine/compact/guards.h"
#include "store/format/key.h"

/* A part of the level below has at least such a share of a file's size. */
#define PART_SHARE 2

void guards_release(struct guards *g)
{
	buf_release(&g->text);
	*g = (struct guards){ 0 };
}

/* The largest level below 0, which is what merges cost. */
static const struct level *largest(const struct version *v, uint64_t *total)
{
	const struct level *level = &v->levels[1];
	unsigned int i;

	*total = 0;
	for (i = 1; i < LEVEL_COUNT; i++) {
		*total += v->levels[i].size;
		if (v->levels[i].size > level->size)
			level = &v->levels[i];
	}
	return level;
}

static int choose(struct guards *g, const struct level *level,
		  uint64_t part_size)
{
	uint64_t size = 0;
	size_t ends[GUARD_PARTS], i;
	int err = 0;

	for (i = 0; err == 0 && i < level->count; i++) {
		struct bytes key = level->files[i]->smallest;
		size_t row_end = key_row_end(key);

		/* As near as files allow. */
		if (size + level->files[i]->size / 2 >= part_size && size > 0 &&
		    row_end > 0 && g->count < GUARD_PARTS - 1) {
			key.size = row_end;
			err = buf_add_bytes(&g->text, key);
			ends[g->count++] = g->text.size;
			size = 0;
		}
		size += level->files[i]->size;
	}
	for (i = 0; err == 0 && i < g->count; i++) {
		size_t at = i > 0 ? ends[i - 1] : 0;

		g->keys[i] = bytes_of(g->text.data + at, ends[i] - at);
	}
	return err;
}

int guards_choose(struct guards *g, const struct version *v, uint64_t file_size)
{
	uint64_t total, part, least = file_size / PART_SHARE;
	const struct level *level = largest(v, &total);
	int err;

	if (total <= g->size / 8 * 9 && total >= g->size / 8 * 7)
		return 0;
	guards_release(g);
	g->size = total;
	part = level->size / GUARD_PARTS;
	err = choose(g, level, part > least ? part : least);
	if (err < 0)
		guards_release(g);
	return err;
}
