#ifndef STORE_ENGINE_CORE_EVENT_LOG_H
#define STORE_ENGINE_CORE_EVENT_LOG_H

#include <pthread.h>
#include <stdatomic.h>

#include "store/base/clock.h"
#include "store/base/volume/volume.h"
#include "store/events.h"

/*
 * The event log: lines about what the engine did. An event becomes a line in
 * memory at once, under a lock that is held for as long as that takes and never
 * over I/O, so it may be told with any lock held. event_log_write brings the
 * lines to the volume; who calls it holds no lock that others wait for. What
 * does not fit in memory, or cannot be written, is lost and counted, and the
 * next event says how many lines that were.
 */
struct event_log {
	struct volume *volume;     /* borrowed */
	const struct clock *clock; /* borrowed */
	bool on;                   /* for good */
	int copy_fd;               /* borrowed; lines go there, too; -1: not */
	_Atomic unsigned int level;
	_Atomic uint64_t slow_us; /* what takes so long is told as slow */

	/* Called when lines should be written soon; NULL: by nobody. Set before
	 * other threads know the log, cleared after them. */
	void (*wake)(void *context);
	void *wake_context;

	pthread_mutex_t lock; /* guards these; no other is taken under it */
	struct buf pending;   /* lines, each behind a byte that is its level;
				 its memory does not grow */
	uint64_t lost;        /* lines, since that was last told */

	pthread_mutex_t writing; /* held over I/O; guards what follows */
	struct buf out;          /* as pending */
	uint64_t size_max;       /* bytes of LOG; 0: not known yet */
};

/* Without on, of a store that is only read, there never is a line. 0 or
 * -ENOMEM; to be released in any case. */
int event_log_init(struct event_log *l, struct volume *v,
		   const struct clock *clock, bool on, int copy_fd);
/* Lines that were not written are gone. */
void event_log_release(struct event_log *l);

/* A line, if the level has it: the event's word, then name=value pairs as in
 * logfmt. No value has blanks, save of the last pair, why or by, whose value
 * goes to the end of fmt and is told in quotes. Control characters are told as
 * \xXX; what is longer than 1,000 bytes is cut. err_detail() stays. */
__attribute__((format(printf, 3, 4))) void event_add(struct event_log *l,
						     enum event_level level,
						     const char *fmt, ...);

/* Writes the lines that wait, and what copy_fd takes of them without a wait. 0,
 * or why they are lost, with err_detail(). */
int event_log_write(struct event_log *l);

/* 0, or why no line can be written, with err_detail(). */
int event_log_check(struct event_log *l);

/* Whether what took so long is to be told as slow. */
static inline bool event_is_slow(const struct event_log *l, uint64_t us)
{
	return us >= atomic_load_explicit(&l->slow_us, memory_order_relaxed);
}

/* To tell how long something took, in us: its start, and the time since then,
 * which is 0 if the clock was set back. */
static inline uint64_t event_now(const struct event_log *l)
{
	return clock_now(l->clock);
}

static inline uint64_t event_since(const struct event_log *l, uint64_t start_us)
{
	uint64_t now = clock_now(l->clock);

	return now > start_us ? now - start_us : 0;
}

#endif
