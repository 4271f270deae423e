#include <errno.h>
#include <time.h>

#include "fs/cells/loop.h"
#include "fs/cells/turn.h"

/* How often who waits looks whether he is to go on. */
#define LOOK_NS 100000000

void turns_init(struct turns *t)
{
	sem_init(&t->left, 0, TURNS_MAX);
}

void turns_release(struct turns *t)
{
	sem_destroy(&t->left);
}

static struct timespec next_look(void)
{
	struct timespec at;

	clock_gettime(CLOCK_MONOTONIC, &at);
	at.tv_nsec += LOOK_NS;
	at.tv_sec += at.tv_nsec / 1000000000;
	at.tv_nsec %= 1000000000;
	return at;
}

int turn_take(struct fs *fs)
{
	struct timespec at;

	if (sem_trywait(&fs->turns.left) == 0)
		return 0;
	loop_hand_over();
	do {
		if (loop_is_interrupted())
			return -EINTR;
		at = next_look();
	} while (sem_clockwait(&fs->turns.left, CLOCK_MONOTONIC, &at));
	return 0;
}

void turn_give(struct fs *fs)
{
	sem_post(&fs->turns.left);
}
