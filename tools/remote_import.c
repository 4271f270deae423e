#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "tools/import.h"
#include "tools/remote.h"

#define PIECE_SIZE (1 << 20)

/* Copies the input into the control file. 0, or 1 after it said what is wrong;
 * that lines were refused is told by close and known from "last". */
static int stream(struct verb_call *c, int in, const char *path)
{
	int out = open(path, O_WRONLY | O_CLOEXEC), status = 0;
	uint8_t *piece = malloc(PIECE_SIZE);
	struct progress progress;
	uint64_t total = 0;
	ssize_t size;

	if (out < 0 || !piece) {
		status = verb_wrong(c, "Importing: %s: %s", path,
				    strerror(errno));
		goto release;
	}
	progress_begin(&progress, c->err, in);
	while ((size = read(in, piece, PIECE_SIZE)) != 0) {
		ssize_t done = 0, n = 0;

		if (size < 0 && errno == EINTR)
			continue;
		while (done < size && n >= 0) {
			n = write(out, piece + done, (size_t)(size - done));
			done += n > 0 ? n : 0;
		}
		if (size < 0 || n < 0) {
			status =
				verb_wrong(c, "Importing: %s", strerror(errno));
			break;
		}
		total += (uint64_t)size;
		progress_update(&progress, total, 0);
	}
	progress_end(&progress);
	if (!status && fsync(out) < 0 && errno != EINVAL)
		status = verb_wrong(c, "Importing: %s", strerror(errno));
release:
	if (out >= 0)
		close(out);
	free(piece);
	return status;
}

/* Reads "name value" lines, and refused lines after them. */
static int read_last(struct verb_call *c, const char *path)
{
	struct buf refused_lines = BUF_INIT;
	unsigned long long rows = 0, refused = 0;
	FILE *in = fopen(path, "r");
	char *line = NULL;
	size_t room = 0;
	int status = 0;

	if (!in)
		return verb_wrong(c, "%s: %s", path, strerror(errno));
	while (getline(&line, &room, in) > 0) {
		if (!strncmp(line, "error ", 6)) {
			line[strcspn(line, "\n")] = 0;
			status = verb_wrong(c, "%s", line + 6);
		}
		if (!strncmp(line, "line ", 5) &&
		    buf_add_string(&refused_lines, line) < 0)
			break;
		(void)!sscanf(line, "rows %llu", &rows);
		(void)!sscanf(line, "refused %llu", &refused);
	}
	status |= import_report(c, rows, refused, buf_bytes(&refused_lines));
	free(line);
	fclose(in);
	buf_release(&refused_lines);
	return status;
}

int remote_import(struct verb_call *c, const char *mount_point)
{
	struct import_arguments a;
	char *path = NULL, *last = NULL;
	int in, status = 1;

	if (import_arguments(c, &a))
		return 1;
	if (store_check_table_name(bytes_string(a.table)) < 0)
		return verb_wrong(c, "Importing: table \"%s\" not found",
				  a.table);
	in = import_open(c, &a);
	if (in < 0)
		return 1;
	/* The control file takes no options: then the daemon reads the file. */
	if (a.family || a.value_timestamps) {
		close(in);
		if (strcmp(a.path, "-"))
			return remote_run(c, mount_point);
		return verb_wrong(c, "a mounted store takes column-family and "
				     "timestamp only with a file, not with -");
	}
	if (asprintf(&path, "%s/%s/.import/%s", mount_point, a.table,
		     a.format_word) < 0)
		path = NULL;
	if (asprintf(&last, "%s/%s/.import/last", mount_point, a.table) < 0)
		last = NULL;
	if (!path || !last)
		verb_failed(c, "Importing", -ENOMEM);
	else if (access(path, W_OK) < 0 && errno == ENOENT)
		verb_wrong(c, "Importing: table \"%s\" not found", a.table);
	else
		status = stream(c, in, path) | read_last(c, last);
	free(path);
	free(last);
	close(in);
	return status;
}
