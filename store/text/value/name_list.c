#include <stdio.h>

#include "store/text/value/name_list.h"

#define NAMES_MAX 8
#define NAME_SIZE_MAX 24

void name_list_add(struct name_list *l, struct bytes name)
{
	size_t size = name.size < NAME_SIZE_MAX ? name.size : NAME_SIZE_MAX;

	if (++l->count > NAMES_MAX + 1)
		return;
	if (l->count > NAMES_MAX) {
		snprintf(l->text + l->size, sizeof(l->text) - l->size, ", ...");
		return;
	}
	/* Not within a character. */
	while (size > 0 && size < name.size && (name.data[size] & 0xc0) == 0x80)
		size--;
	l->size += (size_t)snprintf(
		l->text + l->size, sizeof(l->text) - l->size, "%s\"%.*s%s\"",
		l->count > 1 ? ", " : "", (int)size, (const char *)name.data,
		size < name.size ? "..." : "");
}
