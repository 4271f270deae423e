#ifndef FS_QUERY_SIZED_TEXT_H
#define FS_QUERY_SIZED_TEXT_H

#include "fs/query/query_run.h"
#include "store/text/print/print_cells.h"

/*
 * The text of an export, made from its beginning or from the beginning of a row
 * on; from either it is the same, as it is of one snapshot. One thread at a
 * time uses it; it outlives neither the node nor the snapshot.
 */
struct sized_text {
	struct query *query;     /* owned */
	enum text_format format; /* TEXT_CSV, TEXT_TSV or TEXT_JSONL */
	struct print_cells cells;
	uint64_t made;   /* the offset in the text of what comes next */
	uint64_t wanted; /* the first row from there on is a place to stop at */
	bool ended;
	/* The first cell of the row that it stopped at. */
	bool stopped;
	struct cell first;
	uint64_t rows; /* begun since it was sought */
};

/* Where a row begins in the text. */
struct sized_point {
	uint64_t offset;
	struct bytes row;
};

/* A text of the query that node, a terminal, stands for. 0 or an error, with
 * nothing to be closed. */
int sized_text_open(struct fs *fs, struct node *node, enum text_format format,
		    const struct snapshot *snapshot, struct sized_text *t)
	EXCLUDES(fs->tree);
void sized_text_close(struct fs *fs, struct sized_text *t);

/* What comes next begins at point; NULL is the beginning. It will not stop; the
 * step limit counts from there, so that more may follow than the whole has. */
int sized_text_seek(struct fs *fs, struct sized_text *t,
		    const struct sized_point *point) EXCLUDES(fs->tree);

/* Appends what one more cell makes: 0 or an error, after which it is sought
 * first. Once the text has come so far that a stop is wanted and a row begins,
 * it stops: stopped is set, first is of that row, and nothing was lost. */
int sized_text_make(struct sized_text *t, struct buf *out);

/* The next call may not come soon. */
void sized_text_rest(struct sized_text *t);

#endif
