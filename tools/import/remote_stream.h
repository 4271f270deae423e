#ifndef TOOLS_IMPORT_REMOTE_STREAM_H
#define TOOLS_IMPORT_REMOTE_STREAM_H

#include "tools/verb/verb.h"

/*
 * The end of an import through a control file of a mount, opened to be read and
 * written: what was written becomes durable, and its report is read. That lines
 * were refused is EINVAL of close and fsync, and told by the report.
 */

/* After the last write: 0, or the errno of what went wrong. */
int remote_stream_end(int out);

/* A report: "name value" lines, and those that were refused. */
struct remote_report {
	unsigned long long rows, refused, committed_line;
	struct buf lines; /* "line N: reason\n" each */
	struct buf error; /* what ended the import; ended by a NUL, or empty */
};

void remote_report_release(struct remote_report *r);

/* Reads the report of the import that out is, and closes out. 0, or 1 after it
 * said what is wrong. */
int remote_report_read(struct verb_call *c, int out, struct remote_report *r);

/* Reads the report and tells of it; err, with its detail, is what ended the
 * import, or 0. The exit status. Closes out. */
int remote_stream_tell(struct verb_call *c, int out, int err);

#endif
