#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <time.h>

#include "store/base/clock.h"
#include "store/base/err.h"
#include "store/base/rados/object/pool_op.h"

/*
 * What changes something is never given up: librados sends it again, to
 * whichever OSD has the object by now, until one answers. So it is always known
 * what came of it; only reads have an end, for who reads can be told an error.
 */

uint64_t pool_now_ms(void)
{
	return clock_now(&clock_steady) / 1000;
}

void pool_number(uint64_t number, char *text)
{
	snprintf(text, POOL_NUMBER_SIZE, "%016" PRIx64, number);
}

int pool_write(struct pool_volume *v, rados_write_op_t op, const char *oid,
	       int flags)
{
	int err = rados_write_op_operate(op, v->io, oid, NULL, flags);

	rados_release_write_op(op);
	return err;
}

/* In a thread of librados. */
static void tell_end(rados_completion_t c, void *context)
{
	struct pool_call *call = context;

	(void)c;
	pthread_mutex_lock(&call->lock);
	call->has_ended = true;
	pthread_cond_signal(&call->ended);
	pthread_mutex_unlock(&call->lock);
}

int pool_call_begin(struct pool_volume *v, rados_read_op_t op, const char *oid,
		    struct pool_call *call)
{
	int err;

	*call = (struct pool_call){ .op = op };
	pthread_mutex_init(&call->lock, NULL);
	pthread_cond_init(&call->ended, NULL);
	err = rados_aio_create_completion2(call, tell_end, &call->completion);
	if (err == 0) {
		err = rados_aio_read_op_operate(op, v->io, call->completion,
						oid, 0);
		if (err == 0)
			return 0;
		rados_aio_release(call->completion);
	}
	rados_release_read_op(op);
	pthread_cond_destroy(&call->ended);
	pthread_mutex_destroy(&call->lock);
	return err;
}

bool pool_call_has_ended(struct pool_call *call)
{
	bool has;

	pthread_mutex_lock(&call->lock);
	has = call->has_ended;
	pthread_mutex_unlock(&call->lock);
	return has;
}

/* Whether it ended before until, of CLOCK_REALTIME; with NULL it does. */
static bool wait_for(struct pool_call *call, const struct timespec *until)
{
	int err = 0;
	bool has;

	pthread_mutex_lock(&call->lock);
	while (!call->has_ended && err == 0)
		err = until ? pthread_cond_timedwait(&call->ended, &call->lock,
						     until)
			    : pthread_cond_wait(&call->ended, &call->lock);
	has = call->has_ended;
	pthread_mutex_unlock(&call->lock);
	return has;
}

/* What is given up is cancelled first, as it would write to memory that is its
 * caller's no more. A completion ends once, also when it was cancelled; only
 * then is the call nobody's. */
int pool_call_end(struct pool_volume *v, struct pool_call *call, bool give_up)
{
	struct timespec until;
	bool in_time;
	int err;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += give_up ? 0 : POOL_PATIENCE_MS / 1000;
	in_time = wait_for(call, &until);
	if (!in_time)
		rados_aio_cancel(v->io, call->completion);
	wait_for(call, NULL);
	err = rados_aio_get_return_value(call->completion);
	rados_aio_release(call->completion);
	rados_release_read_op(call->op);
	pthread_cond_destroy(&call->ended);
	pthread_mutex_destroy(&call->lock);
	return in_time ? err : -ETIMEDOUT;
}

int pool_read(struct pool_volume *v, rados_read_op_t op, const char *oid)
{
	struct pool_call call;
	int err = pool_call_begin(v, op, oid, &call);

	return err < 0 ? err : pool_call_end(v, &call, false);
}

/* Without a lease there is nobody to be kept out by a number. */
rados_write_op_t pool_guarded(struct pool_volume *v)
{
	rados_write_op_t op = rados_create_write_op();

	rados_write_op_assert_exists(op);
	if (v->fence[0])
		rados_write_op_cmpxattr(op, POOL_FENCE, LIBRADOS_CMPXATTR_OP_EQ,
					v->fence, POOL_NUMBER_SIZE - 1);
	return op;
}

/* What was refused is asked about until that is answered: as long as the
 * change itself would wait. */
int pool_change_root(struct pool_volume *v, rados_write_op_t op)
{
	int err = pool_write(v, op, POOL_ROOT, LIBRADOS_OPERATION_FULL_FORCE);
	int lost = 0;

	do {
		if (err == -ECANCELED)
			lost = pool_check_fence(v);
	} while (lost == -EIO);
	return lost == -ERR_store_lost ? lost : err;
}

/* All xattrs come in one operation, which is of one moment. */
int pool_xattr(struct pool_volume *v, const char *oid, const char *name,
	       char *value, size_t size)
{
	rados_read_op_t op = rados_create_read_op();
	rados_xattrs_iter_t it = NULL;
	const char *key, *data;
	size_t n;
	int err, found, result = 0;

	value[0] = 0;
	rados_read_op_getxattrs(op, &it, &result);
	err = pool_read(v, op, oid);
	if (err == 0)
		err = result;
	found = err < 0 ? err : -ENODATA;
	while (err == 0 && rados_getxattrs_next(it, &key, &data, &n) == 0 &&
	       key) {
		if (strcmp(key, name) != 0)
			continue;
		n = n < size - 1 ? n : size - 1;
		memcpy(value, data, n);
		value[n] = 0;
		found = 0;
	}
	if (it)
		rados_getxattrs_end(it);
	return found;
}

int pool_size(struct pool_volume *v, const char *oid, uint64_t *size)
{
	rados_read_op_t op = rados_create_read_op();
	time_t changed;
	int err, result = 0;

	rados_read_op_stat(op, size, &changed, &result);
	err = pool_read(v, op, oid);
	return err < 0 ? err : result;
}

ssize_t pool_bytes(struct pool_volume *v, const char *oid, uint64_t offset,
		   void *data, size_t size)
{
	rados_read_op_t op = rados_create_read_op();
	size_t got = 0;
	int err, result = 0;

	rados_read_op_read(op, offset, size, data, &got, &result);
	err = pool_read(v, op, oid);
	if (err == 0)
		err = result;
	return err < 0 ? err : (ssize_t)got;
}

/* A number as great as v's is there if this was sent twice. */
int pool_stamp(struct pool_volume *v, const char *oid)
{
	rados_write_op_t op = rados_create_write_op();

	rados_write_op_assert_exists(op);
	rados_write_op_cmpxattr(op, POOL_FENCE, LIBRADOS_CMPXATTR_OP_GTE,
				v->fence, POOL_NUMBER_SIZE - 1);
	rados_write_op_setxattr(op, POOL_FENCE, v->fence, POOL_NUMBER_SIZE - 1);
	return pool_write(v, op, oid, LIBRADOS_OPERATION_FULL_FORCE);
}

int pool_fail(const struct pool_volume *v, const char *name, int err,
	      const char *what)
{
	const char *slash = *name ? "/" : "";

	if (err == -ERR_store_lost || err == -ENOMEM)
		return err;
	if (err == -EDQUOT || err == -ENOSPC)
		return fail(ENOSPC,
			    "%s%s%s: %s: the pool is full, or its quota is; "
			    "ceph df tells",
			    v->path, slash, name, what);
	if (err == -ETIMEDOUT)
		return fail(EIO,
			    "%s%s%s: %s: the cluster did not answer for %d s; "
			    "ceph -s tells why",
			    v->path, slash, name, what,
			    POOL_PATIENCE_MS / 1000);
	if (err == -EOPNOTSUPP)
		return fail(EOPNOTSUPP,
			    "%s%s%s: %s: its pool must be a replicated one, "
			    "not erasure-coded",
			    v->path, slash, name, what);
	if (err == -EPERM || err == -EACCES)
		return fail(EPERM,
			    "%s%s%s: %s: the key is not for that: it wants osd "
			    "'allow rwx' of the pool or of the namespace, or "
			    "'allow r' to follow who writes; ceph auth get "
			    "tells",
			    v->path, slash, name, what);
	return fail(-err, "%s%s%s: %s", v->path, slash, name, what);
}

int pool_guard(const struct pool_volume *v)
{
	if (atomic_load(&v->lost))
		return fail(ERR_store_lost,
			    "%s: another process has taken the store", v->path);
	if (atomic_load(&v->lease) == POOL_LEFT && v->fence[0])
		return fail(ERR_store_lost, "%s: its lease was released",
			    v->path);
	return 0;
}

/* Once, and never when the lease was released: telling is held by who does
 * that. Who shares it has nobody to tell. */
static void tell_lost(struct pool_volume *v)
{
	bool first;

	pthread_mutex_lock(&v->telling);
	first = !atomic_exchange(&v->lost, true);
	if (first && atomic_load(&v->lease) == POOL_WRITES && v->lost_call)
		v->lost_call(v->lost_context);
	pthread_mutex_unlock(&v->telling);
}

/* It only grows, so what differs is another's. */
int pool_check_fence(struct pool_volume *v)
{
	char now[POOL_NUMBER_SIZE];
	int err;

	if (!v->fence[0] || atomic_load(&v->lost))
		return pool_guard(v);
	err = pool_xattr(v, POOL_ROOT, POOL_FENCE, now, sizeof(now));
	if (err < 0)
		return pool_fail(v, "", err, "cannot read its fence");
	if (strcmp(now, v->fence) != 0)
		tell_lost(v);
	return pool_guard(v);
}
