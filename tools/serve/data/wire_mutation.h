#ifndef TOOLS_SERVE_DATA_WIRE_MUTATION_H
#define TOOLS_SERVE_DATA_WIRE_MUTATION_H

#include "store/write.h"
#include "tools/serve/proto/messages.h"

/* Adds count mutations of a request to w, whose row is named: 0, or an error of
 * the store, or -ERR_bad_argument if one says nothing, or there is none; then a
 * part of them may have been added. */
int wire_mutations(struct write *w, const struct proto_mutation *mutations,
		   size_t count);

#endif
