#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/text/import/import.h"
#include "tools/import/import.h"
#include "tools/import/import_report.h"
#include "tools/import/progress.h"
#include "tools/import/recipe_import.h"
#include "tools/import/recipe_words.h"

/*
 * import on a store: pieces of the file go to an importer, see
 * store/text/import/import.h, which commits rows as it goes. What is committed
 * stays, whatever happens later.
 */

/* Large enough that the importer loads it in bulk from the first piece on. */
#define PIECE_SIZE (1 << 20)

/* In the words of cbt, whose importer checks its arguments by itself. */
static int wrong_arguments(struct verb_call *c)
{
	return verb_wrong(c, "error parsing importer args: usage: tabletfs %s",
			  verb_find("import")->usage);
}

/* Sets the format: by word, or by the file's suffix, of which one that is
 * unknown means csv. 0, or 1 after it said what is wrong. */
static int parse_format(struct verb_call *c, const char *word,
			struct import_arguments *a)
{
	/* Parallel to formats. */
	static const char *const words[] = { "csv", "tsv", "jsonl" };
	static const enum text_format formats[] = { TEXT_CSV, TEXT_TSV,
						    TEXT_JSONL };
	const char *dot = strrchr(a->path, '.');
	const char *wanted = word ? word : dot ? dot + 1 : "csv";
	size_t i;

	for (i = 0; i < 3 && strcmp(words[i], wanted); i++)
		continue;
	if (i == 3 && word)
		return verb_wrong(c,
				  "error parsing importer args: format must be "
				  "csv, tsv or jsonl, not \"%s\"",
				  word);
	if (i == 3)
		i = 0;
	a->format = formats[i];
	a->format_word = words[i];
	return 0;
}

int import_arguments(struct verb_call *c, struct import_arguments *a)
{
	enum { FORMAT, FAMILY, TIMESTAMP, BATCH, WORKERS, PROFILE };
	static const char *const keys[] = { "format",    "column-family",
					    "timestamp", "batch-size",
					    "workers",   "app-profile",
					    NULL };
	const char *values[6] = { NULL };

	*a = (struct import_arguments){ .format = TEXT_CSV };
	if (c->argc < 3)
		return wrong_arguments(c);
	if (verb_arguments(c, 3, keys, values))
		return 1;
	a->table = c->argv[1];
	a->path = c->argv[2];
	a->family = values[FAMILY];
	if (a->family && !a->family[0])
		return verb_wrong(c, "error parsing importer args: "
				     "column-family cannot be ''");
	if (values[TIMESTAMP]) {
		a->value_timestamps =
			!strcmp(values[TIMESTAMP], "value-encoded");
		if (!a->value_timestamps && strcmp(values[TIMESTAMP], "now"))
			return verb_wrong(c,
					  "error parsing importer args: "
					  "timestamp must be one of 'now' or "
					  "'value-encoded'");
	}
	/* Taken for the sake of scripts: checked as cbt does, and ignored. */
	if (values[BATCH] &&
	    (atoi(values[BATCH]) <= 0 || atoi(values[BATCH]) > 100000))
		return verb_wrong(c, "error parsing importer args: batch-size "
				     "must be > 0 and <= 100000");
	if (values[WORKERS] && atoi(values[WORKERS]) <= 0)
		return verb_wrong(
			c, "error parsing importer args: workers must be > 0");
	return parse_format(c, values[FORMAT], a);
}

int import_open(struct verb_call *c, const struct import_arguments *a)
{
	struct stat st;
	int fd;

	if (!strcmp(a->path, "-"))
		/* A copy, so that the caller may close it as any other. */
		fd = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3);
	else
		fd = open(a->path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0 && fstat(fd, &st) == 0 && S_ISDIR(st.st_mode)) {
		close(fd);
		fd = -1;
		errno = EISDIR;
	}
	if (fd < 0)
		verb_wrong(c, "couldn't open the %s file: open %s: %s",
			   a->format_word, a->path, strerror(errno));
	return fd;
}

/* Feeds all of fd, and finishes: 0 or the error that ended it, with its
 * detail. */
static int feed_all(struct verb_call *c, struct importer *im, int fd,
		    const char *path)
{
	uint8_t *piece = malloc(PIECE_SIZE);
	struct progress progress;
	ssize_t size = 0;
	int err = piece ? 0 : -ENOMEM;

	progress_begin(&progress, c->err, fd);
	while (!err) {
		size = read(fd, piece, PIECE_SIZE);
		if (size < 0 && errno == EINTR)
			continue;
		if (size <= 0)
			break;
		err = importer_feed(im, bytes_of(piece, (size_t)size));
		progress_update(&progress, importer_result(im)->byte_count,
				importer_result(im)->row_count);
	}
	if (size < 0)
		err = fail(errno, "%s: cannot read: %s", path, strerror(errno));
	/* What came before an error of the input stays, and is made durable. */
	if (!err)
		err = importer_finish(im, true);
	else if (size < 0)
		importer_flush(im, true);
	progress_end(&progress);
	free(piece);
	return err;
}

/* The error that ended it is told first, then what came in before it, if
 * anything did. */
int verb_import(struct verb_call *c)
{
	struct import_options options = { 0 };
	const struct import_result *result;
	struct import_arguments a;
	struct importer *im = NULL;
	int fd, err, status;

	if (recipe_is_meant(c, 2))
		return verb_import_by_recipe(c);
	if (import_arguments(c, &a))
		return 1;
	fd = import_open(c, &a);
	if (fd < 0)
		return 1;
	options.table = bytes_string(a.table);
	options.family = bytes_string(a.family ? a.family : "");
	options.value_timestamps = a.value_timestamps;
	err = importer_new(c->store, a.format, &options, &im);
	if (!err)
		err = feed_all(c, im, fd, a.path);
	close(fd);
	if (!im)
		return verb_failed(c, "Importing", err);
	status = err < 0 ? verb_wrong(c, "%s", verb_error_text(err)) : 0;
	result = importer_result(im);
	/* Nothing came in: the error says all. */
	if (err < 0 && result->row_count == 0) {
		importer_free(im);
		return 1;
	}
	status |= import_report(c, result->row_count, result->refused_count,
				buf_bytes(&result->refused));
	importer_free(im);
	return status;
}
