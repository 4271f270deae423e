#include <stdlib.h>

#include "store/text/import/import.h"
#include "tools/import/import.h"
#include "tools/import/import_report.h"
#include "tools/import/progress.h"
#include "tools/import/settle.h"
#include "tools/import/recipe_import.h"
#include "tools/import/recipe_words.h"
#include "tools/verb/stop.h"

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
	static const struct {
		const char *suffix;
		enum text_format format;
	} known[] = { { ".csv", TEXT_CSV },
		      { ".tsv", TEXT_TSV },
		      { ".jsonl", TEXT_JSONL } };
	size_t i;

	for (i = 0; i < 3; i++)
		if (word ? !strcmp(known[i].suffix + 1, word)
			 : input_has_suffix(a->path, known[i].suffix))
			break;
	if (i == 3 && word)
		return verb_wrong(c,
				  "error parsing importer args: format must be "
				  "csv, tsv or jsonl, not \"%s\"",
				  word);
	if (i == 3)
		i = 0;
	a->format = known[i].format;
	a->format_word = known[i].suffix + 1;
	return 0;
}

int import_arguments(struct verb_call *c, struct import_arguments *a)
{
	enum { FORMAT, FAMILY, TIMESTAMP, BATCH, WORKERS, PROFILE, QUIET };
	static const char *const keys[] = { "format",    "column-family",
					    "timestamp", "batch-size",
					    "workers",   "app-profile",
					    "quiet",     NULL };
	const char *values[7] = { NULL };
	int quiet;

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
	quiet = import_quiet(c, values[QUIET]);
	if (quiet < 0)
		return 1;
	a->progress = quiet ? NULL : c->err;
	return parse_format(c, values[FORMAT], a);
}

int import_open(struct verb_call *c, const struct import_arguments *a,
		struct input **out)
{
	int err = input_open(a->path, out);

	if (err <= -ERR_BASE)
		return verb_wrong(c, "%s", verb_error_text(err));
	if (err < 0)
		return verb_wrong(c, "couldn't open the %s file: open %s: %s",
				  a->format_word, a->path, strerror(-err));
	return 0;
}

/* Feeds all of in, and finishes: 0 or the error that ended it, with its
 * detail. */
static int feed_all(const struct import_arguments *a, struct importer *im,
		    struct input *in)
{
	const struct import_result *result = importer_result(im);
	uint8_t *piece = malloc(PIECE_SIZE);
	struct progress progress;
	struct progress_now now;
	struct settle settle;
	char detail[512] = "";
	ssize_t size = 0;
	int err = piece ? 0 : -ENOMEM;

	stop_begin();
	settle_begin(&settle, im, in);
	progress_begin(&progress, a->progress, input_size(a->path));
	while (!err && (size = input_read(in, piece, PIECE_SIZE)) > 0) {
		err = importer_feed(im, bytes_of(piece, (size_t)size));
		if (!err)
			err = settle_in_time(&settle);
		now = (struct progress_now){ input_taken(in), true,
					     result->row_count,
					     result->refused_count };
		progress_update(&progress, &now);
		if (stop_check())
			break;
	}
	if (!err && stop_check())
		size = stop_check();
	stop_end();
	/* What came before an error of the input stays, and is made durable. */
	if (size < 0) {
		strncpy(detail, err_detail(), sizeof(detail) - 1);
		importer_flush(im, true);
		err = fail((int)-size, "%s", detail);
	} else if (!err) {
		err = importer_finish(im, true);
	}
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
	struct input *in;
	int err, status;

	if (recipe_is_meant(c, 2))
		return verb_import_by_recipe(c);
	if (import_arguments(c, &a))
		return 1;
	if (import_open(c, &a, &in))
		return 1;
	options.table = bytes_string(a.table);
	options.family = bytes_string(a.family ? a.family : "");
	options.value_timestamps = a.value_timestamps;
	err = importer_new(c->store, a.format, &options, &im);
	if (!err)
		err = feed_all(&a, im, in);
	input_close(in);
	if (!im)
		return err == -ERR_no_table ? import_no_table(c, a.table)
					    : verb_failed(c, "Importing", err);
	status = err < 0 ? verb_wrong(c, "%s", verb_error_text(err)) : 0;
	result = importer_result(im);
	/* Nothing came in: the error says all. */
	if (err < 0 && result->row_count == 0) {
		importer_free(im);
		return import_tell_stopped(c, 0, 1);
	}
	status |= import_report(c, result->row_count, result->refused_count,
				buf_bytes(&result->refused));
	status = import_tell_stopped(c, result->committed_line, status);
	importer_free(im);
	return status;
}
