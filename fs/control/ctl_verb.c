#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "fs/cells/loop.h"
#include "fs/cells/notify.h"
#include "fs/control/ctl.h"
#include "fs/open/draft.h"

/*
 * .tabletfs/ctl: one request, then the reply is read; mount.h has the
 * protocol. The kernel parts a write of more than 1 MiB, so a request says its
 * length, and no part of one runs by itself. The reply lies in an unlinked
 * temporary file, so its size does not matter; or, of a command that has as
 * much to tell as the store holds, it is made as it is read. What the command
 * is, only the mount's options know (their run and stream): this file knows
 * the words "sync", which is about what is open here, and "pin", which lasts as
 * long as the file is open.
 */

/* Of one request: more than a command line may have. */
#define WORDS_MAX 4096
#define REQUEST_SIZE_MAX (UINT32_C(8) << 20)
/* "w", ten digits, a newline: a length has come whole by then. */
#define HEAD_SIZE_MAX 12

/* An open ctl: a ctl_file's state, guarded by its lock. */
struct verb {
	FILE *reply; /* owned; NULL until a request ran */
	bool ended;  /* it ran or was refused: nothing more is taken */
	struct backup_pin *pin; /* owned; NULL: nothing is pinned */
	/* A reply that is made as it is read; f->out then begins at base. */
	bool streams;
	struct text_stream *stream; /* owned; NULL once it has ended */
	uint64_t base;
};

/* One of the command's two streams: what it prints becomes frames. */
struct stream {
	FILE *reply; /* borrowed; both streams write to it in turn */
	char letter; /* of its frames: o or e */
};

/* As cookie_write_function_t: 0 is an error. */
static ssize_t write_frame(void *cookie, const char *data, size_t size)
{
	struct stream *s = cookie;

	if (fprintf(s->reply, "%c%zu\n", s->letter, size) < 0 ||
	    fwrite(data, 1, size, s->reply) != size)
		return 0;
	return (ssize_t)size;
}

/* A stream to print to, or NULL; s must live as long. */
static FILE *open_stream(struct stream *s)
{
	cookie_io_functions_t functions = { .write = write_frame };

	return fopencookie(s, "w", functions);
}

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

/* Runs a command, of which argv[0] is the verb and argv[argc] NULL, with what
 * it prints as frames in v's reply, and tells the kernel if it changed
 * anything. Its exit status. */
static int run_words(struct fs *fs, struct verb *v, int argc, char **argv)
{
	struct stream streams[2] = { { v->reply, 'o' }, { v->reply, 'e' } };
	uint64_t before = count_changes(fs);
	FILE *out = open_stream(&streams[0]);
	FILE *err = open_stream(&streams[1]);
	int status = 1;

	assert(argc > 0 && !argv[argc]);
	if (!out || !err)
		goto close_streams;
	/* A frame for each line of errors; of output, for each full buffer. */
	setvbuf(err, NULL, _IOLBF, BUFSIZ);
	if (!strcmp(argv[0], "sync"))
		status = run_sync(fs, err);
	else if (!strcmp(argv[0], "pin"))
		status = run_pin(fs, v, out, err);
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

/* Sets words, which has room for WORDS_MAX + 1, to those of a request, each
 * ended by NUL, and a NULL after the last. They point into request. Their
 * number, at least 1, or an error. */
static int split_words(struct bytes request, char **words)
{
	char *at = (char *)(uintptr_t)request.data, *end = at + request.size;
	int count = 0;

	if (request.size == 0 || end[-1] != '\0')
		return fail(EINVAL, "a request is words, each ended by NUL");
	while (at < end) {
		if (count == WORDS_MAX)
			return fail(EINVAL, "more than %d words", WORDS_MAX);
		words[count++] = at;
		at += strlen(at) + 1;
	}
	words[count] = NULL;
	return count;
}

/* Runs the words of a request, and has the reply there when it returns. */
static int run_request(struct fs *fs, struct verb *v, struct bytes request)
{
	char **words = calloc(WORDS_MAX + 1, sizeof(*words));
	int count, err = 0;

	assert(!v->reply);
	if (!words)
		return -ENOMEM;
	count = split_words(request, words);
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

/* The words of what has come of a request: 1 with *words if that is all of it,
 * 0 if more has to come, or an error. */
static int find_words(struct bytes in, struct bytes *words)
{
	const uint8_t *end = memchr(in.data, '\n', in.size);
	uint64_t size = 0;
	const uint8_t *at = in.data + 1;

	if (!end && in.data[0] == 'w' && in.size < HEAD_SIZE_MAX)
		return 0;
	while (end && end - in.data < HEAD_SIZE_MAX && *at >= '0' && *at <= '9')
		size = size * 10 + (uint64_t)(*at++ - '0');
	if (in.data[0] != 'w' || at != end || size == 0)
		return fail(EINVAL, "a request begins with w, the length of "
				    "its words, and a newline; tabletfs VERB "
				    "sends it so");
	if (size > REQUEST_SIZE_MAX)
		return fail(EINVAL, "a request of more than %u bytes",
			    REQUEST_SIZE_MAX);
	*words = bytes_after(in, (size_t)(end + 1 - in.data));
	if (words->size > size)
		return fail(EINVAL, "a request that is longer than it says");
	return words->size == size;
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
	if (v->ended)
		return fail(EINVAL, "one request for each open");
	if (data.size == 0)
		return 0;
	if (data.size > CTL_WRITTEN_MAX - f->in.size)
		return fail(EFBIG, "more than %zu bytes", CTL_WRITTEN_MAX);
	err = spill_add(&f->in, data);
	if (!err)
		err = find_words(spill_bytes(&f->in), &words);
	v->ended = err != 0;
	if (err == 1)
		err = run_request(fs, v, words);
	return err ? err : (ssize_t)data.size;
}

/* Appends a frame. */
static int add_frame(char letter, struct bytes text, struct buf *out)
{
	int err = buf_printf(out, "%c%zu\n", letter, text.size);

	return err < 0 ? err : buf_add_bytes(out, text);
}

/* Appends the next frame of a reply that is made as it is read, and after the
 * last one the exit status. */
static int make_frame(struct verb *v, struct buf *out)
{
	const char *doing = v->stream->doing;
	struct buf text = BUF_INIT;
	int got = v->stream->next(v->stream, &text), err;

	if (got < 0) {
		buf_reset(&text);
		err = buf_printf(&text, "tabletfs: %s: %s\n", doing,
				 got == -ENOMEM ? err_text(got) : err_detail());
		err = err ? err : add_frame('e', buf_bytes(&text), out);
	} else {
		err = add_frame('o', buf_bytes(&text), out);
	}
	buf_release(&text);
	if (!err && got <= 0)
		err = buf_printf(out, "x %d\n", got < 0);
	if (err < 0 || got <= 0) {
		/* Nor is a reply gone on with that lacks a piece. */
		v->stream->close(v->stream);
		v->stream = NULL;
	}
	return err;
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
		err = make_frame(v, &f->out);
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
