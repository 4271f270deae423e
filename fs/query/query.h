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

	struct node *node;      /* the terminal; borrowed */
	struct select select;   /* owned: what the steps say */
	struct buf prefix;      /* of the step prefix; empty: none */
	struct bytes delimiter; /* that ends a segment; never empty; the mount's
				    options' */

	const struct snapshot *snapshot; /* NULL: the store of now */
	struct snapshot *owned;          /* the same, if it is the query's */
	struct select_scan *scan; /* owned; NULL if it could not be opened */
	/* Of its scans, from a rewind on; NULL: loop_is_interrupted. */
	bool (*stop)(void);
	int error;              /* why, until query_rewind */
	struct buf row;         /* of segments: prefix and segment given last */
	bool has_segment;       /* row holds one */
	uint64_t segment_limit; /* the step limit is of segments */
	uint64_t segment_count; /* that were given */
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

/* A query of the steps above node, a terminal that the caller refers to as
 * long, or of all versions of the row that a .row.jsonl is of, on a snapshot of
 * now, placed before its first result. On 0 the caller owns *out.
 * -ERR_no_table, or an error of a step's pattern. */
int query_open(struct fs *fs, struct node *node, enum query_form form,
	       struct query **out) EXCLUDES(fs->tree);
/* The same on a snapshot of the caller's, which outlives it. */
int query_open_at(struct fs *fs, struct node *node, enum query_form form,
		  const struct snapshot *snapshot, struct query **out)
	EXCLUDES(fs->tree);
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
