#ifndef STORE_TEXT_HEAT_HEAT_LABEL_H
#define STORE_TEXT_HEAT_HEAT_LABEL_H

#include "store/heat.h"
#include "store/store.h"

enum heat_format {
	HEAT_TEXT, /* for a terminal */
	HEAT_TSV,  /* a line for each cell that is not 0 */
	HEAT_SVG,
	HEAT_HTML, /* one page, with the SVG in it and a script, and nothing
		      from elsewhere */
	HEAT_FORMATS,
};

/* The words: "reads", "svg". False if there is none. */
bool heat_metric_parse(struct bytes word, enum heat_metric *out);
bool heat_format_parse(struct bytes word, enum heat_format *out);
const char *heat_metric_word(enum heat_metric metric);

/* The texts of a heat map. All that append to out return 0 or -ENOMEM. */

/* How many steps of brightness there are, behind none; they stand for three
 * powers of ten below the peak. */
#define HEAT_LEVELS 24

/* 0 for nothing, else 1 to HEAT_LEVELS. */
int heat_level(const struct heat_picture *p, double value);

/* The least value of a level. */
double heat_level_value(const struct heat_picture *p, int level);

/* "12.3k", with three digits. */
int heat_add_number(double n, struct buf *out);

/* The unit of a metric's values: "reads/s". */
const char *heat_unit(enum heat_metric metric);

/* A time in seconds, as 2026-01-05T10:11:12Z. */
int heat_add_time(uint64_t s, struct buf *out);

/* The key quoted without quotes, cut to so many characters, the last of which
 * is an ellipsis then; 0: not cut. An empty key, which is no bound, is -. */
int heat_add_key(struct bytes key, size_t max, struct buf *out);

/* Appends "table t: reads/s from ... to ...", and then about its values; and
 * the sentence that tells what is not counted. Each is one line without end. */
int heat_add_title(const struct heat_picture *p, struct bytes table,
		   struct buf *out);
int heat_add_figures(const struct heat_picture *p, struct buf *out);
#define HEAT_CAUTION                                                  \
	"Counted is what reaches the store; what the kernel answers " \
	"from its caches does not."

/* Sets shown[r] for rows whose first key is to be shown, at least apart rows
 * from one another: first those where a prefix of keys ends. */
void heat_choose_labels(const struct heat_picture *p, size_t apart,
			bool *shown);

/* How many columns lie between two times that are shown, about as many as there
 * are to be. */
size_t heat_choose_times(const struct heat_picture *p, size_t count);

#endif
