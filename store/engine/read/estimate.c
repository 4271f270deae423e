#include <assert.h>
#include <stdlib.h>

#include "store/base/err.h"
#include "store/engine/read/estimate.h"
#include "store/engine/read/sources.h"
#include "store/format/key.h"
#include "store/format/sst/sst_estimate.h"

/* How many rows have cells in [start, end) of m, by a pass over all of them: a
 * memtable knows no counts of rows. */
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
	/* The moment does not matter: there is no snapshot to stand for. */
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

/* A file where it begins. */
struct sample {
	struct bytes key; /* its smallest; of a version that is referenced */
	uint64_t size;    /* bytes of all of it */
};

static int by_key(const void *a, const void *b)
{
	return bytes_compare(((const struct sample *)a)->key,
			     ((const struct sample *)b)->key);
}

/* The files that overlap [start, end), by their first keys: *out is the
 * caller's to free, and NULL on failure, with *count 0. */
static int take_samples(const struct version *v, struct bytes start,
			struct bytes end, struct sample **out, size_t *count)
{
	size_t i, j, capacity = 1;

	*count = 0;
	for (i = 0; i < LEVEL_COUNT; i++)
		capacity += v->levels[i].count;
	*out = malloc(capacity * sizeof(**out));
	if (!*out)
		return -ENOMEM;
	for (i = 0; i < LEVEL_COUNT; i++)
		for (j = 0; j < v->levels[i].count; j++) {
			const struct sst_file *f = v->levels[i].files[j];

			if (sst_file_overlaps(f, start, end))
				(*out)[(*count)++] =
					(struct sample){ f->smallest, f->size };
		}
	assert(*count < capacity);
	qsort(*out, *count, sizeof(**out), by_key);
	return 0;
}

int engine_sample_rows(struct engine *e, struct bytes start, struct bytes end,
		       int (*each)(void *context, struct bytes row,
				   uint64_t size),
		       void *context)
{
	struct bytes row, last = start;
	struct sample *samples;
	struct sources s;
	uint64_t size = 0;
	size_t count, i;
	int err;

	sources_take(e, NULL, &s);
	err = take_samples(s.version, start, end, &samples, &count);
	for (i = 0; i < count && err == 0; i++) {
		/* A tombstone may begin elsewhere than with a row; then there
		 * is no row to be named. Files of several levels may begin with
		 * the same one, which is given once. */
		row = bytes_of(samples[i].key.data,
			       key_row_end(samples[i].key));
		if (row.size > 0 && bytes_compare(row, last) > 0) {
			err = each(context, row, size);
			last = row;
		}
		size += samples[i].size;
	}
	if (err == 0)
		err = each(context, BYTES_NONE, size);
	free(samples);
	sources_close(&s);
	return err;
}
