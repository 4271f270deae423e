#ifndef STORE_HISTORY_H
#define STORE_HISTORY_H

#include <stdint.h>

/*
 * How much of the recent past a store keeps, for store_moment: a setting of the
 * store, which it has until it is changed, and what there is by it. A store has
 * none at first, but what programs for users make keeps a day. What merges drop
 * and some moment still sees takes space of its own; it goes when it is older,
 * more than it may be, or when space is short. The past begins when it is
 * switched on.
 */
struct store;
struct store_options;

#define STORE_HISTORY_DAY_US UINT64_C(86400000000)

struct history {
	uint64_t keep_us;   /* how far back; 0: no history is kept */
	uint64_t max_size;  /* bytes that its files may take, unless someone
			       reads them, with their large values; 0: as
			       many as all others took at most within that
			       time, and 256 MiB at least */
	uint64_t size;      /* that they take, with large values */
	uint64_t oldest_us; /* the first moment's time; 0: there is none */
	uint64_t lost_us;   /* what was kept of the time before it was given up
			       for lack of room, since the store was opened
			       and no longer ago than keep_us; 0: nothing was */
};

/* What it is now. */
void store_history(struct store *s, struct history *out);

/* The setting, durable when it returns 0. What there is too much of goes at
 * once; with keep_us 0 all does, and who reads at a moment is told so. Errors
 * as of store_set_attributes. */
int store_set_history(struct store *s, uint64_t keep_us, uint64_t max_size);

/* store_set_history, if s was never written to. */
int store_begin_history(struct store *s, uint64_t keep_us);

/* As store_open; with create, what was never written to keeps a day of it. */
int store_open_kept(const char *where, const struct store_options *o,
		    struct store **out);

/* The attribute of the store that is the setting: of no use but to tell it from
 * others. */
#define STORE_HISTORY "history"

#endif
