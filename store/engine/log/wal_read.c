#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

#include "store/base/coding.h"
#include "store/base/crc32c.h"
#include "store/base/err.h"
#include "store/base/volume/volume_copy.h"
#include "store/engine/log/wal_chunk.h"
#include "store/engine/log/wal_read.h"

/*
 * Reading goes from chunk to chunk until one is wrong. What that means is told
 * by the promises: each chunk says how far the log was known durable when it
 * was written. If any chunk behind the wrong place promises more than what was
 * read, durable data was lost, and that is damage; else it is the tail that a
 * crash leaves, and is cut. Chunks behind the wrong place are looked for at
 * every byte, but the checksum of a chunk is one of its log and its place, too,
 * so content of a value or of a log that was there before is not taken for one;
 * nor is one of format 1, of which that is not true, in a log of today.
 *
 * Blocks bound the size of a chunk, and so what reading holds in memory besides
 * the record itself. (LevelDB's log; the promises are Pebble's.)
 */

/* A chunk as read. */
struct chunk {
	enum chunk_type type; /* of format 1, that for it of today */
	bool is_old;          /* it is of format 1 */
	struct bytes payload; /* in the block */
	uint64_t synced;
	size_t size; /* with its header */
};

/* A log being read. One block of it is in memory at a time. */
struct replay {
	struct reader *reader;
	uint64_t log_id;  /* chunks of other logs are none */
	uint64_t size;    /* where to stop reading */
	uint8_t *block;   /* the block that was read last */
	uint64_t start;   /* its offset */
	size_t have;      /* bytes of it */
	struct buf parts; /* the record so far, if it has several chunks */
	bool in_record;   /* its first chunk was read, its last was not */
	bool is_damaged;  /* what cannot be read is as good as zeros */
	bool is_known;    /* a chunk was read, so all are of its format */
	bool is_old;      /* which is 1 */
	uint64_t record;  /* where the record begins that was read last */
	uint32_t stored, computed; /* checksums of the chunk parsed last */
};

/* The bytes from offset to the end of its block or of the log. */
static int read_block(struct replay *r, uint64_t offset, struct bytes *out)
{
	uint64_t start = offset - offset % WAL_BLOCK_SIZE;
	size_t size = WAL_BLOCK_SIZE;
	int err;

	assert(offset < r->size);
	if (r->size - start < size)
		size = (size_t)(r->size - start);
	if (r->have != size || r->start != start) {
		r->have = 0;
		err = 0;
		if (r->is_damaged)
			volume_read_damaged(r->reader, start, r->block, size);
		else
			err = r->reader->ops->pread(r->reader, start, r->block,
						    size);
		if (err < 0)
			return err;
		r->start = start;
		r->have = size;
	}
	*out = bytes_of(r->block + (offset - start), size - (offset - start));
	return 0;
}

/* The same of a chunk of format 1, which says of which log it is. */
static const char *parse_old(struct replay *r, struct bytes b,
			     struct chunk *chunk)
{
	if (b.size < WAL_OLD_HEADER_SIZE)
		return "chunk is cut off";
	chunk->type += CHUNK_FULL - CHUNK_OLD_FULL;
	chunk->size += WAL_OLD_HEADER_SIZE;
	chunk->synced = get_u64le(b.data + WAL_OLD_AT_SYNCED);
	if (get_u64le(b.data + WAL_OLD_AT_LOG_ID) != r->log_id)
		return "there is no chunk of this log";
	if (chunk->size > b.size)
		return "chunk is cut off";
	chunk->payload = bytes_of(b.data + WAL_OLD_HEADER_SIZE,
				  chunk->size - WAL_OLD_HEADER_SIZE);
	r->computed = 0;
	return NULL;
}

/* The same of one of today. */
static const char *parse_new(struct replay *r, uint64_t offset, struct bytes b,
			     struct chunk *chunk)
{
	uint32_t back = get_u32le(b.data + WAL_AT_BACK);

	chunk->size += WAL_HEADER_SIZE;
	if (chunk->size > b.size)
		return "chunk is cut off";
	if ((back > offset && back != WAL_BACK_NONE) ||
	    (chunk->type == CHUNK_HEAD && offset > 0))
		return "there is no chunk of this log";
	chunk->synced = back == WAL_BACK_NONE ? 0 : offset - back;
	chunk->payload = bytes_of(b.data + WAL_HEADER_SIZE,
				  chunk->size - WAL_HEADER_SIZE);
	r->computed = wal_place_crc(r->log_id, offset);
	return NULL;
}

static void know_format(struct replay *r, const struct chunk *chunk)
{
	r->is_known = true;
	r->is_old = chunk->is_old;
}

/* Whether b, at offset, starts with a chunk of this log, as NULL; else what is
 * wrong, which stays until the next chunk that is read. */
static const char *parse_chunk(struct replay *r, uint64_t offset,
			       struct bytes b, struct chunk *chunk)
{
	const char *problem;

	if (b.size < WAL_HEADER_SIZE)
		return "chunk is cut off";
	*chunk = (struct chunk){ .type = b.data[WAL_AT_TYPE],
				 .size = get_u16le(b.data + WAL_AT_SIZE) };
	if (chunk->type < CHUNK_OLD_FULL || chunk->type > CHUNK_HEAD)
		return "there is no type of chunk that is known";
	chunk->is_old = chunk->type <= CHUNK_OLD_PROMISE;
	if (r->is_known && chunk->is_old != r->is_old)
		return "there is no chunk of this log";
	problem = chunk->is_old ? parse_old(r, b, chunk)
				: parse_new(r, offset, b, chunk);
	if (problem)
		return problem;
	r->stored = get_u32le(b.data);
	r->computed = crc32c(r->computed, bytes_of(b.data + WAL_AT_SIZE,
						   chunk->size - WAL_AT_SIZE));
	if (r->stored != r->computed)
		return "checksum does not match";
	/* What follows is looked for at every byte, so it may be none. */
	if (offset == 0)
		know_format(r, chunk);
	return NULL;
}

/*
 * How far any chunk at or after offset says that the log was durable. Chunks
 * are looked for at every byte, because where they start is lost with the
 * first bad one.
 */
static int find_promise(struct replay *r, uint64_t offset, uint64_t *furthest)
{
	struct chunk chunk;
	struct bytes b;
	int err;

	*furthest = 0;
	while (offset < r->size) {
		err = read_block(r, offset, &b);
		if (err < 0)
			return err;
		offset += b.size;
		for (; b.size >= WAL_HEADER_SIZE; b = bytes_after(b, 1))
			if (!parse_chunk(r, offset - b.size, b, &chunk) &&
			    chunk.synced > *furthest)
				*furthest = chunk.synced;
	}
	return 0;
}

/* One chunk that was found whole. 0, or negative when each said so; *problem is
 * set if the chunk does not belong here. */
static int take_chunk(struct replay *r, const struct chunk *chunk,
		      uint64_t offset,
		      int (*each)(void *context, struct bytes record),
		      void *context, struct wal_replay *result,
		      const char **problem)
{
	bool starts = chunk->type != CHUNK_MIDDLE && chunk->type != CHUNK_LAST;
	struct bytes record = chunk->payload;
	int err;

	*problem = NULL;
	know_format(r, chunk);
	/* A chunk begins a record if and only if none is under way. */
	if (starts == r->in_record) {
		*problem = r->in_record ? "record lacks its end"
					: "record lacks its start";
		return 0;
	}
	if (starts)
		r->record = offset;
	/* The end of a log that was closed; if closing failed, more records may
	 * follow and take that back. */
	if (chunk->type == CHUNK_PROMISE || chunk->type == CHUNK_HEAD) {
		result->finished =
			chunk->type == CHUNK_PROMISE && chunk->synced == offset;
		result->good_size = offset + chunk->size;
		return 0;
	}
	if (chunk->type != CHUNK_FULL) {
		if (starts)
			buf_reset(&r->parts);
		err = buf_add_bytes(&r->parts, chunk->payload);
		if (err < 0)
			return err;
		record = buf_bytes(&r->parts);
		r->in_record = chunk->type != CHUNK_LAST;
		if (r->in_record)
			return 0;
	}
	result->is_old = chunk->is_old;
	err = each(context, record);
	if (err < 0)
		return err;
	if (err > 0) {
		*problem = "record refers to a large value that is missing";
		return 0;
	}
	result->record_count++;
	result->good_size = offset + chunk->size;
	result->finished = false;
	return 0;
}

/* Reads whole records from *offset, the start of a chunk, until the end or
 * until something is wrong at *offset: then *problem says what, and it is no
 * error. */
static int read_records(struct replay *r,
			int (*each)(void *context, struct bytes record),
			void *context, struct wal_replay *result,
			uint64_t *offset, const char **problem)
{
	struct chunk chunk;
	struct bytes b;
	int err;

	*problem = NULL;
	while (*offset < r->size) {
		size_t left = wal_left_in_block(*offset);

		if (left < WAL_BLOCK_END) {
			*offset += left;
			continue;
		}
		err = read_block(r, *offset, &b);
		if (err < 0)
			return err;
		*problem = parse_chunk(r, *offset, b, &chunk);
		if (*problem)
			return 0;
		err = take_chunk(r, &chunk, *offset, each, context, result,
				 problem);
		if (err < 0 || *problem)
			return err;
		*offset += chunk.size;
	}
	/* The zeros that end a block are written with the chunk after them. */
	if (r->in_record || *offset > r->size)
		*problem = "record is cut off";
	return 0;
}

/* Whether there are only zeros from offset on: room that was held for more. */
static int is_room(struct replay *r, uint64_t offset, bool *room)
{
	struct bytes b;
	size_t i;
	int err;

	*room = true;
	while (*room && offset < r->size) {
		err = read_block(r, offset, &b);
		if (err < 0)
			return err;
		for (i = 0; i < b.size && !b.data[i]; i++)
			;
		*room = i == b.size;
		offset += b.size;
	}
	return 0;
}

/* As judge, where promised is how far any chunk behind the end of the last
 * whole record says that the log was durable. */
static int judge_by(struct replay *r, uint64_t final_size, uint64_t offset,
		    const char *problem, uint64_t promised,
		    struct wal_replay *result)
{
	bool room;
	int err;

	if (final_size)
		return fail(ERR_wal_damaged,
			    "%s: offset %llu: %s, in a log that was finished "
			    "with %llu bytes",
			    r->reader->path, (unsigned long long)offset,
			    problem, (unsigned long long)final_size);
	if (promised > result->good_size)
		return fail(ERR_wal_damaged,
			    "%s: offset %llu: %s, but the log was durable up "
			    "to %llu",
			    r->reader->path, (unsigned long long)offset,
			    problem, (unsigned long long)promised);
	err = is_room(r, result->good_size, &room);
	result->cut_size = room ? 0 : r->size - result->good_size;
	return err;
}

/* What it means that reading ended at offset because of problem, NULL: at the
 * end. */
static int judge(struct replay *r, uint64_t final_size, uint64_t offset,
		 const char *problem, struct wal_replay *result)
{
	uint64_t promised = 0;
	int err = 0;

	if (!problem)
		return 0;
	/* From the last whole record on, as one that is cut off or refers to
	 * what is missing may have whole chunks. */
	if (!final_size)
		err = find_promise(r, result->good_size, &promised);
	return err < 0 ? err
		       : judge_by(r, final_size, offset, problem, promised,
				  result);
}

int wal_replay(struct volume *v, const char *name, uint64_t log_id,
	       uint64_t final_size,
	       int (*each)(void *context, struct bytes record), void *context,
	       struct wal_replay *result)
{
	struct replay r = { .log_id = log_id, .parts = BUF_INIT };
	const char *problem;
	uint64_t offset = 0;
	int err;

	*result = (struct wal_replay){ 0 };
	r.block = malloc(WAL_BLOCK_SIZE);
	if (!r.block)
		return -ENOMEM;
	err = v->ops->open(v, name, &r.reader);
	if (err < 0)
		goto free_block;
	r.size = r.reader->size;
	if (final_size > r.size) {
		err = fail(ERR_wal_damaged,
			   "%s: has %llu bytes, was finished with %llu",
			   r.reader->path, (unsigned long long)r.size,
			   (unsigned long long)final_size);
		goto close_reader;
	}
	if (final_size)
		r.size = final_size;
	err = read_records(&r, each, context, result, &offset, &problem);
	if (!err)
		err = judge(&r, final_size, offset, problem, result);
close_reader:
	v->ops->reader_close(r.reader);
	buf_release(&r.parts);
free_block:
	free(r.block);
	return err;
}

/* A log that is read on. */
struct following {
	int (*each)(void *context, struct bytes record);
	void *context;
	struct wal_place *place;
	uint64_t final_size;
	struct wal_replay result;
	int ended; /* what each gave when that was not 0 */
};

static int follow_record(void *context, struct bytes record)
{
	struct following *f = context;

	f->place->is_old = f->result.is_old;
	f->ended = f->each(f->context, record);
	return f->ended;
}

/* As judge. Zeros are room that is held; what is behind them is asked once. */
static int judge_place(struct replay *r, uint64_t offset, const char *problem,
		       struct following *f)
{
	uint64_t good_size = f->result.good_size;
	struct bytes b = BYTES_NONE;
	size_t i = 0;
	int err = 0;

	if (!f->final_size && f->place->offset > 0 && good_size < r->size)
		err = read_block(r, good_size, &b);
	while (i < b.size && !b.data[i])
		i++;
	return err < 0 || (b.size > 0 && i == b.size)
		       ? err
		       : judge(r, f->final_size, offset, problem, &f->result);
}

static int follow_open(struct replay *r, struct following *f)
{
	const char *problem;
	uint64_t offset = f->result.good_size = f->place->offset;
	int err;

	if (r->size < offset || r->size < f->final_size)
		return fail(ERR_wal_damaged, "%s: has %llu bytes, too few",
			    r->reader->path, (unsigned long long)r->size);
	if (f->final_size)
		r->size = f->final_size;
	err = read_records(r, follow_record, f, &f->result, &offset, &problem);
	if (err == 0 && f->ended == 0 && problem)
		err = judge_place(r, offset, problem, f);
	return err == 0 ? f->ended : err;
}

int wal_follow(struct volume *v, const char *name, uint64_t log_id,
	       uint64_t final_size,
	       int (*each)(void *context, struct bytes record), void *context,
	       struct wal_place *place)
{
	struct following f = { each, context, place, final_size, { 0 }, 0 };
	struct replay r = { .log_id = log_id,
			    .parts = BUF_INIT,
			    .is_known = place->is_known,
			    .is_old = place->is_old };
	int err;

	r.block = malloc(WAL_BLOCK_SIZE);
	if (!r.block)
		return -ENOMEM;
	err = v->ops->open(v, name, &r.reader);
	if (err == 0) {
		r.size = r.reader->size;
		err = follow_open(&r, &f);
		v->ops->reader_close(r.reader);
		*place = (struct wal_place){ f.result.good_size, r.is_known,
					     r.is_old };
	}
	buf_release(&r.parts);
	free(r.block);
	return err;
}

int wal_promised(struct volume *v, const char *name, uint64_t log_id,
		 uint64_t final_size, uint64_t *promised)
{
	struct replay r = { .log_id = log_id };
	int err;

	*promised = final_size;
	if (final_size > 0)
		return 0;
	r.block = malloc(WAL_BLOCK_SIZE);
	if (!r.block)
		return -ENOMEM;
	err = v->ops->open(v, name, &r.reader);
	if (err == 0) {
		r.size = r.reader->size;
		err = find_promise(&r, 0, promised);
		v->ops->reader_close(r.reader);
	}
	free(r.block);
	return err;
}

/* The next chunk from *offset on that begins a record or is a promise; the end
 * if there is none. */
static int find_start(struct replay *r, uint64_t *offset)
{
	struct chunk chunk;
	struct bytes b;
	int err;

	while (*offset < r->size) {
		err = read_block(r, *offset, &b);
		if (err < 0)
			return err;
		for (; b.size >= WAL_HEADER_SIZE;
		     b = bytes_after(b, 1), ++*offset)
			if (!parse_chunk(r, *offset, b, &chunk) &&
			    chunk.type != CHUNK_MIDDLE &&
			    chunk.type != CHUNK_LAST)
				return 0;
		*offset += b.size;
	}
	return 0;
}

/*
 * Passes over what is wrong at *offset, because of problem, to the next chunk
 * that begins a record, and tells lost of it, unless it is room: a log with all
 * of final_size has none. The record under way is lost with its end; the chunk
 * that showed this may begin the next record, so it is looked at again.
 */
static int pass_over(struct replay *r, uint64_t *offset, const char *problem,
		     int (*lost)(void *context, const char *problem),
		     void *context, uint64_t final_size)
{
	uint64_t start = *offset;
	bool room = !r->in_record && r->size != final_size;
	int err = room ? is_room(r, start, &room) : 0;

	*offset = room ? r->size : start + !r->in_record;
	r->in_record = false;
	if (err == 0)
		err = find_start(r, offset);
	if (err < 0 || room)
		return err;
	fail(ERR_wal_damaged, "%s: offset %llu: %s, up to offset %llu",
	     r->reader->path, (unsigned long long)start, problem,
	     (unsigned long long)*offset);
	return lost(context, err_detail());
}

int wal_salvage(struct reader *reader, uint64_t log_id, uint64_t final_size,
		int (*each)(void *context, struct bytes record),
		int (*lost)(void *context, const char *problem), void *context,
		struct wal_replay *result)
{
	struct replay r = { .reader = reader,
			    .log_id = log_id,
			    .size = reader->size,
			    .parts = BUF_INIT,
			    .is_damaged = true };
	uint64_t offset = 0;
	const char *problem;
	int err = 0;

	*result = (struct wal_replay){ 0 };
	r.block = malloc(WAL_BLOCK_SIZE);
	if (!r.block)
		return -ENOMEM;
	if (final_size > 0 && final_size < r.size)
		r.size = final_size;
	while (err == 0 && offset < r.size) {
		err = read_records(&r, each, context, result, &offset,
				   &problem);
		if (err == 0 && problem)
			err = pass_over(&r, &offset, problem, lost, context,
					final_size);
	}
	if (err == 0 && r.size < final_size) {
		fail(ERR_wal_damaged,
		     "%s: has %llu bytes, was finished with %llu", reader->path,
		     (unsigned long long)r.size,
		     (unsigned long long)final_size);
		err = lost(context, err_detail());
	}
	buf_release(&r.parts);
	free(r.block);
	return err;
}

/* A log that is looked at from its start to its end. */
struct walk {
	struct replay r;
	const struct wal_walk *to;
	struct wal_replay *result;
	uint64_t final_size;
	uint64_t promised; /* by any chunk behind the first wrong place */
	bool is_judged;    /* promised is known */
};

static int give_record(void *context, struct bytes record)
{
	struct walk *w = context;
	int err = w->to->record(w->to->context, w->r.record, record);

	return err < 0 ? err : 0;
}

/* What is wrong, with both checksums if it is that. */
static void describe(const struct replay *r, const char *problem, char *what,
		     size_t size)
{
	if (r->stored != r->computed)
		snprintf(what, size, "checksum of a chunk is %08x, not %08x",
			 r->computed, r->stored);
	else
		snprintf(what, size, "%s", problem);
}

/* Tells of the problem at *offset: 1 if reading goes on behind it, 0 if the log
 * ends there. A promise is not beyond its own place, so that one that is beyond
 * what was read lies ahead, and the furthest of all is looked for once. */
static int walk_over(struct walk *w, uint64_t *offset, const char *problem)
{
	uint64_t from = w->r.in_record ? w->r.record : *offset;
	char what[100];
	int err = 0;

	describe(&w->r, problem, what, sizeof(what));
	if (!w->is_judged && !w->final_size)
		err = find_promise(&w->r, w->result->good_size, &w->promised);
	w->is_judged = true;
	if (err == 0)
		err = judge_by(&w->r, w->final_size, *offset, problem,
			       w->promised, w->result);
	if (err == 0)
		return w->to->tail(w->to->context, w->result->good_size,
				   w->result->cut_size, what);
	if (err != -ERR_wal_damaged)
		return err;
	*offset += !w->r.in_record;
	w->r.in_record = false;
	err = find_start(&w->r, offset);
	if (err == 0)
		err = w->to->damage(w->to->context, from, *offset, what);
	return err < 0 ? err : 1;
}

int wal_walk(struct reader *reader, uint64_t log_id, uint64_t final_size,
	     const struct wal_walk *to, struct wal_replay *result)
{
	struct walk w = { .r = { .reader = reader,
				 .log_id = log_id,
				 .size = reader->size,
				 .parts = BUF_INIT },
			  .to = to,
			  .result = result,
			  .final_size = final_size };
	uint64_t offset = 0;
	const char *problem;
	int err = 1;

	*result = (struct wal_replay){ 0 };
	w.r.block = malloc(WAL_BLOCK_SIZE);
	if (!w.r.block)
		return -ENOMEM;
	if (final_size > 0 && final_size < w.r.size)
		w.r.size = final_size;
	while (err > 0 && offset < w.r.size) {
		w.r.stored = w.r.computed = 0;
		err = read_records(&w.r, give_record, &w, result, &offset,
				   &problem);
		if (err == 0 && problem)
			err = walk_over(&w, &offset, problem);
	}
	if (err >= 0 && w.r.size < final_size)
		err = to->damage(to->context, w.r.size, final_size,
				 "the log was finished with more bytes");
	buf_release(&w.r.parts);
	free(w.r.block);
	return err < 0 ? err : 0;
}

/* Whether b, at offset, starts with a whole chunk that names its log, whose id
 * r then has: one of format 1, or the head of a log. */
static bool names_id(struct replay *r, uint64_t offset, struct bytes b)
{
	struct chunk chunk;
	size_t at = WAL_OLD_AT_LOG_ID;

	if (b.size > WAL_AT_TYPE && b.data[WAL_AT_TYPE] == CHUNK_HEAD)
		at = WAL_HEADER_SIZE;
	if (b.size >= at + WAL_HEAD_SIZE)
		r->log_id = get_u64le(b.data + at);
	return !parse_chunk(r, offset, b, &chunk) &&
	       (chunk.is_old || (chunk.type == CHUNK_HEAD &&
				 chunk.payload.size == WAL_HEAD_SIZE));
}

/* In the first block at every byte, as it may be all that there is. */
int wal_find_id(struct reader *reader, uint64_t *id)
{
	struct replay r = { .reader = reader, .size = reader->size };
	bool found = false;
	uint64_t offset;
	struct bytes b;
	int err = 0;

	r.block = malloc(WAL_BLOCK_SIZE);
	if (!r.block)
		return -ENOMEM;
	for (offset = 0; offset < r.size && !found; offset += WAL_BLOCK_SIZE) {
		err = read_block(&r, offset, &b);
		if (err < 0)
			break;
		found = names_id(&r, offset, b);
		for (; offset == 0 && !found && b.size > 0;
		     b = bytes_after(b, 1))
			found = names_id(&r, r.have - b.size, b);
	}
	*id = r.log_id;
	free(r.block);
	return err < 0 ? err : found;
}
