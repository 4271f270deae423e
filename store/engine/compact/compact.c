#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

#include "store/base/coding.h"
#include "store/base/err.h"
#include "store/engine/compact/compact.h"
#include "store/engine/compact/merge.h"
#include "store/engine/compact/past.h"
#include "store/engine/compact/read_back.h"
#include "store/engine/compact/window.h"
#include "store/engine/files/edit.h"
#include "store/format/sst/sst_build.h"
#include "store/format/sst/sst_iter.h"

/*
 * Outputs are cut at the start of a row; where one row alone is larger than two
 * files, of a column; where that is larger than four, of a version. Never
 * between the writes of one version, or a tombstone that goes down alone could
 * vanish above what it hides. The range tombstones of the inputs are cut at the
 * same keys, each piece into the file that covers its range, so that the files
 * of a level never overlap and none holds a cell without the tombstones over
 * it.
 */
enum {
	ROW_FILES_MAX = 2,      /* a row larger than so many files is cut */
	COLUMN_FILES_MAX = 4,   /* and a column larger than these */
	TOMBSTONES_MAX = 65536, /* an output with so many is cut soon */
};

static_assert((int)ROW_FILES_MAX < (int)COLUMN_FILES_MAX,
	      "a row is cut between columns before a column is");

/* A merge under way: entries come in key order and leave through the builder.
 */
struct merge_job {
	const struct merge_context *context;
	struct edit *edit; /* is told of each output that was begun and ended */
	unsigned int output_level;
	uint64_t file_size;                 /* UINT64_MAX: one output */
	const struct tombstone_list *above; /* that hide entries in place of
					       tombstones; or NULL */
	const struct level *beyond; /* the level below the output, or NULL */
	/* The range tombstones of all inputs, a window of keys after the other,
	 * or of a memtable, all in one. Owned. */
	struct window window;
	struct sieve sieve;
	struct past past; /* if the context has moments */

	struct sst_builder *builder; /* NULL: none begun */
	uint64_t id;                 /* of the output under way */
	uint64_t row_start;          /* its size when the row began */
	size_t crossed; /* files of beyond that begin before the present key */
	bool crossed_one;       /* since the output began */
	struct buf start;       /* of the output's range; empty: unbounded */
	size_t tombstone;       /* the first not wholly before start */
	size_t tombstone_count; /* that the output has */
	struct buf last_key; /* of the entry before; not kept with one output */
	size_t last_row_end; /* size of its row prefix; 0: there is none */
	size_t guard;        /* of the context's: the first behind the entry */
	size_t unyielded;    /* bytes that went in since the last yield */

	/* An entry held back, because what follows may be merged into it. */
	struct buf held_key;   /* empty: none */
	struct aggregate held; /* its value so far */
};

/* After a failure the builder may be there or not; run_job abandons it. */
static int begin_output(struct merge_job *j)
{
	bool bottom = j->output_level == LEVEL_COUNT - 1;
	struct sst_options options = {
		.level = j->output_level,
		.filter_bits =
			bottom ? SST_FILTER_BITS_BOTTOM : SST_FILTER_BITS,
		.compress = true,
		.rows = j->context->rows,
	};
	struct volume *v = j->context->volume;
	struct segment_writer *writer;
	char name[VOLUME_NAME_MAX + 1];
	int err;

	assert(!j->builder);
	j->id = j->context->new_id(j->context->new_id_context);
	manifest_name(j->id, "sst", name);
	err = j->context->spare_size
		      ? v->ops->segment_from_spare(
				v, name, j->context->spare_size, &writer)
		      : v->ops->segment_create(v, name, &writer);
	if (err < 0)
		return err;
	j->row_start = 0;
	j->tombstone_count = 0;
	j->crossed_one = false;
	return sst_build_new(writer, &options, &j->builder);
}

/* Whether the tree needs no piece t of the i-th range tombstone any more, by
 * which it may go over into history. */
static int leave_out(struct merge_job *j, size_t i, const struct tombstone *t)
{
	const struct tombstone *items = j->window.list.items;
	uint64_t newer = UINT64_MAX;
	int err;

	/* Of equal bounds the newer one comes first. */
	if (j->context->history_count > 0 && i > 0 &&
	    bytes_equal(items[i - 1].start, items[i].start))
		newer = items[i - 1].seq;
	if (sieve_tombstone(&j->sieve, t, newer))
		return 0;
	err = j->context->history_count > 0 ? past_tombstone(&j->past, t, newer)
					    : 0;
	return err < 0 ? err : 1;
}

/* Adds the pieces of range tombstones that lie in [start, end) of the output.
 * An empty end is unbounded. A stretch that has only tombstones gets an output
 * for them. */
static int add_tombstones(struct merge_job *j, struct bytes end)
{
	struct bytes start = buf_bytes(&j->start);
	size_t i;
	int err = 0;

	for (i = j->tombstone; !err && i < j->window.list.count; i++) {
		struct tombstone t = j->window.list.items[i];

		if (end.size > 0 && bytes_compare(t.start, end) >= 0)
			break;
		if (bytes_compare(t.start, start) < 0)
			t.start = start;
		if (end.size > 0 && bytes_compare(t.end, end) > 0)
			t.end = end;
		if (bytes_compare(t.start, t.end) >= 0)
			continue;
		err = leave_out(j, i, &t);
		if (err < 0)
			break;
		if (err > 0) {
			err = 0;
			continue;
		}
		if (!j->builder)
			err = begin_output(j);
		if (!err)
			err = sst_build_tombstone(j->builder, &t);
		j->tombstone_count++;
	}
	/* Those that reach beyond end are met again. Ends ascend, as fragments
	 * do not overlap unless they are equal. */
	while (end.size > 0 && j->tombstone < j->window.list.count &&
	       bytes_compare(j->window.list.items[j->tombstone].end, end) <= 0)
		j->tombstone++;
	return err;
}

/* Ends the output, whose range ends before end; the next one's begins there. */
static int end_output(struct merge_job *j, struct bytes end)
{
	struct sst_builder *builder;
	uint64_t size = 0, digest;
	int err = add_tombstones(j, end);

	if (err < 0 || !j->builder)
		return err;
	builder = j->builder;
	j->builder = NULL;
	err = sst_build_finish(builder, &digest);
	if (err < 0)
		return err;
	/* From here on it is the edit's, which a failure undoes. */
	err = edit_add_file(j->edit, j->output_level, j->id, 0);
	if (err < 0) {
		char name[VOLUME_NAME_MAX + 1];

		/* Failing to remove it leaves a file that no manifest names,
		 * and the next open removes it. */
		manifest_name(j->id, "sst", name);
		j->context->volume->ops->remove(j->context->volume, name);
		return err;
	}
	err = compact_read_back(j->context->volume, j->id, digest, &size);
	j->edit->added[j->edit->added_count - 1].size = size;
	return err < 0 ? err : buf_set(&j->start, end);
}

/* Counts the files of the level below that begin before key. A cut there lets a
 * later compaction leave a whole file alone. */
static void cross_files(struct merge_job *j, struct bytes key)
{
	while (j->beyond && j->crossed < j->beyond->count &&
	       bytes_compare(j->beyond->files[j->crossed]->smallest, key) < 0) {
		j->crossed++;
		j->crossed_one = true;
	}
}

/* Whether a guard lies before key and behind the last one that was passed. */
static bool cross_guards(struct merge_job *j, struct bytes key)
{
	const struct merge_context *c = j->context;
	size_t was = j->guard;

	while (j->guard < c->guard_count &&
	       bytes_compare(c->guards[j->guard], key) <= 0)
		j->guard++;
	return j->guard > was;
}

/* Where the output ends before key: the size of the prefix of key at which to
 * cut, or 0. */
static size_t cut_before(struct merge_job *j, struct bytes key, size_t row_end)
{
	uint64_t size = sst_build_size(j->builder); /* written and buffered */
	size_t shared = bytes_shared(key, buf_bytes(&j->last_key));
	size_t version_end = key.size - KEY_TRAILER_SIZE;
	size_t column_end = version_end - KEY_TIMESTAMP_SIZE;

	if (shared < row_end) {
		j->row_start = size;
		cross_files(j, key);
		if (cross_guards(j, key) || size >= j->file_size ||
		    (j->crossed_one && size >= j->file_size / 2))
			return row_end;
		return 0;
	}
	/* Sums, since the size shrinks when a block is compressed. */
	if (size >= j->row_start + ROW_FILES_MAX * j->file_size &&
	    shared < column_end)
		return column_end;
	if (size >= j->row_start + COLUMN_FILES_MAX * j->file_size &&
	    shared < version_end)
		return version_end;
	return 0;
}

/* Ends a flush's output where a guard lies before key. */
static int pass_guards(struct merge_job *j, struct bytes key)
{
	if (!cross_guards(j, key))
		return 0;
	return end_output(j, j->context->guards[j->guard - 1]);
}

/* Adds an entry to the output, which is begun or cut as its key demands. */
static int add_entry(struct merge_job *j, const struct iter *it)
{
	const struct merge_context *c = j->context;
	size_t row_end = j->last_row_end, cut;
	struct bytes value = it->value;
	int err = 0;

	/* With a single output, or guards, few keys are compared: a flush is on
	 * the way of writers that wait. */
	if (j->file_size != UINT64_MAX) {
		/* Rows are found by their terminator once, not at each entry.
		 */
		if (row_end == 0 || it->key.size < row_end ||
		    memcmp(it->key.data, j->last_key.data, row_end) != 0)
			row_end = key_row_end(it->key);
		cut = j->builder ? cut_before(j, it->key, row_end) : 0;
		if (cut > 0)
			err = end_output(j, bytes_of(it->key.data, cut));
		if (!err)
			err = buf_set(&j->last_key, it->key);
		j->last_row_end = row_end;
	} else if (j->guard < c->guard_count) {
		err = pass_guards(j, it->key);
	}
	if (!err && !j->builder) {
		cross_files(j, it->key);
		cross_guards(j, it->key);
		err = begin_output(j);
	}
	if (!err && c->move && key_kind(it->key) == KEY_BLOB)
		err = c->move(c->move_context, &value);
	return err < 0 ? err : sst_build_add(j->builder, it->key, value);
}

/* Lets the entry held back go on, if there is one. */
static int add_held(struct merge_job *j)
{
	struct iter held = { .key = buf_bytes(&j->held_key),
			     .value = buf_bytes(&j->held.state) };
	int err = held.key.size > 0 ? add_entry(j, &held) : 0;

	j->held_key.size = 0;
	return err;
}

/* Merges the entry into the one held back. Under a put nothing counts any more,
 * so with one it becomes a put. */
static int join_held(struct merge_job *j, const struct iter *it)
{
	struct buf *key = &j->held_key;
	uint64_t seq = key_seq(buf_bytes(key));

	assert(key->size > KEY_TRAILER_SIZE);
	if (key_kind(it->key) == KEY_PUT)
		put_u64be(key->data + key->size - KEY_TRAILER_SIZE,
			  ~(seq << 8 | KEY_PUT));
	return aggregate_add(&j->held, it->value);
}

/* Keeps the entry back as the first of an aggregate's parts. */
static int hold(struct merge_job *j, const struct iter *it)
{
	int err = buf_set(&j->held_key, it->key);

	aggregate_start(&j->held, j->sieve.family->merge);
	return err < 0 ? err : aggregate_add(&j->held, it->value);
}

/* Takes an entry of which the sieve said SIEVE_KEEP or SIEVE_JOIN. */
static int take_entry(struct merge_job *j, const struct iter *it, int verdict)
{
	int err;

	assert(verdict == SIEVE_KEEP || verdict == SIEVE_JOIN);
	if (verdict == SIEVE_JOIN)
		return join_held(j, it);
	err = add_held(j);
	if (err < 0)
		return err;
	return j->sieve.open_reader > 0 ? hold(j, it) : add_entry(j, it);
}

/* Goes on to the next window: what is left of this one goes into the output,
 * which ends here if it has many. Nothing that was held back can be merged with
 * what follows, which is another row's. */
static int leave_window(struct merge_job *j)
{
	struct window *w = &j->window;
	int err = add_held(j);

	if (err < 0)
		return err;
	if (j->file_size != UINT64_MAX && j->tombstone_count >= TOMBSTONES_MAX)
		err = end_output(j, buf_bytes(&w->end));
	else
		err = add_tombstones(j, buf_bytes(&w->end));
	if (!err)
		err = buf_set(&j->start, buf_bytes(&w->end));
	if (!err)
		err = window_next(w);
	j->tombstone = 0;
	sieve_forget_span(&j->sieve);
	return err;
}

/* Lets what is more urgent go first, now and then. */
static int yield(struct merge_job *j, const struct iter *it)
{
	const struct merge_context *c = j->context;

	j->unyielded += it->key.size + it->value.size;
	if (j->unyielded < YIELD_BYTES || !c->yield)
		return 0;
	j->unyielded = 0;
	return c->yield(c->yield_context);
}

/* All entries of it, through the sieve, into outputs; and the range tombstones
 * that lie behind the last. */
static int merge_entries(struct merge_job *j, struct iter *it)
{
	int result = iter_seek(it, BYTES_NONE), verdict, err;

	while (result > 0) {
		while (window_is_past(&j->window, it->key)) {
			err = leave_window(j);
			if (err < 0)
				return err;
		}
		verdict = sieve_entry(&j->sieve, it->key);
		result = verdict > 0 ? take_entry(j, it, verdict) : verdict;
		if (j->context->history_count > 0 && result >= 0)
			result = past_entry(&j->past, it->key, it->value,
					    verdict);
		if (result >= 0)
			result = yield(j, it);
		if (result < 0)
			return result;
		result = iter_next(it);
	}
	if (result == 0)
		result = add_held(j);
	while (result == 0 && j->window.end.size > 0)
		result = leave_window(j);
	if (result >= 0)
		result = end_output(j, BYTES_NONE);
	if (j->context->history_count > 0 && result >= 0)
		result = past_finish(&j->past);
	return result;
}

/* Of a merge that failed, those that were finished: nothing names them yet. */
static void remove_outputs(const struct merge_context *c, struct edit *edit)
{
	char name[VOLUME_NAME_MAX + 1];
	size_t i;

	while (edit->added_count > 0) {
		manifest_name(edit->added[--edit->added_count].id, "sst", name);
		c->volume->ops->remove(c->volume, name);
	}
	for (i = 0; i < edit->past_count; i++) {
		manifest_name(edit->pasts[i]->id, "sst", name);
		c->volume->ops->remove(c->volume, name);
	}
}

/* Runs the job over it, which it closes, and releases what the job owns.
 * version tells what lies below the output; NULL: not known. */
static int run_job(struct merge_job *j, struct iter *it,
		   const struct version *version)
{
	char reason[512];
	int err;

	assert(j->context->snapshot_count > 0);
	sieve_init(&j->sieve, j->context, j->above ? j->above : &j->window.list,
		   version, j->output_level);
	if (j->context->history_count > 0)
		past_init(&j->past, j->context, &j->sieve, j->edit,
			  j->output_level);
	err = merge_entries(j, it);
	iter_close(it);
	if (err < 0) {
		/* Cleaning up may fail in its turn and say so. */
		snprintf(reason, sizeof(reason), "%s", err_detail());
		sst_build_abandon(j->builder);
		remove_outputs(j->context, j->edit);
		if (err != -ENOMEM)
			fail(-err, "%s", reason);
	}
	past_release(&j->past);
	sieve_release(&j->sieve);
	buf_release(&j->start);
	buf_release(&j->last_key);
	buf_release(&j->held_key);
	aggregate_release(&j->held);
	window_release(&j->window);
	return err;
}

int compact_flush(const struct merge_context *c, struct memtable *m,
		  struct edit *edit)
{
	struct merge_job job = { .context = c,
				 .edit = edit,
				 .file_size = UINT64_MAX };
	struct iter *it;
	int err;

	window_init_memtable(&job.window, c, m);
	err = window_next(&job.window);
	if (!err)
		err = memtable_iter_new(m, &it);
	if (err < 0) {
		window_release(&job.window);
		return err;
	}
	return run_job(&job, it, NULL);
}

/* One iterator over all inputs, each a source of its own, so that it does not
 * matter which of them overlap. */
static int open_inputs(const struct compaction *c, struct iter **out)
{
	size_t count = c->input_count[0] + c->input_count[1], opened = 0, i;
	struct iter **iters = malloc((count + 1) * sizeof(struct iter *));
	int side, err = 0;

	if (!iters)
		return -ENOMEM;
	/* One more, since malloc(0) may be NULL. The cache is not filled: what
	 * is read here is about to go. */
	for (side = 0; side < 2; side++) {
		for (i = 0; !err && i < c->input_count[side]; i++) {
			err = sst_iter_new(c->inputs[side][i]->sst, false,
					   &iters[opened]);
			if (!err)
				opened++;
		}
	}
	if (!err) {
		err = merge_iter_new(iters, opened, out);
	} else {
		while (opened > 0)
			iter_close(iters[--opened]);
	}
	free(iters);
	return err;
}

/* The inputs as removed by the edit. */
static int remove_inputs(const struct compaction *c, struct edit *edit)
{
	const unsigned int levels[2] = { c->level, c->output_level };
	size_t i;
	int side, err = 0;

	for (side = 0; side < 2; side++)
		for (i = 0; !err && i < c->input_count[side]; i++)
			err = edit_remove_file(edit, levels[side],
					       c->inputs[side][i]->id);
	return err;
}

/* The edit of a trivial compaction: the files as they are, one level down, bulk
 * loads with their sequence. */
static int move_inputs(const struct compaction *c, struct edit *edit)
{
	size_t i;
	int err = 0;

	for (i = 0; !err && i < c->input_count[0]; i++) {
		const struct sst_file *f = c->inputs[0][i];

		err = edit_add_loaded(edit, c->output_level, f->id, f->size,
				      f->seq);
	}
	return err;
}

int compact_run(const struct merge_context *c, struct version *v,
		const struct compaction *compaction, struct edit *edit)
{
	struct merge_job job = { .context = c,
				 .edit = edit,
				 .output_level = compaction->output_level,
				 .file_size = c->file_size };
	struct iter *it;
	int err = remove_inputs(compaction, edit);

	assert(compaction->output_level > 0 || compaction->above.count > 0);
	assert(compaction->output_level < LEVEL_COUNT);
	assert(compaction->output_level >= compaction->level);

	if (err < 0)
		return err;
	if (compaction->trivial)
		return move_inputs(compaction, edit);
	if (compaction->above.count > 0) {
		assert(compaction->output_level == compaction->level);
		job.above = &compaction->above;
		job.file_size = UINT64_MAX;
	} else if (job.output_level + 1 < LEVEL_COUNT) {
		job.beyond = &v->levels[job.output_level + 1];
	}
	err = window_init(&job.window, c, compaction);
	if (!err)
		err = window_next(&job.window);
	if (!err)
		err = open_inputs(compaction, &it);
	if (err < 0) {
		window_release(&job.window);
		return err;
	}
	/* Older data may lie in other files of level 0. */
	return run_job(&job, it, job.output_level > 0 ? v : NULL);
}
