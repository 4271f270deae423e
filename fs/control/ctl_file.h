#ifndef FS_CONTROL_CTL_FILE_H
#define FS_CONTROL_CTL_FILE_H

#include "fs/control/ctl.h"
#include "store/text/json/json_result.h"

/* What several kinds of control files do alike. */

/* A ctl_ops.read for files whose whole text was put in out by open. */
int ctl_read_text(struct fs *fs, struct ctl_file *f, uint64_t offset,
		  size_t size, struct buf *out);

/* ctl_ops of terminals of .scan and of .row.jsonl, whose text is made as it is
 * read, on a snapshot of the open. */
int ctl_scan_open(struct fs *fs, struct ctl_file *f);
int ctl_scan_read(struct fs *fs, struct ctl_file *f, uint64_t offset,
		  size_t size, struct buf *out);
void ctl_scan_release(struct fs *fs, struct ctl_file *f);

/* How a file that takes lines does so. */
struct ctl_lines {
	size_t size_max; /* of a line, without its newline */
	int too_long;    /* the errno, positive, of one that is longer */
	/* Takes a line, borrowed and without its newline. On an error the line
	 * is not taken. */
	int (*each)(void *context, struct bytes line);
	void *context;
};

/*
 * Gives each the lines that data completes, after what partial holds of the
 * first, and keeps in partial what is left of the last. Returns how many bytes
 * of data were taken: all, or those before the first line that each refused, or
 * that is too long; then *err is that error, else 0. partial then still holds
 * what it held of the refused line, so that a caller who writes the rest again
 * meets it again.
 */
size_t ctl_take_lines(struct spill *partial, struct bytes data,
		      const struct ctl_lines *lines, int *err);

/* Runs a text written to f as mutation_run_json does, durably with -o sync;
 * with a quota that is used up, only one that deletes and does nothing else.
 * -EACCES of a condition that f may not ask. */
int ctl_run_mutation(struct fs *fs, const struct ctl_file *f,
		     struct bytes table, struct bytes row, struct bytes text,
		     struct json_result *result) NEEDS_SHARED(fs->tree);

#endif
