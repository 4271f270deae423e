#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "store/base/err.h"
#include "tools/input/input_buffer.h"
#include "tools/verb/program.h"

/*
 * What a program undoes: it is fed through a socket, which says that it is gone
 * by an error in place of a signal, and its output is read from a pipe. What is
 * wrong with the file it says on standard error.
 */

/* How bzip2 ends, from some bit on: 48 bits that are always so, a checksum of
 * 32, and what fills the last byte. */
#define TAIL_SIZE 11
#define BZIP2_END UINT64_C(0x177245385090)

struct program {
	const char *name;
	pid_t pid;
	int to, from; /* -1: closed */
	bool is_bzip2;
	uint8_t tail[TAIL_SIZE]; /* the last that it was fed */
};

/* A negative errno, told. */
static int failed(const struct input *in, const char *name, int code)
{
	if (code == ENOENT)
		return fail(code,
			    "%s is compressed, and there is no program %s to "
			    "undo it; install it, or pipe what another makes",
			    in->path, name);
	return fail(code, "%s: cannot run %s", in->path, name);
}

static int begin(struct input *in, const char *name)
{
	struct program *p = calloc(1, sizeof(*p));
	int to[2] = { -1, -1 }, from[2] = { -1, -1 }, code;

	if (!p)
		return -ENOMEM;
	p->name = name;
	p->is_bzip2 = !strcmp(name, "bzip2");
	code = socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, to) < 0 ||
			       pipe2(from, O_CLOEXEC) < 0
		       ? errno
		       : program_start(name, "-dc", to[1], from[1], &p->pid);
	if (to[1] >= 0)
		close(to[1]);
	if (from[1] >= 0)
		close(from[1]);
	if (!code) {
		p->to = to[0];
		p->from = from[0];
		in->state = p;
		return 0;
	}
	if (to[0] >= 0)
		close(to[0]);
	if (from[0] >= 0)
		close(from[0]);
	free(p);
	return failed(in, name, code);
}

static void close_to(struct program *p)
{
	if (p->to >= 0)
		close(p->to);
	p->to = -1;
}

/* Takes down what it was fed, size bytes that end at end. */
static void note_tail(struct program *p, const uint8_t *end, size_t size)
{
	if (size > TAIL_SIZE)
		size = TAIL_SIZE;
	memmove(p->tail, p->tail + size, TAIL_SIZE - size);
	memcpy(p->tail + TAIL_SIZE - size, end - size, size);
}

/* Whether the tail is that of bzip2. */
static bool is_bzip2_end(const struct program *p)
{
	uint64_t bits = 0;
	size_t i;

	/* All but the last 32 bits. */
	for (i = 0; i < TAIL_SIZE - 4; i++)
		bits = bits << 8 | p->tail[i];
	for (i = 0; i < 8; i++)
		if ((bits >> i & ((UINT64_C(1) << 48) - 1)) == BZIP2_END)
			return true;
	return false;
}

/* Hands it what it takes without waiting. One that has what it wanted, or is
 * gone, tells the rest by its status. */
static int feed(struct input *in)
{
	struct program *p = in->state;
	int err = input_fill(in, 1);
	ssize_t n;

	if (err < 0)
		return err;
	if (in->at == in->end) {
		close_to(p);
		return 0;
	}
	n = send(p->to, in->buffer + in->at, in->end - in->at,
		 MSG_NOSIGNAL | MSG_DONTWAIT);
	if (n >= 0) {
		in->at += (size_t)n;
		note_tail(p, in->buffer + in->at, (size_t)n);
	} else if (errno != EAGAIN && errno != EINTR)
		close_to(p);
	return 0;
}

/* The end of its output: 0, or an error if it failed. */
static int finish(struct input *in)
{
	struct program *p = in->state;
	pid_t pid = p->pid;
	int status;

	p->pid = 0;
	close_to(p);
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return failed(in, p->name, errno);
	/* bzip2 passes over what is behind its end, and says that alone. */
	if (WIFEXITED(status) && WEXITSTATUS(status) == 0 && p->is_bzip2 &&
	    !is_bzip2_end(p))
		return fail(ERR_bad_argument,
			    "%s: what follows the end of the bzip2 is none",
			    in->path);
	if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
		return 0;
	return fail(ERR_bad_argument,
		    "%s: %s says that it is damaged, or ended by %s %d",
		    in->path, p->name, WIFEXITED(status) ? "status" : "signal",
		    WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status));
}

/* For input_kind. */
static ssize_t read_program(struct input *in, uint8_t *out, size_t size)
{
	struct program *p = in->state;

	while (p->pid) {
		bool has_input = in->at < in->end || in->ended;
		struct pollfd ready[] = { { p->from, POLLIN, 0 },
					  { p->to, POLLOUT, 0 } };
		ssize_t n;
		int err;

		/* What it makes of the former is not to wait for the next. */
		if (!has_input)
			ready[1] = (struct pollfd){ in->fd, POLLIN, 0 };
		err = input_poll(in, ready, 2);
		if (err < 0)
			return err;
		if (ready[0].revents) {
			n = read(p->from, out, size);
			if (n > 0)
				return n;
			if (n == 0)
				return finish(in);
			if (errno != EINTR)
				return failed(in, p->name, errno);
		} else if (ready[1].revents) {
			err = feed(in);
			if (err < 0)
				return err;
		}
	}
	return 0;
}

/* For input_kind. A program that is not done yet ends for want of a reader. */
static void end(struct input *in)
{
	struct program *p = in->state;

	close_to(p);
	close(p->from);
	if (p->pid)
		waitpid(p->pid, NULL, 0);
	free(p);
}

/* For input_kind. */
static int begin_bzip2(struct input *in)
{
	return begin(in, "bzip2");
}

/* For input_kind. */
static int begin_xz(struct input *in)
{
	return begin(in, "xz");
}

/* For input_kind. */
static int begin_zstd(struct input *in)
{
	return begin(in, "zstd");
}

const struct input_kind input_bzip2 = { begin_bzip2, read_program, end };
const struct input_kind input_xz = { begin_xz, read_program, end };
const struct input_kind input_zstd = { begin_zstd, read_program, end };
