#ifndef STORE_INSPECT_H
#define STORE_INSPECT_H

#include "store/base/buf.h"

/*
 * Inspection: shows what a file of a store consists of, and tells what is wrong
 * with it and where. It needs no open store, takes no lock and changes nothing,
 * so that it works on files that were copied from anywhere, beside whoever
 * writes the store, and on a store that does not open.
 *
 * What it tells is lines "NAME VALUE" for people and scripts; names stay what
 * they are. Two are about the bytes of a file:
 *
 *   problem FILE: offset FROM to END: PART: what is wrong
 *   note FILE: offset FROM to END: PART: what is no problem, such as the torn
 *              tail that a crash leaves, or damage of what is of no use
 *
 * Memory is bounded by the largest block, record or chunk, whatever the file's
 * size. Any thread may call it.
 */
struct inspect_options {
	/* One of the words sst log edits blob root marker lock heat
	 * spare; NULL: by
	 * the file's name, or else by what is in it. Not of a directory. */
	const char *kind;
	bool entries;   /* a line for each entry, change or chunk */
	uint64_t count; /* only so many of a file; 0: all */
	/* Appends bytes that anybody may have chosen in a form that is a word
	 * of a line. 0 or -ENOMEM. */
	int (*quote)(struct bytes text, struct buf *out);
	/* Takes a line, without its newline. A negative result ends all, and is
	 * returned. */
	int (*line)(void *context, const char *text);
	void *context; /* for line */
};

/*
 * Inspects a file, or with a directory's path all that are in it, each in one
 * line but for what is wrong, and whether they are those that the manifest
 * names. The manifest is looked for beside a single file, too: without it a log
 * or blob file cannot be told to be shorter than it was. *problem_count is of
 * problems, without notes, also after an error. 0 however much is wrong;
 * -ENOENT, -ERR_bad_argument for a kind that there is not, -ENOMEM, or what
 * line returned.
 */
int store_inspect(const char *path, const struct inspect_options *options,
		  uint64_t *problem_count);

#endif
