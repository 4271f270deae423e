#ifndef FS_COMMAND_METRICS_WRITER_H
#define FS_COMMAND_METRICS_WRITER_H

#include "fs/command/metrics_file.h"

/*
 * Who writes a file of figures: a thread of its own, since the file's disk may
 * hang, and figures wait for a sync of the store. So nobody waits for either,
 * but who ends it; and for the disk no longer than METRICS_END_MS.
 */
#define METRICS_FILE_US UINT64_C(10000000) /* it is written so often */
#define METRICS_END_MS 2000

struct metrics_writer;

/* What lives until metrics_writer_stop has returned; the thread calls neither
 * function after that. */
struct metrics_source {
	const char *path; /* of the file, as it was named */
	void (*print)(void *context, struct figures *f);
	/* Of an error that is new, with its err_detail(). */
	void (*tell)(void *context, int err);
	void *context;
};

/* Writes the file at once, and again when it is told to. m is the writer's from
 * here on, also on failure. 0, -EAGAIN or -ENOMEM. */
int metrics_writer_start(struct metrics_file *m,
			 const struct metrics_source *source,
			 struct metrics_writer **out);

/* Has the file written, if by a steady clock it is due; waits for nothing. By
 * one thread at a time; NULL is allowed. */
void metrics_writer_tick(struct metrics_writer *w, uint64_t now_us);

/* Ends it, and removes the file. Where the disk does not answer, the thread and
 * what it uses are left to the end of the process: -ETIMEDOUT with its
 * sentence, as the file may be there still; else 0. NULL is allowed. */
int metrics_writer_stop(struct metrics_writer *w);

#endif
