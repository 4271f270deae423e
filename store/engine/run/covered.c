#include <assert.h>

#include "store/engine/core/state.h"
#include "store/engine/core/trouble.h"
#include "store/engine/files/edit.h"
#include "store/engine/run/covered.h"

/*
 * A file goes as it is if a range tombstone newer than all that is in it covers
 * each of its keys, and every snapshot sees that one. What it deletes itself in
 * files below is deleted by the same tombstone, which stays until they are
 * merged with it.
 */

/* The oldest sequence that anyone reads at, or will. */
static uint64_t oldest_seq(struct engine *e)
{
	uint64_t seq;

	pthread_mutex_lock(&e->lock);
	seq = e->oldest ? e->oldest->seq : atomic_load(&e->visible_seq);
	pthread_mutex_unlock(&e->lock);
	return seq;
}

/* The range tombstones of all files that everybody sees, as one list. */
static int gather(const struct version *v, uint64_t seq,
		  struct tombstone_list *out)
{
	struct buf all = BUF_INIT;
	unsigned int level;
	size_t i, j;
	int err = 0;

	for (level = 0; level < LEVEL_COUNT; level++)
		for (i = 0; i < v->levels[level].count; i++) {
			const struct tombstone_list *list =
				sst_tombstones(v->levels[level].files[i]->sst);

			for (j = 0; j < list->count && err == 0; j++)
				if (list->items[j].seq <= seq)
					err = buf_add(&all, &list->items[j],
						      sizeof(list->items[j]));
		}
	if (err == 0)
		err = tombstone_fragment(
			(const struct tombstone *)(const void *)all.data,
			all.size / sizeof(struct tombstone), NULL, 0, out);
	buf_release(&all);
	return err;
}

/* Whether fragments without a gap between them, all newer than f, begin before
 * f does and end after it. */
static bool is_covered(const struct tombstone_list *list,
		       const struct sst_file *f)
{
	struct bytes at = f->smallest;
	size_t low = 0, high = list->count, i;
	int order;

	/* The first that ends after f begins; ends ascend. */
	while (low < high) {
		i = low + (high - low) / 2;
		if (bytes_compare(list->items[i].end, at) <= 0)
			low = i + 1;
		else
			high = i;
	}
	for (i = low; i < list->count; i++) {
		const struct tombstone *t = &list->items[i];

		if (bytes_compare(t->start, at) > 0 || t->seq <= f->largest_seq)
			return false;
		order = bytes_compare(t->end, f->largest);
		if (order > 0 || (order == 0 && f->largest_exclusive))
			return true;
		at = t->end;
	}
	return false;
}

int engine_drop_covered(struct engine *e)
{
	struct tombstone_list list = TOMBSTONE_LIST_INIT;
	struct version *v = engine_version(e);
	uint64_t seq = oldest_seq(e);
	struct edit edit = EDIT_INIT;
	unsigned int level;
	size_t i;
	int err = v->tombstone_count > 0 ? gather(v, seq, &list) : 0;

	for (level = 0; level < LEVEL_COUNT && list.count > 0; level++)
		for (i = 0; i < v->levels[level].count && err == 0; i++)
			if (is_covered(&list, v->levels[level].files[i]))
				err = edit_remove_file(
					&edit, level,
					v->levels[level].files[i]->id);
	if (err == 0 && edit.removed_count > 0) {
		err = engine_apply(e, &edit);
		if (err == 0) {
			engine_work_done(e);
			err = 1;
		}
	}
	tombstone_list_release(&list);
	edit_release(&edit);
	version_put(v);
	return err;
}
