#ifndef TOOLS_SERVE_DATA_REPEATS_H
#define TOOLS_SERVE_DATA_REPEATS_H

#include "tools/serve/proto/messages.h"

/*
 * How many entries before each one of a MutateRows are of the same row: those
 * at the time of the server get times that rise by it. *out is the arena's, and
 * NULL if no row comes twice, or none is at that time. 0, or an error of
 * proto_alloc.
 */
int repeats_count(const struct proto_mutate_entry *entries, size_t count,
		  struct proto_arena *arena, uint32_t **out);

#endif
