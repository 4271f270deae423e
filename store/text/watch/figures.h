#ifndef STORE_TEXT_WATCH_FIGURES_H
#define STORE_TEXT_WATCH_FIGURES_H

#include "store/base/buf.h"
#include "store/base/watch/histogram.h"

/*
 * Prometheus' text format, a family of samples at a time: its head, then its
 * samples, all of it before the next head. An error, which can only be -ENOMEM,
 * stays in err, and nothing is added after it.
 */
struct figures {
	struct buf *out;    /* borrowed */
	const char *common; /* labels of every sample, as they are printed:
			       "store=\"/srv/s\""; NULL: none */
	const char *name;   /* of the family, without "tabletfs_"; borrowed */
	int err;
};

/* Names without "tabletfs_" before them; one ends in _total if the family is a
 * counter, and in its unit, which is bytes or seconds. help is a sentence. */
void figures_counter(struct figures *f, const char *name, const char *help);
void figures_gauge(struct figures *f, const char *name, const char *help);
void figures_histogram(struct figures *f, const char *name, const char *help);

/* A sample; its labels as they are printed, made as by printf from words that
 * need no escape, or NULL. */
__attribute__((format(printf, 3, 4))) void figures_add(struct figures *f,
						       double value,
						       const char *labels, ...);

/* A sample of a family without labels, with its head. */
void figures_count(struct figures *f, const char *name, uint64_t value,
		   const char *help);
void figures_level(struct figures *f, const char *name, double value,
		   const char *help);

/* The samples of one histogram, whose one label is label="value"; label NULL is
 * none. */
void figures_times(struct figures *f, const char *label, const char *value,
		   const struct histogram *h);

/* Appends label="value", value being any bytes. 0 or -ENOMEM. */
int figures_label(const char *label, struct bytes value, struct buf *out);

#endif
