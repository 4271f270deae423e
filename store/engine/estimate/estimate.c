#include <assert.h>
#include <stdlib.h>

#include "store/base/err.h"
#include "store/engine/estimate/estimate.h"
#include "store/engine/read/sources.h"
#include "store/format/key.h"
#include "store/format/sst/sst_iter.h"

/* Stretches between bounds of tombstones that are asked about one file, in some
 * 10 ms; what is behind them is taken for alike. */
#define STRETCHES_MAX 16384

/* Adds how many rows have cells in [start, end) of m that no range tombstone
 * hides, by a pass over all of them: a memtable knows no counts of rows. */
static int count_memtable(struct sources *s, const struct memtable *m,
			  struct bytes start, struct bytes end, uint64_t *rows)
{
	struct bytes row = BYTES_NONE;
	struct memtable_iter it;
	int found, covered;

	memtable_iter_init(&it, m);
	found = iter_seek(&it.iter, start);
	for (; found == 1; found = iter_next(&it.iter)) {
		struct bytes key = it.iter.key;

		if (end.size > 0 && bytes_compare(key, end) >= 0)
			break;
		if (row.size > 0 && bytes_starts_with(key, row))
			continue;
		covered = sources_covered(s, key, key_seq(key));
		if (covered < 0)
			return covered;
		if (covered)
			continue;
		/* Keys stay where they are as long as the memtable does. */
		row = bytes_of(key.data, key_row_end(key));
		(*rows)++;
	}
	return 0;
}

/* Whether [start, end) is all of a row: its prefix, and what follows that. */
static bool is_row(struct bytes start, struct bytes end)
{
	return key_row_end(start) == start.size && end.size == start.size &&
	       bytes_shared(start, end) == start.size - 1;
}

/* A share of f's data for [start, end): that of a row, which is less than a
 * block, is that of an average one. */
static int share_of(const struct sst_file *f, struct bytes start,
		    struct bytes end, double *share)
{
	if (!is_row(start, end))
		return sst_estimate_share(f->sst, start, end, share);
	*share = 1 / (double)sst_properties(f->sst)->row_count;
	return 0;
}

/* Which share of f's data is hidden in [start, end) by tombstones newer than
 * all that is in f. */
static int hidden_share(struct sources *s, const struct sst_file *f,
			struct bytes start, struct bytes end, double *hidden)
{
	bool before = bytes_compare(start, f->smallest) < 0, is_last = false;
	struct bytes at = before ? f->smallest : start, next;
	struct buf keys[2] = { BUF_INIT, BUF_INIT };
	double share = 0, rest = 0;
	int stretches, err = 0;

	*hidden = 0;
	for (stretches = 0; stretches < STRETCHES_MAX && !is_last && !err;
	     stretches++) {
		uint64_t seq;

		err = sources_cover(s, at, &seq, &next);
		if (err < 0)
			break;
		is_last = next.size == 0 ||
			  bytes_compare(next, f->largest) > 0 ||
			  (end.size > 0 && bytes_compare(next, end) >= 0);
		next = is_last ? end : next;
		if (seq > f->largest_seq) {
			err = share_of(f, at, next, &share);
			*hidden += share;
		}
		/* It ends with the next question, and is asked about there. */
		if (!err)
			err = buf_set(&keys[stretches % 2], next);
		at = buf_bytes(&keys[stretches % 2]);
	}
	if (err || is_last || *hidden == 0)
		goto release;
	err = sst_estimate_share(f->sst, start, at, &share);
	if (!err)
		err = sst_estimate_share(f->sst, at, end, &rest);
	if (!err && share > 0)
		*hidden += *hidden / share * rest;
release:
	buf_release(&keys[0]);
	buf_release(&keys[1]);
	return err;
}

/* How many of f's rows are in [start, end) and not hidden. */
static int count_file(struct sources *s, const struct sst_file *f,
		      struct bytes start, struct bytes end, uint64_t *rows)
{
	uint64_t all = sst_properties(f->sst)->row_count;
	double share, hidden = 0;
	int err = sst_estimate_share(f->sst, start, end, &share);

	*rows = 0;
	if (!err && all > 0 && s->cover_count > 0)
		err = hidden_share(s, f, start, end, &hidden);
	if (!err && share > hidden)
		*rows = (uint64_t)((double)all * (share - hidden) + 0.5);
	return err;
}

int engine_estimate_rows(struct engine *e, struct bytes start, struct bytes end,
			 uint64_t *rows)
{
	struct sources s;
	size_t i, j;
	int err = sources_open(e, NULL, start, end, BYTES_NONE, &s);

	*rows = 0;
	if (err)
		return err;
	for (i = 0; i < s.memtable_count && !err; i++)
		err = count_memtable(&s, s.memtables[i], start, end, rows);
	for (i = 0; i < LEVEL_COUNT && !err; i++) {
		const struct level *level = &s.version->levels[i];

		for (j = 0; j < level->count && !err; j++) {
			uint64_t n = 0;

			if (!sst_file_overlaps(level->files[j], start, end))
				continue;
			err = count_file(&s, level->files[j], start, end, &n);
			*rows += n;
		}
	}
	sources_close(&s);
	return err;
}

/* A file where it begins. */
struct sample {
	struct bytes key; /* its smallest; of a version that is referenced */
	uint64_t size;    /* about how many of its bytes are in the range */
};

static int by_key(const void *a, const void *b)
{
	return bytes_compare(((const struct sample *)a)->key,
			     ((const struct sample *)b)->key);
}

/* The files that overlap [start, end), by their first keys: *out is the
 * caller's to free, also on failure. */
static int take_samples(const struct version *v, struct bytes start,
			struct bytes end, struct sample **out, size_t *count)
{
	size_t i, j, capacity = 1;
	double share;
	int err = 0;

	*count = 0;
	for (i = 0; i < LEVEL_COUNT; i++)
		capacity += v->levels[i].count;
	*out = malloc(capacity * sizeof(**out));
	if (!*out)
		return -ENOMEM;
	for (i = 0; i < LEVEL_COUNT && !err; i++)
		for (j = 0; j < v->levels[i].count && !err; j++) {
			const struct sst_file *f = v->levels[i].files[j];

			if (!sst_file_overlaps(f, start, end))
				continue;
			err = sst_estimate_share(f->sst, start, end, &share);
			(*out)[(*count)++] = (struct sample){
				f->smallest, (uint64_t)(share * (double)f->size)
			};
		}
	assert(*count < capacity);
	qsort(*out, *count, sizeof(**out), by_key);
	return err;
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
