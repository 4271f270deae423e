#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <fcntl.h>
#include <unistd.h>

#include "store/base/err.h"
#include "tools/output/output_file.h"
#include "tools/verb/program.h"

/* What a program compresses: it is fed through a pipe and writes to the file
 * itself. What goes wrong there it says on standard error. */
struct program {
	const char *name;
	pid_t pid; /* 0: it has ended */
	int file;  /* o->fd, which is the pipe meanwhile */
};

static int begin(struct output *o, const char *name)
{
	struct program *p = calloc(1, sizeof(*p));
	int pipes[2] = { -1, -1 }, code;

	if (!p)
		return -ENOMEM;
	p->name = name;
	p->file = o->fd;
	code = pipe2(pipes, O_CLOEXEC) < 0
		       ? errno
		       : program_start(name, "-c", pipes[0], o->fd, &p->pid);
	if (pipes[0] >= 0)
		close(pipes[0]);
	if (!code) {
		o->state = p;
		o->fd = pipes[1];
		return 0;
	}
	if (pipes[1] >= 0)
		close(pipes[1]);
	free(p);
	if (code == ENOENT)
		return fail(code,
			    "%s is to be compressed by %s, which is not "
			    "installed; install it, or choose another suffix",
			    o->path, name);
	return fail(code, "%s: cannot run %s", o->path, name);
}

/* Ends the input of the program and waits for it: its status, as of waitpid, or
 * a negative errno. */
static int await(struct output *o)
{
	struct program *p = o->state;
	pid_t pid = p->pid;
	int status = 0;

	close(o->fd);
	o->fd = p->file;
	p->pid = 0;
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return -errno;
	return status;
}

/* That the program failed, as this would: what has kept it from writing to the
 * file, which is lost anyway, is asked for by trying. */
static int has_failed(struct output *o)
{
	static const char more[64 << 10];
	struct program *p = o->state;
	int i;

	/* The first may fill what room there is. */
	for (i = 0; o->partial && i < 2; i++)
		if (write(o->fd, more, sizeof(more)) < 0)
			return fail(errno, "%s: cannot write", o->path);
	return fail(EIO, "%s: %s failed", o->path, p->name);
}

/* For output_kind. */
static int put(struct output *o, struct bytes data)
{
	int err = output_put(o, data);

	if (err != -EPIPE)
		return err;
	await(o);
	return has_failed(o);
}

/* For output_kind. */
static int finish(struct output *o)
{
	return await(o) == 0 ? 0 : has_failed(o);
}

/* For output_kind. */
static void end(struct output *o)
{
	struct program *p = o->state;

	if (p->pid) {
		/* It may wait for something itself. */
		kill(p->pid, SIGTERM);
		await(o);
	}
	free(p);
}

/* For output_kind. */
static int begin_bzip2(struct output *o)
{
	return begin(o, "bzip2");
}

/* For output_kind. */
static int begin_xz(struct output *o)
{
	return begin(o, "xz");
}

/* For output_kind. */
static int begin_zstd(struct output *o)
{
	return begin(o, "zstd");
}

const struct output_kind output_bzip2 = { begin_bzip2, put, finish, end };
const struct output_kind output_xz = { begin_xz, put, finish, end };
const struct output_kind output_zstd = { begin_zstd, put, finish, end };
