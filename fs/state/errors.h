#ifndef FS_STATE_ERRORS_H
#define FS_STATE_ERRORS_H

#include <pthread.h>

#include "store/base/buf.h"

/*
 * The last errors, a line each, for .tabletfs/errors: when, which path, what
 * and why. From any thread.
 */
#define ERRORS_MAX 1000

struct errors {
	pthread_mutex_t lock;
	char *lines[ERRORS_MAX]; /* a ring; the next goes to count % MAX */
	uint64_t count;
};

void errors_init(struct errors *e);
void errors_release(struct errors *e);
/* Without memory the line is dropped. */
void errors_add(struct errors *e, struct bytes path, int err);
int errors_print(struct errors *e, struct buf *out);
uint64_t errors_count(struct errors *e);

#endif
