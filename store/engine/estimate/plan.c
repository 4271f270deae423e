#include "store/base/hash.h"
#include "store/engine/estimate/plan.h"
#include "store/engine/read/sources.h"
#include "store/format/sst/sst_iter.h"

/* Adds a file whose keys lie in the range. */
static int add_file(const struct sst_file *f, struct bytes start,
		    struct bytes end, size_t prefix, struct scan_plan *out)
{
	uint64_t all, blocks;
	double share;
	int err = 1;

	out->ssts++;
	if (f->max_timestamp < out->since_us) {
		out->too_old++;
		return 0;
	}
	if (prefix > 0)
		err = sst_may_contain(f->sst,
				      hash64(bytes_of(start.data, prefix)));
	out->excluded += err == 0;
	if (err <= 0)
		return err;
	err = sst_estimate_share(f->sst, start, end, &share);
	if (!err)
		err = sst_block_count(f->sst, &all);
	if (err < 0 || all == 0)
		return err;
	/* The one that a key would be in is read in any case. */
	blocks = (uint64_t)(share * (double)all + 0.5);
	blocks = blocks > 0 ? blocks : 1;
	out->blocks += blocks;
	out->bytes += sst_properties(f->sst)->data_size * blocks / all;
	return 0;
}

int engine_plan(struct engine *e, struct bytes start, struct bytes end,
		size_t prefix, struct scan_plan *out)
{
	struct sources s;
	size_t i, j;
	int err = 0;

	sources_take(e, NULL, &s);
	for (i = 0; i < s.memtable_count; i++)
		out->memtables += atomic_load(&s.memtables[i]->cell_count) > 0;
	for (i = 0; i < LEVEL_COUNT && !err; i++) {
		const struct level *level = &s.version->levels[i];

		out->all_ssts += level->count;
		for (j = 0; j < level->count && !err; j++)
			if (sst_file_overlaps(level->files[j], start, end))
				err = add_file(level->files[j], start, end,
					       prefix, out);
	}
	sources_close(&s);
	return err;
}
