#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "tools/import/import_report.h"
#include "tools/import/remote_stream.h"

int remote_stream_begin(int out)
{
	return ftruncate(out, 0) < 0 ? errno : 0;
}

/* The close of a duplicate takes a last line that has no newline, once it may.
 * Then all is made durable, as import does without a mount. */
int remote_stream_end(int out, bool is_whole)
{
	if (is_whole && ftruncate(out, 1) < 0)
		return errno;
	if (is_whole && close(fcntl(out, F_DUPFD_CLOEXEC, 0)) < 0 &&
	    errno != EINVAL)
		return errno;
	if (fsync(out) < 0 && errno != EINVAL)
		return errno;
	return 0;
}

void remote_report_release(struct remote_report *r)
{
	buf_release(&r->lines);
	buf_release(&r->error);
}

/* The whole text of the report, or another, ended by a NUL. 0 or an error. */
static int read_report(int out, struct buf *text)
{
	ssize_t n = 1;
	int err = 0;

	while (!err && n > 0) {
		err = buf_reserve(text, 65536);
		if (err)
			break;
		n = pread(out, text->data + text->size, 65536,
			  (off_t)text->size);
		if (n < 0)
			return fail(errno, "Importing");
		text->size += (size_t)n;
	}
	return err ? err : buf_terminate(text);
}

int remote_stream_refusal(int root, const char *path, struct buf *why)
{
	int in = openat(root, ".tabletfs/errors", O_RDONLY | O_CLOEXEC);
	struct buf text = BUF_INIT, begin = BUF_INIT;
	int err = in < 0 ? -errno : read_report(in, &text);
	const char *line, *end, *at;

	if (in >= 0)
		close(in);
	buf_reset(why);
	if (!err)
		err = buf_add_string(&begin, " /");
	if (!err)
		err = buf_add_visible(&begin, bytes_string(path));
	if (!err)
		err = buf_printf(&begin, ": %s: ", err_text(-ERR_bad_argument));
	/* Behind its time the path; the last of several is the newest. */
	for (line = (char *)text.data; !err && (end = strchr(line, '\n'));
	     line = end + 1) {
		at = strchr(line, ' ');
		if (at && (size_t)(end - at) > begin.size &&
		    !memcmp(at, begin.data, begin.size))
			err = buf_set(
				why, bytes_of(at + begin.size,
					      (size_t)(end - at) - begin.size));
	}
	if (!err)
		err = why->size > 0 ? buf_terminate(why) : -ENOENT;
	buf_release(&text);
	buf_release(&begin);
	return err;
}

/* Takes a line of the report, with its end. */
static int take_report_line(struct remote_report *r, char *line, size_t size)
{
	int err = 0;

	if (!strncmp(line, "error ", 6)) {
		err = buf_set(&r->error, bytes_of(line + 6, size - 7));
		if (!err)
			err = buf_terminate(&r->error);
	}
	if (!strncmp(line, "line ", 5))
		err = buf_add(&r->lines, line, size);
	(void)!sscanf(line, "rows %llu", &r->rows);
	(void)!sscanf(line, "refused %llu", &r->refused);
	(void)!sscanf(line, "committed_line %llu", &r->committed_line);
	return err;
}

int remote_report_read(int out, struct remote_report *r)
{
	struct buf text = BUF_INIT;
	char *line, *end;
	int err;

	*r = (struct remote_report){ 0 };
	err = read_report(out, &text);
	for (line = (char *)text.data; !err; line = end + 1) {
		/* A position stands behind all else. */
		if (!strncmp(line, "version ", 8)) {
			err = import_position_parse(bytes_string(line),
						    &r->position);
			break;
		}
		end = strchr(line, '\n');
		if (!end)
			break;
		err = take_report_line(r, line, (size_t)(end - line) + 1);
	}
	buf_release(&text);
	return err;
}

int remote_stream_tell(struct verb_call *c, int out, int err)
{
	struct remote_report r;
	int status = 0, failed = remote_report_read(out, &r);

	close(out);
	if (failed < 0) {
		verb_wrong(c, "%s", verb_error_text(failed));
		status = verb_wrong(c, "which lines are in is not known, for "
				       "the mount does not tell any more");
	}
	if (!status && r.error.size > 0)
		status = verb_wrong(c, "%s", (char *)r.error.data);
	else if (!status && err < 0)
		status = verb_wrong(c, "%s", verb_error_text(err));
	if (!status || r.rows > 0)
		status |= import_report(c, r.rows, r.refused,
					buf_bytes(&r.lines));
	/* A header alone is nothing to go on from. */
	if (!failed)
		status = import_tell_stopped(
			c, r.rows > 0 ? r.committed_line : 0, status);
	remote_report_release(&r);
	return status;
}
