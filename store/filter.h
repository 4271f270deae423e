#ifndef STORE_FILTER_H
#define STORE_FILTER_H

#include "store/base/bytes.h"

/*
 * Filters of cells as Bigtable has them: a tree. Each part is given cells of a
 * row in scan order and passes some of them on, perhaps changed or labelled:
 *
 *   chain       through all parts, one after another, so order matters
 *   interleave  a copy through each part; what several pass, comes out as often
 *   union       through the first part that passes it, so that it comes once
 *   condition   if the predicate passes any cell of the row, the row goes
 *               through one filter, else through the other
 *   sink        straight to the result, past whatever follows
 *
 * A filter belongs to one scan at a time and must live as long as that.
 *
 * Each constructor returns 0, or -ERR_bad_argument or -ENOMEM with *out NULL.
 * It copies the bytes that it is given; the composing ones own their parts from
 * then on, also on failure.
 */
#define FILTER_DEPTH_MAX 20 /* of composing filters inside one another */
#define FILTER_PARTS_MAX 1000
/* Of one cell that interleaves can make. What a condition's predicate makes
 * does not come out of it and counts as steps only: a cell or copy going
 * through a part. */
#define FILTER_COPIES_MAX 1024
#define FILTER_STEPS_MAX (2 * FILTER_PARTS_MAX * FILTER_COPIES_MAX)
#define FILTER_LABEL_MAX 15

struct filter;

/* Frees the tree; NULL is allowed. */
void filter_free(struct filter *f);

/* Every cell, no cell, and every cell straight to the result. */
int filter_new_pass(struct filter **out);
int filter_new_block(struct filter **out);
int filter_new_sink(struct filter **out);

/* Every cell, with an empty value. */
int filter_new_strip(struct filter **out);

/* By a regular expression, see regex.h, that matches the whole of it. That of a
 * row must not be empty, that of a family must not hold a colon. */
int filter_new_row(struct bytes pattern, struct filter **out);
int filter_new_family(struct bytes pattern, struct filter **out);
int filter_new_qualifier(struct bytes pattern, struct filter **out);
int filter_new_value(struct bytes pattern, struct filter **out);

/* A range of byte strings; one that is empty is no error. */
struct filter_range {
	struct bytes start, end;
	bool has_start, has_end; /* else unbounded */
	bool start_open;         /* without start itself */
	bool end_closed;         /* with end itself */
};

/* The columns of one family whose qualifiers are in range. */
int filter_new_columns(struct bytes family, const struct filter_range *range,
		       struct filter **out);

/* The cells whose values are in range. */
int filter_new_values(const struct filter_range *range, struct filter **out);

/* The cells whose values are as long as the mask, which is not empty, and have
 * all bits that it has. */
int filter_new_bitmask(struct bytes mask, struct filter **out);

/* from <= timestamp < to; to 0 is unbounded. */
int filter_new_timestamps(uint64_t from_us, uint64_t to_us,
			  struct filter **out);

/* The first n cells of a row, all but those, the first n of a column. n is
 * positive; of an offset it may be 0. */
int filter_new_row_limit(int64_t n, struct filter **out);
int filter_new_row_offset(int64_t n, struct filter **out);
int filter_new_column_limit(int64_t n, struct filter **out);

/* Gives cells a label of 1 to FILTER_LABEL_MAX bytes of [a-z0-9-]; a cell can
 * have one only, so a chain may hold only one part that labels. */
int filter_new_label(struct bytes label, struct filter **out);

/* Whole rows with a probability greater than 0 and less than 1. Whether a row
 * is taken is a function of its key, so that it is the same in every scan. */
int filter_new_sample(double probability, struct filter **out);

/* At least two parts. */
int filter_new_chain(struct filter *const *parts, size_t count,
		     struct filter **out);
int filter_new_interleave(struct filter *const *parts, size_t count,
			  struct filter **out);

/* At least two parts, without a sink. Neither they nor what follows may count
 * cells: it may be given one again that it did not pass. */
int filter_new_union(struct filter *const *parts, size_t count,
		     struct filter **out);

/* Each may be NULL: the predicate is then whether there is any cell, the others
 * pass nothing. No sink may be inside. */
int filter_new_condition(struct filter *predicate, struct filter *if_true,
			 struct filter *if_false, struct filter **out);

#endif
