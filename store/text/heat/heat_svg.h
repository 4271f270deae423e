#ifndef STORE_TEXT_HEAT_HEAT_SVG_H
#define STORE_TEXT_HEAT_HEAT_SVG_H

#include "store/text/heat/heat_label.h"

/* Appends the picture as SVG. 0 or -ENOMEM. */
int heat_print_svg(const struct heat_picture *p, struct bytes table,
		   struct buf *out);

/* Text for XML, which no tag or attribute ends. 0 or -ENOMEM. */
int heat_add_xml(struct bytes text, struct buf *out);

#endif
