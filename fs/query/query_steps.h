#ifndef FS_QUERY_QUERY_STEPS_H
#define FS_QUERY_QUERY_STEPS_H

#include "store/store.h"

/*
 * What the steps of a path under .scan say, as they come, in any order. Those
 * about rows narrow the selection at once; those about cells are filters, whose
 * order is theirs and not the path's: the expression sees what families,
 * columns and times leave, versions are counted of what it leaves, and value is
 * about these.
 */
enum query_part {
	QUERY_ROW_REGEX,
	QUERY_FAMILY,
	QUERY_COLUMN,
	QUERY_TIMES,
	QUERY_EXPRESSION,
	QUERY_VERSIONS,
	QUERY_VALUE,
	QUERY_PARTS,
};

struct query_steps {
	struct select select; /* owned, as the filters */
	struct filter *parts[QUERY_PARTS];
	struct bytes prefix;    /* of the step prefix, borrowed; empty: none */
	uint64_t version_limit; /* of each column; UINT64_MAX: all */
	bool has_versions;      /* the step versions was given */
	uint64_t since_us, until_us; /* since <= timestamp < until */
};

/* What no step says: all rows, of cells the newest version. */
void query_steps_init(struct query_steps *st);
void query_steps_release(struct query_steps *st);

/* Notes what a step says: 0, 1 if its value does not parse, or an error, of a
 * pattern with what is wrong. */
int query_steps_add(struct query_steps *st, struct bytes name,
		    struct bytes value);

/* Makes of all that st->select, whole; with rows_only as far as it matters to
 * rows. 0 or an error. */
int query_steps_finish(struct query_steps *st, bool rows_only);

/* Whether the step name, which exists, may have this value: 0, -ENOENT with the
 * reason in err_detail, or -ENOMEM. */
int query_check_step(struct bytes name, struct bytes value);

/* The rows that the step prefix or range means: start points into value, end,
 * empty at first, is set to a copy; either is empty if it is open. -ENOENT for
 * a range without "..", or -ENOMEM, both with end to be released. */
int query_step_rows(struct bytes name, struct bytes value, struct bytes *start,
		    struct buf *end);

#endif
