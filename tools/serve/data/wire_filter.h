#ifndef TOOLS_SERVE_DATA_WIRE_FILTER_H
#define TOOLS_SERVE_DATA_WIRE_FILTER_H

#include "store/filter.h"
#include "tools/serve/proto/messages.h"

/* Makes the filter that a request has: *out is the caller's to free. NULL, or
 * one in which nothing is set, is NULL and passes all. -ERR_bad_argument in
 * Bigtable's words, -EOPNOTSUPP for kinds that there are not here, -ENOMEM. */
int wire_filter(const struct proto_row_filter *f, struct filter **out);

/* As wire_filter, of what decides whether something is written:
 * -ERR_bad_argument too where nothing is set in a part, as in one of a kind
 * that is not known here, since passing all would write. */
int wire_predicate(const struct proto_row_filter *f, struct filter **out);

#endif
