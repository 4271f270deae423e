#include <assert.h>
#include <errno.h>
#include <stdlib.h>

#include "fs/cells/reply.h"
#include "fs/kernel/dir.h"
#include "fs/kernel/dirs.h"

/* Which of the lists of struct dirs. */
enum { BEGUN, GIVEN, THIN, LISTS };

static_assert(LISTS == sizeof(((struct dirs *)0)->first) /
			       sizeof(((struct dirs *)0)->first[0]),
	      "struct dirs has each");

static const size_t most[] = { DIRS_BEGUN_MAX, DIRS_GIVEN_MAX, DIRS_THIN_MAX };

/* A listing that is begun; guarded by dirs.lock but for what is for good. */
struct begun {
	struct begun *next, *previous;
	struct dir *dir;    /* owned; for good */
	struct node *node;  /* that it lists; for good, referenced by dir */
	uint32_t number;    /* for good */
	int list;           /* where it is */
	unsigned int users; /* threads that may use dir */
	bool suspended;     /* since it was last used */
	uint64_t used_us;   /* when, as fs_steady tells */
};

/* Puts b at the front of a list. With the lock held. */
static void put_in(struct dirs *dirs, struct begun *b, int list)
{
	b->list = list;
	b->previous = NULL;
	b->next = dirs->first[list];
	if (b->next)
		b->next->previous = b;
	else
		dirs->last[list] = b;
	dirs->first[list] = b;
	dirs->count[list]++;
}

/* The reverse. With the lock held. */
static void take_out(struct dirs *dirs, struct begun *b)
{
	assert(dirs->count[b->list] > 0);
	if (b->previous)
		b->previous->next = b->next;
	else
		dirs->first[b->list] = b->next;
	if (b->next)
		b->next->previous = b->previous;
	else
		dirs->last[b->list] = b->previous;
	dirs->count[b->list]--;
}

static void end(struct fs *fs, struct begun *b)
{
	dir_close(fs, b->dir);
	free(b);
}

/* The listing that an offset belongs to, in use by the caller; NULL: none. */
static struct begun *find(struct dirs *dirs, const struct node *node,
			  uint32_t number)
{
	struct begun *b = NULL;
	int list;

	pthread_mutex_lock(&dirs->lock);
	for (list = BEGUN; list < LISTS && !b; list++)
		for (b = dirs->first[list]; b; b = b->next)
			if (b->number == number && b->node == node)
				break;
	if (b)
		b->users++;
	pthread_mutex_unlock(&dirs->lock);
	return b;
}

/* A new listing, in use by the caller; NULL: no memory. It is found before
 * anybody is told its number. */
static struct begun *begin(struct fs *fs, struct node *node, uint32_t number)
{
	struct begun *b = malloc(sizeof(*b));

	if (!b)
		return NULL;
	*b = (struct begun){ .node = node, .number = number, .users = 1 };
	if (dir_open(fs, node, number, &b->dir)) {
		free(b);
		return NULL;
	}
	pthread_mutex_lock(&fs->dirs.lock);
	put_in(&fs->dirs, b, BEGUN);
	pthread_mutex_unlock(&fs->dirs.lock);
	return b;
}

/* Takes out of a list what is too much of it, in use by the caller: one at
 * most, unless many were in use; NULL: none. With the lock held. */
static struct begun *take_last(struct dirs *dirs, int list)
{
	struct begun *b = NULL;

	if (dirs->count[list] > most[list])
		for (b = dirs->last[list]; b && b->users > 0; b = b->previous)
			;
	if (b) {
		take_out(dirs, b);
		b->users = 1;
	}
	return b;
}

/* The caller has used b, and stops: it is the first of list. What is too much
 * there is thin or ends. */
static void give(struct fs *fs, struct begun *b, int list)
{
	struct dirs *dirs = &fs->dirs;
	struct begun *thin = NULL, *last;

	pthread_mutex_lock(&dirs->lock);
	assert(b->users > 0);
	b->users--;
	b->used_us = fs_steady();
	b->suspended = false;
	take_out(dirs, b);
	put_in(dirs, b, list);
	last = take_last(dirs, list);
	if (last && list == BEGUN) {
		thin = last;
		thin->suspended = true;
		put_in(dirs, thin, THIN);
		last = take_last(dirs, THIN);
	}
	pthread_mutex_unlock(&dirs->lock);
	if (last)
		end(fs, last);
	if (!thin)
		return;
	/* Who comes back to it meanwhile finds it, before or after. */
	dir_thin(fs, thin->dir);
	pthread_mutex_lock(&dirs->lock);
	thin->users--;
	pthread_mutex_unlock(&dirs->lock);
}

void dirs_reply(struct fs *fs, struct node *node, fuse_req_t req,
		uint64_t offset, size_t size, bool plus)
{
	uint32_t number = dir_number_of(offset);
	struct begun *b = NULL;
	bool given;

	if (offset == 0)
		number = dir_next_number(fs);
	else
		b = find(&fs->dirs, node, number);
	if (!b)
		b = begin(fs, node, number);
	if (!b) {
		fs_reply_error(fs, req, node, NULL, -ENOMEM);
		return;
	}
	given = dir_reply(fs, b->dir, req, offset, size, plus);
	give(fs, b, given ? GIVEN : BEGUN);
}

static bool is_idle(const struct begun *b, uint64_t now_us)
{
	return b->used_us + DIRS_IDLE_US <= now_us;
}

/* One that is to be suspended, in use by the caller; NULL: none. */
static struct begun *find_idle(struct dirs *dirs, uint64_t now_us)
{
	struct begun *b = NULL;
	int list;

	pthread_mutex_lock(&dirs->lock);
	for (list = BEGUN; list < LISTS && !b; list++)
		for (b = dirs->first[list]; b; b = b->next)
			if (b->users == 0 && !b->suspended &&
			    is_idle(b, now_us))
				break;
	if (b)
		b->users++;
	pthread_mutex_unlock(&dirs->lock);
	return b;
}

void dirs_sweep(struct fs *fs, uint64_t now_us)
{
	struct begun *b;

	while ((b = find_idle(&fs->dirs, now_us))) {
		dir_suspend(fs, b->dir);
		pthread_mutex_lock(&fs->dirs.lock);
		b->users--;
		/* Unless somebody came back to it meanwhile. */
		b->suspended = b->users == 0 && is_idle(b, now_us);
		pthread_mutex_unlock(&fs->dirs.lock);
	}
}

/* Those that are not suspended and in which no request is under way, in use by
 * the caller: how many, up to size. */
static size_t take_open(struct dirs *dirs, struct begun **out, size_t size)
{
	struct begun *b;
	size_t count = 0;
	int list;

	pthread_mutex_lock(&dirs->lock);
	for (list = BEGUN; list < LISTS; list++)
		for (b = dirs->first[list]; b && count < size; b = b->next)
			if (b->users == 0 && !b->suspended) {
				b->users++;
				out[count++] = b;
			}
	pthread_mutex_unlock(&dirs->lock);
	return count;
}

void dirs_let_go(struct fs *fs)
{
	struct begun *open[DIRS_BEGUN_MAX + DIRS_GIVEN_MAX];
	size_t count = take_open(&fs->dirs, open, sizeof(open) / sizeof(*open));
	bool done;

	while (count-- > 0) {
		done = dir_try_suspend(fs, open[count]->dir);
		pthread_mutex_lock(&fs->dirs.lock);
		open[count]->users--;
		/* Unless somebody came back to it meanwhile. */
		open[count]->suspended = done && open[count]->users == 0;
		pthread_mutex_unlock(&fs->dirs.lock);
	}
}

void dirs_release(struct fs *fs)
{
	struct dirs *dirs = &fs->dirs;
	struct begun *b;
	int list;

	for (list = BEGUN; list < LISTS; list++) {
		while ((b = dirs->first[list])) {
			assert(b->users == 0);
			take_out(dirs, b);
			end(fs, b);
		}
	}
	pthread_mutex_destroy(&dirs->lock);
}
