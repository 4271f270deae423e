#include <assert.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "tools/verb/remote.h"

#define CTL ".tabletfs/ctl"

/* Appends the full path of what need not be there yet, and a slash before what
 * is relative. */
static int add_full_path(const char *name, struct buf *out)
{
	char *here = name[0] == '/' ? NULL : getcwd(NULL, 0);
	int err = 0;

	if (name[0] != '/' && !here)
		return fail(errno, "the working directory");
	if (here)
		err = buf_printf(out, "%s/", here);
	free(here);
	return err ? err : buf_add_string(out, name);
}

/* Sets request to the words of c, each with its NUL, behind their length. A
 * directory that the daemon shall make is named by its full path, since the
 * daemon's working directory is another. */
static int encode_request(struct verb_call *c, struct buf *request)
{
	struct buf words = BUF_INIT;
	int i, err = 0;

	for (i = 0; !err && i < c->argc; i++) {
		if (i == 1 && !strcmp(c->argv[0], "backup"))
			err = add_full_path(c->argv[i], &words);
		else
			err = buf_add_string(&words, c->argv[i]);
		if (!err)
			err = buf_add_byte(&words, 0);
	}
	if (!err)
		err = buf_printf(request, "w%zu\n", words.size);
	if (!err)
		err = buf_add_bytes(request, buf_bytes(&words));
	buf_release(&words);
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

/* Writes all of a request, in as many writes as it takes: 0 or an errno. */
static int write_all(int fd, struct bytes request)
{
	while (request.size > 0) {
		ssize_t n = write(fd, request.data, request.size);

		if (n < 0 && errno != EINTR)
			return errno;
		request = bytes_after(request, n > 0 ? (size_t)n : 0);
	}
	return 0;
}

/* Opens the control file and sends the request: the file to read the reply
 * from; NULL after it said what is wrong. */
static FILE *send_request(struct verb_call *c, const struct served *served,
			  struct bytes request)
{
	int fd = openat(served->root, CTL, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
	int err = fd < 0 ? errno : write_all(fd, request);
	FILE *reply = NULL;

	/* The request moved the offset; the reply is read from 0. */
	if (!err && lseek(fd, 0, SEEK_SET) < 0 && errno != ESPIPE)
		err = errno;
	if (!err)
		reply = fdopen(fd, "r");
	if (!err && !reply)
		err = errno;
	if (err)
		verb_wrong(c,
			   "the store is mounted, but %s/" CTL
			   ": %s; unmount it to use the store itself",
			   (char *)served->place.data, strerror(err));
	if (!reply && fd >= 0)
		close(fd);
	return reply;
}

int remote_run(struct verb_call *c, const struct served *served)
{
	struct buf request = BUF_INIT;
	FILE *reply = NULL;
	int status = 1, err = encode_request(c, &request);

	assert(c->argc > 0);
	if (err)
		verb_failed(c, c->argv[0], err);
	else
		reply = send_request(c, served, buf_bytes(&request));
	if (reply) {
		status = read_reply(c, reply);
		if (status < 0)
			status = verb_wrong(
				c, "%s/" CTL ": the reply was cut short",
				(char *)served->place.data);
		fclose(reply);
	}
	buf_release(&request);
	return status;
}
