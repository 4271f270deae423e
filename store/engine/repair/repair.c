#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

#include "store/base/coding.h"
#include "store/base/err.h"
#include "store/base/volume/volume_copy.h"
#include "store/engine/compact/read_back.h"
#include "store/engine/files/edit.h"
#include "store/engine/files/manifest_next.h"
#include "store/engine/log/wal_read.h"
#include "store/engine/large/large.h"
#include "store/engine/read/sources.h"
#include "store/engine/repair/repair_find.h"
#include "store/engine/repair/repair_state.h"
#include "store/engine/repair/spans.h"
#include "store/engine/run/open.h"
#include "store/engine/run/step.h"
#include "store/format/sst/sst_build.h"
#include "store/format/sst/sst_iter.h"
#include "store/format/sst/sst_salvage.h"
#include "store/format/sst/sst_verify.h"

/*
 * In this order: blob files, since an entry is only taken if its large value
 * can be read; ssts, each checked as a whole, and kept as it is if nothing is
 * wrong; logs, of which only what no sst holds is taken, into new ssts of level
 * 0. Then the manifest is written, which makes it a store. Where the levels are
 * not known, all ssts are on level 0, and opening and compacting the new store
 * brings them into order.
 *
 * An error of reading the damaged store is told and counted, one of writing the
 * new one ends the repair.
 */

/* Bytes of a blob file that are copied at once. */
#define COPY_SIZE (1 << 20)

/* For the new store's own files. Those that are kept have their ids of earlier
 * epochs. */
static uint64_t new_id(struct repair *r)
{
	return (uint64_t)r->epoch << 32 | r->next_number++;
}

/* Whether each chunk of a large value can be read: 0, or an error. In the
 * damaged store, as a copy may have zeros where the disk failed. */
static int check_large(struct repair *r, struct bytes encoded)
{
	struct blob_list list;
	struct blob_file *f;
	uint32_t i, size;
	int err = blob_list_decode(encoded, &list);

	for (i = 0; i < list.count && err == 0; i++) {
		f = version_blob(r->blobs, list.chunks[i].file);
		size = blob_chunk_raw_size(&list, i);
		if (!f)
			err = fail(ERR_blob_damaged,
				   "blob file %016llx is not there",
				   (unsigned long long)list.chunks[i].file);
		buf_reset(&r->raw);
		if (err == 0)
			err = buf_reserve(&r->raw, size);
		if (err == 0)
			err = blob_read(f, &list.chunks[i], size, &r->scratch,
					r->raw.data);
	}
	blob_list_release(&list);
	return err;
}

/* Begins an sst of r->level in the new store. */
static int begin_sst(struct repair *r)
{
	struct sst_options options = {
		.level = r->level,
		.filter_bits = r->level == LEVEL_COUNT - 1
				       ? SST_FILTER_BITS_BOTTOM
				       : SST_FILTER_BITS,
		.compress = true,
		.rows = r->options->rows,
	};
	struct segment_writer *writer;
	char name[VOLUME_NAME_MAX + 1];
	int err;

	assert(!r->builder && r->level < LEVEL_COUNT);
	r->id = new_id(r);
	manifest_name(r->id, "sst", name);
	err = r->to->ops->segment_create(r->to, name, &writer);
	return err < 0 ? err : sst_build_new(writer, &options, &r->builder);
}

/* Adds an entry to the sst under way, or tells that its large value is lost.
 * For salvage, whose keys come in order, as an sst needs them. */
static int add_entry(void *context, struct bytes key, struct bytes value)
{
	struct repair *r = context;
	int err = key_kind(key) == KEY_BLOB ? check_large(r, value) : 0;

	if (err < 0)
		return repair_is_final(err) ? err
					    : repair_lose(r, err, key, key);
	if (!r->builder)
		err = begin_sst(r);
	if (key_seq(key) > r->sst_seq)
		r->sst_seq = key_seq(key);
	return err < 0 ? err : sst_build_add(r->builder, key, value);
}

/* Adds a range tombstone to the sst under way; r->failed tells lost_tombstones
 * of a failure. */
static int add_tombstone(void *context, const struct tombstone *t)
{
	struct repair *r = context;
	int err = r->builder ? 0 : begin_sst(r);

	if (t->seq > r->sst_seq)
		r->sst_seq = t->seq;
	if (err == 0)
		err = sst_build_tombstone(r->builder, t);
	r->failed = err;
	return err;
}

/* For salvage: tells that entries between two keys cannot be read. */
static int lost_entries(void *context, const char *problem, struct bytes after,
			struct bytes before)
{
	(void)problem; /* is in err_detail() */
	return repair_lose(context, -ERR_sst_malformed, after, before);
}

/* For salvage: tells that tombstones cannot be read. */
static int lost_tombstones(void *context, const char *problem)
{
	struct repair *r = context;
	char text[600];

	/* A failure to write one comes here too, since sst_salvage takes it for
	 * damage; it must end the repair. */
	if (r->failed < 0)
		return r->failed;
	snprintf(text, sizeof(text), "%s", problem);
	fail(ERR_sst_malformed, "%s; what its range deletions hid may be back",
	     text);
	return repair_lose(r, -ERR_sst_malformed, BYTES_NONE, BYTES_NONE);
}

/* Adds an sst that is there, of r->level and r->sst_seq, to the new store.
 * Entries of a bulk load have no sequence of their own: seq is theirs, else
 * 0. */
static int add_sst(struct repair *r, uint64_t id, uint64_t size, uint64_t seq)
{
	uint64_t largest = seq > r->sst_seq ? seq : r->sst_seq;

	assert(size > 0);
	if (largest > r->largest_seq)
		r->largest_seq = largest;
	return edit_add_loaded(&r->state, r->level, id, size, seq);
}

/* Ends the sst under way, if there is one, and adds it with seq; after the
 * error err, or 0, of filling it, which is returned, it is dropped. */
static int end_sst(struct repair *r, int err, uint64_t seq)
{
	struct sst_builder *builder = r->builder;
	uint64_t digest, size;

	assert(err <= 0);
	r->builder = NULL;
	if (!builder)
		return err;
	if (err < 0) {
		sst_build_abandon(builder);
		return err;
	}
	r->result->rewritten_count++;
	err = sst_build_finish(builder, &digest);
	if (err == 0)
		err = compact_read_back(r->to, r->id, digest, &size);
	return err < 0 ? err : add_sst(r, r->id, size, seq);
}

/* 0 if all of the sst can be read, with what its large values refer to; else
 * the first error. */
static int check_sst(struct repair *r, struct sst *sst)
{
	struct iter *it;
	int err = sst_verify(sst), result;

	if (err < 0 || sst_properties(sst)->blob_count == 0)
		return err;
	err = sst_iter_new(sst, false, &it);
	if (err < 0)
		return err;
	for (result = iter_seek(it, BYTES_NONE); result > 0 && err == 0;
	     result = iter_next(it))
		if (key_kind(it->key) == KEY_BLOB)
			err = check_large(r, it->value);
	iter_close(it);
	return err < 0 ? err : result;
}

/* The sequence of a bulk load stands in the manifest only. Without it, one
 * after all that is in ssts will do: it is seen, if in places too much. */
static int settle_seq(struct repair *r, const char *path, uint64_t *seq)
{
	int err;

	if (r->has_manifest || *seq > 0 || r->sst_seq > 0)
		return 0;
	*seq = r->load_seq;
	err = fail(ERR_sst_malformed,
		   "%s: when it was loaded is lost with the manifest; what was "
		   "deleted or overwritten since then may be back",
		   path);
	return repair_lose(r, err, BYTES_NONE, BYTES_NONE);
}

/* Writes what is whole of an sst into a new one; 0 however little that is. It
 * reads the file by itself, without what sst_open made of it. */
static int salvage_sst(struct repair *r, struct reader *reader, uint64_t seq)
{
	const struct salvage to = {
		.entry = add_entry,
		.tombstone = add_tombstone,
		.lost = lost_entries,
		.undeleted = lost_tombstones,
		.context = r,
	};
	int err = sst_salvage(reader, &to);

	r->harmed = true;
	if (err == 0 && r->builder)
		err = settle_seq(r, reader->path, &seq);
	return end_sst(r, err, seq);
}

/* Whether logs tell of a bulk load with this sequence. */
static bool is_load(const struct repair *r, uint64_t seq)
{
	size_t i;

	assert(r->marks.size % 8 == 0);
	for (i = 0; i < r->marks.size; i += 8)
		if (get_u64le(r->marks.data + i) == seq)
			return true;
	return false;
}

/* Tells of a whole sst that has not the size which the manifest has: it is
 * another one, under a wrong name. What it holds counts by its sequences, as
 * its level says nothing; it may be there twice, which does no harm. */
static int lose_named(struct repair *r, const struct reader *reader,
		      uint64_t size)
{
	int err = fail(ERR_manifest_damaged,
		       "%s: has %llu bytes and is another sst than that of "
		       "%llu bytes which the manifest names",
		       reader->path, (unsigned long long)reader->size,
		       (unsigned long long)size);

	r->harmed = true;
	r->any_order = true;
	return repair_lose(r, err, BYTES_NONE, BYTES_NONE);
}

/* A whole sst stays as it is. */
static int keep_sst(struct repair *r, const struct sst *sst,
		    const struct reader *reader, const char *name,
		    const struct manifest_file *f)
{
	uint64_t seq = f->seq;
	int err, linked;

	/* A load's sequence is no sign that memtables before it were
	 * flushed. */
	r->sst_seq = sst_properties(sst)->largest_seq;
	if (r->sst_seq > r->whole_seq && !is_load(r, r->sst_seq))
		r->whole_seq = r->sst_seq;
	err = settle_seq(r, reader->path, &seq);
	if (err == 0 && f->size > 0 && f->size != reader->size)
		err = lose_named(r, reader, f->size);
	if (err < 0)
		return err;
	linked = volume_bring(r->from, name, reader->size, r->to);
	r->result->linked_count += linked == 1;
	r->result->copied_count += linked == 0;
	return linked < 0 ? linked : add_sst(r, f->id, reader->size, seq);
}

/* Takes over one sst, or what is left of it. */
static int take_sst(struct repair *r, const struct manifest_file *f)
{
	char name[VOLUME_NAME_MAX + 1];
	struct reader *reader;
	struct sst *sst;
	int err;

	assert(!r->builder);
	manifest_name(f->id, "sst", name);
	r->level = f->level;
	r->sst_seq = 0;
	err = r->from->ops->open(r->from, name, &reader);
	r->harmed |= err < 0;
	if (err < 0)
		return repair_is_final(err)
			       ? err
			       : repair_lose(r, err, BYTES_NONE, BYTES_NONE);
	err = sst_open(reader, r->cache, f->id, &sst);
	if (err == 0) {
		err = check_sst(r, sst);
		if (err == 0)
			err = keep_sst(r, sst, reader, name, f);
		else if (!repair_is_final(err))
			err = salvage_sst(r, reader, f->seq);
		/* And with it the reader. */
		sst_close(sst);
		return err;
	}
	if (!repair_is_final(err))
		err = salvage_sst(r, reader, f->seq);
	r->from->ops->reader_close(reader);
	return err;
}

/* What can be read of a blob file, with a new header. Chunks stay at their
 * offsets, because references name these. */
static int copy_blob(struct repair *r, const char *name, uint64_t id,
		     struct reader *reader)
{
	uint8_t header[BLOB_HEADER_SIZE];
	uint64_t at = sizeof(header);
	struct segment_writer *w;
	size_t n;
	int err = r->to->ops->segment_create(r->to, name, &w);

	assert(reader->size > BLOB_HEADER_SIZE);
	if (err < 0)
		return err;
	blob_header_encode(id, header);
	err = w->ops->segment_append(w, bytes_of(header, sizeof(header)));
	buf_reset(&r->raw);
	if (err == 0)
		err = buf_reserve(&r->raw, COPY_SIZE);
	for (; err == 0 && at < reader->size; at += n) {
		n = reader->size - at < COPY_SIZE ? (size_t)(reader->size - at)
						  : COPY_SIZE;
		/* Zeros for what cannot be read: nothing that was taken over
		 * refers to that. */
		volume_read_damaged(reader, at, r->raw.data, n);
		err = w->ops->segment_append(w, bytes_of(r->raw.data, n));
	}
	if (err == 0)
		return w->ops->segment_finish(w);
	w->ops->segment_abandon(w);
	return err;
}

/* Links a blob file, or copies it if it cannot be linked or its header is
 * damaged. An error is of the new store's volume, or final: what cannot be read
 * is copied so. */
static int bring_blob(struct repair *r, const char *name, uint64_t id,
		      struct reader *reader)
{
	uint8_t header[BLOB_HEADER_SIZE];
	int err = reader->ops->pread(reader, 0, header, sizeof(header));

	/* A file whose header is wrong would be refused when the new store is
	 * opened, whatever its chunks are. */
	if (err == 0)
		err = blob_header_check(header, id, reader->path);
	if (repair_is_final(err))
		return err;
	if (err == 0) {
		err = r->from->ops->link(r->from, name, r->to);
		r->result->linked_count += err == 0;
		if (err != -EXDEV)
			return err;
	}
	err_clear();
	r->result->copied_count++;
	return copy_blob(r, name, id, reader);
}

/* What is wrong in a blob file is told with the values that need it. It is read
 * where it was, as that is what may be damaged. */
static int take_blob(struct repair *r, uint64_t id)
{
	char name[VOLUME_NAME_MAX + 1];
	struct reader *reader;
	struct blob_file *f;
	uint64_t size;
	int err;

	manifest_name(id, "blob", name);
	err = r->from->ops->open(r->from, name, &reader);
	if (err < 0)
		return repair_is_final(err) ? err : 0;
	/* One without a chunk is of no use, and a size of 0 would say that it
	 * grows. */
	size = reader->size;
	if (size > BLOB_HEADER_SIZE) {
		err = bring_blob(r, name, id, reader);
		if (err == 0)
			err = blob_file_new(reader, id, size, NULL, &f);
	}
	if (err < 0 || size <= BLOB_HEADER_SIZE) {
		r->from->ops->reader_close(reader);
		return err;
	}
	err = version_add_blob(r->blobs, f);
	blob_file_put(f);
	return err < 0 ? err : edit_add_blob(&r->state, id, size);
}

/* Log records go into ssts of level 0: those in the memtable, which is empty
 * afterwards, into one. */
static int flush_records(struct repair *r)
{
	struct tombstone_list list = TOMBSTONE_LIST_INIT;
	struct memtable *m = r->memtable;
	struct iter *it = NULL;
	size_t i;
	int err, result = 0;

	r->memtable = NULL;
	if (!m)
		return 0;
	assert(!r->builder);
	r->level = 0;
	r->sst_seq = 0;
	/* The new store has no snapshots, so of tombstones over one range the
	 * newest will do. */
	err = memtable_tombstones(m, NULL, 0, &list);
	for (i = 0; i < list.count && err == 0; i++)
		err = add_tombstone(r, &list.items[i]);
	if (err == 0)
		err = memtable_iter_new(m, &it);
	if (err == 0)
		result = iter_seek(it, BYTES_NONE);
	while (result > 0 && err == 0) {
		err = add_entry(r, it->key, it->value);
		result = iter_next(it);
	}
	iter_close(it);
	err = end_sst(r, err < 0 ? err : result, 0);
	tombstone_list_release(&list);
	memtable_put(m);
	return err;
}

/* Notes that the record with these sequences is taken: 1, 0 if it is not, since
 * some of them were taken before, which is told, or an error. */
static int claim_record(struct repair *r, uint64_t seq, uint64_t last)
{
	int err = spans_add(&r->taken, seq, last);

	if (err != 0)
		return err;
	err = fail(ERR_wal_damaged,
		   "%s: a record of sequences %llu to %llu is left out, as "
		   "there was one with some of them before",
		   r->log_path, (unsigned long long)seq,
		   (unsigned long long)last);
	return repair_lose(r, err, BYTES_NONE, BYTES_NONE);
}

/* Takes one record of a log, for wal_salvage: 0, or an error that ends the
 * repair. A record that is no batch, or too large for any memtable, is lost. */
static int take_record(void *context, struct bytes record)
{
	struct repair *r = context;
	size_t size = r->options->memtable_size;
	struct batch batch;
	uint64_t seq, last;
	int err, fits;

	err = batch_parse(record, r->log.is_old, &batch, &seq);
	if (err < 0) {
		fail(-err, "%s: %s", r->log_path, err_detail());
		return repair_is_final(err)
			       ? err
			       : repair_lose(r, err, BYTES_NONE, BYTES_NONE);
	}
	last = seq + batch.count - 1;
	/* What is in ssts may have been merged with later deletions there. */
	if (last <= r->flushed_seq)
		return 0;
	err = claim_record(r, seq, last);
	if (err <= 0)
		return err;
	fits = r->memtable ? memtable_reserve(r->memtable, &batch) : 0;
	if (fits == 0) {
		err = flush_records(r);
		if (err < 0)
			return err;
	}
	if (!r->memtable) {
		if (memtable_need(&batch) > size)
			size = memtable_need(&batch);
		err = memtable_new(size, &r->memtable);
		if (err < 0)
			return err;
		fits = memtable_reserve(r->memtable, &batch);
	}
	if (fits < 0)
		return fits;
	memtable_apply(r->memtable, &batch, seq);
	return 0;
}

/* For wal_salvage: tells that records of a log cannot be read. */
static int lost_records(void *context, const char *problem)
{
	(void)problem; /* is in err_detail() */
	return repair_lose(context, -ERR_wal_damaged, BYTES_NONE, BYTES_NONE);
}

/* Takes over what is left of one log. */
static int take_log(struct repair *r, const struct manifest_log *log)
{
	char name[VOLUME_NAME_MAX + 1];
	struct reader *reader;
	int err;

	manifest_name(log->id, "log", name);
	err = r->from->ops->open(r->from, name, &reader);
	if (err < 0)
		return repair_is_final(err)
			       ? err
			       : repair_lose(r, err, BYTES_NONE, BYTES_NONE);
	r->log_path = reader->path;
	err = wal_salvage(reader, log->id, log->final_size, take_record,
			  lost_records, r, &r->log);
	r->from->ops->reader_close(reader);
	return err;
}

/* An sst of the new store is not given up while it is looked at. */
static void never_unused(struct file_owner *owner, uint64_t id, uint64_t size)
{
	(void)owner;
	(void)id;
	(void)size;
	assert(false);
}

/* Whether the levels of the new store are in order, as opening it wants; if
 * not, what they were says nothing, and all ssts go to level 0. */
static int check_levels(struct repair *r)
{
	struct file_owner owner = { .unused = never_unused,
				    .unused_blob = never_unused };
	struct manifest m = { .volume = r->to,
			      .cache = r->cache,
			      .owner = &owner };
	struct version *v = NULL;
	char why[VERSION_WHY_SIZE];
	size_t i;
	int err = version_new(&m.current);

	if (err == 0)
		err = manifest_next(&m, &r->state, &v);
	if (err == 0 && !r->any_order && !version_in_order(v, why)) {
		r->any_order = true;
		err = fail(ERR_manifest_damaged,
			   "%s: %s; what was deleted may be back",
			   r->from->path, why);
		err = repair_lose(r, err, BYTES_NONE, BYTES_NONE);
	}
	for (i = 0; i < r->state.added_count && r->any_order; i++)
		r->state.added[i].level = 0;
	version_put(v);
	version_put(m.current);
	return err;
}

/* Takes over what repair_find has found and writes the new store's manifest. */
static int take_all(struct repair *r)
{
	struct manifest_root root;
	size_t i;
	int err = 0;

	for (i = 0; i < r->found.blob_count && err == 0; i++)
		err = take_blob(r, r->found.blobs[i].id);
	/* Ssts before logs: whole_seq is the newest sequence in a whole sst,
	 * and tells what of the logs need not be taken. */
	for (i = 0; i < r->found.added_count && err == 0; i++)
		err = take_sst(r, &r->found.added[i]);
	if (r->logs_known && !r->harmed && r->whole_seq > r->flushed_seq)
		r->flushed_seq = r->whole_seq;
	for (i = 0; i < r->found.log_count && err == 0; i++)
		err = take_log(r, &r->found.logs[i]);
	if (err == 0)
		err = flush_records(r);
	if (err == 0)
		err = check_levels(r);
	if (err < 0)
		return err;
	r->state.gc_time_us = r->found.gc_time_us;
	r->state.last_seq = r->largest_seq > r->found.last_seq
				    ? r->largest_seq
				    : r->found.last_seq;
	/* No log is left that could have the next one. */
	if (r->state.last_seq < r->found.given_seq)
		r->state.last_seq = r->found.given_seq;
	root = (struct manifest_root){ r->epoch, new_id(r),
				       identity_of_child(&r->identity,
							 r->state.last_seq) };
	return manifest_write(r->to, &root, &r->state);
}

/* Brings files that came without a manifest, all on level 0, into the order
 * that levels stand for. No rules are known, so nothing is dropped but what was
 * overwritten or deleted. Needs the lease of r->to to be free. */
static int order_levels(struct repair *r)
{
	struct engine *e;
	int err = engine_open(r->to, r->options, &e), closed;

	if (err < 0)
		return err;
	err = engine_compact_range(e, BYTES_NONE, BYTES_NONE);
	closed = engine_close(e);
	return err < 0 ? err : closed;
}

int engine_repair(struct volume *from, struct volume *to,
		  const struct engine_options *o,
		  const struct repair_report *report,
		  struct repair_result *result)
{
	struct repair r = {
		.from = from,
		.to = to,
		.options = o,
		.report = report,
		.result = result,
		.next_number = 1,
	};
	int err;

	assert(from != to && report->tell);
	*result = (struct repair_result){ 0 };
	/* Until order_levels, which opens the store and takes it itself. */
	err = to->ops->lease_take(to, "a repair under way", NULL, NULL);
	if (err < 0)
		return err;
	err = cache_new(o->cache_size, &r.cache);
	if (err == 0)
		err = version_new(&r.blobs);
	if (err == 0)
		err = repair_find(&r);
	if (err == 0)
		err = take_all(&r);
	/* Readers of the damaged store's blob files go with it. */
	version_put(r.blobs);
	edit_release(&r.found);
	edit_release(&r.state);
	buf_release(&r.raw);
	buf_release(&r.scratch);
	buf_release(&r.marks);
	buf_release(&r.taken);
	if (r.memtable)
		memtable_put(r.memtable);
	if (r.cache)
		cache_free(r.cache);
	to->ops->lease_release(to);
	if (err == 0 && r.any_order)
		err = order_levels(&r);
	return err;
}
