#ifndef FS_QUERY_QUERY_H
#define FS_QUERY_QUERY_H

#include "fs/state/fs.h"

/*
 * Queries: what a path under TABLE/.scan asks for. Between .scan and the
 * terminal stand steps ("prefix/<p>", "limit/<n>", "reverse"), in any order,
 * each at most once. A query visits the cells, the rows or the segments that
 * all of its steps let pass, in key order, as one snapshot has them. This
 * module reads the steps and answers questions about single names; query_run.h
 * walks through what passes.
 *
 * A query belongs to one thread at a time: the lock of the control file, or of
 * the open directory, that has it. What it says of nodes holds without a lock,
 * because nodes of steps are never renamed and hold their parents.
 */
enum query_form {
	QUERY_CELLS,    /* only query_next is called */
	QUERY_ROWS,     /* only query_next_row is called */
	QUERY_SEGMENTS, /* only query_next_segment is called */
};

struct query {
	enum query_form form;

	/* What the steps say. All struct bytes are borrowed: from memory, from
	 * prefix_end, or, the delimiter, from the mount's options. */
	struct buf memory;       /* the values of the steps, end to end */
	struct node *node;       /* the terminal; borrowed */
	struct bytes start, end; /* of rows, end exclusive; empty: open */
	struct bytes prefix;     /* of the step prefix; empty: none */
	struct buf prefix_end;   /* the first key past prefix; empty: none */
	struct bytes delimiter;  /* that ends a segment; never empty */
	bool reverse;
	/* Whether the step was given: an empty value is one, too. */
	bool has_family, has_regex, has_column, has_value, has_expression;
	struct bytes family, regex, column_regex, value, expression;
	uint64_t row_limit;          /* rows or segments; UINT64_MAX: all */
	uint64_t version_limit;      /* of each column; UINT64_MAX: all */
	bool has_versions;           /* the step versions was given */
	uint64_t since_us, until_us; /* since <= timestamp < until */

	/* Where it is. */
	struct snapshot *snapshot; /* owned; NULL: the store of now */
	struct filter *filter;     /* owned; NULL if the steps need none */
	struct scan *scan;         /* owned; NULL if ended from the start */
	bool rows_only;            /* the scan gives rows, no cells */
	enum cursor_step step; /* from the present cell to the next candidate */
	bool ended;
	int error;              /* that ended it, until query_rewind */
	bool is_in_row;         /* row is the present one */
	bool row_passed;        /* a cell of the present row has passed */
	uint64_t row_count;     /* rows or segments that passed */
	uint64_t version_count; /* of the present column that passed */
	struct buf row;    /* the present row; of segments prefix and segment */
	struct buf column; /* family and qualifier; of segments scratch */
	size_t family_size; /* of column; SIZE_MAX: no column met yet */
	bool has_segment;   /* row holds the segment that was given last */
};

/* A step of a path under .scan or .import. Both parts are borrowed from nodes
 * and valid as long as these are referenced; value is empty for a step that has
 * none (reverse). */
struct query_step {
	struct bytes name, value;
};

/* Walks a path's steps from its end. *node is a directory of .scan or .import:
 * takes the step that it ends and sets *node to the directory above that step;
 * false, with nothing changed, when there is no more. */
bool query_next_step(struct node **node, struct query_step *step);

/* Whether the path up to and with node, a directory of .scan or .import, has
 * the step called name. */
bool query_has_step(struct fs *fs, struct node *node, const char *name);

/* Whether the step name, which exists, may have this value: 0, -ENOENT with the
 * reason in err_detail, or -ENOMEM. */
int query_check_step(struct bytes name, struct bytes value);

/* The rows that the step prefix or range means: start points into value, end,
 * empty at first, is set to a copy; either is empty if it is open. -ENOENT for
 * a range without "..", or -ENOMEM, both with end to be released. */
int query_step_rows(struct bytes name, struct bytes value, struct bytes *start,
		    struct buf *end);

/* A query of the steps above node, a terminal that the caller refers to as
 * long, or of all versions of the row that a .row.jsonl is of, on a snapshot of
 * now, placed before its first result. On 0 the caller owns *out.
 * -ERR_no_table, or an error of a step's pattern. */
int query_open(struct fs *fs, struct node *node, enum query_form form,
	       struct query **out) EXCLUDES(fs->tree);
void query_close(struct fs *fs, struct query *q);

/* Whether the directory rows would list this row key, or segments this segment,
 * if it had no step limit: 1, 0 or an error. Asks the store as it is now. */
int query_has_row(struct fs *fs, struct node *rows, struct bytes row)
	EXCLUDES(fs->tree);
int query_has_segment(struct fs *fs, struct node *segments,
		      struct bytes segment) EXCLUDES(fs->tree);

/* Appends the target of a segment's link, relative to the directory segments:
 * the row, if the segment ends its key, else .scan with the same steps and the
 * prefix longer by the segment. 0 or -ENOMEM. */
int query_link(struct fs *fs, struct node *segments, struct bytes segment,
	       struct buf *out);

/* How many directories lie between node, which counts, and its table, which
 * does not: so many "../" lead from node to the table. */
size_t query_depth(struct fs *fs, struct node *node);

#endif
