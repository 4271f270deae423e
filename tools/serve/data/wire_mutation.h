#ifndef TOOLS_SERVE_DATA_WIRE_MUTATION_H
#define TOOLS_SERVE_DATA_WIRE_MUTATION_H

#include "store/write.h"
#include "tools/serve/proto/messages.h"

/* As a timestamp: the time of the server. */
#define SERVER_TIME (-1)

/* Adds count mutations of a request to w, whose row is named: 0, or an error of
 * the store, or -ERR_bad_argument if one says nothing, or there is none; then a
 * part of them may have been added. The server's time is in milliseconds, and
 * of the n-th mutation earlier[n] before; NULL: 0 of each. */
int wire_mutations(struct write *w, const struct proto_mutation *mutations,
		   size_t count, const uint32_t *earlier);

/* Whether the mutations could be added to w, for this row, as far as each of
 * them alone and their number say: the same errors, but that there may be none
 * of them, and that families are not asked for, as the service does. w holds
 * nothing that is to be committed, before and after. */
int wire_check(struct write *w, struct bytes table, struct bytes row,
	       const struct proto_mutation *mutations, size_t count);

/* The branches of a check, as struct row_check has them; context is a
 * proto_check_and_mutate_row. As wire_mutations. */
int wire_if_true(void *context, struct write *w);
int wire_if_false(void *context, struct write *w);

#endif
