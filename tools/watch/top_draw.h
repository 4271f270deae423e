#ifndef TOOLS_WATCH_TOP_DRAW_H
#define TOOLS_WATCH_TOP_DRAW_H

#include "tools/watch/top_figures.h"

/*
 * A round of top as text. Each line begins with what it is, and its columns
 * stay what they are; new ones are added at the end, but the range of a table
 * stays the last. A line of capitals before those of a kind names their
 * columns.
 */
struct top_style {
	bool is_raw;      /* numbers without units; nothing is cut */
	bool is_coloured; /* escapes for what is bold, or wrong */
	size_t width;     /* characters of a line; 0: any */
	size_t lines;     /* at most; 0: any */
};

/* Appends what came between the two moments; without the first, then is NULL,
 * what came since the daemon's start, with dashes for what is of a second.
 * place is what is shown. 0 or -ENOMEM. */
int top_draw(const struct sighting *then, const struct sighting *now,
	     const char *place, const struct top_style *style, struct buf *out);

/* The bytes of text that fit into so many characters; 0: any. */
size_t top_cut(const char *text, size_t width);

#endif
