#include <assert.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/base/err.h"
#include "tools/output/output_file.h"

/* For output_kind. */
static int plain_begin(struct output *o)
{
	(void)o;
	return 0;
}

/* For output_kind. */
static int plain_finish(struct output *o)
{
	(void)o;
	return 0;
}

/* For output_kind. */
static void plain_end(struct output *o)
{
	(void)o;
}

static const struct output_kind plain = { plain_begin, output_put, plain_finish,
					  plain_end };

/* By the end of the name, in any case. */
static const struct output_kind *kind_of(const char *path)
{
	static const struct {
		const char *suffix;
		const struct output_kind *kind;
	} known[] = { { ".gz", &output_gzip },
		      { ".lz4", &output_lz4 },
		      { ".zst", &output_zstd },
		      { ".xz", &output_xz },
		      { ".bz2", &output_bzip2 } };
	size_t size = strlen(path), i;

	for (i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		size_t n = strlen(known[i].suffix);

		if (size > n && !strcasecmp(path + size - n, known[i].suffix))
			return known[i].kind;
	}
	return &plain;
}

/* Opens PATH.partial beside what path is, or leads to as a link. */
static int open_partial(struct output *o, mode_t mode)
{
	o->place = realpath(o->path, NULL);
	if (!o->place)
		o->place = strdup(o->path);
	if (!o->place || asprintf(&o->partial, "%s.partial", o->place) < 0) {
		o->partial = NULL;
		return -ENOMEM;
	}
	o->fd = open(o->partial, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
	if (o->fd >= 0)
		return 0;
	if (errno == EEXIST) {
		free(o->partial);
		o->partial = NULL;
		return fail(EEXIST,
			    "%s.partial is there: a command writes it, or was "
			    "killed; remove it then",
			    o->place);
	}
	free(o->partial);
	o->partial = NULL;
	return fail(errno, "couldn't make %s.partial", o->place);
}

/* Opens what o->path names. */
static int open_file(struct output *o)
{
	struct stat st;

	if (!o->path || !strcmp(o->path, "-")) {
		o->path = "standard output";
		o->fd = STDOUT_FILENO;
		return 0;
	}
	if (stat(o->path, &st) < 0) {
		if (errno != ENOENT)
			return fail(errno, "%s", o->path);
		return open_partial(o, 0666);
	}
	if (S_ISDIR(st.st_mode))
		return fail(EISDIR, "%s", o->path);
	if (S_ISREG(st.st_mode))
		/* It is no more open to others than what it replaces. */
		return open_partial(o, st.st_mode & 0666);
	o->fd = open(o->path, O_WRONLY | O_CLOEXEC);
	return o->fd < 0 ? fail(errno, "couldn't open %s", o->path) : 0;
}

int output_open(const char *path, struct output **out)
{
	const struct output_kind *kind =
		path && strcmp(path, "-") ? kind_of(path) : &plain;
	struct output *o = calloc(1, sizeof(*o));
	int err;

	*out = NULL;
	if (!o)
		return -ENOMEM;
	signal(SIGPIPE, SIG_IGN);
	o->path = path;
	o->fd = -1;
	err = open_file(o);
	if (!err)
		err = kind->begin(o);
	if (err < 0) {
		output_abandon(o);
		return err;
	}
	o->kind = kind;
	*out = o;
	return 0;
}

/* Makes an error, with its detail, that of every further call. */
static int keep_error(struct output *o, int err)
{
	if (err < 0 && !o->failed) {
		o->failed = err;
		snprintf(o->why, sizeof(o->why), "%s", err_detail());
	}
	return err;
}

int output_write(struct output *o, struct bytes data)
{
	if (o->failed)
		return fail(-o->failed, "%s", o->why);
	return keep_error(o, o->kind->write(o, data));
}

bool output_failed(const struct output *o)
{
	return o->failed != 0;
}

/* The file is whole: makes it durable and gives it its name. */
static int settle(struct output *o)
{
	int fd = o->fd;

	if (!o->place)
		return 0;
	if (fsync(fd) < 0)
		return fail(errno, "%s: cannot write", o->path);
	o->fd = -1;
	if (close(fd) < 0)
		return fail(errno, "%s: cannot write", o->path);
	if (rename(o->partial, o->place) < 0)
		return fail(errno, "%s: cannot rename %s", o->path, o->partial);
	free(o->partial);
	o->partial = NULL;
	return 0;
}

int output_finish(struct output *o)
{
	char why[512];
	int err =
		o->failed ? fail(-o->failed, "%s", o->why) : o->kind->finish(o);

	if (!err)
		err = settle(o);
	snprintf(why, sizeof(why), "%s", err_detail());
	output_abandon(o);
	return err < 0 ? fail(-err, "%s", why) : 0;
}

void output_abandon(struct output *o)
{
	if (!o)
		return;
	if (o->kind)
		o->kind->end(o);
	if (o->fd >= 0 && o->fd != STDOUT_FILENO)
		close(o->fd);
	if (o->partial)
		unlink(o->partial);
	free(o->partial);
	free(o->place);
	free(o);
}

int output_stream(struct output *o, struct text_stream *t)
{
	struct buf piece = BUF_INIT;
	int err;

	while ((err = t->next(t, &piece)) > 0) {
		err = output_write(o, buf_bytes(&piece));
		if (err < 0)
			break;
		buf_reset(&piece);
	}
	buf_release(&piece);
	return err;
}

/* As cookie_write_function_t: 0 is an error. */
static ssize_t print(void *cookie, const char *data, size_t size)
{
	return output_write(cookie, bytes_of(data, size)) < 0 ? 0
							      : (ssize_t)size;
}

FILE *output_printed(struct output *o)
{
	cookie_io_functions_t functions = { .write = print };

	FILE *out = fopencookie(o, "w", functions);

	if (out)
		setvbuf(out, NULL, _IOFBF, TEXT_STREAM_PIECE);
	return out;
}
