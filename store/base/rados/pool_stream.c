#include <assert.h>
#include <errno.h>
#include <stdlib.h>

#include "store/base/err.h"
#include "store/base/rados/object/pool_op.h"
#include "store/base/rados/pool_room.h"
#include "store/base/rados/pool_stream.h"

/*
 * OSDs do what one client sends to one object in the order in which it was
 * sent, and after a break of the connection it is sent again in that order. So
 * a part is whole up to its size. Only lack of space can refuse one piece and
 * take what was under way behind it: that reads as zeros then, as after a loss
 * of power, and nobody was told that it is there.
 */

/* Pieces under way at once. */
#define UNDER_WAY_MAX 8

struct pool_piece {
	struct pool_piece *next;
	struct pool_stream *stream;
	uint64_t offset;
	struct buf data;
	int result; /* of its writing; 1: it is under way */
};

static bool is_short(int err)
{
	return err == -ENOSPC || err == -EDQUOT;
}

void pool_stream_init(struct pool_stream *s, struct pool_volume *v,
		      const char *name, uint64_t nonce, enum pool_state state)
{
	*s = (struct pool_stream){
		.volume = v, .name = name, .nonce = nonce, .state = state
	};
	memcpy(s->fence, v->fence, sizeof(s->fence));
	pthread_mutex_init(&s->lock, NULL);
	pthread_cond_init(&s->moved, NULL);
	s->end = &s->first;
}

/* Once it is in no list. */
static void piece_free(struct pool_piece *p)
{
	buf_release(&p->data);
	free(p);
}

/* Drops from the front what is there. Needs lock. */
static void advance(struct pool_stream *s)
{
	struct pool_piece *p;

	while ((p = s->first) && p->result == 0) {
		s->done = p->offset + p->data.size;
		s->first = p->next;
		if (!s->first)
			s->end = &s->first;
		piece_free(p);
	}
}

/* What came of a piece that was under way. */
static void ended(struct pool_stream *s, struct pool_piece *p, int result)
{
	pthread_mutex_lock(&s->lock);
	p->result = result;
	s->under_way--;
	if (result < 0 && (s->err == 0 || is_short(s->err)))
		s->err = result;
	if (is_short(result))
		atomic_store(&s->volume->full, true);
	advance(s);
	pthread_cond_broadcast(&s->moved);
	pthread_mutex_unlock(&s->lock);
}

/* In a thread of librados, which must not wait for an operation. */
static void piece_ended(rados_completion_t c, void *context)
{
	struct pool_piece *p = context;

	ended(p->stream, p, rados_aio_get_return_value(c));
	rados_aio_release(c);
}

/* What ends within the room that is held is written even if the pool is
 * full. */
static int flags_of(const struct pool_stream *s, uint64_t end)
{
	return end <= s->room ? LIBRADOS_OPERATION_FULL_FORCE : 0;
}

/* Nothing is written to a part that is gone, or has another's fence. */
static void condition(rados_write_op_t op, const struct pool_stream *s)
{
	rados_write_op_assert_exists(op);
	if (s->fence[0])
		rados_write_op_cmpxattr(op, POOL_FENCE, LIBRADOS_CMPXATTR_OP_EQ,
					s->fence, POOL_NUMBER_SIZE - 1);
}

/* Begins to write p, which counts as under way. */
static void submit(struct pool_stream *s, struct pool_piece *p)
{
	uint64_t part_size = pool_part_size(s->state);
	rados_write_op_t op = rados_create_write_op();
	char oid[POOL_PART_NAME_SIZE];
	rados_completion_t c;
	int err;

	pool_part_name(s->name, s->nonce, p->offset / part_size, oid);
	if (s->state == POOL_LOG)
		condition(op, s);
	rados_write_op_write(op, (const char *)p->data.data, p->data.size,
			     p->offset % part_size);
	pool_space_used(s->volume, p->data.size);
	err = rados_aio_create_completion2(p, piece_ended, &c);
	if (err == 0) {
		err = rados_aio_write_op_operate(
			op, s->volume->io, c, oid, NULL,
			flags_of(s, p->offset + p->data.size));
		if (err < 0)
			rados_aio_release(c);
	}
	rados_release_write_op(op);
	if (err < 0)
		ended(s, p, err);
}

/* Makes a part of a log; one that is there was made by this, or by who has
 * taken the lease. 0 or a raw error. */
static int make_part(struct pool_stream *s, uint64_t part)
{
	rados_write_op_t op = rados_create_write_op();
	char oid[POOL_PART_NAME_SIZE], fence[POOL_NUMBER_SIZE];
	int err;

	pool_part_name(s->name, s->nonce, part, oid);
	rados_write_op_create(op, LIBRADOS_CREATE_EXCLUSIVE, NULL);
	rados_write_op_setxattr(op, POOL_FENCE, s->fence, strlen(s->fence));
	err = pool_write(s->volume, op, oid,
			 flags_of(s, part * POOL_LOG_PART + 1));
	if (err == -EEXIST) {
		err = pool_xattr(s->volume, oid, POOL_FENCE, fence,
				 sizeof(fence));
		if (err == 0 && strcmp(fence, s->fence) != 0)
			err = -ECANCELED;
	}
	if (err == 0 && pool_check_fence(s->volume) == -ERR_store_lost)
		err = -ECANCELED;
	return err;
}

/* Makes the parts that data up to end needs. 0 or a raw error. */
static int make_parts(struct pool_stream *s, uint64_t end)
{
	uint64_t need = (end + POOL_LOG_PART - 1) / POOL_LOG_PART;
	int err = 0;

	while (s->state == POOL_LOG && s->parts < need && err == 0) {
		pool_stream_settle(s);
		err = make_part(s, s->parts);
		s->parts += err == 0;
	}
	return err;
}

/* A piece that found no part is as one that found no space. */
static void start(struct pool_stream *s, struct pool_piece *p)
{
	int err = make_parts(s, p->offset + p->data.size);

	if (err == 0 && pool_stream_is_short(s))
		err = -ENOSPC;
	pthread_mutex_lock(&s->lock);
	p->result = 1;
	s->under_way++;
	pthread_mutex_unlock(&s->lock);
	if (err < 0)
		ended(s, p, err);
	else
		submit(s, p);
}

/* Waits until less is under way, and tells what stays: 0 or a raw error. */
static int wait_turn(struct pool_stream *s)
{
	int err;

	pthread_mutex_lock(&s->lock);
	while (s->under_way >= UNDER_WAY_MAX)
		pthread_cond_wait(&s->moved, &s->lock);
	err = s->err;
	pthread_mutex_unlock(&s->lock);
	return is_short(err) ? 0 : err;
}

/* What a raw error of a stream stands for, told. */
static int told(struct pool_stream *s, int err)
{
	/* A part that has another fence, or is gone. */
	if (err == -ECANCELED || err == -ENOENT) {
		int lost = pool_check_fence(s->volume);

		if (lost == 0 && strcmp(s->fence, s->volume->fence) != 0)
			lost = fail(ERR_store_lost,
				    "%s/%s: was begun by a former holder",
				    s->volume->path, s->name);
		err = lost < 0 ? lost : -EIO;
	}
	return pool_fail(s->volume, s->name, err, "cannot write");
}

/* The first bytes of data, as far as they fit one part, in a piece. */
static struct pool_piece *cut_piece(struct pool_stream *s, struct buf *data,
				    size_t *at)
{
	uint64_t part_size = pool_part_size(s->state);
	struct pool_piece *p = calloc(1, sizeof(*p));
	uint64_t n = part_size - s->size % part_size;

	if (!p)
		return NULL;
	n = n < data->size - *at ? n : data->size - *at;
	p->stream = s;
	p->offset = s->size;
	if (n == data->size) {
		p->data = *data;
		*data = (struct buf)BUF_INIT;
	} else if (buf_add(&p->data, data->data + *at, (size_t)n) < 0) {
		piece_free(p);
		return NULL;
	}
	*at += (size_t)n;
	s->size += n;
	return p;
}

int pool_stream_send(struct pool_stream *s, struct buf *data)
{
	size_t at = 0, size = data->size;
	struct pool_piece *p;
	int err = 0;

	while (at < size && err == 0) {
		err = wait_turn(s);
		if (err < 0)
			return told(s, err);
		p = cut_piece(s, data, &at);
		if (!p)
			return -ENOMEM;
		p->result = 1;
		pthread_mutex_lock(&s->lock);
		*s->end = p;
		s->end = &p->next;
		pthread_mutex_unlock(&s->lock);
		start(s, p);
	}
	buf_reset(data);
	return err;
}

int pool_stream_wait(struct pool_stream *s, uint64_t size)
{
	int err;

	pthread_mutex_lock(&s->lock);
	while (s->done < size && s->err == 0)
		pthread_cond_wait(&s->moved, &s->lock);
	err = s->done < size ? s->err : 0;
	pthread_mutex_unlock(&s->lock);
	return err < 0 ? told(s, err) : 0;
}

/* One by one: each that is there makes way for the next. */
int pool_stream_again(struct pool_stream *s)
{
	struct pool_piece *p;
	int err;

	pool_stream_settle(s);
	pthread_mutex_lock(&s->lock);
	if (is_short(s->err))
		s->err = 0;
	pthread_mutex_unlock(&s->lock);
	for (;;) {
		pool_stream_settle(s);
		pthread_mutex_lock(&s->lock);
		p = s->first;
		err = s->err;
		pthread_mutex_unlock(&s->lock);
		if (err < 0 || !p)
			return err < 0 ? told(s, err) : 0;
		start(s, p);
	}
}

void pool_stream_settle(struct pool_stream *s)
{
	pthread_mutex_lock(&s->lock);
	while (s->under_way > 0)
		pthread_cond_wait(&s->moved, &s->lock);
	pthread_mutex_unlock(&s->lock);
}

bool pool_stream_is_idle(struct pool_stream *s)
{
	bool is;

	pthread_mutex_lock(&s->lock);
	is = s->under_way == 0;
	pthread_mutex_unlock(&s->lock);
	return is;
}

bool pool_stream_is_short(struct pool_stream *s)
{
	bool is;

	pthread_mutex_lock(&s->lock);
	is = is_short(s->err);
	pthread_mutex_unlock(&s->lock);
	return is;
}

void pool_stream_release(struct pool_stream *s)
{
	struct pool_piece *p;

	pool_stream_settle(s);
	while ((p = s->first)) {
		s->first = p->next;
		piece_free(p);
	}
	pthread_cond_destroy(&s->moved);
	pthread_mutex_destroy(&s->lock);
}
