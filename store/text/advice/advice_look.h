#ifndef STORE_TEXT_ADVICE_ADVICE_LOOK_H
#define STORE_TEXT_ADVICE_ADVICE_LOOK_H

#include "store/store.h"
#include "store/text/advice/advice_keys.h"

/* What is seen of a table's data: figures, each with a sample. Sizes are in
 * bytes. */
#define ADVICE_NAMES 256

/* The greatest of something, and where that is. */
struct advice_most {
	uint64_t value;
	struct buf row, family, qualifier; /* owned; empty: of no such */
};

struct advice_look {
	bool is_whole; /* all of the table was read */
	uint64_t rows, cells;
	uint64_t key_size;      /* of all rows' keys */
	struct advice_most row; /* bytes of one */
	struct advice_most cell;
	struct advice_most versions; /* of a column of a family that keeps
					all */
	/* Of all cells: keys, names, and all with the values. */
	uint64_t keys_of_cells, names_of_cells, all_of_cells;
	uint64_t names[ADVICE_NAMES]; /* hashes of families with qualifiers */
	size_t name_count;   /* of different ones; beyond that, ADVICE_NAMES */
	uint64_t name_sizes; /* of these */
	struct advice_most name; /* the longest */
	struct advice_keys keys;
};

/* Reads the table: 0, -ERR_no_table, -EINTR or an error of reading; *l is to be
 * released in any case. */
int advice_look(struct store *s, const struct table *table, bool (*stop)(void),
		struct advice_look *l);
void advice_look_release(struct advice_look *l);

#endif
