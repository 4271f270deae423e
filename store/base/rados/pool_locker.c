#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "store/base/err.h"
#include "store/base/rados/object/pool_op.h"
#include "store/base/rados/pool_locker.h"

/* Who shares the lease, for people. */
#define READERS "a process that only reads it"

/* Bytes for the names of all who have a lock; of more readers than fit, none is
 * known to be dead. */
#define LOCKERS_SIZE 65536

/* Who has the lock: words with a NUL each. */
struct lockers {
	char *clients, *cookies, *addresses;
	ssize_t count;
	int exclusive;
};

int pool_lock(struct pool_volume *v, bool shares, bool renews)
{
	struct timeval duration = { POOL_LEASE_MS / 1000, 0 };
	uint8_t flags = renews ? LIBRADOS_LOCK_FLAG_RENEW : 0;

	return shares ? rados_lock_shared(v->io, POOL_ROOT, POOL_LOCK,
					  v->cookie, "", "", &duration, flags)
		      : rados_lock_exclusive(v->io, POOL_ROOT, POOL_LOCK,
					     v->cookie, "", &duration, flags);
}

/* A lock that is not ended here ends by its time. */
void pool_unlock(struct pool_volume *v)
{
	(void)rados_unlock(v->io, POOL_ROOT, POOL_LOCK, v->cookie);
}

static void lockers_release(struct lockers *l)
{
	free(l->clients);
	free(l->cookies);
	free(l->addresses);
}

/* 0 or a raw error. */
static int look(struct pool_volume *v, struct lockers *l)
{
	size_t clients = LOCKERS_SIZE, cookies = LOCKERS_SIZE;
	size_t addresses = LOCKERS_SIZE, tag_size = 16;
	char tag[16];

	*l = (struct lockers){ .clients = calloc(1, LOCKERS_SIZE),
			       .cookies = calloc(1, LOCKERS_SIZE),
			       .addresses = calloc(1, LOCKERS_SIZE) };
	if (!l->clients || !l->cookies || !l->addresses) {
		l->count = -ENOMEM;
	} else {
		l->count = rados_list_lockers(
			v->io, POOL_ROOT, POOL_LOCK, &l->exclusive, tag,
			&tag_size, l->clients, &clients, l->cookies, &cookies,
			l->addresses, &addresses);
	}
	if (l->count < 0)
		lockers_release(l);
	return l->count < 0 ? (int)l->count : 0;
}

/* By client and cookie, so that only who was looked at loses it. */
static int break_locks(struct pool_volume *v, bool dead_only)
{
	const char *client, *cookie;
	struct lockers l;
	struct holder who;
	int broken = 0;
	ssize_t i;

	if (look(v, &l) < 0)
		return 0;
	client = l.clients;
	cookie = l.cookies;
	for (i = 0; i < l.count; i++) {
		if (!dead_only ||
		    (holder_parse(cookie, &who) && holder_is_dead(&who)))
			broken += rados_break_lock(v->io, POOL_ROOT, POOL_LOCK,
						   client, cookie) == 0;
		client += strlen(client) + 1;
		cookie += strlen(cookie) + 1;
	}
	lockers_release(&l);
	return broken;
}

int pool_break_dead(struct pool_volume *v)
{
	return break_locks(v, true);
}

void pool_break_all(struct pool_volume *v)
{
	(void)break_locks(v, false);
}

/* The line of who has the lock by this cookie: who took it just now has not
 * written one yet. */
static int line_of(struct pool_volume *v, const char *cookie, struct buf *line)
{
	char text[POOL_LINE_MAX + HOLDER_TEXT_SIZE + 2], *end;
	int err = pool_xattr(v, POOL_ROOT, POOL_HOLDER, text, sizeof(text));

	end = strchr(text, '\n');
	if (err < 0 || !end || strcmp(end + 1, cookie) != 0)
		return buf_set(line, BYTES_LITERAL("another process"));
	return buf_set(line, bytes_of(text, (size_t)(end - text)));
}

int pool_locker(struct pool_volume *v, struct buf *line, bool *here)
{
	struct holder who;
	struct lockers l;
	int err = look(v, &l);

	*here = false;
	if (err < 0)
		return pool_fail(v, "", err, "cannot tell who has it");
	if (l.count == 0) {
		err = fail(ENOENT, "%s: not held", v->path);
	} else if (!l.exclusive) {
		err = buf_set(line, BYTES_LITERAL(READERS));
		err = err < 0 ? err : 1;
	} else {
		*here = holder_parse(l.cookies, &who) && holder_is_here(&who);
		err = line_of(v, l.cookies, line);
	}
	lockers_release(&l);
	return err;
}
