#ifndef STORE_TEXT_HEAT_HEAT_HTML_H
#define STORE_TEXT_HEAT_HEAT_HTML_H

#include "store/text/heat/heat_label.h"

/* Appends the picture as HTML. 0 or -ENOMEM. */
int heat_print_html(const struct heat_picture *p, struct bytes table,
		    struct buf *out);

#endif
