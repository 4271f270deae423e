#ifndef STORE_TEXT_WATCH_REQUESTS_H
#define STORE_TEXT_WATCH_REQUESTS_H

#include "store/base/watch/cost.h"
#include "store/text/watch/figures.h"

/*
 * How long requests of some kind of server took, and how many of them are under
 * way, by kind. Zeroed but for names, it is ready. Any thread counts, without a
 * lock; a print sees each number at its own moment.
 */
#define REQUESTS_KINDS 64

struct requests {
	/* Of each kind; those without a name are together "other", and have the
	 * place of kind 0, whose name is NULL. */
	const char *const *names;
	struct histogram kinds[REQUESTS_KINDS];
	_Atomic uint32_t running[REQUESTS_KINDS];
	/* Told of each request of a kind with a name, and what it has cost; set
	 * before the first one. NULL: nobody is. */
	void (*taken)(void *context, const char *kind, uint64_t us,
		      const struct cost *cost);
	void *context;
};

/* One begins; each is ended once, by any thread. kind may be any number. */
void requests_begin(struct requests *r, unsigned int kind);

/* It is done. ns is how long it took, as is told to those who look at
 * latencies; busy_ns, what of that the server worked and did not wait for its
 * client. */
void requests_end(struct requests *r, unsigned int kind, uint64_t ns,
		  uint64_t busy_ns, const struct cost *cost);

/* Two families, of kinds that occurred: a histogram NAME_duration_seconds and a
 * gauge NAMEs_running, with label="the kind". */
struct requests_words {
	const char *durations, *durations_help;
	const char *running, *running_help;
	const char *label;
};
void requests_print(const struct requests *r, const struct requests_words *w,
		    struct figures *f);

#endif
