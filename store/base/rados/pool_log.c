#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "store/base/err.h"
#include "store/base/rados/object/pool_op.h"
#include "store/base/rados/pool_log.h"
#include "store/base/rados/pool_room.h"
#include "store/base/rados/pool_stream.h"

/* What waits to be sent is sent when it has so many bytes. */
#define SEND_SIZE (256 << 10)

struct pool_log {
	struct log log;             /* first, so that it can be cast */
	struct pool_volume *volume; /* borrowed */
	struct pool_log *next;      /* of those that are open */
	char *path;                 /* owned */
	pthread_mutex_t sending;    /* of what follows, and of who sends */
	struct pool_stream stream;
	struct buf waiting; /* not sent yet */
	char name[VOLUME_NAME_MAX + 1];
};

static void log_free(struct pool_log *l)
{
	buf_release(&l->waiting);
	free(l->path);
	free(l);
}

/* Its first part is made with the first append. */
static int log_new(struct pool_volume *v, const char *name, uint64_t room,
		   struct log **out)
{
	struct pool_log *l = calloc(1, sizeof(*l));
	struct pool_entry e = { .state = POOL_LOG };
	int err;

	if (!l)
		return -ENOMEM;
	if (asprintf(&l->path, "%s/%s", v->path, name) < 0) {
		free(l);
		return -ENOMEM;
	}
	err = pool_nonce(&e.nonce);
	if (err == 0)
		err = pool_register(v, name, NULL, &e);
	if (err < 0) {
		log_free(l);
		return err;
	}
	snprintf(l->name, sizeof(l->name), "%s", name);
	pthread_mutex_init(&l->sending, NULL);
	pool_stream_init(&l->stream, v, l->name, e.nonce, POOL_LOG);
	l->stream.room = room;
	l->volume = v;
	l->log.ops = v->volume.ops;
	l->log.path = l->path;
	pthread_mutex_lock(&v->logging);
	l->next = v->logs;
	v->logs = l;
	pthread_mutex_unlock(&v->logging);
	*out = &l->log;
	return 0;
}

int pool_log_create(struct volume *volume, const char *name, struct log **out)
{
	struct pool_volume *v = pool(volume);
	int err = pool_check_change(v, name);

	*out = NULL;
	return err < 0 ? err : log_new(v, name, 0, out);
}

int pool_log_from_spare(struct volume *volume, const char *name, uint64_t size,
			struct log **out)
{
	struct pool_volume *v = pool(volume);
	uint64_t room = 0;
	int err = pool_check_change(v, name);

	*out = NULL;
	if (err == 0)
		err = pool_spare_take(v, name, size, false, &room);
	if (err == 0)
		err = log_new(v, name, room, out);
	if (err < 0 && room > 0)
		pool_spare_give(v);
	return err;
}

/* Needs sending. */
static int send_waiting(struct pool_log *l)
{
	return l->waiting.size > 0 ? pool_stream_send(&l->stream, &l->waiting)
				   : 0;
}

/* Its copy is kept until the OSDs have it: that is how a log goes on after lack
 * of space. */
int pool_log_append(struct log *log, struct bytes data)
{
	struct pool_log *l = (struct pool_log *)log;
	int err = pool_guard(l->volume);

	if (err < 0)
		return err;
	pthread_mutex_lock(&l->sending);
	if (pool_stream_is_short(&l->stream))
		err = pool_fail(l->volume, l->name, -ENOSPC, "cannot append");
	if (err == 0)
		err = buf_add_bytes(&l->waiting, data);
	if (err == 0) {
		log->size += data.size;
		if (l->waiting.size >= SEND_SIZE ||
		    pool_stream_is_idle(&l->stream))
			err = send_waiting(l);
	}
	pthread_mutex_unlock(&l->sending);
	return err;
}

/* Sends what is waiting and lets others send before it waits. */
int pool_log_sync(struct log *log)
{
	struct pool_log *l = (struct pool_log *)log;
	uint64_t size;
	int err = pool_guard(l->volume);

	if (err < 0)
		return err;
	pthread_mutex_lock(&l->sending);
	if (pool_stream_is_short(&l->stream))
		err = pool_stream_again(&l->stream);
	size = log->size;
	if (err == 0)
		err = send_waiting(l);
	pthread_mutex_unlock(&l->sending);
	return err < 0 ? err : pool_stream_wait(&l->stream, size);
}

/* Room is permission to write by force; a full pool gives none. */
int pool_log_hold(struct log *log, uint64_t size)
{
	struct pool_log *l = (struct pool_log *)log;
	int err = pool_guard(l->volume);

	pthread_mutex_lock(&l->sending);
	if (err == 0 && size > l->stream.room)
		err = pool_check_full(l->volume);
	if (err == 0 && size > l->stream.room)
		l->stream.room = size;
	pthread_mutex_unlock(&l->sending);
	return err;
}

/* Needs logging of the volume. */
static void forget(struct pool_log *l)
{
	struct pool_log **at = &l->volume->logs;

	while (*at != l)
		at = &(*at)->next;
	*at = l->next;
}

/* Who is a holder still hands over what is waiting, though nobody asked for
 * it. */
void pool_log_close(struct log *log)
{
	struct pool_log *l = (struct pool_log *)log;

	pthread_mutex_lock(&l->volume->logging);
	forget(l);
	pthread_mutex_unlock(&l->volume->logging);
	pthread_mutex_lock(&l->sending);
	if (pool_guard(l->volume) == 0)
		(void)send_waiting(l);
	pthread_mutex_unlock(&l->sending);
	pool_stream_release(&l->stream);
	pthread_mutex_destroy(&l->sending);
	log_free(l);
}

void pool_log_settle(struct pool_volume *v, const char *name)
{
	struct pool_log *l;

	pthread_mutex_lock(&v->logging);
	for (l = v->logs; l; l = l->next) {
		if (name && strcmp(l->name, name) != 0)
			continue;
		pthread_mutex_lock(&l->sending);
		if (pool_guard(v) == 0 && !pool_stream_is_short(&l->stream))
			(void)send_waiting(l);
		pthread_mutex_unlock(&l->sending);
		pool_stream_settle(&l->stream);
	}
	pthread_mutex_unlock(&v->logging);
}

/* Parts are full but the last, which may be there and empty. */
int pool_log_size(struct pool_volume *v, const char *name, uint64_t nonce,
		  uint64_t *size)
{
	char oid[POOL_PART_NAME_SIZE];
	uint64_t part, n = POOL_LOG_PART;
	int err = 0;

	*size = 0;
	for (part = 0; n == POOL_LOG_PART && err == 0; part++) {
		pool_part_name(name, nonce, part, oid);
		err = pool_size(v, oid, &n);
		if (err == 0)
			*size += n;
	}
	if (err == 0 || err == -ENOENT)
		return 0;
	return pool_fail(v, name, err, "cannot tell its size");
}

/* Makes the part that is missing, so that nobody else makes it. */
static int make_missing(struct pool_volume *v, const char *oid)
{
	rados_write_op_t op = rados_create_write_op();

	rados_write_op_create(op, LIBRADOS_CREATE_EXCLUSIVE, NULL);
	rados_write_op_setxattr(op, POOL_FENCE, v->fence, POOL_NUMBER_SIZE - 1);
	return pool_write(v, op, oid, LIBRADOS_OPERATION_FULL_FORCE);
}

/* From each part on nothing is changed once it has the fence of who takes the
 * lease; the next one cannot be made once that is there. */
int pool_log_seal(struct pool_volume *v, const char *name, uint64_t nonce,
		  uint64_t *size)
{
	char oid[POOL_PART_NAME_SIZE];
	uint64_t part = 0;
	int err = 0;

	while (err == 0) {
		pool_part_name(name, nonce, part, oid);
		err = pool_stamp(v, oid);
		part += err == 0;
		if (err != -ENOENT)
			continue;
		err = make_missing(v, oid);
		if (err == 0)
			break;
		/* It was made just now, or by this itself: once more. */
		err = err == -EEXIST ? 0 : err;
	}
	if (err == -ECANCELED)
		err = pool_check_fence(v);
	if (err < 0)
		return pool_fail(v, name, err, "cannot seal");
	return pool_log_size(v, name, nonce, size);
}

int pool_log_keep(struct volume *volume, const char *name)
{
	struct pool_volume *v = pool(volume);
	struct pool_entry e, final;
	int err = pool_check_change(v, name);

	if (err == 0)
		err = pool_find(v, name, &e);
	if (err < 0)
		return err;
	/* The OSDs have what is in it, or it is not in it. */
	final = e;
	if (e.state == POOL_LOG) {
		pool_log_settle(v, name);
		final.state = POOL_FINAL;
		err = pool_log_size(v, name, e.nonce, &final.size);
	}
	return err < 0 ? err : pool_register(v, name, &e, &final);
}
