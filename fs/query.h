#ifndef FS_QUERY_H
#define FS_QUERY_H

#include "fs/fs.h"

/*
 * A query is a path under .scan: steps in any order, each at most once. It
 * visits the cells of a row range in order, filtered.
 */
struct query {
	struct buf memory; /* names and values */
	struct buf table_name;
	struct bytes start, end; /* of rows, end exclusive; empty: open */
	struct buf prefix_end;
	bool reverse;
	bool has_family;
	struct bytes family;
	uint64_t row_limit, version_limit; /* UINT64_MAX: none */
	uint64_t since_us, until_us;

	struct snapshot *snapshot;
	struct scan *scan;
	enum cursor_step step; /* to the next candidate */
	bool ended;
	bool is_in_row;
	bool row_passed;        /* a cell of the present row has passed */
	uint64_t row_count;     /* rows that passed */
	uint64_t version_count; /* of the present column that passed */
	struct buf row;         /* the present row */
	struct buf column;      /* the present family and qualifier */
	size_t family_size;     /* of column */
};

/* Whether a path up to node has this step already. */
bool query_has_step(struct fs *fs, struct node *node, const char *name);
/* 0, or -ENOENT with the reason. */
int query_check_step(struct bytes name, struct bytes value);

/* Reads the steps above node, a terminal, and takes a snapshot. */
int query_open(struct fs *fs, struct node *node, struct query **out);
void query_close(struct fs *fs, struct query *q);
/* From the beginning again, on the same snapshot. */
int query_rewind(struct fs *fs, struct query *q);
/* The next cell: 1, 0 at the end, or an error. */
int query_next(struct query *q, struct cell *cell);
/* The first cell that passes of the next row. */
int query_next_row(struct query *q, struct cell *cell);

/* Whether a row of this key exists in the terminal's range, whatever its
 * limit: 1, 0 or an error. */
int query_has_row(struct fs *fs, struct node *rows, struct bytes row);
/* How many directories a terminal is below its table. */
size_t query_depth(struct fs *fs, struct node *node);

#endif
