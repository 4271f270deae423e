#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "tools/import/import_report.h"
#include "tools/import/remote_stream.h"

/* The close of a duplicate takes a last line that has no newline. Then all is
 * made durable, as import does without a mount. */
int remote_stream_end(int out)
{
	if (close(fcntl(out, F_DUPFD_CLOEXEC, 0)) < 0 && errno != EINVAL)
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

int remote_report_read(struct verb_call *c, int out, struct remote_report *r)
{
	FILE *in = lseek(out, 0, SEEK_SET) < 0 ? NULL : fdopen(out, "r");
	char *line = NULL;
	size_t room = 0;
	int err = 0;

	*r = (struct remote_report){ 0 };
	if (!in) {
		verb_wrong(c, "Importing: %s", strerror(errno));
		close(out);
		return 1;
	}
	while (!err && getline(&line, &room, in) > 0) {
		if (!strncmp(line, "error ", 6)) {
			line[strcspn(line, "\n")] = 0;
			err = buf_set(&r->error, bytes_string(line + 6));
			if (!err)
				err = buf_terminate(&r->error);
		}
		if (!strncmp(line, "line ", 5))
			err = buf_add_string(&r->lines, line);
		(void)!sscanf(line, "rows %llu", &r->rows);
		(void)!sscanf(line, "refused %llu", &r->refused);
		(void)!sscanf(line, "committed_line %llu", &r->committed_line);
	}
	free(line);
	fclose(in);
	return err < 0 ? verb_failed(c, "Importing", err) : 0;
}

int remote_stream_tell(struct verb_call *c, int out, int err)
{
	struct remote_report r;
	int status = remote_report_read(c, out, &r);

	if (!status && r.error.size > 0)
		status = verb_wrong(c, "%s", (char *)r.error.data);
	else if (!status && err < 0)
		status = verb_wrong(c, "%s", verb_error_text(err));
	if (!status || r.rows > 0)
		status |= import_report(c, r.rows, r.refused,
					buf_bytes(&r.lines));
	remote_report_release(&r);
	return status;
}
