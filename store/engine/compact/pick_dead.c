#include <assert.h>

#include "store/engine/compact/hidden.h"
#include "store/engine/compact/pick_dead.h"
#include "store/engine/files/runs.h"
#include "store/format/key.h"

#define BOTTOM (LEVEL_COUNT - 1)

/* What is known of some files together. */
struct sums {
	uint64_t size, put_count, row_count; /* size in bytes */
	uint64_t delete_count, tombstone_count;
	uint64_t blob_size; /* of large values that they refer to, in bytes */
};

static void add(struct sums *s, const struct sst_file *f)
{
	const struct sst_properties *p = sst_properties(f->sst);

	s->size += f->size;
	s->put_count += p->put_count;
	s->row_count += p->row_count;
	s->delete_count += p->delete_count;
	s->tombstone_count += p->tombstone_count;
	s->blob_size += sst_file_blob_size(f);
}

/* Bytes that one of count things takes of size. */
static uint64_t each(uint64_t size, uint64_t count)
{
	return count > 0 ? size / count : 0;
}

/* Whether the deletions of upper, merged with lower, hide enough: a point
 * delete hides an entry and a range tombstone a row, as far as they go. */
static bool hides_enough(const struct sums *upper, const struct sums *lower,
			 bool is_lowest)
{
	uint64_t gain =
		upper->delete_count * each(lower->size, lower->put_count) +
		upper->tombstone_count * each(lower->size, lower->row_count);

	if (gain > lower->size)
		gain = lower->size;
	/* They go themselves where nothing is below. */
	if (is_lowest)
		gain += (upper->delete_count + upper->tombstone_count) *
			each(upper->size, upper->put_count +
						  upper->delete_count +
						  upper->tombstone_count);
	return gain > 0 && gain * DEAD_SHARE >= upper->size + lower->size;
}

/* Whether so many bytes of large values that the deletions of upper hide are
 * enough. */
static bool hides_large(uint64_t hidden, const struct sums *upper,
			const struct sums *lower)
{
	return hidden > 0 &&
	       hidden * DEAD_SHARE >= upper->size + upper->blob_size +
					      lower->size + lower->blob_size;
}

/* Whether so many bytes of large values may have been overwritten, or be older
 * versions that go: nobody knows before the merge, but at the least one file of
 * upper, or all of lower, remains. What is below stays there, so each file is
 * merged for that once a level. */
static bool may_supersede_large(uint64_t largest, const struct sums *upper,
				const struct sums *lower)
{
	uint64_t all = upper->blob_size + lower->blob_size;
	uint64_t least =
		lower->blob_size > largest ? lower->blob_size : largest;

	return all > least &&
	       (all - least) * DEAD_SHARE >= upper->size + lower->size + all;
}

/* Adds the files of a level that lie between the first key of the upper inputs
 * and their last. */
static void add_between(struct sums *s, const struct level *level,
			const struct compaction *c)
{
	const struct sst_file *first, *last;
	size_t i;

	compact_bounds(c, &first, &last);
	for (i = 0; i < level->count; i++)
		if (!files_are_apart(level->files[i], first) &&
		    !files_are_apart(last, level->files[i]))
			add(s, level->files[i]);
}

/* Whether what the upper inputs supersede is worth the merge, or merges down to
 * a lower level, since a level between may hold little of it: 1, 0, or an
 * error. */
static int is_worth(const struct compaction *c, const struct version *v)
{
	struct sums upper = { 0 }, lower = { 0 };
	unsigned int level = c->output_level;
	uint64_t hidden = 0, largest = 0, size;
	size_t i;
	int err = 0;

	for (i = 0; i < c->input_count[0] && err == 0; i++) {
		add(&upper, c->inputs[0][i]);
		size = sst_file_blob_size(c->inputs[0][i]);
		largest = size > largest ? size : largest;
		err = hidden_by_file(v, c->inputs[0][i], &size);
		hidden += err == 0 ? size : 0;
	}
	if (err < 0)
		return err;
	for (i = 0; i < c->input_count[1]; i++)
		add(&lower, c->inputs[1][i]);
	while (!hides_enough(&upper, &lower, level == BOTTOM) &&
	       !hides_large(hidden, &upper, &lower) &&
	       !may_supersede_large(largest, &upper, &lower)) {
		if (level == BOTTOM)
			return 0;
		add_between(&lower, &v->levels[++level], c);
	}
	return 1;
}

/* Whether something in f is a deletion, or a large value. */
static bool supersedes(const struct sst_file *f)
{
	const struct sst_properties *p = sst_properties(f->sst);

	return p->delete_count + p->tombstone_count + p->blob_count > 0;
}

/* The next level below that has files, or the lowest: what lies in between is
 * empty and holds nothing older. */
static unsigned int level_below(const struct version *v, unsigned int level)
{
	do
		level++;
	while (level < BOTTOM && v->levels[level].count == 0);
	return level;
}

int compact_pick_deletions(const struct version *v, struct compaction *out)
{
	unsigned int level;
	size_t i;
	int err;

	for (level = 0; level < BOTTOM; level++)
		for (i = 0; i < v->levels[level].count; i++) {
			if (!supersedes(v->levels[level].files[i]))
				continue;
			err = compact_pick_file(v, level, i,
						level_below(v, level), out);
			if (err < 0)
				return err;
			assert(err == 1);
			err = is_worth(out, v);
			if (err == 1)
				return 1;
			compaction_release(out);
			if (err < 0)
				return err;
		}
	*out = (struct compaction){ 0 };
	return 0;
}

/* The bytes of c's inputs of a side. */
static uint64_t input_size(const struct compaction *c, int side)
{
	struct sums s = { 0 };
	size_t i;

	for (i = 0; i < c->input_count[side]; i++)
		add(&s, c->inputs[side][i]);
	return s.size;
}

int compact_pick_upper(const struct version *v, uint64_t most,
		       struct compaction *out)
{
	uint64_t upper, all;
	unsigned int level;
	size_t i;
	int err;

	for (level = 0; level < BOTTOM; level++)
		for (i = 0; i < v->levels[level].count; i++) {
			err = compact_pick_file(v, level, i,
						level_below(v, level), out);
			if (err < 0)
				return err;
			upper = input_size(out, 0);
			all = upper + input_size(out, 1);
			if (upper * DEAD_SHARE >= all && all <= most)
				return 1;
			compaction_release(out);
		}
	*out = (struct compaction){ 0 };
	return 0;
}

static bool may_have_held(const struct sst_file *f, uint64_t oldest_seq)
{
	if (f->is_clean)
		return false;
	if (f->held_seq > 0)
		return f->held_seq < oldest_seq;
	return f->size * DEAD_SHARE <= sst_file_blob_size(f);
}

int compact_pick_held(const struct version *v, uint64_t oldest_seq,
		      uint64_t most, struct compaction *out)
{
	unsigned int level;
	size_t i;
	int err;

	for (level = 0; level < LEVEL_COUNT; level++)
		for (i = 0; i < v->levels[level].count; i++) {
			struct sst_file *f = v->levels[level].files[i];

			*out = (struct compaction){ .level = level,
						    .output_level = level };
			if (!may_have_held(f, oldest_seq))
				continue;
			err = level > 0
				      ? compact_add_input(out, 0, f)
				      : compact_pick_file(v, level, i,
							  level_below(v, level),
							  out);
			if (err < 0)
				return err;
			/* It has to be written anew. */
			out->trivial = false;
			out->for_held = true;
			if (input_size(out, 0) + input_size(out, 1) <= most)
				return 1;
			compaction_release(out);
		}
	*out = (struct compaction){ 0 };
	return 0;
}

/* What ages of the tables that a file may have something of. */
struct ages {
	const struct gc_rules *rules;
	uint32_t first_table, last_table;
};

/* The last moment at which a newest version with this timestamp stays, of the
 * family that keeps it longest; 0 if none of them ages. */
static uint64_t expiry(const struct ages *a, uint64_t timestamp_us)
{
	uint64_t last = 0, at;
	size_t i, j;

	for (i = 0; i < a->rules->table_count; i++) {
		const struct gc_table *t = &a->rules->tables[i];

		if (t->id < a->first_table || t->id > a->last_table)
			continue;
		for (j = 0; j < t->family_count; j++) {
			if (!t->families[j].policy)
				continue;
			at = gc_expiry(t->families[j].policy, 0, timestamp_us);
			if (at != UINT64_MAX && at > last)
				last = at;
		}
	}
	return last;
}

/* The first timestamp from low to high with which a version outlives that time,
 * or high. */
static uint64_t first_outliving(const struct ages *a, uint64_t low,
				uint64_t high, uint64_t time_us)
{
	while (low < high) {
		uint64_t i = low + (high - low) / 2;

		if (expiry(a, i) < time_us)
			low = i + 1;
		else
			high = i;
	}
	return low;
}

/* Whether a quarter of f has expired since it was written. */
static bool is_expired(const struct sst_file *f, const struct gc_rules *rules,
		       uint64_t now_us)
{
	const struct sst_properties *p = sst_properties(f->sst);
	uint64_t low = p->min_timestamp, high = f->max_timestamp, quarter;
	struct ages a = { .rules = rules };

	if (low > high || f->smallest.size < KEY_TABLE_SIZE ||
	    f->largest.size < KEY_TABLE_SIZE)
		return false;
	a.first_table = key_table(f->smallest);
	a.last_table = key_table(f->largest);
	/* What had expired then and is still there does not age. */
	if (f->gc_time_us > 0) {
		if (expiry(&a, high) < f->gc_time_us)
			return false;
		low = first_outliving(&a, low, high, f->gc_time_us);
	}
	quarter = expiry(&a, low + (high - low) / 4);
	return quarter > 0 && quarter < now_us;
}

int compact_pick_expired(const struct version *v, const struct gc_rules *rules,
			 uint64_t held_seq, uint64_t held_us, uint64_t now_us,
			 struct compaction *out)
{
	unsigned int level;
	size_t i;
	int err;

	*out = (struct compaction){ 0 };
	for (level = LEVEL_COUNT; rules && --level > 0;)
		for (i = 0; i < v->levels[level].count; i++) {
			struct sst_file *f = v->levels[level].files[i];

			if (!is_expired(f, rules,
					f->smallest_seq > held_seq ? now_us
								   : held_us))
				continue;
			out->level = out->output_level = level;
			err = compact_add_input(out, 0, f);
			return err < 0 ? err : 1;
		}
	return 0;
}
