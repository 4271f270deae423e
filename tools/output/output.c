#include <assert.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "store/base/err.h"
#include "store/base/lease/flock.h"
#include "tools/output/output_file.h"
#include "tools/verb/stop.h"

/* How often a lock is asked for, every 20 ms. */
#define LOCK_TRIES 100

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

bool output_compresses(const char *path)
{
	return kind_of(path) != &plain;
}

/* An archive has several files: a text of that name opens nowhere. */
static int refuse_archive(const char *path)
{
	static const char *const suffixes[] = { ".zip", ".7z",  ".tar",
						".tgz", ".rar", NULL };
	size_t size = strlen(path), i;

	for (i = 0; suffixes[i]; i++) {
		size_t n = strlen(suffixes[i]);

		if (size > n && !strcasecmp(path + size - n, suffixes[i]))
			return fail(EINVAL,
				    "%s: %s is none of .gz, .lz4, .zst, .xz "
				    "and .bz2, by which a file is compressed",
				    path, suffixes[i]);
	}
	return 0;
}

static int is_foreign(const struct output *o)
{
	return fail(EEXIST,
		    "%s is there, and is nothing that such a command has left; "
		    "move it away, or name another file",
		    o->partial);
}

static int is_held(const struct output *o, const char *who)
{
	return fail(EEXIST,
		    "%s: %s writes it; wait for its end, or name another file",
		    o->partial, who);
}

/* Locks what a command has left: 0, or an error. Who has it may be about to
 * end, as a program that compressed for a command that was killed; if that was
 * not, it has given the file its name. */
static int lock_left_over(const struct output *o)
{
	static const struct timespec pause = { .tv_nsec = 20000000 };
	char who[FLOCK_WHO_SIZE];
	int tries = LOCK_TRIES;

	if (flock(o->fd, LOCK_EX | LOCK_NB) == 0)
		return 0;
	if (errno != EWOULDBLOCK)
		return fail(errno, "%s: cannot lock it", o->partial);
	flock_who(o->fd, who);
	while (--tries > 0 && flock(o->fd, LOCK_EX | LOCK_NB) < 0)
		nanosleep(&pause, NULL);
	return tries > 0 && flock_is_named(o->fd, o->partial) ? 0
							      : is_held(o, who);
}

/* Removes a file that is there already, is marked, and that nobody has locked:
 * 0, also if it is gone by now, or an error. It is locked until it has no name.
 * An empty one may be of a command that has just made it, and makes another. */
static int remove_left_over(struct output *o)
{
	struct stat st;
	int err;

	o->fd = open(o->partial,
		     O_WRONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (o->fd < 0)
		return errno == ENOENT ? 0 : is_foreign(o);
	if (fstat(o->fd, &st) < 0 || !S_ISREG(st.st_mode))
		return is_foreign(o);
	err = lock_left_over(o);
	if (err < 0 || !flock_is_named(o->fd, o->partial))
		return err;
	/* Before, it may have lost the mark as it got the file's name. */
	if (fstat(o->fd, &st) < 0 || !(st.st_mode & S_ISVTX))
		return is_foreign(o);
	if (unlink(o->partial) < 0)
		return fail(errno, "couldn't remove %s", o->partial);
	if (st.st_size > 0)
		fprintf(stderr,
			"tabletfs: %s was left by a command that was killed, "
			"and is removed\n",
			o->partial);
	return 0;
}

/* Opens o->partial, which is locked as long as a command writes it, a program
 * that compresses included, and has the sticky bit from its first moment, by
 * which it is known from a user's file. Where files cannot be locked, or do not
 * have that, none is taken over. */
static int take_partial(struct output *o, mode_t mode)
{
	char who[FLOCK_WHO_SIZE];
	int taken = 0;

	while (!taken) {
		o->fd = open(o->partial,
			     O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC,
			     S_ISVTX | mode);
		if (o->fd >= 0 && flock(o->fd, LOCK_EX | LOCK_NB) < 0 &&
		    errno == EWOULDBLOCK)
			taken = is_held(o, flock_who(o->fd, who));
		else if (o->fd >= 0)
			taken = flock_is_named(o->fd, o->partial);
		else if (errno == EEXIST)
			taken = remove_left_over(o);
		else
			taken = fail(errno, "couldn't make %s", o->partial);
		if (taken <= 0 && o->fd >= 0) {
			close(o->fd);
			o->fd = -1;
		}
	}
	return taken < 0 ? taken : 0;
}

/* Opens PATH.partial beside what path is, or leads to as a link. */
static int open_partial(struct output *o, mode_t mode)
{
	int err;

	o->place = realpath(o->path, NULL);
	if (!o->place)
		o->place = strdup(o->path);
	if (!o->place || asprintf(&o->partial, "%s.partial", o->place) < 0) {
		o->partial = NULL;
		return -ENOMEM;
	}
	err = take_partial(o, mode);
	if (err < 0) {
		free(o->partial);
		o->partial = NULL;
	}
	return err;
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
	bool is_file = path && strcmp(path, "-");
	const struct output_kind *kind = is_file ? kind_of(path) : &plain;
	struct output *o;
	int err = path ? refuse_archive(path) : 0;

	*out = NULL;
	if (err < 0)
		return err;
	o = calloc(1, sizeof(*o));
	if (!o)
		return -ENOMEM;
	/* Whoever reads what is printed may have enough of it, as head has. */
	if (is_file)
		signal(SIGPIPE, SIG_IGN);
	stop_begin();
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
	int err;

	if (o->failed)
		return fail(-o->failed, "%s", o->why);
	err = o->kind->write(o, data);
	/* Whatever it interrupted, the signal is what ended it. */
	if (stop_came())
		err = stop_check();
	return keep_error(o, err);
}

bool output_failed(const struct output *o)
{
	return o->failed != 0;
}

/* The file is whole: makes it durable and gives it its name. */
static int settle(struct output *o)
{
	struct stat st;
	int copy;

	if (!o->place)
		return 0;
	if (fsync(o->fd) < 0)
		return fail(errno, "%s: cannot write", o->path);
	/* Some file systems tell an error only here; the lock stays until the
	 * name is given. */
	copy = dup(o->fd);
	if (copy < 0 || close(copy) < 0)
		return fail(errno, "%s: cannot write", o->path);
	if (rename(o->partial, o->place) < 0)
		return fail(errno, "%s: cannot rename %s", o->path, o->partial);
	free(o->partial);
	o->partial = NULL;
	/* Which means nothing to others, where it cannot be taken away. */
	if (fstat(o->fd, &st) == 0 && (st.st_mode & S_ISVTX))
		(void)fchmod(o->fd, st.st_mode & 0777);
	return 0;
}

int output_finish(struct output *o)
{
	char why[512];
	int err =
		o->failed ? fail(-o->failed, "%s", o->why) : o->kind->finish(o);

	if (stop_came())
		err = stop_check();
	stop_end();
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
	/* While it is locked, for then it is this one. */
	if (o->partial)
		unlink(o->partial);
	if (o->fd >= 0 && o->fd != STDOUT_FILENO)
		close(o->fd);
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
