#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tools/import/rejects.h"

/* -errno of what failed with the file. */
static int failed(const struct rejects *r)
{
	return fail(errno ? errno : EIO, "rejects=%s: cannot write it",
		    r->path);
}

int rejects_reason(struct rejects *r, struct bytes line)
{
	if (!r->reasons)
		return 0;
	errno = 0;
	fwrite(line.data, 1, line.size, r->reasons);
	putc('\n', r->reasons);
	return ferror(r->reasons) ? failed(r) : 0;
}

/* For import_rejects. */
static int take_reason(void *context, struct bytes line)
{
	return rejects_reason(context, line);
}

/* For import_rejects: waits for the first refused record. */
static int take_header(void *context, struct bytes text)
{
	struct rejects *r = context;

	return buf_add_bytes(&r->header, text);
}

static void write_text(struct rejects *r, struct bytes text)
{
	if (text.size == 0)
		return;
	fwrite(text.data, 1, text.size, r->records);
	r->last = text.data[text.size - 1];
}

/* What the file begins with that is appended to: as much as the header has. A
 * last line without its end, as of a process that was killed, gets one. */
static int read_header(struct rejects *r, size_t size)
{
	FILE *in = fopen(r->path, "re");
	int err = in ? buf_reserve(&r->written, size + 1) : 0;

	if (in && !err) {
		r->written.size = fread(r->written.data, 1, size, in);
		r->has_header = r->written.size > 0;
		if (r->has_header && fseek(in, -1, SEEK_END) == 0)
			r->last = getc(in);
		if (r->last != '\n')
			putc('\n', r->records);
		r->last = '\n';
	}
	if (in)
		fclose(in);
	return err;
}

/* Records under a header that is not theirs would be others. */
static int write_header(struct rejects *r)
{
	struct bytes header = buf_bytes(&r->header);
	int err = 0;

	if (!r->has_header && r->append)
		err = read_header(r, header.size);
	if (err < 0)
		return err;
	if (r->has_header)
		return bytes_equal(header, buf_bytes(&r->written))
			       ? 0
			       : fail(ERR_bad_argument,
				      "rejects=%s begins with another header "
				      "than this file has; import it by itself",
				      r->path);
	err = buf_set(&r->written, header);
	if (err < 0)
		return err;
	r->has_header = true;
	write_text(r, header);
	return 0;
}

/* For import_rejects. */
static int take_record(void *context, struct bytes text, bool end)
{
	struct rejects *r = context;
	int err = write_header(r);

	if (err < 0)
		return err;
	errno = 0;
	write_text(r, text);
	if (end && r->last != '\n')
		write_text(r, BYTES_LITERAL("\n"));
	return ferror(r->records) ? failed(r) : 0;
}

int rejects_flush(struct rejects *r)
{
	errno = 0;
	if (!r->records || !r->reasons)
		return 0;
	/* What failed once may be in no buffer any more. */
	return fflush(r->records) || fflush(r->reasons) || ferror(r->records) ||
			       ferror(r->reasons)
		       ? failed(r)
		       : 0;
}

/* For import_rejects. */
static int flush(void *context)
{
	return rejects_flush(context);
}

/* Whether path, or standard input for "-", is the file that st tells of. */
static bool is_file(const char *path, const struct stat *st)
{
	struct stat input;
	int result = strcmp(path, "-") == 0 ? fstat(STDIN_FILENO, &input)
					    : stat(path, &input);

	return result == 0 && S_ISREG(st->st_mode) &&
	       input.st_dev == st->st_dev && input.st_ino == st->st_ino;
}

/* Opens one of the files, without emptying it. */
static int open_one(struct rejects *r, const char *path,
		    const char *const *inputs, unsigned int input_count,
		    FILE **out)
{
	struct stat st;
	unsigned int i;

	*out = fopen(path, "ae");
	if (!*out || fstat(fileno(*out), &st) < 0)
		return fail(errno, "rejects=%s: cannot write %s", r->path,
			    path);
	for (i = 0; i < input_count; i++)
		if (is_file(inputs[i], &st))
			return fail(ERR_bad_argument,
				    "rejects=%s: %s is an input, which would "
				    "be lost",
				    r->path, path);
	if (r->recipe && is_file(r->recipe, &st))
		return fail(ERR_bad_argument,
			    "rejects=%s: %s is the recipe, which would be lost",
			    r->path, path);
	return 0;
}

void rejects_init(struct rejects *r, const char *path)
{
	*r = (struct rejects){ .path = path, .last = '\n' };
	r->to = (struct import_rejects){ take_reason, take_header, take_record,
					 flush, r };
}

int rejects_open(struct rejects *r, const char *const *inputs,
		 unsigned int input_count)
{
	char *reasons = NULL;
	int err;

	if (!r->path)
		return 0;
	if (asprintf(&reasons, "%s.reasons", r->path) < 0)
		return -ENOMEM;
	err = open_one(r, r->path, inputs, input_count, &r->records);
	if (!err)
		err = open_one(r, reasons, inputs, input_count, &r->reasons);
	free(reasons);
	/* A pipe or a terminal has nothing that could be emptied. */
	if (!err && !r->append)
		(void)!(ftruncate(fileno(r->records), 0) +
			ftruncate(fileno(r->reasons), 0));
	return err;
}

void rejects_begin_file(struct rejects *r)
{
	buf_reset(&r->header);
}

int rejects_close(struct rejects *r)
{
	int err = 0;

	errno = 0;
	if (r->records && fclose(r->records))
		err = failed(r);
	if (r->reasons && fclose(r->reasons))
		err = failed(r);
	buf_release(&r->header);
	buf_release(&r->written);
	*r = (struct rejects){ 0 };
	return err;
}
