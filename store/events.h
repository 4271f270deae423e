#ifndef STORE_EVENTS_H
#define STORE_EVENTS_H

#include "store/base/bytes.h"
#include "store/base/watch/cost.h"

/*
 * The event log: what the store did and when, as lines in the file LOG beside
 * its other files. store/README.md lists the events. It is for people and is
 * never read by the store; what cannot be written of it is lost, and the store
 * goes on. Only who has the store open for writing writes it. Any thread may
 * call these.
 */
struct store;

/* Each level has what those before it have. */
enum event_level {
	EVENTS_OFF,
	EVENTS_ERRORS, /* what somebody has to look after */
	EVENTS_MAIN,   /* and what explains how long something took */
	EVENTS_ALL,    /* and each file that goes */
};

/* Its word: off, errors, events or all; a constant. */
const char *event_level_word(enum event_level level);
/* -ERR_bad_argument names what is no such word. */
int event_level_parse(struct bytes word, enum event_level *out);

/* From the next event on. */
void store_set_event_level(struct store *s, enum event_level level);
enum event_level store_event_level(struct store *s);

/* Lines are written after background work and with each sync of the log; and by
 * this, for who wants them sooner. It may wait for the disk. */
void store_write_events(struct store *s);

/* 0, or why no line can be written. */
int store_check_events(struct store *s);

/* From which time on something is told as slow: requests, commits, syncs;
 * STORE_SLOW_US if it was never said. 0 is never. */
#define STORE_SLOW_US UINT64_C(100000)
void store_set_slow(struct store *s, uint64_t us);

/* A line if something that was asked of the store took long: a word for it, how
 * long, and what it had to read. */
void store_tell_request(struct store *s, const char *word, uint64_t us,
			const struct cost *cost);

#endif
