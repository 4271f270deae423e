#ifndef TOOLS_OUTPUT_WHOLE_FILE_H
#define TOOLS_OUTPUT_WHOLE_FILE_H

#include <sys/stat.h>

#include "store/base/buf.h"

/*
 * A file that is appended to by records, of which it never keeps a part: what
 * was written of one is cut off again if the rest cannot be, as on a full disk,
 * or does not come. So it is with a regular file; a pipe or a device gets what
 * it gets. Calls return 0 or -1 with errno set, after which nothing more is
 * written. One thread at a time uses it.
 */
struct whole_file;

/* Opens it as it is, or makes it. */
int whole_file_open(const char *path, struct whole_file **out);

void whole_file_stat(const struct whole_file *f, struct stat *out);

/* Nothing is in it any more. */
int whole_file_empty(struct whole_file *f);

/* Cuts off what is behind the last newline, as a process leaves it that is
 * killed while it writes; *cut is how many bytes those were. */
int whole_file_mend(struct whole_file *f, uint64_t *cut);

/* Appends to the present record, and ends it. */
int whole_file_add(struct whole_file *f, struct bytes text);
void whole_file_end(struct whole_file *f);

/* What was added so far outlives the process. */
int whole_file_flush(struct whole_file *f);

/* Ends f in every case; NULL is allowed. -1 also if a call before failed. */
int whole_file_close(struct whole_file *f);

#endif
