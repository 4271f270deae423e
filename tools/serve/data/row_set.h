#ifndef TOOLS_SERVE_DATA_ROW_SET_H
#define TOOLS_SERVE_DATA_ROW_SET_H

#include "tools/serve/proto/messages.h"

/* The rows that a request is about, as ranges that ascend and do not overlap:
 * start <= key < end, of which an empty one is open. Some may hold no key. */
struct row_span {
	struct bytes start, end;
};

struct row_set {
	struct row_span *spans; /* in the arena, at least one */
	size_t count;
	bool one_row; /* start of the only span is the only row */
};

/* Makes set of the keys and ranges of a request, all rows if there are none;
 * bytes are borrowed from it or in arena. The empty key is no row.
 * -ERR_bad_argument for a range that ends before it starts, or where it does
 * without both being part of it; -E2BIG, -ENOMEM. */
int row_set_init(struct row_set *set, const struct proto_row_set *rows,
		 struct proto_arena *arena);

/* The first span that ends behind row, or the count. */
size_t row_set_find(const struct row_set *set, struct bytes row);

#endif
