#ifndef STORE_TEXT_RECIPE_APPLY_STATE_H
#define STORE_TEXT_RECIPE_APPLY_STATE_H

#include "store/text/recipe/apply.h"
#include "store/text/recipe/evaluate.h"
#include "store/text/recipe/recipe_state.h"

/* What the files of apply.h share. */

/* Where a cell's bytes lie in text, which moves while it grows. */
struct cell_place {
	size_t qualifier, qualifier_size, value, value_size;
	size_t group; /* of the statement that made it */
};

struct applier {
	struct recipe *recipe; /* borrowed */
	uint64_t now_us;
	bool millis;
	struct evaluation evaluation;
	struct buf left, right; /* memory for conditions */

	/* Columns that rest takes, by their index in the header. */
	size_t *rest_columns; /* owned */
	size_t rest_count;
	struct bytes *names; /* owned array; borrowed names */

	struct record record;             /* the present one */
	const struct json_node *elements; /* the next one; of explode */
	bool begun;                       /* there is one more to make */
	bool lacks_array;                 /* that explode names */

	/* Of the present record: text holds keys, qualifiers and values. */
	struct buf text;
	struct recipe_cell *cells; /* owned */
	struct cell_place *places; /* owned; of each cell */
	size_t cell_count, cell_capacity;
	/* The cells in the order of rows and columns, and their places; both
	 * owned, as is the order. */
	size_t *order;
	struct recipe_cell *sorted;
	struct cell_place *sorted_places;
	size_t sorted_capacity;
	struct recipe_row *rows; /* owned; as many as there are keys */
	struct cell_place *keys; /* owned; the key is at qualifier */
	size_t row_count;
	uint64_t at_us;
	bool timed; /* at_us is the recipe's */
};

#endif
