#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "store/base/err.h"
#include "store/base/rados/object/pool_op.h"
#include "store/base/rados/pool_garbage.h"
#include "store/base/rados/pool_room.h"
#include "store/base/rados/pool_segment.h"
#include "store/base/rados/pool_stream.h"

/* Bytes of a piece, of which a part is a multiple. */
#define PIECE_SIZE (1 << 20)

_Static_assert(POOL_SEGMENT_PART % PIECE_SIZE == 0, "a part has whole pieces");

struct pool_writer {
	struct segment_writer writer; /* first, so that it can be cast */
	struct pool_volume *volume;   /* borrowed */
	struct pool_stream stream;
	struct buf piece; /* not handed over yet */
	char *path;       /* owned */
	char name[VOLUME_NAME_MAX + 1];
};

/* Its stream has ended, or was not begun. */
static void writer_free(struct pool_writer *w)
{
	buf_release(&w->piece);
	free(w->path);
	free(w);
}

/* With room for so many bytes in a full pool. */
static int writer_new(struct pool_volume *v, const char *name, uint64_t room,
		      struct segment_writer **out)
{
	struct pool_writer *w = calloc(1, sizeof(*w));
	uint64_t nonce;
	int err;

	if (!w)
		return -ENOMEM;
	if (asprintf(&w->path, "%s/%s", v->path, name) < 0) {
		free(w);
		return -ENOMEM;
	}
	err = pool_nonce(&nonce);
	if (err == 0)
		err = pool_begin(v, name, nonce);
	if (err < 0) {
		writer_free(w);
		return err;
	}
	snprintf(w->name, sizeof(w->name), "%s", name);
	w->volume = v;
	w->writer.ops = v->volume.ops;
	w->writer.path = w->path;
	pool_stream_init(&w->stream, v, w->name, nonce, POOL_SEGMENT);
	w->stream.room = room;
	*out = &w->writer;
	return 0;
}

int pool_segment_create(struct volume *volume, const char *name,
			struct segment_writer **out)
{
	struct pool_volume *v = pool(volume);
	int err = pool_check_change(v, name);

	*out = NULL;
	return err < 0 ? err : writer_new(v, name, 0, out);
}

int pool_segment_from_spare(struct volume *volume, const char *name,
			    uint64_t size, struct segment_writer **out)
{
	struct pool_volume *v = pool(volume);
	uint64_t room = 0;
	int err = pool_check_change(v, name);

	*out = NULL;
	if (err == 0)
		err = pool_spare_take(v, name, size, true, &room);
	if (err == 0)
		err = writer_new(v, name, room, out);
	if (err < 0 && room > 0)
		pool_spare_give(v);
	return err;
}

int pool_segment_append(struct segment_writer *writer, struct bytes data)
{
	struct pool_writer *w = (struct pool_writer *)writer;
	size_t n;
	int err = pool_guard(w->volume);

	for (; err == 0 && data.size > 0; data = bytes_after(data, n)) {
		n = PIECE_SIZE - w->piece.size;
		n = n < data.size ? n : data.size;
		err = buf_add(&w->piece, data.data, n);
		if (err < 0)
			break;
		writer->size += n;
		if (w->piece.size == PIECE_SIZE)
			err = pool_stream_send(&w->stream, &w->piece);
		/* Told at once, for space may be made before it goes on. */
		if (err == 0 && pool_stream_is_short(&w->stream))
			err = pool_stream_wait(&w->stream, writer->size);
	}
	return err;
}

/* All of it is on the OSDs before the registry names it. */
int pool_segment_finish(struct segment_writer *writer)
{
	struct pool_writer *w = (struct pool_writer *)writer;
	const struct pool_entry e = { POOL_SEGMENT, w->stream.nonce,
				      writer->size };
	int err = pool_guard(w->volume);

	if (err == 0)
		err = pool_stream_send(&w->stream, &w->piece);
	if (err == 0)
		err = pool_stream_wait(&w->stream, writer->size);
	if (err == 0)
		err = pool_finish(w->volume, w->name, &e);
	if (err < 0) {
		pool_segment_abandon(writer);
		return err;
	}
	pool_stream_release(&w->stream);
	writer_free(w);
	return 0;
}

/* Its parts are garbage of the registry already. */
void pool_segment_abandon(struct segment_writer *writer)
{
	struct pool_writer *w = (struct pool_writer *)writer;

	pool_stream_settle(&w->stream);
	if (pool_guard(w->volume) == 0) {
		if (w->stream.room > 0)
			pool_spare_give(w->volume);
		pool_garbage_add(w->volume, w->name, w->stream.nonce, 0);
	}
	pool_stream_release(&w->stream);
	writer_free(w);
}
