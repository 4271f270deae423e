#include <assert.h>

#include "store/engine/core/state.h"
#include "store/engine/read/sources.h"
#include "store/engine/repair/repair.h"
#include "store/format/sst/sst_iter.h"

/* engine_find_parts of one sst. */
static int find_parts(struct sst *sst, struct bytes start, struct bytes end,
		      int (*each)(void *context, struct bytes key,
				  struct bytes value),
		      void *context)
{
	struct iter *it;
	int err = sst_iter_new(sst, false, &it), result;

	if (err < 0)
		return err;
	for (result = iter_seek(it, start); result > 0 && err == 0;
	     result = iter_next(it)) {
		if (bytes_compare(it->key, end) >= 0)
			break;
		if (key_kind(it->key) == KEY_MERGE)
			err = each(context, it->key, it->value);
	}
	iter_close(it);
	return err < 0 || result > 0 ? err : result;
}

int engine_find_parts(struct engine *e, struct bytes start, struct bytes end,
		      int (*each)(void *context, struct bytes key,
				  struct bytes value),
		      void *context)
{
	struct sources s;
	size_t i, j;
	int err = 0;

	assert(end.size > 0);
	/* For the version alone: after a repair nothing is in memtables. */
	sources_take(e, NULL, &s);
	for (i = 0; i < LEVEL_COUNT; i++) {
		const struct level *level = &s.version->levels[i];

		for (j = 0; j < level->count && err == 0; j++)
			if (sst_file_overlaps(level->files[j], start, end))
				err = find_parts(level->files[j]->sst, start,
						 end, each, context);
	}
	sources_close(&s);
	return err;
}
