#ifndef STORE_TEXT_VALUE_NAME_LIST_H
#define STORE_TEXT_VALUE_NAME_LIST_H

#include "store/base/bytes.h"

/* What there is, for the message that something is not: the first names, each
 * cut, as "a", "b", ... Zeroed, it is empty. */
struct name_list {
	char text[256]; /* ends with a zero */
	size_t size;
	unsigned int count;
};

void name_list_add(struct name_list *l, struct bytes name);

#endif
