#ifndef FS_STATE_ERRORS_H
#define FS_STATE_ERRORS_H

#include <pthread.h>
#include <stdbool.h>
#include <sys/types.h>

#include "store/base/buf.h"

/*
 * The last errors, a line each, for .tabletfs/errors: when, which path, what
 * and why. Older ones are dropped, so that memory is bounded; of a user who has
 * half of them, that user's. From any thread;
 * the lock is taken with any other held, and no other is taken under it.
 */
#define ERRORS_MAX 1000

struct error_line {
	char *text; /* owned */
	uid_t uid;  /* whose request it was about */
};

struct errors {
	pthread_mutex_t lock;                /* guards what follows */
	struct error_line lines[ERRORS_MAX]; /* oldest first */
	size_t kept;                         /* of lines */
	uint64_t count;                      /* of all since the mount */
};

void errors_init(struct errors *e);
void errors_release(struct errors *e);

/* A line about path, which may be empty, with the reason that fail() left in
 * this thread; uid asked for what failed. Control characters are told as \xXX.
 * Without memory the line is dropped. */
void errors_add(struct errors *e, struct bytes path, int err, uid_t uid);

/* Appends the lines that are kept, oldest first: all, or those of uid alone,
 * since others name what uid may not list. 0 or -ENOMEM. */
int errors_print(struct errors *e, bool all, uid_t uid, struct buf *out);

/* How many there were since the mount, also those that are dropped. */
uint64_t errors_count(struct errors *e);

#endif
