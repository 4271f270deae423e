#include "store/engine/estimate.h"

#include "store/engine/sources.h"
#include "store/format/key.h"

static uint64_t count_memtable(const struct memtable *m, struct bytes start,
			       struct bytes end)
{
	struct bytes row = BYTES_NONE;
	struct memtable_iter it;
	uint64_t rows = 0;
	int found;

	memtable_iter_init(&it, m);
	found = iter_seek(&it.iter, start);
	for (; found == 1; found = iter_next(&it.iter)) {
		struct bytes key = it.iter.key;

		if (end.size > 0 && bytes_compare(key, end) >= 0)
			break;
		if (row.size > 0 && bytes_starts_with(key, row))
			continue;
		/* Keys stay where they are as long as the memtable does. */
		row = bytes_of(key.data, key_row_end(key));
		rows++;
	}
	return rows;
}

int engine_estimate_rows(struct engine *e, struct bytes start, struct bytes end,
			 uint64_t *rows)
{
	struct sources s;
	size_t i, j;
	int err = 0;

	*rows = 0;
	sources_take(e, NULL, &s);
	for (i = 0; i < s.memtable_count; i++)
		*rows += count_memtable(s.memtables[i], start, end);
	for (i = 0; i < LEVEL_COUNT && !err; i++) {
		const struct level *level = &s.version->levels[i];

		for (j = 0; j < level->count && !err; j++) {
			uint64_t n = 0;

			if (!sst_file_overlaps(level->files[j], start, end))
				continue;
			err = sst_estimate_rows(level->files[j]->sst, start,
						end, &n);
			*rows += n;
		}
	}
	sources_close(&s);
	return err;
}
