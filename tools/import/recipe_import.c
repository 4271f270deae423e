#include <stdlib.h>

#include "tools/import/import_report.h"
#include "tools/input/input.h"
#include "tools/import/progress.h"
#include "tools/import/recipe_import.h"
#include "tools/import/recipe_report.h"
#include "tools/import/recipe_words.h"
#include "tools/import/settle.h"
#include "tools/verb/stop.h"

#define PIECE_SIZE (1 << 20)

void recipe_import_release(struct recipe_import *r)
{
	recipe_free(r->recipe);
	free(r->files);
	free(r->line_bases);
	rejects_close(&r->rejects);
	*r = (struct recipe_import){ 0 };
}

static int wrong(struct verb_call *c, const char *why, const char *what)
{
	verb_wrong(c, "%s: %s", what, why);
	return NOT_FINISHED;
}

/* A word that is neither a file nor of the recipe. */
static int take_option(struct verb_call *c, struct recipe_import *r,
		       const char *word)
{
	const char *value = strchr(word, '=') + 1;
	char *end;

	if (!strncmp(word, "duplicates=", 11)) {
		r->refuse_duplicates = !strcmp(value, "refuse");
		if (r->refuse_duplicates || !strcmp(value, "replace"))
			return 0;
		return wrong(c, "duplicates must be refuse or replace", word);
	}
	if (!strncmp(word, "on-error=", 9)) {
		r->stop = !strcmp(value, "stop");
		if (r->stop || !strcmp(value, "refuse"))
			return 0;
		return wrong(c, "on-error must be refuse or stop", word);
	}
	if (!strncmp(word, "rejects=", 8)) {
		rejects_init(&r->rejects, value);
		return *value ? 0 : wrong(c, "which file?", word);
	}
	if (!strncmp(word, "resume=", 7)) {
		r->resume = value;
		return *value ? 0 : wrong(c, "which name?", word);
	}
	if (!strncmp(word, "quiet=", 6)) {
		int quiet = import_quiet(c, value);

		r->quiet = quiet == 1;
		return quiet < 0 ? NOT_FINISHED : 0;
	}
	if (!strncmp(word, "dry-run=", 8)) {
		r->dry = true;
		r->dry_max = strtoull(value, &end, 10);
		if (*value >= '0' && *value <= '9' && !*end && r->dry_max > 0)
			return 0;
		return wrong(c, "dry-run must be a number of rows", word);
	}
	if (!strncmp(word, "column-family=", 14) ||
	    !strncmp(word, "timestamp=", 10))
		return wrong(c,
			     "not beside a key, which says what becomes of a "
			     "record",
			     word);
	if (!strncmp(word, "batch-size=", 11) ||
	    !strncmp(word, "workers=", 8) || !strncmp(word, "app-profile=", 12))
		return 0;
	return wrong(c, "unknown word; tabletfs help import has them", word);
}

/* What does not go with resume: 0, or 2 after it said so. */
static int check_resume(struct verb_call *c, struct recipe_import *r)
{
	r->rejects.append = r->resume != NULL;
	if (!r->resume)
		return 0;
	if (strlen(r->resume) > IMPORT_NAME_MAX) {
		verb_wrong(c, "resume=: a name has %d bytes at most",
			   IMPORT_NAME_MAX);
		return NOT_FINISHED;
	}
	if (r->file_count > 1)
		return wrong(c, "it is of one file", "resume");
	if (r->dry)
		return wrong(c, "not beside dry-run", "resume");
	if (r->refuse_duplicates)
		return wrong(c,
			     "not beside duplicates=refuse, as it is not known "
			     "which cells were set the times before",
			     "resume");
	return 0;
}

int recipe_import_arguments(struct verb_call *c, int root,
			    struct recipe_import *r)
{
	const struct recipe_home home = { c->argc > 1 ? c->argv[1] : "", root };
	int i, taken, err;

	*r = (struct recipe_import){ .table = home.table };
	r->files = calloc((size_t)c->argc, sizeof(*r->files));
	r->line_bases = calloc((size_t)c->argc, sizeof(*r->line_bases));
	err = r->files && r->line_bases ? recipe_new(&r->recipe) : -ENOMEM;
	for (i = 2; !err && i < c->argc; i++) {
		taken = recipe_take(c, r->recipe, c->argv[i], &home);
		if (taken < 0)
			return NOT_FINISHED;
		if (taken == 1 && !strncmp(c->argv[i], "recipe=", 7))
			r->recipe_file = c->argv[i] + 7;
		if (taken == 1)
			continue;
		if (recipe_word(c->argv[i]).size == 0)
			r->files[r->file_count++] = c->argv[i];
		else if (take_option(c, r, c->argv[i]))
			return NOT_FINISHED;
	}
	if (!err)
		err = recipe_check(r->recipe);
	if (err < 0) {
		verb_wrong(c, "%s", verb_error_text(err));
		return NOT_FINISHED;
	}
	if (r->file_count > 0)
		return check_resume(c, r);
	verb_wrong(c, "which file? Say tabletfs import <table> <file>|- "
		      "key='...' set='...'");
	return NOT_FINISHED;
}

/* The format that a path's suffix tells. */
static enum recipe_format format_of(const char *path)
{
	static const struct {
		const char *suffix;
		enum recipe_format format;
	} known[] = { { ".csv", RECIPE_CSV },      { ".tsv", RECIPE_TSV },
		      { ".tab", RECIPE_TSV },      { ".jsonl", RECIPE_JSONL },
		      { ".ndjson", RECIPE_JSONL }, { ".json", RECIPE_JSON } };
	size_t i;

	for (i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (input_has_suffix(path, known[i].suffix))
			return known[i].format;
	return RECIPE_UNSAID;
}

static bool has_enough(const struct recipe_import *r)
{
	return r->dry && r->dry_count >= r->dry_max;
}

/* What the files have, if all tell. */
static uint64_t size_of_all(const struct recipe_import *r)
{
	uint64_t size, total = 0;
	unsigned int i;

	for (i = 0; i < r->file_count; i++) {
		size = input_size(r->files[i]);
		if (size == 0)
			return 0;
		total += size;
	}
	return total;
}

/* Feeds all of in, which is the file that was begun last, behind before bytes
 * of others. */
static int feed_input(const struct recipe_import *r, struct importer *im,
		      struct input *in, uint64_t before,
		      struct progress *progress)
{
	const struct import_result *result = importer_result(im);
	uint8_t *piece = malloc(PIECE_SIZE);
	struct progress_now now;
	struct settle settle;
	ssize_t size;
	int err = piece ? 0 : -ENOMEM;

	settle_begin(&settle, im, in);
	while (!err && !has_enough(r)) {
		size = input_read(in, piece, PIECE_SIZE);
		err = stop_check();
		if (size == 0 || err < 0)
			break;
		err = size < 0 ? (int)size
			       : importer_feed(im,
					       bytes_of(piece, (size_t)size));
		if (!err)
			err = settle_in_time(&settle);
		now = (struct progress_now){ before + input_taken(in), true,
					     result->row_count,
					     result->refused_count };
		progress_update(progress, &now);
	}
	free(piece);
	return err;
}

/* Feeds one file, and adds what it has to *before. */
static int feed_file(struct recipe_import *r, struct importer *im,
		     const char *path, uint64_t *before,
		     struct progress *progress)
{
	struct input *in;
	int err = input_open(path, &in);

	if (!err)
		err = importer_begin_file(im, bytes_string(path),
					  format_of(path));
	if (!err) {
		rejects_begin_file(&r->rejects);
		r->line_bases[r->begun_count++] =
			importer_result(im)->line_count;
		err = feed_input(r, im, in, *before, progress);
		*before += input_taken(in);
	}
	input_close(in);
	return err;
}

int recipe_import_feed(struct verb_call *c, struct recipe_import *r,
		       struct importer *im)
{
	struct progress progress;
	char *detail = NULL;
	uint64_t before = 0;
	unsigned int i;
	int err;

	stop_begin();
	r->rejects.recipe = r->recipe_file;
	err = r->dry ? 0 : rejects_open(&r->rejects, r->files, r->file_count);
	if (r->rejects.cut_size > 0)
		verb_wrong(
			c,
			"rejects=%s: its last %llu bytes had no line end, as "
			"of a record that was being written when the command "
			"was killed, and are cut off; that record comes again",
			r->rejects.path,
			(unsigned long long)r->rejects.cut_size);
	progress_begin(&progress, r->quiet ? NULL : c->err, size_of_all(r));
	for (i = 0; !err && i < r->file_count && !has_enough(r); i++)
		err = feed_file(r, im, r->files[i], &before, &progress);
	progress_end(&progress);
	stop_end();
	if (!err)
		return has_enough(r) ? 0 : importer_finish(im, true);
	/* What came before it stays, and is made durable. */
	detail = strdup(err_detail());
	importer_flush(im, true);
	if (detail && detail[0])
		fail(-err, "%s", detail);
	free(detail);
	return err;
}

struct import_options recipe_import_options(const struct recipe_import *r)
{
	return (struct import_options){
		.table = bytes_string(r->table),
		.recipe = r->recipe,
		.refuse_duplicates = r->refuse_duplicates,
		.strict = r->stop,
		.resume = bytes_string(r->resume ? r->resume : ""),
		.rejects = r->dry            ? NULL
			   : r->rejects.path ? &r->rejects.to
					     : NULL,
	};
}

struct dry_run {
	struct verb_call *c;
	struct recipe_import *r;
};

/* For import_options.emit. */
static int print_row(void *context, struct bytes line)
{
	struct dry_run *d = context;

	if (has_enough(d->r))
		return 0;
	d->r->dry_count++;
	fwrite(line.data, 1, line.size, d->c->out);
	return 0;
}

int recipe_import_dry(struct verb_call *c, struct recipe_import *r,
		      const struct table *target)
{
	struct dry_run d = { c, r };
	struct import_options options = recipe_import_options(r);
	const struct import_result *result;
	struct importer *im = NULL;
	int err, status;

	options.emit = print_row;
	options.context = &d;
	options.target = target;
	err = importer_new(NULL, TEXT_CSV, &options, &im);
	if (!err)
		err = recipe_import_feed(c, r, im);
	if (err < 0)
		verb_wrong(c, "%s", verb_error_text(err));
	if (!im)
		return NOT_FINISHED;
	result = importer_result(im);
	/* The last line of a report would tell of rows that came in. */
	status = result->refused_count ? SOME_REFUSED : ALL_IN;
	recipe_report_header(c, r, result);
	recipe_tell_counts(c, r, result);
	import_tell_refused(c, result->refused_count,
			    buf_bytes(&result->refused));
	importer_free(im);
	return err < 0 ? NOT_FINISHED : status;
}

/* The dry run of a table of the store. */
static int run_dry(struct verb_call *c, struct recipe_import *r)
{
	struct schema *schema = store_schema(c->store);
	const struct table *table =
		schema_table(schema, bytes_string(r->table));
	int status = NOT_FINISHED;

	if (table)
		status = recipe_import_dry(c, r, table);
	else
		import_no_table(c, r->table);
	schema_put(schema);
	return status;
}

static int run_import(struct verb_call *c, struct recipe_import *r)
{
	struct import_options options = recipe_import_options(r);
	struct recipe_outcome o = { 0 };
	struct importer *im = NULL;
	int err = importer_new(c->store, TEXT_CSV, &options, &im), status;

	if (err < 0) {
		if (err == -ERR_no_table)
			import_no_table(c, r->table);
		else
			verb_failed(c, "Importing", err);
		return NOT_FINISHED;
	}
	o.err = recipe_import_feed(c, r, im);
	o.result = importer_result(im);
	o.rows = o.result->row_count;
	o.committed_line = r->resume ? importer_position(im)->line - 1
				     : o.result->committed_line;
	o.has_before = r->resume && importer_position(im)->offset > 0;
	status = recipe_report(c, r, &o);
	importer_free(im);
	return status;
}

int verb_import_by_recipe(struct verb_call *c)
{
	struct recipe_import r;
	int status = recipe_import_arguments(c, -1, &r);

	if (status == 0)
		status = r.dry ? run_dry(c, &r) : run_import(c, &r);
	recipe_import_release(&r);
	return status;
}
