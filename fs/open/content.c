#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "fs/open/content.h"

/*
 * A change first brings the content into a form that can be changed (prepare):
 * all of it in data, or a file. From data it goes to the file when it grows
 * past CONTENT_MEMORY_MAX, and does not come back when it shrinks. A piece of
 * the base is copied to the file when a part of it is to change (take_piece);
 * one that is written as a whole need not be.
 *
 * Pieces are the base's chunks, so that a commit borrows each piece that is not
 * in the file.
 */
#define PIECE_SIZE (UINT32_C(1) << 20) /* without a base */

void content_init(struct content *c, struct store *s)
{
	*c = (struct content){ .store = s, .fd = -1 };
}

/* Counts what is in memory now, whatever was asked for before. */
static void count_memory(struct content *c)
{
	struct memory *m = store_memory(c->store);
	uint64_t now = c->memory.capacity + c->data.capacity;

	if (now > c->counted)
		memory_hold(m, MEMORY_DRAFTS, now - c->counted);
	else if (now < c->counted)
		memory_give(m, MEMORY_DRAFTS, c->counted - now);
	c->counted = now;
}

/* Whether memory has room for so many bytes, which count_memory then counts.
 */
static bool take_memory(struct content *c, uint64_t size)
{
	if (size <= c->counted)
		return true;
	if (!memory_take(store_memory(c->store), MEMORY_DRAFTS,
			 size - c->counted, 0))
		return false;
	c->counted = size;
	return true;
}

/* Ends the file, if there is one, and what is in it. */
static void forget_file(struct content *c)
{
	if (c->fd >= 0)
		store_scratch_end(c->store, c->fd);
	c->fd = -1;
	free(c->in_file);
	c->in_file = NULL;
	c->piece_room = 0;
}

void content_release(struct content *c)
{
	forget_file(c);
	large_put(c->base);
	buf_release(&c->memory);
	buf_release(&c->data);
	count_memory(c);
	content_init(c, c->store);
}

void content_empty(struct content *c)
{
	content_release(c);
	c->owned = true;
}

static bool in_pieces(const struct content *c)
{
	assert(c->fd < 0 || !c->owned);
	assert(!c->base || !c->owned);
	return c->fd >= 0 || c->base;
}

bool content_in_memory(const struct content *c, struct bytes *all)
{
	*all = c->owned ? buf_bytes(&c->data) : c->value;
	return !in_pieces(c);
}

/* Of errno; the file has no name to tell. */
static int file_error(void)
{
	return fail(errno, "temporary file: %s", strerror(errno));
}

/* All of size bytes, which are there: an end before is an error. */
static int read_file(int fd, uint64_t offset, uint8_t *data, size_t size)
{
	while (size > 0) {
		ssize_t n = pread(fd, data, size, (off_t)offset);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return file_error();
		if (n == 0)
			return fail(EIO, "temporary file: ends at %llu",
				    (unsigned long long)offset);
		data += n;
		offset += (uint64_t)n;
		size -= (size_t)n;
	}
	return 0;
}

/* All of data; on an error a part of it may be written. */
static int write_file(int fd, struct bytes data, uint64_t offset)
{
	while (data.size > 0) {
		ssize_t n = pwrite(fd, data.data, data.size, (off_t)offset);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return file_error();
		data = bytes_after(data, (size_t)n);
		offset += (uint64_t)n;
	}
	return 0;
}

/* Else it is the base's; see the table in content.h. */
static bool is_in_file(const struct content *c, size_t piece)
{
	assert(c->fd < 0 || piece < c->piece_room);
	return c->fd >= 0 && c->in_file[piece];
}

/* How many of size bytes at offset are in its piece. */
static size_t in_piece(const struct content *c, uint64_t offset, size_t size)
{
	size_t left = c->piece_size - (size_t)(offset % c->piece_size);

	assert(left > 0 && left <= c->piece_size);
	return size < left ? size : left;
}

int content_read(struct content *c, uint64_t offset, void *data, size_t size)
{
	uint8_t *out = data;
	struct bytes all;
	size_t n;
	int err = 0;

	assert(offset <= c->size && size <= c->size - offset);
	if (content_in_memory(c, &all)) {
		if (size > 0)
			memcpy(out, all.data + offset, size);
		return 0;
	}
	for (; size > 0 && !err; size -= n) {
		n = in_piece(c, offset, size);
		err = is_in_file(c, offset / c->piece_size)
			      ? read_file(c->fd, offset, out, n)
			      : large_read(c->base, offset, out, n);
		out += n;
		offset += n;
	}
	return err;
}

/* Of a content of size bytes, the last piece, which may be shorter, included.
 */
static size_t piece_count(const struct content *c, uint64_t size)
{
	return (size_t)((size + c->piece_size - 1) / c->piece_size);
}

/* Room for the pieces of size bytes; new ones are not in the file. */
static int reserve_pieces(struct content *c, uint64_t size)
{
	size_t room = piece_count(c, size), i;
	bool *grown;

	if (room <= c->piece_room)
		return 0;
	/* More than asked for, so that appending copies it now and then. */
	room += room / 2;
	grown = realloc(c->in_file, room * sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	for (i = c->piece_room; i < room; i++)
		grown[i] = false;
	c->in_file = grown;
	c->piece_room = room;
	return 0;
}

/* Makes a file of c's size, a hole, if there is none: no piece is in it. It has
 * no name, so it ends with the daemon, however that dies. */
static int open_file(struct content *c)
{
	int err = reserve_pieces(c, c->size);

	if (err || c->fd >= 0)
		return err;
	c->fd = store_scratch(c->store);
	if (c->fd < 0) {
		err = c->fd;
		c->fd = -1;
		return err;
	}
	if (ftruncate(c->fd, (off_t)c->size) == 0)
		return 0;
	err = file_error();
	forget_file(c);
	return err;
}

/* Moves a content that is all in memory to a file. On an error it is where it
 * was. */
static int spill(struct content *c)
{
	struct bytes all;
	size_t i;
	int err;

	assert(c->fd < 0 && !c->base);
	content_in_memory(c, &all);
	c->piece_size = PIECE_SIZE;
	err = store_scratch_admit(c->store, all.size);
	if (!err)
		err = open_file(c);
	if (!err)
		err = write_file(c->fd, all, 0);
	if (err) {
		forget_file(c);
		return err;
	}
	for (i = 0; i < piece_count(c, c->size); i++)
		c->in_file[i] = true;
	buf_release(&c->data);
	buf_release(&c->memory);
	c->value = BYTES_NONE;
	c->owned = false;
	count_memory(c);
	return 0;
}

/* Where no file can be made a small content stays in memory; but for want of
 * room on the disk, where it could not be committed either, and not what is too
 * much of one user. */
static bool may_stay(int err)
{
	return err != -ENOSPC && err != -ERR_scratch_full;
}

int content_load(struct content *c, struct bytes value, uint64_t size,
		 struct buf *memory, struct large *large)
{
	int err = 0;

	assert(!large || value.size == 0);
	content_release(c);
	c->memory = *memory;
	*memory = (struct buf)BUF_INIT;
	c->base = large;
	c->value = value;
	c->size = size;
	if (large)
		c->piece_size = large_chunk_size(large);
	else if (!take_memory(c, c->memory.capacity))
		err = spill(c);
	if (err == -ERR_scratch_full)
		content_release(c);
	else if (err)
		err_clear();
	count_memory(c);
	return err == -ERR_scratch_full ? err : 0;
}

/* Brings all of it, a value or a large one's chunks, into data. On an error it
 * is where it was. */
static int own(struct content *c)
{
	struct buf all = BUF_INIT;
	int err;

	assert(c->fd < 0 && c->size <= CONTENT_MEMORY_MAX);
	if (c->owned)
		return 0;
	assert(c->data.capacity == 0);
	err = buf_reserve(&all, (size_t)c->size);
	if (!err)
		err = content_read(c, 0, all.data, (size_t)c->size);
	if (err) {
		buf_release(&all);
		return err;
	}
	all.size = (size_t)c->size;
	large_put(c->base);
	c->base = NULL;
	buf_release(&c->memory);
	c->value = BYTES_NONE;
	c->data = all;
	c->owned = true;
	count_memory(c);
	return 0;
}

/* Room in memory for a content of size bytes, as far as a buf may grow. */
static bool fits_memory(struct content *c, uint64_t size)
{
	uint64_t need = size + size / 2 + 128;

	if (size > CONTENT_MEMORY_MAX || c->size > CONTENT_MEMORY_MAX)
		return false;
	if (c->owned && size <= c->data.capacity)
		return true;
	/* What is not owned yet is there twice for a moment. */
	return take_memory(c, c->memory.capacity + need);
}

/* Gets ready for a change after which it has at most size bytes. A small one
 * that has no room in memory may stay there if no file can be made. */
static int prepare(struct content *c, uint64_t size)
{
	bool small =
		size <= CONTENT_MEMORY_MAX && c->size <= CONTENT_MEMORY_MAX;
	int err;

	if (c->fd >= 0)
		return 0;
	if (fits_memory(c, size))
		return own(c);
	err = c->base ? open_file(c) : spill(c);
	if (!err || !may_stay(err) || !small)
		return err;
	err_clear();
	return own(c);
}

/* Copies a piece that begins before the end, as far as that, from the base to
 * the file, unless it is there. */
static int take_piece(struct content *c, size_t piece)
{
	uint64_t start = (uint64_t)piece * c->piece_size;
	size_t size = in_piece(c, start, (size_t)(c->size - start));
	uint8_t *copy;
	int err;

	assert(c->fd >= 0 && start < c->size);
	if (c->in_file[piece])
		return 0;
	copy = malloc(size);
	if (!copy)
		return -ENOMEM;
	err = large_read(c->base, start, copy, size);
	if (!err)
		err = write_file(c->fd, bytes_of(copy, size), start);
	free(copy);
	c->in_file[piece] = !err;
	return err;
}

/* Sets the size to a smaller one, with a file. Pieces that are gone must not
 * seem to be there when it grows again, nor what was in them. */
static int cut_file(struct content *c, uint64_t size)
{
	size_t i, old = piece_count(c, c->size);

	assert(size <= c->size);
	if (ftruncate(c->fd, (off_t)size))
		return file_error();
	for (i = piece_count(c, size); i < old; i++)
		c->in_file[i] = false;
	c->size = size;
	return 0;
}

/* Sets the size to a larger one, with a file. */
static int grow_file(struct content *c, uint64_t size)
{
	size_t i, old = piece_count(c, c->size);
	int err = reserve_pieces(c, size);

	/* A piece that is to grow is no longer the base's. */
	if (!err && c->size % c->piece_size > 0)
		err = take_piece(c, old - 1);
	if (err)
		return err;
	if (ftruncate(c->fd, (off_t)size))
		return file_error();
	/* New pieces are holes in the file, and zeros. */
	for (i = old; i < piece_count(c, size); i++)
		c->in_file[i] = true;
	c->size = size;
	return 0;
}

/* Sets the size, in memory. */
static int resize_data(struct content *c, uint64_t size)
{
	int err;

	assert(c->owned && c->data.size == c->size);
	if (size > c->data.size) {
		err = buf_reserve(&c->data, (size_t)size - c->data.size);
		if (err)
			return err;
		memset(c->data.data + c->data.size, 0,
		       (size_t)size - c->data.size);
	}
	c->data.size = (size_t)size;
	c->size = size;
	count_memory(c);
	return 0;
}

int content_resize(struct content *c, uint64_t size)
{
	int err = prepare(c, size);

	if (err)
		return err;
	if (c->fd < 0)
		return resize_data(c, size);
	return size < c->size ? cut_file(c, size) : grow_file(c, size);
}

/* content_write with a file, all before the end. */
static int write_pieces(struct content *c, struct bytes data, uint64_t offset)
{
	int err = store_scratch_admit(c->store, data.size);

	assert(offset <= c->size && data.size <= c->size - offset);
	while (data.size > 0 && !err) {
		size_t piece = (size_t)(offset / c->piece_size);
		uint64_t start = (uint64_t)piece * c->piece_size;
		size_t n = in_piece(c, offset, data.size);

		/* Not all of the piece: the rest of it is to be there. */
		if (n < in_piece(c, start, (size_t)(c->size - start)))
			err = take_piece(c, piece);
		if (!err)
			err = write_file(c->fd, bytes_of(data.data, n), offset);
		if (err)
			break;
		c->in_file[piece] = true;
		data = bytes_after(data, n);
		offset += n;
	}
	return err;
}

int content_write(struct content *c, struct bytes data, uint64_t offset)
{
	uint64_t end = offset + data.size, old_size = c->size;
	int err;

	assert(end >= offset);
	err = end > c->size ? content_resize(c, end) : prepare(c, c->size);
	if (err || data.size == 0)
		return err;
	if (c->fd < 0) {
		memcpy(c->data.data + offset, data.data, data.size);
		return 0;
	}
	err = write_pieces(c, data, offset);
	/* What was not written would be committed as zeros. A file is made
	 * shorter also where there is no space. */
	if (err && end > old_size)
		cut_file(c, old_size);
	return err;
}

/*
 * Makes a large value of all of it: writes to the store what the base does not
 * have, and borrows the rest. A chunk that the writer borrowed is of the same
 * size and place as the base's, and so a piece of c. With an error, *out is not
 * set.
 */
static int write_large(struct content *c, struct store *s, struct large **out)
{
	struct large_writer *w;
	struct buf piece = BUF_INIT;
	uint64_t offset;
	uint32_t i;
	int err = store_large_new(s, c->base, c->size, &w);

	if (err)
		return err;
	for (i = 0, offset = 0; offset < c->size && !err; i++) {
		uint64_t size = large_writer_chunk_size(w);

		if (size > c->size - offset)
			size = c->size - offset;
		if (large_writer_has(w, i) && !is_in_file(c, i)) {
			offset += size;
			continue;
		}
		buf_reset(&piece);
		err = buf_reserve(&piece, (size_t)size);
		if (!err)
			err = content_read(c, offset, piece.data, (size_t)size);
		if (!err)
			err = large_writer_put(
				w, i, bytes_of(piece.data, (size_t)size));
		offset += size;
	}
	buf_release(&piece);
	if (err)
		large_writer_free(w);
	else
		large_writer_finish(w, out);
	return err;
}

int content_value(struct content *c, struct store *s, struct content_value *out)
{
	int err;

	*out = (struct content_value){ .size = c->size };
	if (c->size >= store_large_size(s)) {
		/* The base, not changed, is the value as it is. */
		if (!c->base || c->fd >= 0)
			return write_large(c, s, &out->large);
		out->large = large_get(c->base);
		return 0;
	}
	if (content_in_memory(c, &out->bytes))
		return 0;
	/* It was cut, and is still in the file, or the base's. */
	err = buf_reserve(&out->memory, (size_t)c->size);
	if (!err)
		err = content_read(c, 0, out->memory.data, (size_t)c->size);
	out->bytes = bytes_of(out->memory.data, (size_t)c->size);
	if (err)
		buf_release(&out->memory);
	return err;
}

void content_value_release(struct content_value *v)
{
	large_put(v->large);
	buf_release(&v->memory);
	*v = (struct content_value){ 0 };
}

int content_value_set(const struct content_value *v, struct write *w,
		      struct bytes family, struct bytes qualifier,
		      uint64_t timestamp_us)
{
	return v->large ? write_set_large(w, family, qualifier, timestamp_us,
					  v->large)
			: write_set(w, family, qualifier, timestamp_us,
				    v->bytes);
}

void content_rebase(struct content *c, const struct content_value *v)
{
	/* Nothing was committed, or what is in memory, which may stay there. A
	 * file may stay as well when the content was cut to a small one. */
	if (!v->large || c->fd < 0)
		return;
	assert(large_size(v->large) == c->size);
	forget_file(c);
	large_put(c->base);
	c->base = large_get(v->large);
	c->piece_size = large_chunk_size(c->base);
}
