#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "store/engine/compact/level0.h"
#include "store/format/key.h"

bool file_ends_behind(const struct sst_file *a, const struct sst_file *b)
{
	int order = bytes_compare(a->largest, b->largest);

	return order > 0 || (order == 0 && b->largest_exclusive);
}

static int by_smallest(const void *a, const void *b)
{
	const struct sst_file *x = *(struct sst_file *const *)a;
	const struct sst_file *y = *(struct sst_file *const *)b;

	return bytes_compare(x->smallest, y->smallest);
}

void level0_release(struct level0 *l)
{
	free(l->files);
	free(l->groups);
	*l = (struct level0){ 0 };
}

int level0_group(const struct version *v, struct level0 *out)
{
	const struct level *level = &v->levels[0];
	const struct sst_file *last = NULL;
	struct level0_group *g = NULL;
	size_t i;

	*out = (struct level0){ 0 };
	/* One more, since malloc(0) may be NULL. */
	out->files = malloc((level->count + 1) * sizeof(*out->files));
	out->groups = malloc((level->count + 1) * sizeof(*out->groups));
	if (!out->files || !out->groups) {
		level0_release(out);
		return -ENOMEM;
	}
	if (level->count > 0)
		memcpy(out->files, level->files,
		       level->count * sizeof(*out->files));
	qsort(out->files, level->count, sizeof(*out->files), by_smallest);
	for (i = 0; i < level->count; i++) {
		struct sst_file *f = out->files[i];

		if (!g || files_are_apart(last, f)) {
			g = &out->groups[out->group_count++];
			*g = (struct level0_group){ .first = i };
			last = f;
		}
		g->count++;
		g->size += f->size;
		if (file_ends_behind(f, last))
			last = f;
	}
	return 0;
}

size_t level0_depth(const struct version *v)
{
	size_t depth = 0, i;
	struct level0 l;

	/* Without memory, as if all overlapped. */
	if (level0_group(v, &l) < 0)
		return v->levels[0].count;
	for (i = 0; i < l.group_count; i++)
		if (l.groups[i].count > depth)
			depth = l.groups[i].count;
	level0_release(&l);
	return depth;
}
