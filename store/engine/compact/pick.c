#include <assert.h>
#include <errno.h>
#include <stdlib.h>

#include "store/engine/compact/compact.h"
#include "store/engine/compact/level0.h"
#include "store/engine/compact/pick.h"

/*
 * Level sizes follow the lowest level: its own size is its target, each level
 * above has a tenth, and the first level whose target is not above the base
 * size is where level 0 goes (RocksDB's dynamic level targets). So garbage is
 * at most a ninth of the data, however little there is.
 *
 * What moves down is whole by columns: of the files of a level that share a
 * column, all are inputs or none. So a merge sees all that its level has of a
 * column, and counts versions right. A file of the lowest level that is written
 * anew in its place may lack newer versions of a column: then less is dropped.
 */
#define BOTTOM (LEVEL_COUNT - 1)
/* A small file has less than this part of the base size, which is that of some
 * files. */
#define SMALL_SHARE 128
/* Level 0 may have at least such a part of the base size. */
#define LEVEL0_LEAST 16

/*
 * When level 0 goes down. What it has that overwrites is garbage and takes
 * space beside the data, and readers ask all files of a group; but each byte
 * that goes down has what lies below it written anew. With a share f of the
 * bytes below in a group that goes down, 1/f bytes are written below for each,
 * and with groups that go in turn level 0 has f/2 of them on average. So space
 * and bytes written cannot both be least. While somebody writes, level 0 is let
 * grow as far as 1.6 times the data allow for it, beside logs and files under
 * way. When nobody has for a while, readers have the say. 200 MB overwritten
 * all over for a minute, the most on disk beside what is live, and all bytes
 * written, of log and flushes too, for each one committed: at 33 percent 1.52
 * and 2.61, after ten minutes 1.58, or 1.63 with room that is held; at 30 1.49
 * and 2.69; at 33 with groups that fill in step (see score_size) 1.54 and 2.61.
 *
 * A group of trigger files goes down if it deletes much, or what is below it is
 * little; with many files in any case, and with half as many more before all
 * others.
 */
struct patience {
	unsigned int level0_percent; /* of what is below, that level 0 may be */
	unsigned int cost_percent;   /* of a group's bytes, below it: little */
	unsigned int little; /* as well as such a part of the base size */
	unsigned int deep;   /* times the trigger */
};

static const struct patience for_writers = { 30, 110, 256, 8 };
static const struct patience for_readers = { 20, 400, 16, 2 };

static const struct patience *patience_of(const struct compaction_options *o)
{
	return o->writing ? &for_writers : &for_readers;
}

/* Targets of the levels, in bytes; targets has LEVEL_COUNT elements, of which
 * that of level 0 is not set. Returns the level that level 0 is merged into, 1
 * to BOTTOM. */
static unsigned int level_targets(const struct version *v,
				  const struct compaction_options *o,
				  uint64_t *targets)
{
	unsigned int base = BOTTOM, i;

	assert(o->fan_out > 1);
	targets[BOTTOM] = v->levels[BOTTOM].size;
	if (targets[BOTTOM] < o->base_size)
		targets[BOTTOM] = o->base_size;
	for (i = BOTTOM; i > 1; i--) {
		targets[i - 1] = targets[i] / o->fan_out;
		if (targets[i] > o->base_size)
			base = i - 1;
	}
	/* Nothing may pass a level that holds older data. */
	for (i = 1; i < base; i++) {
		if (v->levels[i].count > 0)
			base = i;
	}
	assert(base >= 1 && base <= BOTTOM);
	return base;
}

unsigned int compact_base(const struct version *v,
			  const struct compaction_options *o)
{
	uint64_t targets[LEVEL_COUNT];

	return level_targets(v, o, targets);
}

void compaction_release(struct compaction *c)
{
	free(c->inputs[0]);
	free(c->inputs[1]);
	tombstone_list_release(&c->above);
	*c = (struct compaction){ 0 };
}

int compact_add_input(struct compaction *c, int side, struct sst_file *f)
{
	struct sst_file **grown =
		realloc(c->inputs[side],
			(c->input_count[side] + 1) * sizeof(struct sst_file *));

	if (!grown)
		return -ENOMEM;
	c->inputs[side] = grown;
	grown[c->input_count[side]++] = f;
	return 0;
}

/* Adds a file of a sorted level and the neighbours that share a column with it,
 * or with the next one. */
static int add_with_neighbours(struct compaction *c, const struct level *level,
			       size_t i)
{
	size_t first = i, end = i + 1;
	int err = 0;

	assert(i < level->count);
	while (first > 0 &&
	       !files_are_apart(level->files[first - 1], level->files[first]))
		first--;
	while (end < level->count &&
	       !files_are_apart(level->files[end - 1], level->files[end]))
		end++;
	for (i = first; !err && i < end; i++)
		err = compact_add_input(c, 0, level->files[i]);
	if (err < 0)
		compaction_release(c);
	return err;
}

/* On level 0 they are in no order by key. */
void compact_bounds(const struct compaction *c, const struct sst_file **first,
		    const struct sst_file **last)
{
	struct sst_file *const *inputs = c->inputs[0];
	size_t i;

	assert(c->input_count[0] > 0);
	*first = *last = inputs[0];
	for (i = 1; i < c->input_count[0]; i++) {
		if (bytes_compare(inputs[i]->smallest, (*first)->smallest) < 0)
			*first = inputs[i];
		if (file_ends_behind(inputs[i], *last))
			*last = inputs[i];
	}
}

/* Adds the files of the output level that overlap the range of all inputs so
 * far. */
static int add_overlapped(struct compaction *c, const struct version *v)
{
	const struct level *level = &v->levels[c->output_level];
	const struct sst_file *first, *last;
	size_t i;
	int err = 0;

	compact_bounds(c, &first, &last);
	for (i = 0; !err && i < level->count; i++) {
		if (!files_are_apart(level->files[i], first) &&
		    !files_are_apart(last, level->files[i]))
			err = compact_add_input(c, 1, level->files[i]);
	}
	return err;
}

static int by_smallest(const void *a, const void *b)
{
	const struct sst_file *x = *(struct sst_file *const *)a;
	const struct sst_file *y = *(struct sst_file *const *)b;

	return bytes_compare(x->smallest, y->smallest);
}

/* Files that do not overlap move down as they are, unless they are so small,
 * less than small_size on average, that one large file is better. One that
 * deletes something is merged, since that may be the end of the deletion. */
static bool is_trivial(struct compaction *c, uint64_t small_size)
{
	struct sst_file **inputs = c->inputs[0];
	size_t count = c->input_count[0], i;
	uint64_t size = 0;

	if (c->input_count[1] > 0)
		return false;
	qsort(inputs, count, sizeof(*inputs), by_smallest);
	for (i = 0; i < count; i++) {
		const struct sst_properties *p = sst_properties(inputs[i]->sst);

		if (p->delete_count > 0 || p->tombstone_count > 0 ||
		    (i > 0 && !files_are_apart(inputs[i - 1], inputs[i])))
			return false;
		size += inputs[i]->size;
	}
	return count == 1 || size / count >= small_size;
}

/* The last step of each choice but those within the lowest level: adds what is
 * overlapped and decides whether moving will do. 1 or -ENOMEM, then c is empty.
 */
static int complete(struct compaction *c, const struct version *v,
		    uint64_t small_size)
{
	int err = add_overlapped(c, v);

	if (err < 0) {
		compaction_release(c);
		return err;
	}
	c->trivial = is_trivial(c, small_size);
	return 1;
}

/* Files of level 0. */
static int take_files(struct compaction *c, struct sst_file **files,
		      size_t count)
{
	size_t i;
	int err = 0;

	for (i = 0; !err && i < count; i++)
		err = compact_add_input(c, 0, files[i]);
	if (err < 0)
		compaction_release(c);
	return err;
}

/* File i of level 0 and all that it overlaps there. */
static int take_level0(struct compaction *c, const struct version *v, size_t i)
{
	const struct sst_file *f = v->levels[0].files[i];
	struct level0 l;
	size_t g = 0, at = 0;
	int err = level0_group(v, &l);

	if (err < 0)
		return err;
	while (l.files[at] != f)
		at++;
	while (at >= l.groups[g].first + l.groups[g].count)
		g++;
	err = take_files(c, &l.files[l.groups[g].first], l.groups[g].count);
	level0_release(&l);
	return err;
}

/* Bytes of the level that f would be merged with. */
static uint64_t overlapped_size(const struct level *level,
				const struct sst_file *f)
{
	size_t i = level_find(level, f->smallest);
	uint64_t size = 0;

	for (; i < level->count && !files_are_apart(f, level->files[i]); i++)
		size += level->files[i]->size;
	return size;
}

/* Whether at least one in twenty entries deletes something: moving such a file
 * down makes reads faster, so it goes first (Pebble's rule). */
static bool is_dense(const struct sst_file *f)
{
	const struct sst_properties *p = sst_properties(f->sst);

	return 20 * (p->delete_count + p->tombstone_count) >
	       p->put_count + p->delete_count;
}

/* The index of the file of the level that costs least to merge into the next
 * one: by bytes rewritten for each byte moved, dense ones first. The level has
 * a file. */
static size_t cheapest(const struct version *v, unsigned int number)
{
	const struct level *level = &v->levels[number];
	uint64_t best_cost = UINT64_MAX;
	bool best_dense = false;
	size_t best = 0, i;

	assert(number < BOTTOM && level->count > 0);
	for (i = 0; i < level->count; i++) {
		struct sst_file *f = level->files[i];
		uint64_t size = overlapped_size(&v->levels[number + 1], f);
		/* In 1/1024; one more, so that nothing is divided by 0. */
		uint64_t cost = size * 1024 / (f->size + 1);
		bool dense = is_dense(f);

		if (i == 0 || (dense && !best_dense) ||
		    (dense == best_dense && cost < best_cost)) {
			best = i;
			best_cost = cost;
			best_dense = dense;
		}
	}
	return best;
}

/* Bytes of a sorted level that group g is merged with. */
static uint64_t below_group(const struct level *level, const struct level0 *l,
			    const struct level0_group *g)
{
	struct sst_file *const *files = &l->files[g->first];
	const struct sst_file *last = files[0];
	uint64_t size = 0;
	size_t i;

	for (i = 1; i < g->count; i++)
		if (file_ends_behind(files[i], last))
			last = files[i];
	for (i = 0; i < level->count; i++)
		if (!files_are_apart(level->files[i], files[0]) &&
		    !files_are_apart(last, level->files[i]))
			size += level->files[i]->size;
	return size;
}

/* What there is to choose of level 0. */
struct level0_choice {
	size_t depth;    /* files of the largest group that is deep; or 0 */
	size_t cheapest; /* of the groups: by bytes rewritten for each moved;
			    among those that are deep, if there are */
	size_t lone;     /* groups of one file, below which there is nothing */
	uint64_t size, largest; /* bytes: of all groups, of the largest */
};

/* Whether group g is deep, with so many bytes below it. */
static bool is_due(const struct level0 *l, const struct level0_group *g,
		   uint64_t below, const struct compaction_options *o)
{
	const struct patience *p = patience_of(o);
	bool dense = false;
	size_t i;

	for (i = 0; i < g->count; i++)
		dense |= is_dense(l->files[g->first + i]);
	if (dense)
		p = &for_readers;
	return g->count >= p->deep * o->level0_trigger ||
	       (g->count >= o->level0_trigger &&
		(dense || below <= g->size * p->cost_percent / 100 ||
		 below <= o->base_size / p->little));
}

static void choose_group(const struct level0 *l, const struct level *below,
			 const struct compaction_options *o,
			 struct level0_choice *out)
{
	uint64_t best = UINT64_MAX;
	bool deep = false;
	size_t i;

	*out = (struct level0_choice){ 0 };
	for (i = 0; i < l->group_count; i++) {
		const struct level0_group *g = &l->groups[i];
		uint64_t size = below_group(below, l, g);
		/* In 1/1024; one more, so that nothing is divided by 0. */
		uint64_t cost = size * 1024 / (g->size + 1);
		bool is_deep = is_due(l, g, size, o);
		bool is_lone = g->count == 1 && size == 0;

		if (2 * g->count >=
		    3 * patience_of(o)->deep * o->level0_trigger)
			cost = 0;
		/* Better one large file of several. */
		if (is_lone && g->size < o->base_size / SMALL_SHARE)
			cost = UINT64_MAX - 1;
		out->lone += is_lone;
		out->size += g->size;
		out->largest = g->size > out->largest ? g->size : out->largest;
		if (is_deep && g->count > out->depth)
			out->depth = g->count;
		if (is_deep < deep || (is_deep == deep && cost >= best))
			continue;
		deep = is_deep;
		best = cost;
		out->cheapest = i;
	}
}

/* Those that are alone, all at once: they go down as they are. */
static int take_lone(struct compaction *c, const struct level0 *l,
		     const struct level *below)
{
	size_t i;
	int err = 0;

	for (i = 0; err == 0 && i < l->group_count; i++)
		if (l->groups[i].count == 1 &&
		    below_group(below, l, &l->groups[i]) == 0)
			err = compact_add_input(c, 0,
						l->files[l->groups[i].first]);
	if (err < 0)
		compaction_release(c);
	return err;
}

/* Bytes of level 0 from which on it is merged though no group has trigger
 * files. */
static uint64_t level0_target(const struct version *v,
			      const struct compaction_options *o)
{
	uint64_t below = 0, least = o->base_size / LEVEL0_LEAST;
	unsigned int i;

	for (i = 1; i < LEVEL_COUNT; i++)
		below += v->levels[i].size;
	below = below * patience_of(o)->level0_percent / 100;
	return below > least ? below : least;
}

/* How much of level 0 goes down for its size, 1024 being due. Groups that go in
 * turn are so far apart that of n the largest has 2n/(n + 1) times the mean.
 * Those of a table that is written all over, and was merged into one level
 * before, fill in step: each would go with half of that above what it has
 * below, and all at once, while level 0 grows beyond its target. So the more
 * alike they are the earlier one goes, which parts them. */
static uint64_t score_size(const struct version *v,
			   const struct compaction_options *o,
			   const struct level0_choice *c, size_t groups)
{
	uint64_t score = v->levels[0].size * 1024 / (level0_target(v, o) + 1);
	uint64_t alike = 2 * 1024 * c->size / ((groups + 1) * c->largest + 1);

	return alike > 1024 && o->writing ? score * alike / 1024 : score;
}

/* Fills out with what of level 0 goes down, if it is due; *score is how much
 * so, 1024 being due. 0 or -ENOMEM. */
static int pick_level0(const struct version *v,
		       const struct compaction_options *o, unsigned int base,
		       struct compaction *out, uint64_t *score)
{
	const struct level *below = &v->levels[base];
	struct level0_choice choice;
	struct level0_group *g;
	struct level0 l;
	uint64_t by_size;
	int err = level0_group(v, &l);

	if (err < 0)
		return err;
	choose_group(&l, below, o, &choice);
	*score = (uint64_t)choice.depth * 1024 / o->level0_trigger;
	by_size = score_size(v, o, &choice, l.group_count);
	if (by_size > *score)
		*score = by_size;
	*out = (struct compaction){ .output_level = base };
	if (choice.lone >= o->level0_trigger) {
		*score = *score > 1024 ? *score : 1024;
		err = take_lone(out, &l, below);
	} else if (*score >= 1024) {
		g = &l.groups[choice.cheapest];
		err = take_files(out, &l.files[g->first], g->count);
	}
	level0_release(&l);
	return err;
}

int compact_pick(const struct version *v, const struct compaction_options *o,
		 struct compaction *out)
{
	uint64_t targets[LEVEL_COUNT], best_score;
	unsigned int base = level_targets(v, o, targets), best = 0, i;
	int err = pick_level0(v, o, base, out, &best_score);

	if (err < 0)
		return err;
	for (i = 1; i < BOTTOM; i++) {
		/* How far above its target a level is, in 1/1024. */
		uint64_t score = v->levels[i].size / (targets[i] / 1024 + 1);

		/* Level 0 goes first where they are alike: reads ask all of its
		 * files. The lowest level has nowhere to go. */
		if (score > 1024 && score > best_score) {
			best = i;
			best_score = score;
		}
	}
	if (best_score < 1024)
		return 0;
	/* Of a level that is too large one file is moved, and those that share
	 * a column with it; then it is asked again. */
	if (best > 0) {
		compaction_release(out);
		out->level = best;
		out->output_level = best + 1;
		err = add_with_neighbours(out, &v->levels[best],
					  cheapest(v, best));
	}
	return err < 0 ? err : complete(out, v, o->base_size / SMALL_SHARE);
}

int compact_pick_file(const struct version *v, unsigned int level, size_t i,
		      unsigned int output_level, struct compaction *out)
{
	int err;

	assert(level < output_level && i < v->levels[level].count);
	*out = (struct compaction){ .level = level,
				    .output_level = output_level };
	err = level == 0 ? take_level0(out, v, i)
			 : add_with_neighbours(out, &v->levels[level], i);
	return err < 0 ? err : complete(out, v, UINT64_MAX);
}

/* Whether a file of the level overlaps [start, end). */
static bool level_overlaps(const struct level *level, struct bytes start,
			   struct bytes end)
{
	size_t i;

	for (i = 0; i < level->count; i++) {
		if (sst_file_overlaps(level->files[i], start, end))
			return true;
	}
	return false;
}

int compact_pick_range(const struct version *v, struct bytes start,
		       struct bytes end, struct compaction *out)
{
	const struct level *level;
	unsigned int i;
	size_t j;
	int err;

	*out = (struct compaction){ 0 };
	/* From the top, so that what is moved down meets all that is below. */
	for (i = 0; i < BOTTOM; i++) {
		if (level_overlaps(&v->levels[i], start, end))
			break;
	}
	if (i == BOTTOM)
		return 0;
	out->level = i;
	out->output_level = i + 1;
	level = &v->levels[i];
	for (j = 0; j < level->count; j++) {
		if (sst_file_overlaps(level->files[j], start, end))
			break;
	}
	assert(j < level->count); /* level_overlaps found one */
	/* From level 0 past empty levels at once. */
	while (i == 0 && out->output_level < BOTTOM &&
	       v->levels[out->output_level].count == 0)
		out->output_level++;
	err = i == 0 ? take_level0(out, v, j)
		     : add_with_neighbours(out, level, j);
	return err < 0 ? err : complete(out, v, UINT64_MAX);
}

int compact_pick_bottom(const struct version *v, struct bytes start,
			struct bytes end, uint64_t before_id,
			struct compaction *out)
{
	const struct level *level = &v->levels[BOTTOM];
	size_t i;
	int err;

	*out = (struct compaction){ .level = BOTTOM, .output_level = BOTTOM };
	for (i = 0; i < level->count; i++) {
		if (level->files[i]->id < before_id &&
		    sst_file_overlaps(level->files[i], start, end)) {
			err = compact_add_input(out, 0, level->files[i]);
			return err < 0 ? err : 1;
		}
	}
	return 0;
}

/* Whether f is an input of the upper side: the only ones that may be on a level
 * that compact_above looks at. */
static bool is_input(const struct compaction *c, const struct sst_file *f)
{
	size_t i;

	for (i = 0; i < c->input_count[0]; i++)
		if (c->inputs[0][i] == f)
			return true;
	return false;
}

/* Whether f's bounds touch those of any input. */
static bool overlaps_input(const struct compaction *c, const struct sst_file *f)
{
	const struct sst_file *in;
	size_t i;
	int side;

	for (side = 0; side < 2; side++)
		for (i = 0; i < c->input_count[side]; i++) {
			in = c->inputs[side][i];
			if (sst_file_overlaps(f, in->smallest, BYTES_NONE) &&
			    bytes_compare(f->smallest, in->largest) <= 0)
				return true;
		}
	return false;
}

void compact_above(const struct version *v, const struct compaction *c,
		   uint64_t *seq, uint64_t *us)
{
	unsigned int level;
	size_t i;

	*seq = *us = UINT64_MAX;

	/* Level 0 in any case: a compaction need not take all of it. */
	for (level = 0; level == 0 || level < c->level; level++)
		for (i = 0; i < v->levels[level].count; i++) {
			const struct sst_file *f = v->levels[level].files[i];

			if (!sst_file_deletes(f) ||
			    (f->smallest_seq >= *seq && f->delete_us >= *us) ||
			    is_input(c, f) || !overlaps_input(c, f))
				continue;
			*seq = f->smallest_seq < *seq ? f->smallest_seq : *seq;
			*us = f->delete_us < *us ? f->delete_us : *us;
		}
}

uint64_t compact_delete_us(const struct compaction *c)
{
	uint64_t us = UINT64_MAX;
	size_t i;
	int side;

	for (side = 0; side < 2; side++)
		for (i = 0; i < c->input_count[side]; i++) {
			const struct sst_file *f = c->inputs[side][i];

			if (sst_file_deletes(f) && f->delete_us < us)
				us = f->delete_us;
		}
	return us;
}

/* Whether a large value of f has a chunk in this blob file. */
static bool refers_to(const struct sst_file *f, uint64_t blob)
{
	const struct sst_properties *p = sst_properties(f->sst);
	size_t i;

	for (i = 0; i < p->blob_count; i++)
		if (p->blobs[i].file == blob)
			return true;
	return false;
}

int compact_pick_blob(const struct version *v,
		      const struct compaction_options *o, uint64_t blob,
		      struct compaction *out)
{
	uint64_t targets[LEVEL_COUNT];
	unsigned int level = LEVEL_COUNT;
	size_t i;
	int err;

	*out = (struct compaction){ 0 };
	while (level-- > 0)
		for (i = 0; i < v->levels[level].count; i++)
			if (refers_to(v->levels[level].files[i], blob))
				goto found;
	return 0;
found:
	if (level == BOTTOM) {
		out->level = out->output_level = BOTTOM;
		err = compact_add_input(out, 0, v->levels[level].files[i]);
		return err < 0 ? err : 1;
	}
	err = compact_pick_file(
		v, level, i,
		level == 0 ? level_targets(v, o, targets) : level + 1, out);
	/* The file has to be written anew. */
	out->trivial = false;
	return err;
}
