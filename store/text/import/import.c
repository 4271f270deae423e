#include <assert.h>
#include <stdlib.h>

#include "store/text/import/import.h"
#include "store/text/import/import_array.h"
#include "store/text/import/import_commit.h"
#include "store/text/import/import_csv.h"
#include "store/text/import/import_json.h"
#include "store/text/import/import_recipe.h"
#include "store/text/import/import_resume.h"
#include "store/text/import/import_source.h"
#include "store/text/import/import_state.h"
#include "store/text/import/import_tsv.h"

/*
 * The life of an import: pieces of input, whole records of them, batches.
 * import_csv.c, import_tsv.c and import_json.c take records from the front,
 * import_rows.c knows what those of CSV and TSV mean, and import_commit.c
 * brings them into the store.
 */

/* Fills a zeroed importer; after an error it is the caller's to free, as it is.
 * The table is looked up only to refuse an unknown one at once: it may be
 * dropped while the import runs, which the commit then tells. */
static int importer_init(struct importer *im, struct store *s,
			 const struct import_options *options)
{
	struct schema *schema = s ? store_schema(s) : NULL;
	const struct table *table =
		s ? schema_table(schema, options->table) : options->target;
	bool millis = table && table->millis;
	int err = 0;

	if (!table)
		err = fail(ERR_no_table, "table \"%.*s\" not found",
			   (int)options->table.size, options->table.data);
	schema_put(schema);
	if (err < 0)
		return err;
	im->store = s;
	im->value_timestamps = options->value_timestamps;
	im->strict = options->strict;
	im->is_blind = options->is_blind;
	im->line = im->line_next = 1;
	im->field_max = STORE_MUTATIONS_MAX + 1;
	/* One time for the whole import: of two values for one cell the later
	 * replaces the earlier, wherever the batches end. */
	im->window_us = clock_now(&clock_real);
	im->now_us = s ? store_now(s) : im->window_us;
	/* Such a table refuses times that are not whole milliseconds. */
	if (millis)
		im->now_us -= im->now_us % 1000;
	if (options->family.size > 0)
		im->header = HEADER_COLUMNS;
	im->delimiter = ',';
	im->quote = '"';
	im->comment = -1;
	err = buf_set(&im->table, options->table);
	if (!err)
		err = buf_set(&im->family, options->family);
	if (!err)
		err = import_resume_init(im, options);
	if (!err && options->recipe)
		err = import_recipe_init(im, options);
	if (!err)
		err = import_resume_check_recipe(im);
	return err < 0 || !s ? err : write_new(s, &im->w);
}

int importer_new(struct store *s, enum text_format format,
		 const struct import_options *options, struct importer **out)
{
	struct importer *im;
	int err;

	*out = NULL;
	if (format == TEXT_CBT)
		return fail(ERR_bad_argument,
			    "the cbt layout cannot be imported");
	im = calloc(1, sizeof(*im));
	if (!im)
		return -ENOMEM;
	im->format = format;
	spill_init(&im->spill, s, MEMORY_REQUESTS,
		   IMPORT_RECORD_MAX + IMPORT_FEED_MAX);
	spill_init(&im->copied, s, MEMORY_REQUESTS,
		   2 * (size_t)IMPORT_RECORD_MAX);
	im->json.spill = s ? &im->copied : NULL;
	err = importer_init(im, s, options);
	if (err < 0) {
		importer_free(im);
		return err;
	}
	*out = im;
	return 0;
}

int importer_rename(struct importer *im, struct bytes table)
{
	return buf_set(&im->table, table);
}

/* Counts what waits in memory. */
static void count_input(struct importer *im, size_t size)
{
	if (!im->store)
		return;
	memory_give(store_memory(im->store), MEMORY_REQUESTS, im->counted);
	memory_hold(store_memory(im->store), MEMORY_REQUESTS, size);
	im->counted = size;
}

/* Makes rest, which may be the end of it, all of the input: in memory. */
static int keep_input(struct importer *im, struct bytes rest)
{
	struct buf kept = BUF_INIT;
	int err = buf_add_bytes(&kept, rest);

	if (err)
		return err;
	if (im->spill.fd >= 0)
		spill_release(&im->spill);
	else
		buf_release(&im->input);
	im->input = kept;
	count_input(im, kept.capacity);
	return 0;
}

/* The input as the spill has it, which owns it. */
static void borrow_spill(struct importer *im)
{
	struct bytes all = spill_bytes(&im->spill);

	im->input = (struct buf){ (uint8_t *)(uintptr_t)all.data, all.size,
				  all.size };
}

/* A record that is long waits in a file; in tests and tools that have no store,
 * in memory. */
static int spill_input(struct importer *im)
{
	int err = spill_start(&im->spill);

	if (!err)
		err = spill_add(&im->spill, buf_bytes(&im->input));
	if (err) {
		spill_release(&im->spill);
		/* Where nothing can be written, there is memory. */
		return err == -ENOSPC ? err : 0;
	}
	buf_release(&im->input);
	count_input(im, 0);
	borrow_spill(im);
	return 0;
}

static int add_input(struct importer *im, struct bytes data)
{
	int err;

	if (im->spill.fd < 0) {
		err = buf_add_bytes(&im->input, data);
		return err;
	}
	if (data.size > im->spill.max - im->spill.size)
		return import_locate(im,
				     fail(ERR_bad_line, "line %llu: too long",
					  (unsigned long long)im->line));
	err = spill_add(&im->spill, data);
	borrow_spill(im);
	return err;
}

/* importer_init may have failed at any point: what it did not make is zero. */
void importer_free(struct importer *im)
{
	if (!im)
		return;
	write_free(im->w);
	store_bulk_free(im->load);
	keep_input(im, BYTES_NONE);
	buf_release(&im->table);
	buf_release(&im->family);
	buf_release(&im->result.refused);
	spill_release(&im->copied);
	buf_release(&im->header_text);
	free(im->columns);
	free(im->fields);
	json_release(&im->json);
	import_recipe_release(im);
	import_resume_release(im);
	free(im);
}

const struct import_result *importer_result(const struct importer *im)
{
	return &im->result;
}

/* As take_record, once it is known what the file is like. */
static int take_by_recipe(struct importer *im, bool final)
{
	int err = import_source_look(im, final);

	if (err <= 0)
		return err;
	if (!import_resume_skip(im))
		return 0;
	switch (im->by.format) {
	case RECIPE_TSV:
		return import_take_tsv(im, final);
	case RECIPE_JSONL:
	case RECIPE_DYNAMODB:
		return import_take_json(im, final);
	case RECIPE_JSON:
		return import_take_array(im, final);
	case RECIPE_CONTROL:
		return import_take_control(im, final);
	default:
		return import_take_csv(im, final);
	}
}

/* 1 if a record was taken, 0 if none is whole yet, or the error that ends the
 * import. */
static int take_record(struct importer *im, bool final)
{
	int err = 1;

	if (im->recipe)
		return take_by_recipe(im, final);
	/* What comes by marks a command made, which looked for it. */
	if (!im->resume.by_marks)
		err = import_source_mark(im, final);
	if (err <= 0)
		return err;
	switch (im->format) {
	case TEXT_CSV:
		return import_take_csv(im, final);
	case TEXT_TSV:
		return import_take_tsv(im, final);
	default:
		return import_take_json(im, final);
	}
}

/* Whether all records so far were refused, and those were many. */
static bool is_hopeless(const struct importer *im)
{
	const struct import_result *r = &im->result;

	return im->recipe && r->refused_count >= IMPORT_REFUSED_MAX &&
	       im->resume.saved.offset == 0 &&
	       r->row_count + r->skipped_count + im->pending_rows +
			       im->loaded_rows ==
		       0;
}

/* Takes what is whole, handing on each full batch, and moves the rest to the
 * front. An error leaves the input as it is, since nobody will take more of
 * it. */
static int take_records(struct importer *im, bool final)
{
	int err;

	while ((err = take_record(im, final)) > 0) {
		err = mapped_error();
		if (err)
			return err;
		if (is_hopeless(im)) {
			/* With another recipe they are to come again. */
			im->resume.is_there = false;
			return fail(ERR_bad_line,
				    "the first %d records are all refused; do "
				    "the file and the recipe belong together?",
				    IMPORT_REFUSED_MAX);
		}
		/* What lies between two marks belongs together. */
		if (!im->w || im->resume.by_marks ||
		    (write_count(im->w) < IMPORT_BATCH_MUTATIONS &&
		     write_size(im->w) < IMPORT_BATCH_SIZE))
			continue;
		err = import_hand_on(im);
		if (err < 0)
			return err;
	}
	return err ? err : mapped_error();
}

/* What is left is a part of a record: to the front of the input. */
static int keep_rest(struct importer *im)
{
	size_t left = im->input.size - im->start;
	int err = 0;

	assert(im->start <= im->input.size);
	if (im->start > 0 && im->spill.fd >= 0) {
		err = keep_input(im,
				 bytes_of(im->input.data + im->start, left));
	} else if (im->start > 0) {
		memmove(im->input.data, im->input.data + im->start, left);
		im->input.size = left;
	}
	if (err)
		return err;
	im->resume.base += im->start;
	im->start = 0;
	if (im->store && im->spill.fd < 0 && left > IMPORT_INPUT_MAX)
		return spill_input(im);
	if (im->store && im->spill.fd < 0 && left == 0)
		buf_release(&im->input);
	if (im->spill.fd < 0)
		count_input(im, im->input.capacity);
	return 0;
}

static int consume(struct importer *im, bool final)
{
	int err;

	spill_sweep(&im->spill, true);
	err = take_records(im, final);
	spill_sweep(&im->spill, false);
	if (!err)
		err = keep_rest(im);
	if (!err && im->input.size > IMPORT_RECORD_MAX)
		err = import_locate(
			im, fail(ERR_bad_line,
				 "line %llu: longer than %u MiB; is a quote "
				 "missing?",
				 (unsigned long long)im->line,
				 IMPORT_RECORD_MAX >> 20));
	return err;
}

/* Makes an error final. If it is that of a line, in a strict import or one by a
 * recipe, what was good before it is committed all the same, of a recipe
 * durably, and the error of the line is told again afterwards, unless
 * committing fails. Not so if a refused record could not be put aside, for what
 * is committed is never read again; nor if committing was what failed, for that
 * would leave out what it has lost. */
static int make_final(struct importer *im, int err)
{
	char detail[512];

	im->failed = err;
	if ((im->strict || im->recipe) && import_is_refusable(err) &&
	    !im->by.rejects_failed && !im->is_lost) {
		strncpy(detail, err_detail(), sizeof(detail) - 1);
		detail[sizeof(detail) - 1] = 0;
		err = import_commit(im, im->recipe != NULL);
		if (err < 0)
			im->failed = err;
		else
			fail(-im->failed, "%s", detail);
	}
	return im->failed;
}

/* What the store tells of its imports. */
static void note(struct importer *im)
{
	const struct import_result *r = &im->result;

	if (im->store)
		store_note_import(im->store, r->row_count - im->noted_rows,
				  r->byte_count - im->noted_bytes,
				  r->refused_count - im->noted_refused);
	im->noted_rows = r->row_count;
	im->noted_bytes = r->byte_count;
	im->noted_refused = r->refused_count;
}

/* Ends each call that takes something, with its result. */
static int end_call(struct importer *im, int err)
{
	if (err != 0)
		err = make_final(im, err);
	note(im);
	return err;
}

int importer_feed(struct importer *im, struct bytes data)
{
	int err;

	assert(im->failed <= 0);
	if (im->failed < 0)
		return im->failed;
	im->result.byte_count += data.size;
	im->feed_size = data.size;
	err = add_input(im, data);
	if (!err)
		err = import_resume_look(im, data);
	if (err > 0)
		err = data.size > 0 ? consume(im, false) : 0;
	return end_call(im, err);
}

int importer_begin_file(struct importer *im, struct bytes file,
			enum recipe_format by_name)
{
	int err = 0;

	assert(im->recipe);
	if (im->failed < 0)
		return im->failed;
	if (im->by.file.size > 0) {
		err = consume(im, true);
	}
	if (!err)
		err = import_source_begin(im, file, by_name);
	return end_call(im, err);
}

int importer_settle(struct importer *im)
{
	return im->failed < 0 ? im->failed : end_call(im, import_settle(im));
}

int importer_mark(struct importer *im, const struct import_position *upto)
{
	struct import_position *now = &im->resume.now;
	const struct import_position before = *now;

	assert(im->resume.by_marks);
	if (im->failed < 0)
		return im->failed;
	if (im->start < im->input.size)
		return end_call(im,
				fail(ERR_bad_argument,
				     "the rows of a batch end with a newline"));
	*now = *upto;
	now->table = before.table;
	now->time_us = before.time_us;
	return end_call(im, import_hand_on_marked(im));
}

const struct import_position *importer_position(const struct importer *im)
{
	return &im->resume.saved;
}

bool importer_has_unseen(const struct importer *im)
{
	return im->loaded_rows > 0;
}

uint64_t importer_held_size(const struct importer *im)
{
	return im->input.size - im->start + (im->w ? write_size(im->w) : 0);
}

int importer_flush(struct importer *im, bool sync)
{
	if (im->failed < 0)
		return im->failed;
	return end_call(im, import_commit(im, sync));
}

/* Refuses the end of an input whose header never came, in cbt's words. By a
 * recipe such a file has no records, as one of JSON without any. */
static int check_header(struct importer *im)
{
	if (im->recipe || im->format == TEXT_JSONL || im->header == HEADER_DONE)
		return 0;
	return fail(ERR_bad_line,
		    "error parsing headers: %s header reader error:EOF",
		    im->header == HEADER_FAMILIES ? "family" : "columns");
}

/* What take_record has left, by format. */
static int check_rest(struct importer *im)
{
	enum recipe_format format = im->by.format;

	if (!im->recipe)
		format = im->format == TEXT_CSV ? RECIPE_CSV : RECIPE_JSONL;
	switch (format) {
	case RECIPE_CSV:
		return import_csv_rest(im);
	case RECIPE_JSON:
		return import_array_rest(im);
	case RECIPE_CONTROL:
		return import_control_rest(im);
	default:
		return 0;
	}
}

int importer_rest(struct importer *im)
{
	int err;

	if (im->failed < 0)
		return im->failed;
	/* Of too little it is not known yet what it is. */
	if (im->recipe ? !im->by.looked : !im->marked)
		return 0;
	err = check_header(im);
	if (!err)
		err = check_rest(im);
	err = import_point(im, err);
	return err < 0 && err != -ENOMEM ? -ERR_bad_line : err;
}

int importer_finish(struct importer *im, bool sync)
{
	int err = 0;

	if (im->failed < 0)
		return im->failed;
	/* What comes behind the last mark is no part of it. */
	if (!im->resume.by_marks)
		err = consume(im, import_resume_takes_rest(im));
	if (!err)
		err = check_header(im);
	if (!err)
		err = import_resume_end(im);
	if (!err)
		err = import_commit(im, sync);
	return end_call(im, err);
}
