#ifndef STORE_TEXT_PRINT_PRINT_STATE_H
#define STORE_TEXT_PRINT_PRINT_STATE_H

#include "store/store.h"
#include "store/text/print/print_field.h"

/* What the files of print.c share: what a printer remembers between cells. */

/* How far the cell before the present one agrees with it. Ascending: each holds
 * if those before it do. */
enum print_same {
	SAME_NOTHING, /* also for the first cell */
	SAME_ROW,
	SAME_FAMILY,
	SAME_COLUMN,
};

struct printer {
	enum text_format format;
	struct print_fields fields; /* of CSV and TSV */
	bool started;               /* a cell was fed since the stream began */
	/* Of the cell before, copied; only of JSON and cbt. */
	struct buf row, family, qualifier;
	struct bytes label; /* of the present cell, borrowed */
	/* JSON: a column's first version waits here, for a second one turns
	 * it into a list. Once listed, it was written and the list is open. */
	struct buf version;
	bool listed;
	struct print_large {
		struct large *value; /* referenced; NULL: none waits */
		uint64_t at;         /* so much of it was printed */
		/* Prints a part; those of UTF-8 end with a character. */
		int (*print)(struct bytes part, struct buf *out);
		struct buf tail; /* what follows the value */
		struct buf part;
	} large;             /* of the cell before */
	struct large *given; /* of the present cell, borrowed; or NULL */
	/* JSON: "set" of the row is open; the present family is one of
	 * aggregates; the text of those of the row, which come last, as
	 * "merge". */
	bool set_open, aggregate;
	struct buf merges;
	/* cbt: the second since 1970 whose local time second_text is, up to the
	 * dot; UINT64_MAX for none. Cells of a row are often of one second, and
	 * a date costs more than all else of a line. */
	uint64_t second;
	char second_text[64];
};

#endif
