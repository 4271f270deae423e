#ifndef STORE_TEXT_PRINT_PRINT_STATE_H
#define STORE_TEXT_PRINT_PRINT_STATE_H

#include "store/store.h"
#include "store/text/value/text_format.h"

/* How far the cell before the present one agrees with it. */
enum print_same {
	SAME_NOTHING, /* also for the first cell */
	SAME_ROW,
	SAME_FAMILY,
	SAME_COLUMN,
};

struct printer {
	enum text_format format;
	bool started;
	struct buf row, family, qualifier; /* of the cell before */
	struct bytes label;                /* of the present one */
	/* JSON: a column's first version waits here, for a second one turns
	 * it into a list. */
	struct buf version;
	bool listed;
	/* JSON: "set" of the row is open; the present family is one of
	 * aggregates; those of the row, which come last. */
	bool set_open, aggregate;
	struct buf merges;
	/* cbt: the present second as local time, in text. */
	uint64_t second;
	char second_text[64];
};

#endif
