#ifndef TOOLS_WATCH_TOP_FIGURES_H
#define TOOLS_WATCH_TOP_FIGURES_H

#include "store/base/buf.h"

/*
 * What a daemon tells of itself at one moment, as tabletfs metrics prints it,
 * taken apart; and what became of it from one moment to the next.
 */
struct figure {
	const char *name;   /* without "tabletfs_" */
	const char *labels; /* what stands between the braces; "" */
	double value;
};

/* A line "# hot". */
struct hot_range {
	const char *table;
	const char *range; /* start="..." end="..." */
	double share;
};

struct sighting {
	struct buf text; /* owned; the others point into it */
	struct figure *figures;
	size_t count;
	struct hot_range *ranges;
	size_t range_count;
	uint64_t at_ns; /* by the steady clock; set by its owner */
};

/* Takes text apart, which it changes and owns then; what is no figure is passed
 * over. 0 or -ENOMEM; to be released in any case. Zeroed it is empty. */
int sighting_parse(struct buf *text, struct sighting *out);
void sighting_release(struct sighting *m);

/* The value of the figure with exactly these labels; 0 if there is none. */
double sighting_value(const struct sighting *m, const char *name,
		      const char *labels);

/* Sets out to the value of a label, of size bytes with its NUL: whether labels
 * has it. */
bool figure_label(const char *labels, const char *label, char *out,
		  size_t size);

/* How much a counter grew between the two; what began anew counts from 0. */
double sighting_growth(const struct sighting *then, const struct sighting *now,
		       const char *name, const char *labels);

/* Of a histogram whose one label is label="value", what was counted between two
 * moments: how many, their mean, and what 99 of 100 were not slower than, both
 * in microseconds; 0 if there were none. */
struct times {
	double count, mean_us, p99_us;
};
struct times sighting_times(const struct sighting *then,
			    const struct sighting *now, const char *name,
			    const char *label, const char *value);

#endif
