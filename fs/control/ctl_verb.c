#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "fs/cells/loop.h"
#include "fs/cells/notify.h"
#include "fs/command/command.h"
#include "fs/control/ctl.h"
#include "fs/control/ctl_stats.h"
#include "fs/open/draft.h"
#include "store/text/watch/store_figures.h"

/*
 * .tabletfs/ctl: one request, then the reply is read; mount.h has the
 * protocol. The kernel parts a write of more than 1 MiB, so a request says its
 * length, and no part of one runs by itself. The reply lies in an unlinked
 * temporary file, so its size does not matter; or, of a command that has as
 * much to tell as the store holds, it is made as it is read. What the command
 * is, only the mount's options know (their run and stream): this file knows
 * the words "sync", which is about what is open here, "pin", which lasts as
 * long as the file is open, and "metrics", which are the mount's as well.
 */

/* An open ctl: a ctl_file's state, guarded by its lock. */
struct verb {
	FILE *reply; /* owned; NULL until a request ran */
	bool ended;  /* it ran or was refused: nothing more is taken */
	int why;     /* an error if it was refused */
	struct backup_pin *pin; /* owned; NULL: nothing is pinned */
	/* A reply that is made as it is read; f->out then begins at base. */
	bool streams;
	struct text_stream *stream; /* owned; NULL once it has ended */
	uint64_t base;
};

/* As ctl_ops.open. */
static int verb_open(struct fs *fs, struct ctl_file *f)
{
	struct verb *v;

	(void)fs;
	if ((f->flags & O_ACCMODE) != O_RDWR)
		return fail(EINVAL, "open it for reading and writing, or run "
				    "tabletfs VERB, which does");
	v = calloc(1, sizeof(*v));
	if (!v)
		return -ENOMEM;
	f->state = v;
	return 0;
}

/* A number that grows with each commit and each change of the schema. */
static uint64_t count_changes(struct fs *fs)
{
	struct schema *schema = store_schema(fs->store);
	uint64_t count = schema->seq;

	schema_put(schema);
	return count + store_seq(fs->store);
}

/* Commits what is open, durably: an exit status. */
static int run_sync(struct fs *fs, FILE *err)
{
	if (!fs_commit_all(fs, true))
		return 0;
	fprintf(err, "tabletfs: sync: %s\n", err_detail());
	return 1;
}

/* Pins what a backup needs until v is released, and prints what that is: 0, or
 * the number of an error, whose detail it prints. */
static int run_pin(struct fs *fs, struct verb *v, FILE *out, FILE *err)
{
	struct buf contents = BUF_INIT;
	int failed = store_pin(fs->store, &contents, &v->pin);

	if (failed)
		fputs(err_detail(), err);
	else
		fwrite(contents.data, 1, contents.size, out);
	buf_release(&contents);
	return -failed;
}

/* Runs a command that is none of this file's, or begins what v->stream is to
 * tell: an exit status. */
static int run_verb(struct fs *fs, struct verb *v, int argc, char **argv,
		    FILE *out, FILE *err)
{
	const struct mount_options *o = fs->options;
	int found = o->stream ? o->stream(fs->store, argc, argv, err,
					  loop_is_interrupted, &v->stream)
			      : 0;

	v->streams = found == 1;
	if (found)
		return found < 0;
	return o->run ? o->run(fs->store, argc, argv, out, err) : 1;
}

/* As command_stream.write: both streams write to the reply in turn. */
static bool write_reply(void *context, struct bytes data)
{
	return fwrite(data.data, 1, data.size, context) == data.size;
}

/* Runs a command, of which argv[0] is the verb and argv[argc] NULL, with what
 * it prints as frames in v's reply, and tells the kernel if it changed
 * anything. Its exit status. */
static int run_words(struct fs *fs, struct verb *v, int argc, char **argv)
{
	struct command_stream streams[2] = { { write_reply, v->reply, 'o' },
					     { write_reply, v->reply, 'e' } };
	uint64_t before = count_changes(fs);
	FILE *out = command_open(&streams[0]);
	FILE *err = command_open(&streams[1]);
	int status = 1;

	assert(argc > 0 && !argv[argc]);
	if (!out || !err)
		goto close_streams;
	if (!strcmp(argv[0], "sync") && argc == 1)
		status = run_sync(fs, err);
	else if (!strcmp(argv[0], "pin"))
		status = run_pin(fs, v, out, err);
	else if (!strcmp(argv[0], "metrics"))
		status = store_print_figures(fs->store, ctl_print_metrics, fs,
					     argc, argv, out, err);
	else
		status = run_verb(fs, v, argc, argv, out, err);
	if (count_changes(fs) != before)
		fs_changed_outside(fs);
close_streams:
	if (out && fclose(out))
		status = 1;
	if (err && fclose(err))
		status = 1;
	return status;
}

/* Runs the words of a request, and has the reply there when it returns. */
static int run_request(struct fs *fs, struct verb *v, struct bytes request)
{
	char **words = calloc(COMMAND_WORDS_MAX + 1, sizeof(*words));
	int count, err = 0;

	assert(!v->reply);
	if (!words)
		return -ENOMEM;
	count = command_split(request, words);
	if (count < 0) {
		err = count;
		goto free_words;
	}
	v->reply = tmpfile();
	if (!v->reply) {
		err = fail(errno, "temporary file: %s", strerror(errno));
		goto free_words;
	}
	/* The frames come before the last line: the words run first. */
	count = run_words(fs, v, count, words);
	if (!v->streams)
		fprintf(v->reply, "x %d\n", count);
	if (fflush(v->reply) || ferror(v->reply))
		err = fail(ENOSPC, "temporary file");
free_words:
	free(words);
	return err;
}

/* As ctl_ops.write: runs the request that data ends, and returns when the reply
 * is there. */
static ssize_t verb_write(struct fs *fs, struct ctl_file *f, struct bytes data,
			  uint64_t offset)
{
	struct verb *v = f->state;
	struct bytes words = BYTES_NONE;
	int err;

	(void)offset;
	/* Who has written more is told of a part of it first. */
	if (v->why)
		return fail(-v->why, "a part of this request was refused");
	if (v->ended)
		return fail(EINVAL, "one request for each open");
	if (data.size == 0)
		return 0;
	if (data.size > CTL_WRITTEN_MAX - f->in.size)
		return fail(EFBIG, "more than %zu bytes", CTL_WRITTEN_MAX);
	err = spill_add(&f->in, data);
	if (!err)
		err = command_find(spill_bytes(&f->in), &words);
	v->ended = err != 0;
	if (err == 1)
		err = run_request(fs, v, words);
	v->why = err;
	return err ? err : (ssize_t)data.size;
}

/* What is made as it is read is read from front to end. */
static int read_stream(struct verb *v, struct ctl_file *f, uint64_t offset,
		       size_t size, struct buf *out)
{
	size_t skip;
	int err = 0;

	if (offset < v->base || offset - v->base > f->out.size)
		return fail(ESPIPE, "this reply is read from front to end");
	skip = (size_t)(offset - v->base);
	if (skip > 0)
		memmove(f->out.data, f->out.data + skip, f->out.size - skip);
	f->out.size -= skip;
	v->base = offset;
	while (!err && v->stream && f->out.size < size)
		err = command_next(&v->stream, &f->out);
	if (err)
		return err;
	return buf_add(out, f->out.data,
		       f->out.size < size ? f->out.size : size);
}

/* As ctl_ops.read. The reply was flushed, so its descriptor has all of it. */
static int verb_read(struct fs *fs, struct ctl_file *f, uint64_t offset,
		     size_t size, struct buf *out)
{
	struct verb *v = f->state;
	ssize_t n;
	int err;

	(void)fs;
	if (!v->reply)
		return 0;
	if (v->streams)
		return read_stream(v, f, offset, size, out);
	err = buf_reserve(out, size);
	if (err)
		return err;
	n = pread(fileno(v->reply), out->data + out->size, size, (off_t)offset);
	if (n < 0)
		return fail(errno, "temporary file: %s", strerror(errno));
	out->size += (size_t)n;
	return 0;
}

/* As ctl_ops.release: comes when its process is gone, too. Closing the file
 * removes it. */
static void verb_release(struct fs *fs, struct ctl_file *f)
{
	struct verb *v = f->state;

	store_unpin(fs->store, v->pin);
	if (v->stream)
		v->stream->close(v->stream);
	if (v->reply)
		fclose(v->reply);
	free(v);
}

const struct ctl_ops ctl_verb_ops = {
	.open = verb_open,
	.read = verb_read,
	.write = verb_write,
	.release = verb_release,
};
