#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tools/import/rejects.h"
#include "tools/output/output.h"

/* -errno of what failed with the file. */
static int failed(const struct rejects *r)
{
	return fail(errno ? errno : EIO, "rejects=%s: cannot write it",
		    r->path);
}

/* For import_rejects. */
static int take_reason(void *context, struct bytes line)
{
	struct rejects *r = context;
	struct whole_file *f = r->reasons;
	int err = 0;

	if (!f)
		return 0;
	if (whole_file_add(f, line) < 0 ||
	    whole_file_add(f, BYTES_LITERAL("\n")) < 0)
		err = failed(r);
	else
		whole_file_end(f);
	return err;
}

/* For import_rejects: waits for the first refused record. */
static int take_header(void *context, struct bytes text)
{
	struct rejects *r = context;

	return buf_add_bytes(&r->header, text);
}

static int write_text(struct rejects *r, struct bytes text)
{
	if (text.size > 0)
		r->last = text.data[text.size - 1];
	return whole_file_add(r->records, text) < 0 ? failed(r) : 0;
}

/* What the file begins with that is appended to: as much as the header has. */
static int read_header(struct rejects *r, size_t size)
{
	FILE *in = fopen(r->path, "re");
	int err = in ? buf_reserve(&r->written, size + 1) : 0;

	if (in && !err) {
		r->written.size = fread(r->written.data, 1, size, in);
		r->has_header = r->written.size > 0;
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
	return write_text(r, header);
}

/* For import_rejects. */
static int take_record(void *context, struct bytes text, bool end)
{
	struct rejects *r = context;
	int err = write_header(r);

	if (!err)
		err = write_text(r, text);
	if (!err && end && r->last != '\n')
		err = write_text(r, BYTES_LITERAL("\n"));
	if (!err && end)
		whole_file_end(r->records);
	return err;
}

int rejects_flush(struct rejects *r)
{
	if (r->records && whole_file_flush(r->records) < 0)
		return failed(r);
	if (r->reasons && whole_file_flush(r->reasons) < 0)
		return failed(r);
	return 0;
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
		    struct whole_file **out)
{
	struct stat st;
	unsigned int i;

	if (whole_file_open(path, out) < 0)
		return fail(errno, "rejects=%s: cannot write %s", r->path,
			    path);
	whole_file_stat(*out, &st);
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

/* Opens the reasons beside the records, or beside what these are a link to. A
 * device or a pipe has nothing beside it. */
static int open_reasons(struct rejects *r, const char *const *inputs,
			unsigned int input_count)
{
	char *place = realpath(r->path, NULL), *path = NULL;
	struct stat st;
	int err = 0;

	whole_file_stat(r->records, &st);
	if (place && S_ISREG(st.st_mode)) {
		if (asprintf(&path, "%s.reasons", place) < 0)
			err = -ENOMEM;
		else
			err = open_one(r, path, inputs, input_count,
				       &r->reasons);
		free(path);
	}
	free(place);
	return err;
}

/* Empties f, or cuts off what is no whole line. */
static int prepare(struct rejects *r, struct whole_file *f)
{
	uint64_t cut = 0;
	int err = 0;

	if (!f)
		return 0;
	if (!r->append)
		err = whole_file_empty(f);
	else
		err = whole_file_mend(f, &cut);
	r->cut_size += cut;
	return err < 0 ? failed(r) : 0;
}

int rejects_open(struct rejects *r, const char *const *inputs,
		 unsigned int input_count)
{
	int err;

	if (!r->path)
		return 0;
	if (output_compresses(r->path))
		return fail(EINVAL,
			    "rejects=%s: rejects are not compressed, as a kill "
			    "would lose them; leave the suffix away",
			    r->path);
	err = open_one(r, r->path, inputs, input_count, &r->records);
	if (!err)
		err = open_reasons(r, inputs, input_count);
	if (!err)
		err = prepare(r, r->records);
	return err < 0 ? err : prepare(r, r->reasons);
}

void rejects_begin_file(struct rejects *r)
{
	buf_reset(&r->header);
}

int rejects_close(struct rejects *r)
{
	int err = 0;

	if (whole_file_close(r->records) < 0)
		err = failed(r);
	if (whole_file_close(r->reasons) < 0)
		err = failed(r);
	buf_release(&r->header);
	buf_release(&r->written);
	*r = (struct rejects){ 0 };
	return err;
}
