#include <stdio.h>
#include <stdlib.h>

#include "store/base/err.h"
#include "store/engine/inspect/inspect_blob.h"
#include "store/format/blob.h"

/*
 * Chunks follow one another, and each has a checksum, so that they are found
 * without the references to them. Behind one that is damaged the next one is
 * looked for where its head says that it ends, and else at every byte.
 */
#define PIECE_SIZE (64 << 10) /* read at once while looking */

struct blob_look {
	struct inspect *i;
	struct reader *reader;
	uint64_t id;
	uint64_t end; /* of what counts in the file */
	uint64_t chunk_count, raw_size;
	uint8_t *stored; /* a chunk, and what it holds; owned */
	uint8_t *raw;
};

/* Grows memory to size bytes. 0 or -ENOMEM, and then it is as before. */
static int grow(uint8_t **memory, size_t size)
{
	uint8_t *grown = realloc(*memory, size);

	if (!grown)
		return -ENOMEM;
	*memory = grown;
	return 0;
}

/* A chunk at offset: 1, and what it is; 0 if there is none that is whole, and
 * err_detail() says why; or an error. known: its codec has to be. */
static int get_chunk(struct blob_look *l, uint64_t offset, bool known,
		     struct blob_chunk *c, uint32_t *raw_size)
{
	const struct volume_ops *ops = l->reader->ops;
	uint8_t head[BLOB_HEAD_SIZE];
	int err;

	if (l->end - offset < sizeof(head)) {
		fail(ERR_blob_damaged, "chunk is cut off");
		return 0;
	}
	err = ops->pread(l->reader, offset, head, sizeof(head));
	if (err < 0)
		return err;
	if (!blob_head_read(head, l->id, offset, c, raw_size, known)) {
		fail(ERR_blob_damaged, "is no chunk by its sizes, %u of %u",
		     c->size, *raw_size);
		return 0;
	}
	if (blob_stored_size(c) > l->end - offset) {
		fail(ERR_blob_damaged,
		     "chunk of %llu bytes is cut off after %llu",
		     (unsigned long long)blob_stored_size(c),
		     (unsigned long long)(l->end - offset));
		return 0;
	}
	err = grow(&l->stored, (size_t)blob_stored_size(c));
	if (err == 0)
		err = grow(&l->raw, *raw_size);
	if (err == 0)
		err = ops->pread(l->reader, offset, l->stored,
				 (size_t)blob_stored_size(c));
	if (err < 0)
		return err;
	err = blob_chunk_decode(
		bytes_of(l->stored, (size_t)blob_stored_size(c)), c, *raw_size,
		l->raw, l->reader->path);
	return err == 0;
}

/* The first place from *offset on where a whole chunk is, or the end. */
static int find_chunk(struct blob_look *l, uint64_t *offset)
{
	uint8_t piece[PIECE_SIZE];
	struct blob_chunk c;
	uint32_t raw_size;
	size_t have, n;
	int err;

	while (l->end - *offset >= BLOB_HEAD_SIZE) {
		have = sizeof(piece);
		if (l->end - *offset < have)
			have = (size_t)(l->end - *offset);
		err = l->reader->ops->pread(l->reader, *offset, piece, have);
		for (n = 0; n + BLOB_HEAD_SIZE <= have && err == 0; n++) {
			if (!blob_head_read(piece + n, l->id, *offset + n, &c,
					    &raw_size, true))
				continue;
			err = get_chunk(l, *offset + n, true, &c, &raw_size);
			if (err > 0)
				*offset += n;
		}
		if (err != 0)
			return err < 0 ? err : 0;
		*offset += n;
	}
	*offset = l->end;
	return 0;
}

/* Whether all is zero from offset on: room, or what a crash has left of it. */
static int is_zero(struct blob_look *l, uint64_t offset, bool *zero)
{
	uint8_t piece[4096];
	size_t have, n = 0;
	int err;

	for (*zero = true; *zero && offset < l->end; offset += have) {
		have = sizeof(piece);
		if (l->end - offset < have)
			have = (size_t)(l->end - offset);
		err = l->reader->ops->pread(l->reader, offset, piece, have);
		if (err < 0)
			return err;
		for (n = 0; n < have && piece[n] == 0; n++)
			;
		*zero = n == have;
	}
	return 0;
}

/* Tells of what is no chunk at *offset, and why, and passes over it. c is what
 * its head says. What ends a file that is still written is no problem: nothing
 * that is durable refers to it. */
static int pass_over(struct blob_look *l, uint64_t *offset,
		     const struct blob_chunk *c,
		     const struct inspect_facts *facts)
{
	uint64_t from = *offset, next = from + blob_stored_size(c);
	struct blob_chunk after;
	uint32_t raw_size;
	char what[256];
	bool zero;
	int err;

	snprintf(what, sizeof(what), "%s", inspect_reason(l->i));
	err = is_zero(l, from, &zero);
	if (err < 0)
		return err;
	*offset = l->end;
	if (zero)
		return inspect_note(l->i, from, l->end, "chunk",
				    "zeros up to the end");
	if (c->size > 0 && next == l->end) {
		*offset = next;
	} else if (c->size > 0 && next < l->end &&
		   get_chunk(l, next, true, &after, &raw_size) > 0) {
		*offset = next;
	} else {
		*offset = from + 1;
		err = find_chunk(l, offset);
	}
	if (err < 0)
		return err;
	return *offset == l->end && facts->is_named && !facts->size
		       ? inspect_note(l->i, from, l->end, "chunk", what)
		       : inspect_problem(l->i, from, *offset, "chunk", what);
}

static int show_chunk(struct blob_look *l, const struct blob_chunk *c,
		      uint32_t raw_size)
{
	l->chunk_count++;
	l->raw_size += raw_size;
	return inspect_wants(l->i)
		       ? inspect_always(l->i,
					"chunk offset %llu size %llu raw %u "
					"crc %08x",
					(unsigned long long)c->offset,
					(unsigned long long)blob_stored_size(c),
					raw_size, c->crc)
		       : 0;
}

static int walk(struct blob_look *l, const struct inspect_facts *facts)
{
	uint64_t offset = BLOB_HEADER_SIZE;
	struct blob_chunk c;
	uint32_t raw_size;
	int err = 0;

	while (err == 0 && offset < l->end) {
		c.size = 0;
		err = get_chunk(l, offset, false, &c, &raw_size);
		if (err > 0) {
			err = show_chunk(l, &c, raw_size);
			offset += blob_stored_size(&c);
		} else if (err == 0) {
			err = pass_over(l, &offset, &c, facts);
		}
	}
	return err;
}

/* 1 if chunks can be looked at, 0 if not, which was told. */
static int look_at_header(struct blob_look *l, const uint64_t *id)
{
	uint8_t raw[BLOB_HEADER_SIZE];
	int err;

	if (l->reader->size < sizeof(raw))
		return inspect_problem(l->i, 0, l->reader->size, "header",
				       "file is shorter than its header");
	err = l->reader->ops->pread(l->reader, 0, raw, sizeof(raw));
	if (err < 0)
		return err;
	l->id = id ? *id : blob_header_id(raw);
	err = blob_header_check(raw, l->id, l->reader->path);
	if (err == 0)
		err = inspect_line(l->i, "part header offset 0 size %d",
				   BLOB_HEADER_SIZE);
	else if (err == -ERR_format_newer)
		return inspect_problem(l->i, 0, sizeof(raw), "header",
				       inspect_reason(l->i));
	else
		err = inspect_problem(l->i, 0, sizeof(raw), "header",
				      inspect_reason(l->i));
	return err < 0 ? err : 1;
}

/* A file that was made and has not got its header is what a crash leaves. */
static int inspect_end_of(struct blob_look *l, const struct inspect_facts *f)
{
	uint64_t size = l->reader->size;
	char what[100];

	l->end = f->is_named && f->size && f->size < size ? f->size : size;
	if (f->is_named && f->size > size) {
		snprintf(what, sizeof(what),
			 "is cut off: the manifest says %llu bytes",
			 (unsigned long long)f->size);
		return inspect_problem(l->i, size, f->size, "file", what);
	}
	return l->end < size
		       ? inspect_note(l->i, l->end, size, "chunk",
				      "is behind what the manifest counts")
		       : 0;
}

int inspect_blob(struct inspect *i, struct reader *reader, const uint64_t *id,
		 const struct inspect_facts *facts)
{
	struct blob_look l = { .i = i, .reader = reader };
	int err = inspect_end_of(&l, facts);

	if (err == 0)
		err = look_at_header(&l, id);
	if (err > 0)
		err = walk(&l, facts);
	if (err == 0)
		err = inspect_line(i, "chunks %llu",
				   (unsigned long long)l.chunk_count);
	if (err == 0)
		err = inspect_line(i, "content_bytes %llu",
				   (unsigned long long)l.raw_size);
	free(l.stored);
	free(l.raw);
	return err;
}
