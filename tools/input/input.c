#include <assert.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/base/err.h"
#include "tools/input/input_buffer.h"
#include "tools/input/input_state.h"

/* For input_kind. */
static int plain_begin(struct input *in)
{
	(void)in;
	return 0;
}

/* For input_kind. */
static ssize_t plain_read(struct input *in, uint8_t *out, size_t size)
{
	int err = input_fill(in, 1);
	size_t have = in->end - in->at;

	if (err < 0)
		return err;
	if (size > have)
		size = have;
	memcpy(out, in->buffer + in->at, size);
	in->at += size;
	return (ssize_t)size;
}

/* For input_kind. */
static void plain_end(struct input *in)
{
	(void)in;
}

static const struct input_kind plain = { plain_begin, plain_read, plain_end };

/* By the first bytes. */
static const struct input_kind *kind_of(const struct input *in)
{
	static const struct {
		const char *bytes;
		size_t size;
		const struct input_kind *kind;
	} known[] = {
		{ "\x1f\x8b\x08", 3, &input_gzip },
		{ "\x04\x22\x4d\x18", 4, &input_lz4 },
		{ "\x28\xb5\x2f\xfd", 4, &input_zstd },
		{ "\xfd"
		  "7zXZ\0",
		  6, &input_xz },
	};
	const uint8_t *at = in->buffer + in->at;
	size_t have = in->end - in->at, i;

	for (i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (have >= known[i].size &&
		    !memcmp(at, known[i].bytes, known[i].size))
			return known[i].kind;
	/* The letters alone could begin a text: a block's mark follows, or that
	 * of the end. */
	if (have >= 10 && !memcmp(at, "BZh", 3) &&
	    (!memcmp(at + 4, "\x31\x41\x59\x26\x53\x59", 6) ||
	     !memcmp(at + 4, "\x17\x72\x45\x38\x50\x90", 6)))
		return &input_bzip2;
	return &plain;
}

/* Opens what in->path names, which is no directory. */
static int open_file(struct input *in)
{
	struct stat st;

	/* A copy, so that it may be closed as any other. */
	in->fd = strcmp(in->path, "-")
			 ? open(in->path, O_RDONLY | O_CLOEXEC)
			 : fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3);
	if (in->fd < 0)
		return fail(errno, "couldn't open %s", in->path);
	if (fstat(in->fd, &st) == 0 && S_ISDIR(st.st_mode))
		return fail(EISDIR, "couldn't open %s", in->path);
	return 0;
}

int input_open(const char *path, struct input **out)
{
	struct input *in = calloc(1, sizeof(*in));
	int err;

	*out = NULL;
	if (!in)
		return -ENOMEM;
	in->path = path;
	in->fd = -1;
	in->buffer = malloc(INPUT_BUFFER_SIZE);
	err = in->buffer ? open_file(in) : -ENOMEM;
	if (!err)
		err = input_fill(in, 1);
	/* A first line that tells itself does not wait for the next one. */
	if (!err && in->end > 0 &&
	    memchr("\x1f\x04\x28\xfd\x42", in->buffer[0], 5))
		err = input_fill(in, 10);
	if (!err) {
		const struct input_kind *kind = kind_of(in);

		err = kind->begin(in);
		in->kind = err ? NULL : kind;
	}
	if (err < 0)
		input_close(in);
	else
		*out = in;
	return err;
}

void input_close(struct input *in)
{
	if (!in)
		return;
	if (in->kind)
		in->kind->end(in);
	if (in->fd >= 0)
		close(in->fd);
	free(in->buffer);
	free(in);
}

void input_while_waiting(struct input *in, int (*each)(void *context),
			 void *context)
{
	in->waiting = each;
	in->context = context;
}

ssize_t input_read(struct input *in, uint8_t *out, size_t size)
{
	ssize_t n;

	assert(size > 0);
	if (in->failed < 0)
		return fail(-in->failed, "%s", in->why);
	n = in->kind->read(in, out, size);
	if (n < 0)
		input_fail(in, (int)n);
	return n;
}

uint64_t input_taken(const struct input *in)
{
	return in->taken;
}

uint64_t input_size(const char *path)
{
	struct stat st;
	int err = strcmp(path, "-") ? stat(path, &st) : fstat(0, &st);

	return err == 0 && S_ISREG(st.st_mode) ? (uint64_t)st.st_size : 0;
}

/* Whether the first size bytes of path end with suffix. */
static bool ends_with(const char *path, size_t size, const char *suffix)
{
	size_t n = strlen(suffix);

	return size > n && !strncasecmp(path + size - n, suffix, n);
}

bool input_has_suffix(const char *path, const char *suffix)
{
	static const char *const compressed[] = { ".gz", ".lz4", ".zst", ".xz",
						  ".bz2" };
	size_t size = strlen(path), i;

	for (i = 0; i < sizeof(compressed) / sizeof(compressed[0]); i++)
		if (ends_with(path, size, compressed[i])) {
			size -= strlen(compressed[i]);
			break;
		}
	return ends_with(path, size, suffix);
}
