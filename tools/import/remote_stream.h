#ifndef TOOLS_IMPORT_REMOTE_STREAM_H
#define TOOLS_IMPORT_REMOTE_STREAM_H

#include "store/text/track/import_position.h"
#include "tools/verb/verb.h"

/*
 * The end of an import through a control file of a mount, opened to be read and
 * written: what was written becomes durable, and its report is read. That lines
 * were refused is EINVAL of close and fsync, and told by the report; why it is
 * the error of open, the mount tells elsewhere.
 */

/* What the daemon found wrong when it refused to open path, below the mount's
 * root, with EINVAL: a sentence for why, ended by a NUL. 0, or an error if it
 * cannot be had. */
int remote_stream_refusal(int root, const char *path, struct buf *why);

/* Before the first write: if this process is killed, a last record that has no
 * end is left out. 0, or an errno. */
int remote_stream_begin(int out);

/* After the last write: 0, or the errno of what went wrong. Unless is_whole a
 * last record that has no end is left out, too. */
int remote_stream_end(int out, bool is_whole);

/* A report: "name value" lines, and those that were refused. */
struct remote_report {
	unsigned long long rows, refused, committed_line;
	struct buf lines; /* "line N: reason\n" each */
	struct buf error; /* what ended the import; ended by a NUL, or empty */
	struct import_position position; /* of one with a name */
};

void remote_report_release(struct remote_report *r);

/* Reads the report of the import that out is: 0 or an error, as when the daemon
 * is gone. What r holds is to be released in both cases. */
int remote_report_read(int out, struct remote_report *r);

/* Reads the report and tells of it; err, with its detail, is what ended the
 * import, or 0. The exit status. Closes out. */
int remote_stream_tell(struct verb_call *c, int out, int err);

#endif
