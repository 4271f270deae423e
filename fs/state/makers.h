#ifndef FS_STATE_MAKERS_H
#define FS_STATE_MAKERS_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

/*
 * Who made what: a number by inode number, which access.h gives a meaning. It
 * lasts as long as memory allows: the newest 32,768 to 65,536 are kept, those
 * that are looked up counting as new, in 2 MiB at most, taken with the first.
 * Zeroed but for the lock, there is nothing in it. Any thread may call; the
 * lock is taken with any other held, and none is taken under it.
 */
#define MAKERS_MAX 32768 /* of a generation */

struct maker_entry {
	uint64_t ino;   /* 0: free */
	uint64_t maker; /* 0: nobody any more */
};

struct makers {
	pthread_mutex_t lock; /* guards what follows */
	/* 2 * MAKERS_MAX entries each, owned; NULL: none. An entry is found at
	 * the place that ino says, or behind it. */
	struct maker_entry *young, *old;
	uint32_t count; /* of entries in young */
};

void makers_init(struct makers *m);
void makers_release(struct makers *m);

/* From now on it is maker; 0: nobody. Without memory it is nobody. */
void makers_set(struct makers *m, uint64_t ino, uint64_t maker);

/* 0: nobody, or not known any more. */
uint64_t makers_get(struct makers *m, uint64_t ino);

/* What from was is now to; with exchange also the reverse, else from is
 * nobody's. */
void makers_move(struct makers *m, uint64_t from, uint64_t to, bool exchange);

#endif
