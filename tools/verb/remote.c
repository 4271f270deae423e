#include <assert.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "store/base/volume/volume_posix_own.h"
#include "tools/verb/remote.h"

/* What stands before the place in the line of a daemon, "pid N, mounted at
 * PLACE\n", which it leaves in the store's lock file. */
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

/* Appends the words of c, each with its NUL. A directory that the daemon shall
 * make is named by its full path, since the daemon's working directory is
 * another; so is a file to import. */
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

/* Copies the size bytes of a frame that follow in in; false if it ends before.
 * Errors of out show when it is flushed. */
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

/* Reads frames, see fs/kernel/mount.h, up to the exit status, which it returns;
 * -1 if it is cut, as by a daemon that dies. */
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

/* Opens the control file at path and sends the request, which one write has to
 * bring: the file to read the reply from; NULL after it said what is wrong. */
static FILE *send_request(struct verb_call *c, const char *path,
			  struct bytes request)
{
	int fd = open(path, O_RDWR | O_CLOEXEC);
	FILE *reply = NULL;

	if (fd < 0 || write(fd, request.data, request.size) < 0) {
		verb_wrong(c,
			   "the store is mounted, but %s: %s; unmount it to "
			   "use the store itself",
			   path, strerror(errno));
	} else {
		/* The request moved the offset; the reply is read from 0. */
		if (lseek(fd, 0, SEEK_SET) == 0 || errno == ESPIPE)
			reply = fdopen(fd, "r");
		if (!reply)
			verb_wrong(c, "%s: %s", path, strerror(errno));
	}
	if (!reply && fd >= 0)
		close(fd);
	return reply;
}

int remote_run(struct verb_call *c, const char *mount_point)
{
	struct buf request = BUF_INIT;
	FILE *reply = NULL;
	char *path = NULL;
	int status = 1;

	assert(c->argc > 0);
	if (asprintf(&path, "%s/.tabletfs/ctl", mount_point) < 0)
		path = NULL;
	if (!path || encode_request(c, &request) < 0)
		verb_failed(c, c->argv[0], -ENOMEM);
	else
		reply = send_request(c, path, buf_bytes(&request));
	if (reply) {
		status = read_reply(c, reply);
		if (status < 0)
			status = verb_wrong(c, "%s: the reply was cut short",
					    path);
		fclose(reply);
	}
	free(path);
	buf_release(&request);
	return status;
}
