#ifndef STORE_TEXT_JSON_JSON_RESULT_H
#define STORE_TEXT_JSON_JSON_RESULT_H

#include "store/store.h"

/*
 * What a row mutation came to, for who asks: whether its "if" held, and the
 * versions that append and increment made, one a column, the last if there were
 * several. It holds copies. One thread at a time.
 */
struct json_result {
	bool has_condition; /* there is an "if" */
	bool matched;       /* which held */
	bool done;          /* it, or its "else", was done */
	struct buf row;
	struct json_result_cell *cells; /* in scan order once it is settled */
	size_t count, room;
	size_t added; /* cells, of which some are gone */
};

/* A version that was made. */
struct json_result_cell {
	struct buf bytes;    /* family, qualifier, value; owned */
	struct large *large; /* its value, until it is settled; or NULL */
	size_t family_size, qualifier_size;
	uint64_t timestamp_us;
	size_t order; /* among those that were made */
};

#define JSON_RESULT_INIT        \
	{                       \
		.row = BUF_INIT \
	}

/* Leaves it empty. */
void json_result_release(struct json_result *r);

/* Takes a version that was made, and the reference to its value if that is
 * large; else large is NULL. 0 or -ENOMEM. */
int json_result_add(struct json_result *r, const struct cell *cell,
		    struct large *large);

/* All are there: leaves the last of each column, in scan order, and reads those
 * that are large. 0, or an error of that. */
int json_result_settle(struct json_result *r);

/* One of the versions, borrowed from r. */
void json_result_cell(const struct json_result *r, size_t i, struct cell *out);

#endif
