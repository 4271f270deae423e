#include <errno.h>
#include <stdint.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "tools/serve/jobs/inbox.h"

int inbox_init(struct inbox *i)
{
	i->fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	if (i->fd < 0)
		return -errno;
	pthread_mutex_init(&i->lock, NULL);
	i->first = i->last = NULL;
	return 0;
}

void inbox_release(struct inbox *i)
{
	close(i->fd);
	pthread_mutex_destroy(&i->lock);
}

/* It fails only when the counter is full: then fd is readable anyway. */
void inbox_wake(struct inbox *i)
{
	uint64_t one = 1;

	while (write(i->fd, &one, sizeof(one)) < 0 && errno == EINTR)
		;
}

void inbox_clear(struct inbox *i)
{
	uint64_t count;

	while (read(i->fd, &count, sizeof(count)) < 0 && errno == EINTR)
		;
}

/* Woken under the lock: who takes the note may end all this after it. */
void inbox_put(struct inbox *i, struct note *n)
{
	pthread_mutex_lock(&i->lock);
	if (!n->in) {
		n->in = true;
		n->next = NULL;
		if (i->first)
			i->last->next = n;
		else
			i->first = n;
		i->last = n;
		if (i->first == n)
			inbox_wake(i);
	}
	pthread_mutex_unlock(&i->lock);
}

struct note *inbox_take(struct inbox *i)
{
	struct note *n;

	pthread_mutex_lock(&i->lock);
	n = i->first;
	if (n) {
		i->first = n->next;
		n->in = false;
	}
	pthread_mutex_unlock(&i->lock);
	return n;
}

bool inbox_has(struct inbox *i, const struct note *n)
{
	bool in;

	pthread_mutex_lock(&i->lock);
	in = n->in;
	pthread_mutex_unlock(&i->lock);
	return in;
}
