#ifndef STORE_TEXT_HEAT_HEAT_TERMINAL_H
#define STORE_TEXT_HEAT_HEAT_TERMINAL_H

#include "store/text/heat/heat_print.h"

/* As heat_print, for a terminal of style's width: with colours, two rows in one
 * line of half blocks; else one row in a line of characters. How wide the keys
 * are there, and how many columns fit beside them, says heat_terminal_columns.
 */
int heat_print_terminal(const struct heat_picture *p, struct bytes table,
			const struct heat_style *style, struct buf *out);

size_t heat_terminal_columns(const struct heat_style *style);

#endif
