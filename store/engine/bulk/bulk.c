#include <assert.h>
#include <stdlib.h>

#include "store/base/coding.h"
#include "store/base/err.h"
#include "store/engine/compact/merge.h"
#include "store/engine/core/state.h"
#include "store/engine/core/trouble.h"
#include "store/engine/files/edit.h"
#include "store/engine/large/blobs.h"
#include "store/engine/bulk/bulk.h"
#include "store/engine/bulk/bulk_run.h"
#include "store/engine/run/rotate.h"
#include "store/engine/run/step.h"
#include "store/engine/run/write.h"
#include "store/format/sst/sst_build.h"
#include "store/format/sst/sst_iter.h"

/*
 * From puts in memory to files that the manifest names:
 *
 *   entries   as they come, their bytes in one buffer, sorted by pointers
 *   runs      sorted files, one for each time that the memory was full
 *   published as they are if none begins before the last one ended, which is
 *             so for sorted input; else merged once into files that do not
 *             overlap, by which each byte is written twice
 *
 * Keys are stored with sequence 0, and one is given to each file as a whole
 * when it is named. Its place in the log is taken by a mark.
 */

/* Up to this part of its memory a load goes through the log after all: it costs
 * one sync and no sst. */
#define SMALL_PART 32

/* Memory is asked for in such steps, of bytes. Loads that get none become runs,
 * but not of less than this. */
#define TAKE_SIZE ((size_t)1 << 20)
#define RUN_MIN ((size_t)2 << 20)

/*
 * An entry in memory: its key's first bytes after the table, for quick
 * comparison, and where the rest lies. Equal version keys are told apart by
 * place, which grows with time.
 */
struct entry {
	uint64_t head; /* see key_head */
	size_t place;  /* in data: u32 key size, u32 value size, u8 kind, key,
			 value */
};

#define ENTRY_HEAD_SIZE 9

static_assert(sizeof(struct entry) == 16, "bulk.h tells what a put takes");

struct bulk {
	struct engine *e;
	size_t memory_size;     /* of data, more or less, at most */
	size_t taken;           /* of MEMORY_IMPORTS, for data and entries */
	struct buf data;        /* what entries point at */
	struct entry *entries;  /* of the next run */
	size_t count, capacity; /* of entries */
	bool sorted;            /* entries ascend strictly */
	bool many_tables;       /* heads, which lack the table, do not order */
	struct buf last;        /* version key of the newest entry */
	struct run *runs;       /* in the order in which they were filled */
	size_t run_count;
	bool disordered;         /* runs overlap, so they will be merged */
	struct blob_holds holds; /* what its large values refer to */
};

int bulk_new(struct engine *e, size_t memory_size, struct bulk **out)
{
	struct bulk *b = calloc(1, sizeof(*b));

	*out = b;
	if (!b)
		return -ENOMEM;
	b->e = e;
	b->memory_size = memory_size;
	b->sorted = true;
	return 0;
}

static void forget_runs(struct bulk *b)
{
	runs_release(b->runs, b->run_count);
	b->runs = NULL;
	b->run_count = 0;
}

/* Others may need what they took. */
static void forget_entries(struct bulk *b)
{
	buf_release(&b->data);
	free(b->entries);
	b->entries = NULL;
	b->count = b->capacity = 0;
	b->sorted = true;
	memory_give(b->e->memory, MEMORY_IMPORTS, b->taken);
	b->taken = 0;
}

void bulk_free(struct bulk *b)
{
	if (!b)
		return;
	runs_remove(b->e, b->runs, b->run_count);
	forget_runs(b);
	forget_entries(b);
	blob_release(b->e, &b->holds);
	buf_release(&b->last);
	free(b);
}

/* What an entry points at; valid until the next put. */
static struct bytes entry_key(const struct bulk *b, const struct entry *e)
{
	const uint8_t *p = b->data.data + e->place;

	return bytes_of(p + ENTRY_HEAD_SIZE, get_u32le(p));
}

static enum key_kind entry_kind(const struct bulk *b, const struct entry *e)
{
	return b->data.data[e->place + ENTRY_HEAD_SIZE - 1];
}

static struct bytes entry_value(const struct bulk *b, const struct entry *e)
{
	const uint8_t *p = b->data.data + e->place;

	return bytes_of(p + ENTRY_HEAD_SIZE + get_u32le(p), get_u32le(p + 4));
}

/* By key; of equal ones the last added first. */
static int compare(const void *x, const void *y, void *context)
{
	const struct entry *a = x, *c = y;
	const struct bulk *b = context;
	int order;

	if (a->head != c->head && !b->many_tables)
		return a->head < c->head ? -1 : 1;
	order = bytes_compare(entry_key(b, a), entry_key(b, c));
	if (order)
		return order;
	return a->place < c->place ? 1 : -1;
}

/* The first bytes of the row as a number that orders like them: most
 * comparisons while sorting end there, without a look at the keys. */
static uint64_t key_head(struct bytes key)
{
	uint8_t raw[8] = { 0 };
	size_t size = key.size - KEY_TABLE_SIZE;

	assert(key.size > KEY_TABLE_SIZE + KEY_TIMESTAMP_SIZE);
	memcpy(raw, key.data + KEY_TABLE_SIZE, size < 8 ? size : 8);
	return get_u64be(raw);
}

/* What is in memory becomes a run, of each version key the put added last.
 * After a failure it is still there. */
static int spill(struct bulk *b)
{
	struct run_writer o = { .e = b->e };
	size_t i;
	int err = 0;

	assert(b->count > 0);
	if (!b->sorted)
		qsort_r(b->entries, b->count, sizeof(*b->entries), compare, b);
	if (b->run_count > 0 &&
	    bytes_compare(buf_bytes(&b->runs[b->run_count - 1].largest),
			  entry_key(b, &b->entries[0])) >= 0)
		b->disordered = true;
	/* Earlier runs were built to stay; if they are merged, that was in
	 * vain. */
	o.passing = b->disordered;
	for (i = 0; i < b->count && err == 0; i++) {
		struct bytes key = entry_key(b, &b->entries[i]);

		/* compare puts the last one added first. */
		if (i > 0 && !b->sorted &&
		    bytes_equal(key, entry_key(b, &b->entries[i - 1])))
			continue;
		err = run_writer_add(&o, key, entry_kind(b, &b->entries[i]),
				     entry_value(b, &b->entries[i]));
	}
	if (err == 0)
		err = run_writer_end(&o, &b->runs, &b->run_count);
	run_writer_release(&o);
	if (err == 0)
		forget_entries(b);
	return err;
}

/* Whether b is of a's row. An empty b is not. */
static bool same_row(struct bytes a, struct bytes b)
{
	size_t row_end = key_row_end(a);

	return b.size >= row_end && memcmp(a.data, b.data, row_end) == 0;
}

/* Keeps what a large value refers to until it is published. */
static int hold(struct bulk *b, struct bytes references)
{
	struct blob_list list;
	int err = blob_list_decode(references, &list);

	if (err == 0)
		err = blob_hold(b->e, &b->holds, &list);
	blob_list_release(&list);
	return err;
}

/* Room for one more entry whose bytes are so many. */
static int reserve_entry(struct bulk *b, size_t size)
{
	struct entry *grown;
	size_t capacity;

	if (b->count == b->capacity) {
		capacity = b->capacity * 2 + 1024;
		grown = realloc(b->entries, capacity * sizeof(*grown));
		if (!grown)
			return -ENOMEM;
		b->entries = grown;
		b->capacity = capacity;
	}
	return buf_reserve(&b->data, size);
}

/* Takes memory for one more entry whose bytes are so many: false if there is
 * none, and what is there is enough for a run. */
static bool take_memory(struct bulk *b, size_t size)
{
	size_t wanted =
		b->data.size + size + (b->count + 1) * sizeof(*b->entries);
	size_t more;

	if (wanted <= b->taken)
		return true;
	more = (wanted - b->taken + TAKE_SIZE - 1) / TAKE_SIZE * TAKE_SIZE;
	if (!memory_take(b->e->memory, MEMORY_IMPORTS, more, 0)) {
		if (b->data.size >= RUN_MIN)
			return false;
		memory_hold(b->e->memory, MEMORY_IMPORTS, more);
	}
	b->taken += more;
	return true;
}

int bulk_add(struct bulk *b, struct bytes version_key, enum key_kind kind,
	     struct bytes value)
{
	size_t size = ENTRY_HEAD_SIZE + version_key.size + value.size;
	struct bytes last = buf_bytes(&b->last);
	uint8_t head[ENTRY_HEAD_SIZE];
	int err;

	assert(kind == KEY_PUT || kind == KEY_BLOB);
	err = kind == KEY_BLOB ? hold(b, value) : 0;
	if (err < 0)
		return err;
	/* Between rows if may be, so that sorted input makes files of whole
	 * rows; of other input the merge makes them. */
	if (b->count > 0 && (!take_memory(b, size) ||
			     (b->data.size + size > b->memory_size &&
			      (!same_row(version_key, last) || !b->sorted)))) {
		err = spill(b);
		if (err < 0)
			return err;
	}
	take_memory(b, size);
	err = reserve_entry(b, size);
	if (err < 0)
		return err;
	if (b->count > 0 && bytes_compare(last, version_key) >= 0)
		b->sorted = false;
	if (b->last.size > 0 && key_table(last) != key_table(version_key))
		b->many_tables = true;
	b->entries[b->count].head = key_head(version_key);
	b->entries[b->count++].place = b->data.size;
	put_u32le(head, (uint32_t)version_key.size);
	put_u32le(head + 4, (uint32_t)value.size);
	head[8] = (uint8_t)kind;
	/* Room is reserved, so these cannot fail. */
	buf_add(&b->data, head, sizeof(head));
	buf_add_bytes(&b->data, version_key);
	buf_add_bytes(&b->data, value);
	return buf_set(&b->last, version_key);
}

/* The runs, opened: *out merges them, and ssts, one place for each run, are the
 * caller's to close, also after a failure; NULL are those not opened. A later
 * run has the greater sequence, as the last put of a version key is to stay. */
static int open_runs(struct bulk *b, struct sst **ssts, struct iter **out)
{
	struct volume *v = b->e->volume;
	struct iter **iters = calloc(b->run_count, sizeof(*iters));
	char name[VOLUME_NAME_MAX + 1];
	struct reader *reader;
	size_t i, count = 0;
	int err = 0;

	*out = NULL;
	if (!iters)
		return -ENOMEM;
	for (i = 0; i < b->run_count && err == 0; i++) {
		manifest_name(b->runs[i].id, "sst", name);
		err = v->ops->open(v, name, &reader);
		if (err < 0)
			break;
		err = sst_open(reader, b->e->cache, b->runs[i].id, &ssts[i]);
		if (err < 0) {
			v->ops->reader_close(reader);
			break;
		}
		sst_set_seq(ssts[i], i + 1);
		err = sst_iter_new(ssts[i], false, &iters[i]);
		if (err == 0)
			count++;
	}
	if (err == 0) {
		err = merge_iter_new(iters, count, out);
	} else {
		for (i = 0; i < count; i++)
			iter_close(iters[i]);
	}
	free(iters);
	return err;
}

/* Writes the newest of each version key as files of whole rows. */
static int write_merged(struct bulk *b, struct iter *it, struct run **runs,
			size_t *count)
{
	uint64_t file_size = b->e->options.file_size;
	struct run_writer o = { .e = b->e };
	struct bytes key;
	int at = iter_seek(it, BYTES_NONE), err = 0;

	for (; at > 0 && err == 0; at = iter_next(it)) {
		key = key_version(it->key);
		if (o.builder && bytes_equal(key, run_writer_last(&o)))
			continue;
		if (o.builder && sst_build_size(o.builder) >= file_size &&
		    !same_row(key, run_writer_last(&o)))
			err = run_writer_end(&o, runs, count);
		if (err == 0)
			err = run_writer_add(&o, key, key_kind(it->key),
					     it->value);
	}
	if (err == 0)
		err = at < 0 ? at : run_writer_end(&o, runs, count);
	run_writer_release(&o);
	return err;
}

/* Replaces runs that overlap by files that do not. After a failure they are
 * still there. */
static int merge_runs(struct bulk *b)
{
	struct sst **ssts = calloc(b->run_count, sizeof(*ssts));
	struct run *merged = NULL;
	struct iter *it = NULL;
	size_t count = 0, i;
	int err;

	assert(b->run_count > 0 && b->count == 0);
	if (!ssts)
		return -ENOMEM;
	err = open_runs(b, ssts, &it);
	if (err == 0)
		err = write_merged(b, it, &merged, &count);
	iter_close(it);
	for (i = 0; i < b->run_count; i++)
		sst_close(ssts[i]);
	free(ssts);
	if (err < 0) {
		runs_remove(b->e, merged, count);
		runs_release(merged, count);
		return err;
	}
	runs_remove(b->e, b->runs, b->run_count);
	forget_runs(b);
	b->runs = merged;
	b->run_count = count;
	b->disordered = false;
	return 0;
}

/* Whether a memtable holds anything that the load would lie under, by the range
 * of all runs; if it cannot be told for lack of memory, it is presumed. A range
 * tombstone may reach anywhere, so any one counts. */
static bool memtable_overlaps(const struct bulk *b, struct memtable *m)
{
	struct bytes start = buf_bytes(&b->runs[0].smallest);
	struct bytes last = buf_bytes(&b->runs[b->run_count - 1].largest);
	struct iter *it;
	bool overlaps;
	int at;

	assert(b->run_count > 0);
	if (atomic_load(&m->tombstone_count) > 0)
		return true;
	if (atomic_load(&m->cell_count) == 0)
		return false;
	if (memtable_iter_new(m, &it) < 0)
		return true;
	at = iter_seek(it, start);
	overlaps = at > 0 && bytes_compare(key_version(it->key), last) <= 0;
	iter_close(it);
	return overlaps;
}

/* Flushes what is older than the load and may overlap it, or if mark has no
 * room. Needs commit. */
static int flush_overlap(struct bulk *b, const struct batch *mark)
{
	struct engine *e = b->e;
	int err = engine_flush_waiting(e);

	if (err < 0 || (!memtable_overlaps(b, e->memtable) &&
			memtable_reserve(e->memtable, mark) == 1))
		return err;
	err = engine_rotate(e, 0);
	return err < 0 ? err : engine_flush_waiting(e);
}

/* Whether f may hold a key of the range that run's keys span. */
static bool overlaps_run(const struct sst_file *f, const struct run *run)
{
	struct bytes largest = buf_bytes(&run->largest);

	/* largest lacks the trailer: what begins with it is not after it. */
	return sst_file_overlaps(f, buf_bytes(&run->smallest), BYTES_NONE) &&
	       (bytes_compare(f->smallest, largest) <= 0 ||
		bytes_starts_with(f->smallest, largest));
}

/*
 * The lowest level such that no file in it or above overlaps run. Of what
 * overlaps, the upper must be the newer, because a compaction that counts
 * versions takes it for granted that a deletion above its inputs is newer than
 * all of them.
 */
static unsigned int find_level(const struct version *v, const struct run *run)
{
	unsigned int level;
	size_t i;

	for (level = 0; level < LEVEL_COUNT; level++) {
		const struct level *l = &v->levels[level];

		i = level > 0 ? level_find(l, buf_bytes(&run->smallest)) : 0;
		for (; i < l->count; i++) {
			if (overlaps_run(l->files[i], run))
				return level > 0 ? level - 1 : 0;
			/* On a sorted level the first one tells. */
			if (level > 0)
				break;
		}
	}
	return LEVEL_COUNT - 1;
}

/* Needs commit: nothing is written to the log meanwhile. A failure makes the
 * store read-only. */
static int sync_log(struct engine *e)
{
	int err;

	pthread_mutex_lock(&e->sync);
	err = engine_sync_log(e);
	pthread_mutex_unlock(&e->sync);
	return err < 0 ? engine_poison(e, err) : 0;
}

/* The log gets the load's sequence, which is written_seq. A full disk is no
 * failure: the mark waits for the next write, as do those of loads after it,
 * and until then the files tell it. */
static int log_mark(struct engine *e)
{
	int err;

	if (e->unmarked_seq == 0)
		e->unmarked_seq = e->written_seq;
	err = engine_log_marks(e);
	if (err == -ENOSPC) {
		err_clear();
		return 0;
	}
	return err < 0 ? engine_poison(e, err) : sync_log(e);
}

/*
 * Takes the next sequence and names the files. The log is synced before that,
 * because what has a smaller sequence must not be lost while the load stays,
 * and after it, because a compaction may drop all that has the load's. If the
 * power fails in between, the files tell it. From the edit on the files are the
 * manifest's, even if it failed, unless it says that nothing happened. Needs
 * commit and work.
 */
static int name_files(struct bulk *b, struct batch *mark)
{
	struct engine *e = b->e;
	uint64_t seq = e->written_seq + 1, bytes = 0;
	size_t files = b->run_count;
	struct edit edit = EDIT_INIT;
	/* Levels stay as they are while work is held; the version may not, for
	 * large values begin and end files. */
	struct version *v = engine_version(e);
	size_t i;
	int err = 0;

	assert(b->run_count > 0 && !b->disordered);
	for (i = 0; i < b->run_count && err == 0; i++)
		err = edit_add_loaded(&edit, find_level(v, &b->runs[i]),
				      b->runs[i].id, b->runs[i].size, seq);
	for (i = 0; i < files; i++)
		bytes += b->runs[i].size;
	version_put(v);
	if (err == 0)
		err = sync_log(e);
	if (err < 0)
		goto release;
	err = engine_apply(e, &edit);
	if (err == 0 || atomic_load(&e->error) != 0)
		forget_runs(b);
	if (err < 0)
		goto release;
	e->written_seq = seq;
	err = log_mark(e);
	if (err < 0)
		goto release;
	gaps_note_any(&e->gaps, seq);
	memtable_apply(e->memtable, mark, seq);
	atomic_store_explicit(&e->visible_seq, seq, memory_order_release);
	event_add(&e->events, EVENTS_MAIN,
		  "bulk_loaded ssts=%zu bytes=%llu seq=%llu", files,
		  (unsigned long long)bytes, (unsigned long long)seq);
release:
	edit_release(&edit);
	return err;
}

/* A small load costs less as one record of the log. An empty one is small. */
static bool is_small(const struct bulk *b)
{
	return b->run_count == 0 && b->count <= BATCH_RECORDS_MAX &&
	       b->data.size <= b->memory_size / SMALL_PART;
}

/* By engine_write, which takes the puts in the order in which they were added,
 * so that of one version key the last one stays. What they refer to is held
 * until then. */
static int publish_small(struct bulk *b)
{
	struct batch batch = BATCH_INIT;
	size_t i;
	int err = 0;

	for (i = 0; i < b->count && err == 0; i++) {
		const struct entry *entry = &b->entries[i];

		err = entry_kind(b, entry) == KEY_BLOB
			      ? batch_put_blob(&batch, entry_key(b, entry),
					       entry_value(b, entry))
			      : batch_put(&batch, entry_key(b, entry),
					  entry_value(b, entry));
	}
	if (err == 0)
		err = engine_write(b->e, &batch, true, NULL);
	batch_release(&batch);
	if (err == 0)
		forget_entries(b);
	if (err == 0)
		blob_release(b->e, &b->holds);
	return err;
}

int bulk_prepare(struct bulk *b)
{
	int err = b->count > 0 && !is_small(b) ? spill(b) : 0;

	if (err == 0 && b->disordered)
		err = merge_runs(b);
	return err;
}

int bulk_publish(struct bulk *b)
{
	struct engine *e = b->e;
	struct batch mark = BATCH_INIT;
	int err;

	if (is_small(b))
		return publish_small(b);
	err = bulk_prepare(b);
	if (err == 0)
		err = batch_mark(&mark);
	if (err < 0 || b->run_count == 0)
		goto release;

	/* From the flush of what it overlaps to its sequence nobody may write,
	 * and from the choice of levels to the edit nobody may compact. */
	pthread_mutex_lock(&e->commit);
	err = engine_writable(e);
	if (err == 0)
		err = flush_overlap(b, &mark);
	if (err == 0) {
		pthread_mutex_lock(&e->work);
		err = name_files(b, &mark);
		pthread_mutex_unlock(&e->work);
	}
	pthread_mutex_unlock(&e->commit);
	if (err == 0) {
		blob_release(e, &b->holds);
		engine_wake(e);
	}
release:
	batch_release(&mark);
	return err;
}
