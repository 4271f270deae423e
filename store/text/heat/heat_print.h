#ifndef STORE_TEXT_HEAT_HEAT_PRINT_H
#define STORE_TEXT_HEAT_HEAT_PRINT_H

#include "store/text/heat/heat_label.h"

/*
 * A heat map for people and programs: time goes across, row keys down, and the
 * brightness is logarithmic. Keys are printed as quote_go prints them, and
 * besides escaped for where they stand, so that none of them ends a tag, a
 * string of a script, a line, or steers a terminal. Any thread may call it.
 */
struct heat_style {
	enum heat_format format;
	bool is_coloured; /* of HEAT_TEXT: with colours and half blocks */
	size_t width;     /* of HEAT_TEXT: characters of a line */
};

/* Appends the picture, which may have no rows, of the table. 0 or -ENOMEM. */
int heat_print(const struct heat_picture *p, struct bytes table,
	       const struct heat_style *style, struct buf *out);

#endif
