#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "store/base/volume/volume_posix_own.h"
#include "tools/verb/remote.h"

/* How the daemon's line goes on, after what it is and its pid. */
#define MOUNTED_AT "mounted at "

int remote_find(const char *store, struct buf *mount_point)
{
	struct buf line = BUF_INIT;
	const char *at;
	int err = volume_posix_holder(store, &line);

	if (!err)
		err = buf_terminate(&line);
	if (err < 0)
		goto release;
	at = strstr((char *)line.data, MOUNTED_AT);
	if (at)
		err = buf_set(mount_point,
			      bytes_string(at + strlen(MOUNTED_AT)));
	else
		err = fail(ENOENT,
			   "store %s is in use by %s; end that process first",
			   store, line.size ? (char *)line.data : "another");
	while (!err && mount_point->size > 0 &&
	       mount_point->data[mount_point->size - 1] == '\n')
		mount_point->size--;
	if (!err)
		err = buf_terminate(mount_point);
release:
	buf_release(&line);
	return err;
}

/* The full path of what need not be there yet, allocated; NULL if there is no
 * memory. */
static char *full_path(const char *name)
{
	char *here = name[0] == '/' ? NULL : getcwd(NULL, 0), *path = NULL;

	if (asprintf(&path, "%s%s%s", here ? here : "", here ? "/" : "", name) <
	    0)
		path = NULL;
	free(here);
	return path;
}

/* The words, each with its NUL. A file that the daemon shall open is named by
 * its full path. */
static int encode_request(struct verb_call *c, struct buf *request)
{
	int i, err = 0;

	for (i = 0; !err && i < c->argc; i++) {
		char *path = NULL;

		if (i == 2 && !strcmp(c->argv[0], "import"))
			path = realpath(c->argv[i], NULL);
		if (i == 1 && !strcmp(c->argv[0], "backup"))
			path = full_path(c->argv[i]);
		err = buf_add_string(request, path ? path : c->argv[i]);
		if (!err)
			err = buf_add_byte(request, 0);
		free(path);
	}
	return err;
}

/* Copies size bytes of a frame. */
static bool copy_frame(FILE *in, size_t size, FILE *out)
{
	char piece[4096];

	while (size > 0) {
		size_t n = size < sizeof(piece) ? size : sizeof(piece);

		n = fread(piece, 1, n, in);
		if (n == 0)
			return false;
		fwrite(piece, 1, n, out);
		size -= n;
	}
	return true;
}

/* Reads frames up to the exit status, which it returns; -1 if it is cut. */
static int read_reply(struct verb_call *c, FILE *in)
{
	unsigned long long number;
	int letter;

	while ((letter = getc(in)) != EOF) {
		if (fscanf(in, "%llu", &number) != 1 || getc(in) != '\n')
			return -1;
		if (letter == 'x')
			return (int)number;
		if (!copy_frame(in, number, letter == 'e' ? c->err : c->out))
			return -1;
	}
	return -1;
}

int remote_run(struct verb_call *c, const char *mount_point)
{
	struct buf request = BUF_INIT;
	FILE *reply = NULL;
	char *path = NULL;
	int fd = -1, status = 1;
	ssize_t size = -1;

	if (asprintf(&path, "%s/.tabletfs/ctl", mount_point) < 0)
		path = NULL;
	if (!path || encode_request(c, &request) < 0) {
		verb_failed(c, c->argv[0], -ENOMEM);
		goto release;
	}
	fd = open(path, O_RDWR | O_CLOEXEC);
	if (fd >= 0)
		size = write(fd, request.data, request.size);
	if (size < 0) {
		verb_wrong(c,
			   "the store is mounted, but %s: %s; unmount it to "
			   "use the store itself",
			   path, strerror(errno));
		goto release;
	}
	if (lseek(fd, 0, SEEK_SET) == 0 || errno == ESPIPE)
		reply = fdopen(fd, "r");
	if (!reply) {
		verb_wrong(c, "%s: %s", path, strerror(errno));
		goto release;
	}
	fd = -1;
	status = read_reply(c, reply);
	if (status < 0)
		status = verb_wrong(c, "%s: the reply was cut short", path);
release:
	if (reply)
		fclose(reply);
	if (fd >= 0)
		close(fd);
	free(path);
	buf_release(&request);
	return status;
}
