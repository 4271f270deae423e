#include "store/engine/compact/hidden.h"
#include "store/format/key.h"
#include "store/format/sst/sst_iter.h"
#include "store/format/sst/sst_tombstones.h"

/* So many entries are passed; a search, which may read a block, counts for
 * some. */
#define STEPS_MAX 100000
#define SEARCH_STEPS 100

struct look {
	const struct version *version;
	unsigned int steps; /* that are left */
	uint64_t size;      /* bytes found */
};

/* Whether there are n steps more, which are taken. */
static bool take_steps(struct look *l, unsigned int n)
{
	bool enough = l->steps >= n;

	l->steps = enough ? l->steps - n : 0;
	return enough;
}

static bool is_before(struct bytes key, struct bytes end)
{
	return end.size == 0 || bytes_compare(key, end) < 0;
}

static void add_value(struct look *l, const struct iter *it)
{
	if (key_kind(it->key) == KEY_BLOB)
		l->size += blob_list_value_size(it->value);
}

/* Adds the large values of f that a tombstone hides. */
static int look_in_file(struct look *l, const struct sst_file *f,
			const struct tombstone *t)
{
	struct iter *it;
	int err, at;

	if (sst_properties(f->sst)->blob_count == 0 ||
	    f->smallest_seq >= t->seq || !take_steps(l, SEARCH_STEPS))
		return 0;
	/* It is asked again after the next write. */
	err = sst_iter_new(f->sst, true, &it);
	if (err < 0)
		return err;
	for (at = iter_seek(it, t->start);
	     at > 0 && is_before(it->key, t->end) && take_steps(l, 1);
	     at = iter_next(it))
		/* Of a bulk load the entries' own sequence is 0. */
		if (key_seq(it->key) < t->seq && f->seq < t->seq)
			add_value(l, it);
	iter_close(it);
	return at < 0 ? at : 0;
}

static int look_in_level(struct look *l, const struct level *level,
			 const struct tombstone *t)
{
	size_t i;
	int err = 0;

	for (i = level_find(level, t->start);
	     err == 0 && i < level->count &&
	     is_before(level->files[i]->smallest, t->end);
	     i++)
		err = look_in_file(l, level->files[i], t);
	return err;
}

/* Adds what a tombstone hides in ssts: what is older, on any level. */
static int look_in_ssts(struct look *l, const struct tombstone *t)
{
	const struct version *v = l->version;
	unsigned int level;
	size_t i;
	int err = 0;

	for (i = 0; i < v->run_count && err == 0; i++)
		err = look_in_level(l, &v->runs[i], t);
	for (level = 1; level < LEVEL_COUNT && err == 0; level++)
		err = look_in_level(l, &v->levels[level], t);
	return err;
}

/* Adds what a point delete hides: older writes of its version. */
static int look_for_delete(struct look *l, struct bytes key)
{
	struct bytes version = key_version(key);
	struct key_room room;
	struct buf *end = key_room_init(&room);
	int err = buf_add_bytes(end, version);

	/* The last trailer is of sequence 0. */
	if (err == 0)
		err = key_add_trailer(end, 0, KEY_DELETE);
	return err < 0 ? err
		       : look_in_ssts(
				 l, &(struct tombstone){ .start = version,
							 .end = buf_bytes(end),
							 .seq = key_seq(key) });
}

/* Adds what the cells of m hide, and what of them is hidden in m. */
static int look_at_cells(struct look *l, const struct memtable *m)
{
	struct bytes before = BYTES_NONE; /* lives as long as m */
	struct memtable_iter cells;
	struct iter *it = &cells.iter;
	int err = 0, at;

	memtable_iter_init(&cells, m);
	for (at = iter_seek(it, BYTES_NONE);
	     at > 0 && err == 0 && take_steps(l, 1); at = iter_next(it)) {
		if (key_kind(it->key) == KEY_DELETE)
			err = look_for_delete(l, it->key);
		else if ((before.size > 0 &&
			  bytes_equal(key_version(before),
				      key_version(it->key))) ||
			 memtable_cover(m, it->key, UINT64_MAX, NULL) >
				 key_seq(it->key))
			add_value(l, it);
		before = it->key;
	}
	return err < 0 ? err : at < 0 ? at : 0;
}

int hidden_by_memtable(const struct version *v, const struct memtable *m,
		       uint64_t *size)
{
	struct look l = { .version = v, .steps = STEPS_MAX };
	struct tombstone span = { .start = BYTES_NONE };
	int err = 0;

	/* Ranges first: they are few, and the cells may be many. */
	do {
		span.start = span.end;
		span.seq = memtable_cover(m, span.start, UINT64_MAX, &span);
		if (span.seq > 0)
			err = look_in_ssts(&l, &span);
	} while (err == 0 && span.end.size > 0 && take_steps(&l, 1));
	if (err == 0)
		err = look_at_cells(&l, m);
	*size = l.size;
	return err;
}

static int look_at_tombstones(struct look *l, const struct sst_file *f)
{
	struct tombstone_reader reader;
	const struct tombstone *t;
	int err = 0;

	tombstone_reader_init(&reader, f->sst);
	while (err == 0 && take_steps(l, 1) &&
	       (err = tombstone_reader_next(&reader, &t)) > 0)
		err = look_in_ssts(l, t);
	tombstone_reader_release(&reader);
	return err;
}

static int look_at_deletes(struct look *l, const struct sst_file *f)
{
	struct iter *it;
	int err = sst_iter_new(f->sst, false, &it), at;

	if (err < 0)
		return err;
	for (at = iter_seek(it, BYTES_NONE);
	     at > 0 && err == 0 && take_steps(l, 1); at = iter_next(it))
		if (key_kind(it->key) == KEY_DELETE)
			err = look_for_delete(l, it->key);
	iter_close(it);
	return err < 0 ? err : at < 0 ? at : 0;
}

int hidden_by_file(const struct version *v, struct sst_file *f, uint64_t *size)
{
	struct look l = { .version = v, .steps = STEPS_MAX };
	int err = 0;

	if (f->hidden_known || v->blob_count == 0)
		goto known;
	if (sst_properties(f->sst)->tombstone_count > 0)
		err = look_at_tombstones(&l, f);
	if (err == 0 && sst_properties(f->sst)->delete_count > 0)
		err = look_at_deletes(&l, f);
	if (err < 0)
		return err;
	f->hidden_size = l.size;
	f->hidden_known = true;
known:
	*size = f->hidden_size;
	return 0;
}
