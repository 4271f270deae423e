#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "store/base/err.h"
#include "store/base/rados/object/pool_op.h"
#include "store/base/rados/object/pool_registry.h"
#include "store/base/rados/pool_garbage.h"
#include "store/base/rados/pool_lease.h"
#include "store/base/rados/pool_locker.h"
#include "store/base/rados/pool_log.h"
#include "store/base/rados/pool_own.h"

/* So often it is tried to take a lock from the dead, and to raise a fence that
 * another raises at the same moment. */
#define TRIES_MAX 10

/* So long who releases the lease removes garbage. */
#define CLEAN_MS 2000

/* Renews the lock, and looks whether another had it meanwhile: a lock that has
 * ended is taken anew, if it is free. */
static void renew(void *context)
{
	struct pool_volume *v = context;
	enum pool_lease lease = atomic_load(&v->lease);
	uint64_t begun = pool_now_ms();
	int locked;

	if (lease == POOL_LEFT || atomic_load(&v->still) ||
	    atomic_load(&v->lost))
		return;
	locked = pool_lock(v, lease == POOL_SHARES, true);
	if (pool_check_fence(v) == 0 && locked == 0)
		atomic_store(&v->sure_until, begun + POOL_LEASE_MS);
}

/* Removes garbage while there is nothing else to do. */
static int clean(void *context)
{
	struct pool_volume *v = context;

	return atomic_load(&v->lease) == POOL_WRITES && pool_guard(v) == 0
		       ? pool_garbage_step(v)
		       : 0;
}

/* Removes what garbage there is, for some time; the registry has the rest. */
static void clean_up(struct pool_volume *v)
{
	uint64_t end = pool_now_ms() + CLEAN_MS;

	while (pool_now_ms() < end && pool_garbage_step(v) > 0)
		continue;
}

/* Takes the lock; from the dead, too. Its time begins at *begun. */
static int take_lock(struct pool_volume *v, bool shares, uint64_t *begun)
{
	struct buf line = BUF_INIT;
	int err, tries = TRIES_MAX;
	struct holder self;
	bool here;

	holder_self(&self);
	holder_format(&self, v->cookie);
	do {
		*begun = pool_now_ms();
		err = pool_lock(v, shares, false);
	} while (err == -EBUSY && --tries > 0 && pool_break_dead(v) > 0);
	if (err == 0)
		return 0;
	if (err != -EBUSY)
		return pool_fail(v, "", err, "cannot lock");
	err = pool_locker(v, &line, &here);
	if (err >= 0)
		err = buf_terminate(&line);
	/* Who has just gone is not waited for here. */
	if (err == 0 || err == -ENOENT)
		err = fail(ERR_store_in_use, "%s: in use by %s", v->path,
			   err == 0 ? (char *)line.data : "another process");
	buf_release(&line);
	return err;
}

/* Its line and identity, as the xattr has it; out is owned by the caller. */
static int format_holder(const struct pool_volume *v, const char *holder,
			 struct buf *out)
{
	int size = (int)strcspn(holder, "\n");

	return buf_printf(out, "%.*s\n%s",
			  size < POOL_LINE_MAX ? size : POOL_LINE_MAX, holder,
			  v->cookie);
}

/* Whether the root has this fence and this holder. */
static bool is_mine(struct pool_volume *v, const char *fence,
		    struct bytes holder)
{
	char text[POOL_LINE_MAX + HOLDER_TEXT_SIZE + 2];
	char now[POOL_NUMBER_SIZE];

	return pool_xattr(v, POOL_ROOT, POOL_FENCE, now, sizeof(now)) == 0 &&
	       strcmp(now, fence) == 0 &&
	       pool_xattr(v, POOL_ROOT, POOL_HOLDER, text, sizeof(text)) == 0 &&
	       bytes_equal(bytes_string(text), holder);
}

/* Raises the fence by one; from then on no former holder changes the root. 0 or
 * a raw error. */
static int raise_fence(struct pool_volume *v, struct bytes holder)
{
	char now[POOL_NUMBER_SIZE], next[POOL_NUMBER_SIZE];
	rados_write_op_t op;
	int err, tries = TRIES_MAX;

	do {
		err = pool_xattr(v, POOL_ROOT, POOL_FENCE, now, sizeof(now));
		if (err < 0)
			return err;
		pool_number(strtoull(now, NULL, 16) + 1, next);
		op = rados_create_write_op();
		rados_write_op_assert_exists(op);
		rados_write_op_cmpxattr(op, POOL_FENCE, LIBRADOS_CMPXATTR_OP_EQ,
					now, strlen(now));
		rados_write_op_setxattr(op, POOL_FENCE, next, strlen(next));
		rados_write_op_setxattr(op, POOL_HOLDER,
					(const char *)holder.data, holder.size);
		err = pool_write(v, op, POOL_ROOT,
				 LIBRADOS_OPERATION_FULL_FORCE);
		if (err == -ECANCELED && is_mine(v, next, holder))
			err = 0;
	} while (err == -ECANCELED && --tries > 0);
	if (err == 0)
		memcpy(v->fence, next, sizeof(next));
	return err;
}

/* Logs that grow, by a former holder. */
struct growing {
	struct growing *next;
	struct pool_entry entry;
	char name[VOLUME_NAME_MAX + 1];
};

struct adoption {
	struct pool_volume *volume;
	struct growing *logs;
};

/* What the registry has of former holders: a pool_each's each. */
static int adopt_entry(void *context, const char *key,
		       const struct pool_entry *e)
{
	struct adoption *a = context;
	const char *name = strchr(key, ' ');
	struct growing *g;

	if (e->state == POOL_GARBAGE && name) {
		pool_garbage_add(a->volume, name + 1, e->nonce, e->size);
		return 0;
	}
	if (e->state != POOL_LOG)
		return 0;
	g = calloc(1, sizeof(*g));
	if (!g)
		return -ENOMEM;
	g->entry = *e;
	snprintf(g->name, sizeof(g->name), "%s", key);
	g->next = a->logs;
	a->logs = g;
	return 0;
}

/* Makes final what there is. */
static int adopt(struct pool_volume *v)
{
	struct adoption a = { .volume = v };
	struct pool_entry final;
	struct growing *g;
	int err;

	pool_garbage_end(v);
	err = pool_each(v, adopt_entry, &a);
	while ((g = a.logs)) {
		final = g->entry;
		final.state = POOL_FINAL;
		if (err == 0)
			err = pool_log_seal(v, g->name, final.nonce,
					    &final.size);
		if (err == 0)
			err = pool_register(v, g->name, &g->entry, &final);
		a.logs = g->next;
		free(g);
	}
	return err;
}

/* With the lock: deposes who had the lease, and makes final what it wrote. */
static int depose(struct pool_volume *v, const char *holder)
{
	struct buf line = BUF_INIT;
	int err = format_holder(v, holder, &line);

	if (err == 0) {
		err = raise_fence(v, buf_bytes(&line));
		if (err < 0)
			err = pool_fail(v, "", err, "cannot raise its fence");
	}
	if (err == 0)
		err = pool_stamp_own(v);
	if (err == 0)
		err = adopt(v);
	buf_release(&line);
	return err;
}

/* Begins to renew what was taken at begun. */
static int begin(struct pool_volume *v, enum pool_lease lease, uint64_t begun)
{
	int err;

	atomic_store(&v->lost, false);
	atomic_store(&v->still, false);
	atomic_store(&v->sure_until, begun + POOL_LEASE_MS);
	atomic_store(&v->lease, lease);
	err = bg_start(clean, renew, POOL_RENEW_MS, v, &v->renewer);
	if (err < 0)
		atomic_store(&v->lease, POOL_LEFT);
	return err < 0 ? pool_fail(v, "", err, "cannot renew its lease") : 0;
}

int pool_lease_take(struct volume *volume, const char *holder,
		    void (*lost)(void *context), void *context)
{
	struct pool_volume *v = pool(volume);
	struct buf line = BUF_INIT;
	uint64_t begun;
	int err;
	bool here;

	/* One that was deposed has the thread of its former lease still. */
	if (v->renewer && atomic_load(&v->lost))
		pool_lease_release(volume);
	if (v->renewer) {
		err = pool_locker(v, &line, &here);
		if (err >= 0)
			err = buf_terminate(&line);
		err = fail(ERR_store_in_use, "%s: in use by %s", v->path,
			   err < 0 ? "this process" : (char *)line.data);
		buf_release(&line);
		return err;
	}
	err = take_lock(v, false, &begun);
	if (err < 0)
		return err;
	v->lost_call = lost;
	v->lost_context = context;
	err = depose(v, holder);
	volume->mark.holder = strtoull(v->fence, NULL, 16);
	if (err == 0)
		err = begin(v, POOL_WRITES, begun);
	if (err < 0)
		pool_unlock(v);
	return err;
}

/* A fence that nobody could raise while the lock held need not be asked for. */
int pool_lease_check(struct volume *volume)
{
	struct pool_volume *v = pool(volume);
	enum pool_lease lease = atomic_load(&v->lease);

	if (lease == POOL_NEVER)
		return 0;
	if (lease == POOL_LEFT)
		return fail(ERR_store_lost, "%s: its lease was released",
			    v->path);
	if (atomic_load(&v->lost))
		return pool_guard(v);
	if (pool_now_ms() < atomic_load(&v->sure_until))
		return 0;
	return fail(EAGAIN, "%s: the cluster does not answer", v->path);
}

uint64_t pool_lease_left(struct volume *volume)
{
	struct pool_volume *v = pool(volume);
	uint64_t now = pool_now_ms(), until = atomic_load(&v->sure_until);

	return atomic_load(&v->lost) || until < now ? 0 : until - now;
}

int pool_lease_describe(struct volume *volume, const char *holder)
{
	struct pool_volume *v = pool(volume);
	struct buf line = BUF_INIT;
	rados_write_op_t op;
	int err = pool_guard(v);

	if (err == 0 && atomic_load(&v->lease) != POOL_WRITES)
		err = fail(EINVAL, "%s: lease is not held", v->path);
	if (err == 0)
		err = format_holder(v, holder, &line);
	if (err == 0) {
		op = pool_guarded(v);
		rados_write_op_setxattr(op, POOL_HOLDER,
					(const char *)line.data, line.size);
		err = pool_change_root(v, op);
		if (err < 0)
			err = pool_fail(v, "", err, "cannot tell its holder");
	}
	buf_release(&line);
	return err;
}

/* The fence is as it is while nobody takes the lease to write. */
int pool_lease_share(struct volume *volume)
{
	struct pool_volume *v = pool(volume);
	uint64_t begun;
	int err;

	assert(!v->renewer);
	err = take_lock(v, true, &begun);
	if (err < 0)
		return err;
	err = pool_xattr(v, POOL_ROOT, POOL_FENCE, v->fence, sizeof(v->fence));
	if (err < 0)
		err = pool_fail(v, "", err, "cannot read its fence");
	if (err == 0)
		err = begin(v, POOL_SHARES, begun);
	if (err < 0)
		pool_unlock(v);
	return err;
}

/* The thread that renews ends before the lock does, or it would take it
 * anew. */
void pool_lease_release(struct volume *volume)
{
	struct pool_volume *v = pool(volume);
	enum pool_lease lease = atomic_load(&v->lease);

	if (!v->renewer)
		return;
	/* What is on its way arrives before the next holder looks. */
	if (lease == POOL_WRITES && !atomic_load(&v->lost)) {
		pool_log_settle(v, NULL);
		clean_up(v);
	}
	pthread_mutex_lock(&v->telling);
	atomic_store(&v->lease, POOL_LEFT);
	pthread_mutex_unlock(&v->telling);
	bg_stop(v->renewer);
	v->renewer = NULL;
	if (!atomic_load(&v->lost))
		pool_unlock(v);
}

int pool_lease_number(struct pool_volume *v, uint64_t *out)
{
	char fence[POOL_NUMBER_SIZE];
	int err = pool_xattr(v, POOL_ROOT, POOL_FENCE, fence, sizeof(fence));

	*out = strtoull(fence, NULL, 16);
	return err < 0 ? pool_fail(v, "", err, "cannot read its fence") : 0;
}

void pool_lease_still(struct volume *volume, bool still)
{
	struct pool_volume *v = pool(volume);

	atomic_store(&v->still, still);
	if (still)
		atomic_store(&v->sure_until, 0);
	else
		renew(v);
}

void pool_lease_expire(struct volume *volume)
{
	struct pool_volume *v = pool(volume);

	atomic_store(&v->still, true);
	pool_break_all(v);
}
