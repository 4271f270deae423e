#ifndef STORE_TEXT_SPILL_SPILL_H
#define STORE_TEXT_SPILL_SPILL_H

#include "store/store.h"
#include "store/text/spill/mapped.h"

/*
 * A text that comes in pieces and is looked at as a whole: in memory as long as
 * it is small, counted there, and else in a file without a name on the store's
 * volume, which is mapped. What of the file was looked at leaves the process
 * again a moment later (spill_sweep), so that a text of hundreds of megabytes
 * costs it a few. The file ends with the text, or the process. Before what was
 * made of it is committed, mapped_error is asked. One thread at a time.
 */
struct spill {
	struct store *store; /* borrowed */
	enum memory_account account;
	struct buf buf;   /* all of it, without a file */
	uint64_t counted; /* bytes of buf, in the account */
	size_t size;
	size_t max;         /* of size: what is mapped */
	int fd;             /* of store_scratch; -1: none */
	struct mapped map;  /* of max bytes; with fd */
	size_t room;        /* bytes of the file that there is space for */
	struct bg *sweeper; /* NULL: none works */
};

/* An empty one, to hold at most max bytes. It needs no release while empty, and
 * stays where it is until then. */
void spill_init(struct spill *p, struct store *s, enum memory_account account,
		size_t max);
/* Leaves it as spill_init does. */
void spill_release(struct spill *p);

/* Appends data, with which it has at most max bytes. On an error it is as
 * before: -ENOMEM, -ENOSPC, -ERR_scratch_full, or of the file. */
int spill_add(struct spill *p, struct bytes data);

/* Puts it in a file now, if it is in none: what is added then never moves. */
int spill_start(struct spill *p);

/* All of it. With a file it never moves, and what was added before stays where
 * it is; in memory it is there until the next change. */
struct bytes spill_bytes(const struct spill *p);

/* All of it is about to be looked at, or no more: meanwhile, what was read
 * leaves the process. Without a thread for that it stays. A cut ends it, too.
 */
void spill_sweep(struct spill *p, bool on);

/* Cuts it to size, which is no more than it has; what it took is given back
 * with the last byte, but for a few kilobytes. */
void spill_cut(struct spill *p, size_t size);

#endif
