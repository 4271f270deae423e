#ifndef TOOLS_SERVE_JOBS_INBOX_H
#define TOOLS_SERVE_JOBS_INBOX_H

#include <pthread.h>
#include <stdbool.h>

/*
 * Notes for a thread that waits on descriptors: any thread puts them in, and
 * fd, an eventfd, is readable when there are some. A note that is in already is
 * not put in again; it may be when it was taken out.
 */
struct note {
	struct note *next; /* protected by the lock, as in */
	bool in;
};

struct inbox {
	pthread_mutex_t lock;
	struct note *first, *last; /* protected by lock */
	int fd;
};

/* 0, or -EMFILE and the like. */
int inbox_init(struct inbox *i);
void inbox_release(struct inbox *i);

void inbox_put(struct inbox *i, struct note *n);

/* Only wakes who waits. */
void inbox_wake(struct inbox *i);

/* Makes fd unreadable, unless there is something new. */
void inbox_clear(struct inbox *i);

/* Whether the note is in. */
bool inbox_has(struct inbox *i, const struct note *n);

/* Takes out the first, which may be put in again from now on; NULL: none. */
struct note *inbox_take(struct inbox *i);

#endif
