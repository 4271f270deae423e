#ifndef STORE_TEXT_PRINT_H
#define STORE_TEXT_PRINT_H

#include "store/text.h"

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

/* v in decimal, with zeros in front up to digits; printf would take half of the
 * printers' time. */
int print_u64(uint64_t v, unsigned int digits, struct buf *out);

int print_json_cell(struct printer *p, const struct cell *cell,
		    enum print_same same, struct buf *out);
int print_json_finish(struct printer *p, struct buf *out);
int print_cbt_cell(struct printer *p, const struct cell *cell,
		   enum print_same same, struct buf *out);

#endif
