#ifndef TOOLS_SERVE_DATA_REPEATS_H
#define TOOLS_SERVE_DATA_REPEATS_H

#include "tools/serve/proto/messages.h"

/*
 * How many entries behind that of each mutation of a MutateRows set the same
 * column again, at the time of the server: so many milliseconds it is to be
 * earlier, and the last one is never ahead of the clock. *out has a number for
 * each mutation of each entry in turn; it is the arena's, and NULL if nothing
 * comes twice. 0, or an error of proto_alloc.
 */
int repeats_count(const struct proto_mutate_entry *entries, size_t count,
		  struct proto_arena *arena, const uint32_t **out);

#endif
