#include <assert.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "tools/verb/remote.h"

#define CTL ".tabletfs/ctl"

/* So much of a reply is read at once. */
#define REPLY_SIZE ((size_t)256 << 10)

/* Sets request to the words, each with its NUL, behind their length. */
static int encode_request(int argc, char **argv, struct buf *request)
{
	struct buf words = BUF_INIT;
	int i, err = 0;

	for (i = 0; !err && i < argc; i++) {
		err = buf_add_string(&words, argv[i]);
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

/* Copies the size bytes of a frame that follow in in; false if it ends before,
 * or out takes no more. */
static bool copy_frame(FILE *in, size_t size, FILE *out)
{
	char piece[65536];

	while (size > 0) {
		size_t n = size < sizeof(piece) ? size : sizeof(piece);

		n = fread(piece, 1, n, in);
		if (n == 0)
			return false;
		if (fwrite(piece, 1, n, out) != n)
			return false;
		size -= n;
	}
	return true;
}

int remote_reply(const struct served *served, FILE *ctl, FILE *out, FILE *err)
{
	unsigned long long number;
	int letter;

	/* A frame a round. */
	while ((letter = getc(ctl)) != EOF) {
		if (fscanf(ctl, "%llu", &number) != 1 || getc(ctl) != '\n')
			break;
		if (letter == 'x')
			return (int)number;
		if (!copy_frame(ctl, number, letter == 'e' ? err : out))
			break;
	}
	if (ferror(out))
		return fail(ERR_bad_argument, "what the command prints could "
					      "not be written");
	return fail(ENOTCONN, "%s%s: the reply was cut short",
		    (char *)served->place.data,
		    served->root < 0 ? "" : "/" CTL);
}

int remote_write(int fd, struct bytes data)
{
	while (data.size > 0) {
		ssize_t n = write(fd, data.data, data.size);

		if (n < 0 && errno != EINTR)
			return errno;
		data = bytes_after(data, n > 0 ? (size_t)n : 0);
	}
	return 0;
}

/* A descriptor, or a negative errno. */
static int open_ctl(const struct served *served)
{
	int fd;

	if (served->root < 0)
		return served_connect(served->directory);
	fd = openat(served->root, CTL, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
	return fd < 0 ? -errno : fd;
}

/* What helps against an error of reaching who has the store; opened: of asking
 * it then, which it answers by what is wrong. */
static const char *advice(const struct served *served, int err, bool opened)
{
	if (err == ECONNABORTED || err == ENOTCONN || err == ECONNRESET ||
	    err == EPIPE)
		return "; it has ended, try again";
	if (opened || err == EACCES || err == EPERM)
		return "";
	return served->root < 0 ? "; end that to use the store itself"
				: "; unmount it to use the store itself";
}

/* Opens the control file and writes the request, with the number of an error
 * that tells all in its detail. */
static int send_request(const struct served *served, struct bytes request,
			FILE **ctl)
{
	int fd = open_ctl(served);
	bool opened = fd >= 0;
	int err = fd < 0 ? -fd : remote_write(fd, request);

	/* The request moved the offset; the reply is read from 0. */
	if (!err && lseek(fd, 0, SEEK_SET) < 0 && errno != ESPIPE)
		err = errno;
	if (!err)
		*ctl = fdopen(fd, "r");
	if (!err && !*ctl)
		err = errno;
	if (!err) {
		/* Each read is a request to the daemon. Without memory for
		 * this it is a smaller one. */
		setvbuf(*ctl, NULL, _IOFBF, REPLY_SIZE);
		return 0;
	}
	if (fd >= 0)
		close(fd);
	return fail(ERR_store_in_use,
		    served->root < 0 ? "the store is served, but %s: %s%s"
				     : "the store is mounted, but %s/" CTL
				       ": %s%s",
		    (char *)served->place.data, strerror(err),
		    advice(served, err, opened));
}

int remote_send(const struct served *served, int argc, char **argv, FILE **ctl)
{
	struct buf request = BUF_INIT;
	int err = encode_request(argc, argv, &request);

	assert(argc > 0);
	*ctl = NULL;
	if (!err)
		err = send_request(served, buf_bytes(&request), ctl);
	buf_release(&request);
	return err;
}

int remote_run(struct verb_call *c, const struct served *served)
{
	FILE *ctl;
	int status = remote_send(served, c->argc, c->argv, &ctl);

	if (!status) {
		status = remote_reply(served, ctl, c->out, c->err);
		fclose(ctl);
	}
	return status < 0 ? verb_wrong(c, "%s", verb_error_text(status))
			  : status;
}
