#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "fs/open/content.h"

#define PIECE_SIZE (UINT32_C(1) << 20) /* without a base */

void content_init(struct content *c)
{
	*c = (struct content){ .fd = -1 };
}

/* The file and what is in it. */
static void forget_file(struct content *c)
{
	if (c->fd >= 0)
		close(c->fd);
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
	content_init(c);
}

void content_empty(struct content *c)
{
	content_release(c);
	c->owned = true;
}

void content_load(struct content *c, const struct cell *cell,
		  struct buf *memory, struct large *large)
{
	content_release(c);
	c->memory = *memory;
	*memory = (struct buf)BUF_INIT;
	c->base = large;
	c->value = cell->value;
	c->size = cell_size(cell);
	if (large)
		c->piece_size = large_chunk_size(large);
}

static bool in_pieces(const struct content *c)
{
	return c->fd >= 0 || c->base;
}

bool content_in_memory(const struct content *c, struct bytes *all)
{
	*all = c->owned ? buf_bytes(&c->data) : c->value;
	return !in_pieces(c);
}

static int file_error(void)
{
	return fail(errno, "temporary file: %s", strerror(errno));
}

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

static bool is_in_file(const struct content *c, size_t piece)
{
	return c->fd >= 0 && c->in_file[piece];
}

/* How many of size bytes at offset are in its piece. */
static size_t in_piece(const struct content *c, uint64_t offset, size_t size)
{
	size_t left = c->piece_size - (size_t)(offset % c->piece_size);

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

/* Makes a file of this size, if there is none. */
static int open_file(struct content *c)
{
	const char *directory = getenv("TMPDIR");
	int err = reserve_pieces(c, c->size);

	if (err || c->fd >= 0)
		return err;
	directory = directory ? directory : "/tmp";
	c->fd = open(directory, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	if (c->fd < 0)
		return fail(errno, "no temporary file in %s", directory);
	return ftruncate(c->fd, (off_t)c->size) ? file_error() : 0;
}

/* Moves a small content, which is all in memory, to a file. */
static int spill(struct content *c)
{
	struct bytes all;
	size_t i;
	int err;

	content_in_memory(c, &all);
	c->piece_size = PIECE_SIZE;
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
	return 0;
}

/* Brings all of it into data. */
static int own(struct content *c)
{
	struct buf all = BUF_INIT;
	int err;

	if (c->owned)
		return 0;
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
	return 0;
}

/* Gets ready for a change after which it has at most size bytes. */
static int prepare(struct content *c, uint64_t size)
{
	if (c->fd >= 0)
		return 0;
	if (size <= CONTENT_MEMORY_MAX && c->size <= CONTENT_MEMORY_MAX)
		return own(c);
	return c->base ? open_file(c) : spill(c);
}

/* Copies a piece from the base to the file, unless it is there. */
static int take_piece(struct content *c, size_t piece)
{
	uint64_t start = (uint64_t)piece * c->piece_size;
	size_t size = in_piece(c, start, (size_t)(c->size - start));
	uint8_t *copy;
	int err;

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

static int resize_file(struct content *c, uint64_t size)
{
	size_t i, old = piece_count(c, c->size);
	int err = reserve_pieces(c, size);

	/* A piece that is to grow is no longer the base's. */
	if (!err && size > c->size && c->size % c->piece_size > 0)
		err = take_piece(c, old - 1);
	if (err)
		return err;
	if (ftruncate(c->fd, (off_t)size))
		return file_error();
	for (i = old; i < piece_count(c, size); i++)
		c->in_file[i] = true;
	for (i = piece_count(c, size); i < old; i++)
		c->in_file[i] = false;
	return 0;
}

static int resize_data(struct content *c, uint64_t size)
{
	int err;

	if (size > c->data.size) {
		err = buf_reserve(&c->data, (size_t)size - c->data.size);
		if (err)
			return err;
		memset(c->data.data + c->data.size, 0,
		       (size_t)size - c->data.size);
	}
	c->data.size = (size_t)size;
	return 0;
}

int content_resize(struct content *c, uint64_t size)
{
	int err = prepare(c, size);

	if (!err)
		err = c->fd >= 0 ? resize_file(c, size) : resize_data(c, size);
	if (!err)
		c->size = size;
	return err;
}

static int write_pieces(struct content *c, struct bytes data, uint64_t offset)
{
	int err = 0;

	while (data.size > 0 && !err) {
		size_t piece = (size_t)(offset / c->piece_size);
		uint64_t start = (uint64_t)piece * c->piece_size;
		size_t n = in_piece(c, offset, data.size);

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
	uint64_t end = offset + data.size;
	int err = end > c->size ? content_resize(c, end) : prepare(c, c->size);

	if (err || data.size == 0)
		return err;
	if (c->fd >= 0)
		return write_pieces(c, data, offset);
	memcpy(c->data.data + offset, data.data, data.size);
	return 0;
}

/* Writes to the store what base does not have. */
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
		if (!c->base || c->fd >= 0)
			return write_large(c, s, &out->large);
		out->large = large_get(c->base);
		return 0;
	}
	if (content_in_memory(c, &out->bytes))
		return 0;
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
	if (!v->large || c->fd < 0)
		return;
	forget_file(c);
	large_put(c->base);
	c->base = large_get(v->large);
	c->piece_size = large_chunk_size(c->base);
}
