#ifndef STORE_HEAT_HEAT_H
#define STORE_HEAT_HEAT_H

#include <pthread.h>
#include <stdatomic.h>

#include "store/base/clock.h"
#include "store/base/memory.h"
#include "store/heat/heat_file.h"

/*
 * Heat: where in the tables operations happen, by samples. Of each second the
 * first HEAT_EACH operations count one by one, and of each HEAT_EVERY of a
 * thread that follow one, which stands for all of them: at random, so that no
 * pattern of a program is taken for one of the keys. A sample is some 600
 * instructions, a tenth of a cached put or get. One by one, which keeps the
 * pictures of slow loads exact, they are a third of a million a second, which
 * nobody notices; from 8,000 operations a second on, which even callgrind
 * reaches, all of it is at most 1 % of what the operations take themselves
 * (make bench-heat).
 *
 * A table is sampled from its first operation on and forgotten when there was
 * none for an hour; HEAT_TABLES_MAX of them, the rest is not sampled. What one
 * takes is counted as MEMORY_HEAT; without memory it is not sampled. A second's
 * counters are kept for the present minute and five before it, fewer if there
 * is no room; a minute's go to the file.
 *
 * Any thread may call any of this; the locks here are below all others of the
 * store.
 */
#define HEAT_EACH 512
#define HEAT_EVERY 64
#define HEAT_TABLES_MAX 64
#define HEAT_IDLE_S 3600
#define HEAT_MINUTES 5
#define HEAT_BLOCK_SIZE 16384        /* bytes: that much of a scan is a read */
#define HEAT_RECENT_MAX (64 << 10)   /* bytes of a table's seconds */
#define HEAT_WAITING_MAX (256 << 10) /* bytes of minutes, of all tables */

struct heat_table;

struct heat {
	const struct clock *clock; /* borrowed */
	struct memory *memory;     /* borrowed */
	struct heat_file *file;    /* owned; NULL: minutes are forgotten */
	_Atomic uint32_t every;    /* 1 or HEAT_EVERY: what an operation that is
				   sampled stands for */

	pthread_mutex_t writing; /* held over I/O on file; before lock */

	pthread_mutex_t lock; /* guards what follows; held for less than a
				   microsecond, but at the end of seconds */
	uint64_t second_s;    /* of sampled */
	uint32_t sampled;     /* operations in it */
	struct heat_table *tables[HEAT_TABLES_MAX]; /* owned */
	size_t count;
	struct buf waiting;          /* records for the file */
	struct heat_record *scratch; /* owned */
};

/* file, which may be NULL, is h's from here on, also on failure. 0 or -ENOMEM,
 * then *out is NULL. */
int heat_new(const struct clock *clock, struct memory *memory,
	     struct heat_file *file, struct heat **out);

/* What was not written is gone. NULL is allowed. */
void heat_free(struct heat *h);

/* Operations until the next that is sampled, of this thread; of all heats. 0:
 * none was drawn yet. */
extern _Thread_local uint32_t heat_left;

/* The next count operations of this thread: true if none of them is to be
 * sampled, and they have passed; else each is to be asked by heat_is_due. */
static inline bool heat_passes(struct heat *h, uint32_t count)
{
	if (atomic_load_explicit(&h->every, memory_order_relaxed) == 1 ||
	    heat_left <= count)
		return false;
	heat_left -= count;
	return true;
}

/* heat_is_due of an operation that did not pass. */
bool heat_draw(struct heat *h);

/* Whether the next operation is to be sampled: then heat_note is called. */
static inline bool heat_is_due(struct heat *h)
{
	return !heat_passes(h, 1) && heat_draw(h);
}

/* An operation on a row, which is not empty, of a table, and how many bytes of
 * keys and values it took or gave. */
void heat_note(struct heat *h, uint32_t table, struct bytes row,
	       enum heat_metric metric, uint64_t bytes);

/* As store_heat_counts and store_heat_hottest. */
bool heat_counts(struct heat *h, uint32_t table, uint64_t counts[HEAT_METRICS]);
int heat_hottest(struct heat *h, uint32_t table, struct buf *start,
		 struct buf *end, double *share);

/* Forgets a table, in memory and in the file, since fences are row keys. What
 * comes from now on is sampled as ever. 0, or an error of the file. */
int heat_erase(struct heat *h, uint32_t table);

/* Each second, or seldom: ends what has passed, forgets what is idle, and
 * writes. At the end, all. 0, or why minutes are lost, with err_detail(). */
int heat_tick(struct heat *h, bool at_end);

/* Appends the records of a table: to file those of minutes, and to recent, with
 * their own fences, those of seconds, of which the first began at *recent_s;
 * what of file is not earlier than that is the same once more. */
int heat_collect(struct heat *h, uint32_t table, struct buf *file,
		 struct buf *recent, uint64_t *recent_s);

#endif
