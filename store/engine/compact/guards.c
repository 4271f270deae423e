#include "store/engine/compact/guards.h"
#include "store/format/key.h"

/* A part of the level below has at least such a share of a file's size. */
#define PART_SHARE 4

void guards_release(struct guards *g)
{
	buf_release(&g->text);
	*g = (struct guards){ 0 };
}

/* The largest level below 0, which is what merges cost. */
static const struct level *largest(const struct version *v)
{
	const struct level *level = &v->levels[1];
	unsigned int i;

	for (i = 2; i < LEVEL_COUNT; i++)
		if (v->levels[i].size > level->size)
			level = &v->levels[i];
	return level;
}

/* Bytes of the files that begin before guard i; behind the last one, of all. */
static uint64_t size_before(const struct level *level, const struct guards *g,
			    size_t i)
{
	uint64_t size = 0;
	size_t j;

	for (j = 0; j < level->count; j++) {
		if (i < g->count &&
		    bytes_compare(level->files[j]->smallest, g->keys[i]) >= 0)
			break;
		size += level->files[j]->size;
	}
	return size;
}

/* The keys are set when the text is complete: it moves as it grows. */
static int add(struct guards *g, struct bytes key)
{
	int err = buf_add_bytes(&g->text, key);

	if (err == 0)
		g->keys[g->count++].size = key.size;
	return err;
}

static void set_keys(struct guards *g)
{
	const uint8_t *at = g->text.data;
	size_t i;

	for (i = 0; i < g->count; i++) {
		g->keys[i].data = at;
		at += g->keys[i].size;
	}
}

/* Cuts what lies from *begin to end, in bytes of the level, which is more than
 * one part_size, into parts of about that, as near as its files allow; *begin
 * is where the last of them begins then. 0 or -ENOMEM. */
static int cut(struct guards *g, const struct level *level, uint64_t *begin,
	       uint64_t end, uint64_t part_size)
{
	uint64_t parts = (end - *begin + part_size / 2) / part_size;
	uint64_t step = (end - *begin) / parts, at = 0;
	size_t i;
	int err = 0;

	for (i = 0; err == 0 && i < level->count; i++) {
		struct bytes key = level->files[i]->smallest;
		uint64_t size = level->files[i]->size;

		key.size = key_row_end(key);
		if (at > *begin && at + size / 2 >= *begin + step &&
		    at + step / 2 <= end && key.size > 0 &&
		    g->count < GUARD_PARTS_MAX - 1) {
			err = add(g, key);
			*begin = at;
		}
		at += size;
	}
	return err;
}

/* Fills g with what stays of was, and with what is new. */
static int choose(struct guards *g, const struct guards *was,
		  const struct level *level, uint64_t part_size)
{
	uint64_t begin = 0, end;
	size_t i;
	int err = 0;

	for (i = 0; err == 0 && i <= was->count; i++) {
		end = size_before(level, was, i);
		if (end - begin > part_size + part_size / 2)
			err = cut(g, level, &begin, end, part_size);
		if (err < 0 || i == was->count ||
		    g->count == GUARD_PARTS_MAX - 1 || end == begin ||
		    size_before(level, was, i + 1) - begin <= part_size)
			continue;
		err = add(g, was->keys[i]);
		begin = end;
	}
	return err;
}

int guards_choose(struct guards *g, const struct version *v, uint64_t file_size)
{
	const struct level *level = largest(v);
	uint64_t part_size = level->size / GUARD_PARTS;
	struct guards fresh = { 0 };
	int err;

	if (part_size < file_size / PART_SHARE)
		part_size = file_size / PART_SHARE;
	err = choose(&fresh, g, level, part_size + !part_size);
	guards_release(g);
	if (err < 0) {
		guards_release(&fresh);
		return err;
	}
	set_keys(&fresh);
	*g = fresh;
	return 0;
}
