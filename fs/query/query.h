#ifndef FS_QUERY_QUERY_H
#define FS_QUERY_QUERY_H

#include "fs/state/fs.h"

/*
 * A query is a path under .scan: steps in any order, each at most once. It
 * visits the cells of a row range in order, filtered.
 */
enum query_form {
	QUERY_CELLS,
	QUERY_ROWS,     /* only query_next_row is called */
	QUERY_SEGMENTS, /* only query_next_segment is called */
};

struct query {
	enum query_form form;
	struct buf memory; /* names and values */
	struct buf table_name;
	struct bytes start, end; /* of rows, end exclusive; empty: open */
	struct bytes prefix;     /* of the step prefix */
	struct buf prefix_end;
	struct bytes delimiter; /* of segments */
	bool reverse;
	bool has_family, has_regex, has_column, has_value, has_expression;
	struct bytes family, regex, column_regex, value, expression;
	uint64_t row_limit, version_limit; /* UINT64_MAX: none */
	bool has_versions;                 /* version_limit was said */
	uint64_t since_us, until_us;

	struct snapshot *snapshot;
	struct filter *filter; /* NULL if the steps need none */
	struct scan *scan;
	bool rows_only;        /* the scan gives no cells */
	enum cursor_step step; /* to the next candidate */
	bool ended;
	int error; /* that ended it, until query_rewind */
	bool is_in_row;
	bool row_passed;        /* a cell of the present row has passed */
	uint64_t row_count;     /* rows that passed */
	uint64_t version_count; /* of the present column that passed */
	struct buf row;         /* the present row */
	struct buf column;      /* the present family and qualifier */
	size_t family_size;     /* of column */
	bool has_segment;       /* row is prefix and segment */
};

/* A step of a path under .scan or .import; one without a value has its name
 * only. */
struct query_step {
	struct bytes name, value;
};

/* Takes the step that *node ends, from the path's end on, and goes above it;
 * false when there is none. */
bool query_next_step(struct node **node, struct query_step *step);
/* Whether a path up to node has this step already. */
bool query_has_step(struct fs *fs, struct node *node, const char *name);
/* 0, or -ENOENT with the reason. */
int query_check_step(struct bytes name, struct bytes value);

/* The rows of a step prefix or range, as STEP/value says: start points into
 * value, end is set. -ENOENT with the reason. */
int query_step_rows(struct bytes name, struct bytes value, struct bytes *start,
		    struct buf *end);

/* Reads the steps above node, a terminal, and takes a snapshot. */
int query_open(struct fs *fs, struct node *node, enum query_form form,
	       struct query **out);
void query_close(struct fs *fs, struct query *q);

/* Whether a row of this key passes, or one with this segment, whatever the
 * limit: 1, 0 or an error. */
int query_has_row(struct fs *fs, struct node *rows, struct bytes row);
int query_has_segment(struct fs *fs, struct node *segments,
		      struct bytes segment);
/* Appends where a segment's link leads, from its directory. */
int query_link(struct fs *fs, struct node *segments, struct bytes segment,
	       struct buf *out);
/* How many directories a terminal is below its table. */
size_t query_depth(struct fs *fs, struct node *node);

#endif
