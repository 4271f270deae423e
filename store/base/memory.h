#ifndef STORE_BASE_MEMORY_H
#define STORE_BASE_MEMORY_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Memory: who holds how much of what can grow, by named accounts, and one limit
 * for all that is not bounded elsewhere. Sizes are bytes as they were asked of
 * malloc; what that adds is not counted. Any thread may call any of this.
 *
 * Memtables have a bound of their own, the arenas' size and the number that may
 * wait, and so have cache, indexes and tombstones, the cache's capacity: these
 * four are here to be told. All other accounts share the limit. Whoever wants
 * some of it asks before it allocates, and if it gets none it waits, or does
 * with less: spills to a file without a name, reads in pieces, or gives back
 * what is idle. What the limits of store.h allow is never refused for lack of
 * memory.
 *
 * Nobody has more than half of the limit, so that one kind of use never keeps
 * all others waiting. Who waits should hold nothing that it could give back:
 * two that wait for each other do so until their time is up.
 */
#define MEMORY_ACCOUNT_LIST(x)                                                \
	x(MEMTABLES, memtables)     /* arenas, also those that readers  \
				     have yet */     \
		x(CACHE, cache)     /* blocks */                              \
		x(INDEXES, indexes) /* of ssts: indexes, filters */           \
		x(TOMBSTONES, tombstones) /* of ssts: range tombstones */     \
		x(SCANS, scans)           /* that rest: see scan_rest */      \
		x(IMPORTS, imports)       /* puts of bulk loads, unwritten */ \
		x(DRAFTS, drafts)         /* of the mount: files written */   \
		x(REQUESTS, requests) /* lines and mutations, until they  \
				     are committed */   \
		x(VALUES, values)     /* that are read as a whole */          \
		x(WIRE, wire)       /* requests and answers of the network */ \
		x(EXPORTS, exports) /* of the mount: places and text of     \
					 exports with a size */ \
		x(HEAT, heat)       /* where operations happen: heat.h */     \
		x(MOMENTS, moments) /* of the mount: schemas of the past */   \
		x(LISTINGS, listings) /* of the mount: names in memory */

enum memory_account {
#define x(name, word) MEMORY_##name,
	MEMORY_ACCOUNT_LIST(x)
#undef x
		MEMORY_ACCOUNTS
};

struct memory;

/* With nothing held, and a limit for what shares it: 0 or -ENOMEM. */
int memory_new(uint64_t limit, struct memory **out);

/* All must have been given back. NULL is allowed. */
void memory_free(struct memory *m);

/*
 * Takes size bytes for the account, which shares the limit, waiting up to
 * wait_ms for others to give back: whether it got them. What is more than half
 * of the limit it never gets, and does not wait for. With wait_ms 0 it costs
 * two atomic operations.
 */
bool memory_take(struct memory *m, enum memory_account account, uint64_t size,
		 unsigned int wait_ms);

/* Counts what is held in any case: of accounts with bounds of their own, or
 * where to do without is impossible; then others wait for it. */
void memory_hold(struct memory *m, enum memory_account account, uint64_t size);

/* Gives back what was taken or held. */
void memory_give(struct memory *m, enum memory_account account, uint64_t size);

/* What the account holds now. */
uint64_t memory_used(const struct memory *m, enum memory_account account);

/* What those that share it may hold in all. */
uint64_t memory_limit(const struct memory *m);

/* The account's word, as in MEMORY_ACCOUNT_LIST. */
const char *memory_name(enum memory_account account);

#endif
