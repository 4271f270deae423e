#ifndef TOOLS_IMPORT_REJECTS_H
#define TOOLS_IMPORT_REJECTS_H

#include "store/text/import/import.h"
#include "tools/output/whole_file.h"

/*
 * Where an import puts what it refuses: the records as they stand in their
 * files, behind the header, so that this is a file of the same kind; and beside
 * it, in FILE.reasons, a line "file:line: why" for each, unless FILE is a
 * device or a pipe. Both end with a whole record or line, whatever fails.
 */
struct rejects {
	const char *path;   /* borrowed; NULL: all functions do nothing */
	const char *recipe; /* a file that is not to be lost; NULL: none */
	struct whole_file *records, *reasons; /* owned; or NULL */
	struct buf header;                    /* of the file that is read */
	struct buf written; /* the header that records begins with */
	bool has_header;    /* written, if only as an empty one */
	bool append;        /* to what is there */
	uint64_t cut_size;  /* of that, what was no whole line; set by open */
	int last;           /* byte of records */
	struct import_rejects to;
};

/* Of a file that is not open yet. r->to goes to import_options.rejects. */
void rejects_init(struct rejects *r, const char *path);

/* Makes both files or empties them; with r->append cuts off what a process that
 * was killed left as its last line. Refuses to write over one of the inputs. 0,
 * or an error. */
int rejects_open(struct rejects *r, const char *const *inputs,
		 unsigned int input_count);

/* Before each input: what is known of a header is that of the one before. */
void rejects_begin_file(struct rejects *r);

/* What was added so far outlives the process from now on: 0 or an error. */
int rejects_flush(struct rejects *r);

/* 0, or the error of a write that failed, now or before. Nothing is left to be
 * closed again. */
int rejects_close(struct rejects *r);

#endif
