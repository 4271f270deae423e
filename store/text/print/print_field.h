#ifndef STORE_TEXT_PRINT_PRINT_FIELD_H
#define STORE_TEXT_PRINT_PRINT_FIELD_H

#include "store/store.h"
#include "store/text/value/text_format.h"

/*
 * Fields of CSV and TSV. In CSV empty bytes are "", for nothing between two
 * commas is no value. Each that appends is 0 or -ENOMEM.
 */

/* How fields are written. */
struct print_fields {
	enum text_format format; /* TEXT_CSV or TEXT_TSV */
	bool base64;             /* each, but those of the header */
};

static inline uint8_t print_delimiter(const struct print_fields *how)
{
	return how->format == TEXT_CSV ? ',' : '\t';
}

/* A field of a record, or of the header. */
int print_field(const struct print_fields *how, struct bytes s,
		struct buf *out);
int print_header_field(const struct print_fields *how, struct bytes s,
		       struct buf *out);

/* The value of the cell as a field: of an aggregate the number that it stands
 * for. */
int print_value_field(const struct print_fields *how, const struct cell *c,
		      struct buf *out);

/* Of fields that are written in parts: whether CSV has a part without quotes,
 * unless it is the first and begins with a blank; a part as it stands without
 * quotes, or between them; a part of TSV. */
bool print_csv_is_plain(struct bytes part);
int print_csv_plain(struct bytes part, struct buf *out);
int print_csv_quoted(struct bytes part, struct buf *out);
int print_tsv(struct bytes part, struct buf *out);

#endif
