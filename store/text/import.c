#include "store/text/import.h"

#include <stdlib.h>

static int importer_init(struct importer *im, struct store *s,
			 const struct import_options *options)
{
	struct schema *schema = store_schema(s);
	const struct table *table = schema_table(schema, options->table);
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
	im->line = im->line_next = 1;
	im->field_max = STORE_MUTATIONS_MAX + 1;
	/* One time for the whole import: of two values for one cell the later
	 * replaces the earlier, wherever the batches end. */
	im->now_us = im->window_us = clock_now(&clock_real);
	if (millis)
		im->now_us -= im->now_us % 1000;
	if (options->family.size > 0)
		im->header = HEADER_COLUMNS;
	err = buf_set(&im->table, options->table);
	if (!err)
		err = buf_set(&im->family, options->family);
	return err < 0 ? err : write_new(s, &im->w);
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
	err = importer_init(im, s, options);
	if (err < 0) {
		importer_free(im);
		return err;
	}
	*out = im;
	return 0;
}

void importer_free(struct importer *im)
{
	if (!im)
		return;
	write_free(im->w);
	store_bulk_free(im->load);
	buf_release(&im->table);
	buf_release(&im->family);
	buf_release(&im->result.refused);
	buf_release(&im->input);
	buf_release(&im->header_text);
	free(im->columns);
	free(im->fields);
	json_release(&im->json);
	free(im);
}

const struct import_result *importer_result(const struct importer *im)
{
	return &im->result;
}

/* What was loaded in bulk becomes visible, durably. */
static int publish(struct importer *im)
{
	int err = store_bulk_publish(im->load);

	if (err < 0)
		return err;
	im->result.row_count += im->loaded_rows;
	im->result.cell_count += im->loaded_cells;
	im->result.committed_line = im->loaded_line;
	im->loaded_rows = im->loaded_cells = 0;
	return 0;
}

static int end_load(struct importer *im)
{
	int err = publish(im);

	store_bulk_free(im->load);
	im->load = NULL;
	return err;
}

/*
 * Begins a bulk load, or ends one whose input has become slow: what a slow
 * writer sends is to be seen soon. Who hands over much at once has more.
 */
static int choose_way(struct importer *im)
{
	uint64_t now = clock_now(&clock_real);
	uint64_t bytes = im->result.byte_count - im->window_bytes;
	int err = 0;

	if (!im->load && !im->log_only &&
	    (im->feed_size >= IMPORT_LOAD_FEED || bytes >= IMPORT_LOAD_RATE))
		err = store_bulk_begin(im->store, &im->load);
	else if (now - im->window_us < IMPORT_LOAD_WINDOW_US)
		return 0;
	else if (im->load && bytes < IMPORT_LOAD_RATE)
		err = end_load(im);
	im->window_us = now;
	im->window_bytes = im->result.byte_count;
	return err;
}

/* Hands on the mutations collected so far, to the load or to the log. */
static int hand_on(struct importer *im)
{
	int err = choose_way(im);

	if (err < 0 || write_count(im->w) == 0)
		return err;
	if (im->load) {
		err = store_bulk_add(im->load, im->w);
		if (err < 0)
			return err;
		if (err == 1) {
			im->loaded_rows += im->pending_rows;
			im->loaded_cells += im->pending_cells;
			im->loaded_line = im->result.line_count;
			im->pending_rows = im->pending_cells = 0;
			return 0;
		}
		/* Not only sets: the rest goes by the log. */
		err = end_load(im);
		im->log_only = true;
	}
	if (err == 0)
		err = store_commit(im->store, im->w, false);
	if (err < 0)
		return err;
	im->result.row_count += im->pending_rows;
	im->result.cell_count += im->pending_cells;
	im->result.committed_line = im->result.line_count;
	im->pending_rows = im->pending_cells = 0;
	return 0;
}

int import_commit(struct importer *im, bool sync)
{
	int err = hand_on(im);

	if (err == 0 && im->load)
		err = end_load(im);
	if (err == 0)
		im->result.committed_line = im->result.line_count;
	if (err == 0 && sync)
		err = store_sync(im->store);
	return err;
}

/* Whether the text of the line is to blame, so that others can go on. */
static bool line_to_blame(int err)
{
	switch (-err) {
	case ERR_bad_line:
	case ERR_no_family:
	case ERR_bad_timestamp:
	case ERR_row_key_empty:
	case ERR_row_key_too_long:
	case ERR_qualifier_too_long:
	case ERR_value_too_large:
	case ERR_batch_too_large:
	case ERR_type_mismatch:
	case ERR_not_a_number:
	case ERR_condition_failed:
	case ERR_bad_argument:
		return true;
	}
	return false;
}

int import_refuse(struct importer *im, int err)
{
	const char *reason = err_detail();

	if (im->strict || !line_to_blame(err))
		return err;
	if (im->result.refused_count++ >= IMPORT_REFUSED_MAX)
		return 1;
	err = buf_printf(&im->result.refused, "line %llu: %s\n",
			 (unsigned long long)im->line,
			 reason[0] ? reason : err_text(err));
	return err < 0 ? err : 1;
}

int import_add_row(struct importer *im, int (*add)(struct importer *im))
{
	struct write_mark mark = write_mark(im->w);
	size_t before = write_count(im->w);
	int err = add(im);

	if (err == -ERR_batch_too_large && before > 0) {
		write_rewind(im->w, mark);
		err = hand_on(im);
		if (err < 0)
			return err;
		mark = write_mark(im->w);
		before = 0;
		err = add(im);
	}
	if (err < 0) {
		write_rewind(im->w, mark);
		return import_refuse(im, err);
	}
	if (write_count(im->w) == before)
		write_rewind(im->w, mark);
	else
		im->pending_rows++;
	im->pending_cells += write_count(im->w) - before;
	return 1;
}

void import_advance(struct importer *im, size_t size)
{
	im->start += size;
	im->at = 0;
	im->result.line_count = im->line_next - 1;
	im->line = im->line_next;
}

int import_take_line(struct importer *im, bool final, struct bytes *line)
{
	const uint8_t *from = im->input.data + im->start;
	size_t size = im->input.size - im->start;
	const uint8_t *end = NULL;

	if (size > im->at)
		end = memchr(from + im->at, '\n', size - im->at);
	im->at = size;
	if (!end && (!final || size == 0))
		return 0;
	if (end)
		im->at = size = (size_t)(end - from) + 1;
	*line = bytes_of(from, size - (end != NULL));
	if (line->size > 0 && line->data[line->size - 1] == '\r')
		line->size--;
	im->line_next = im->line + 1;
	return 1;
}

static int take_record(struct importer *im, bool final)
{
	switch (im->format) {
	case TEXT_CSV:
		return import_take_csv(im, final);
	case TEXT_TSV:
		return import_take_tsv(im, final);
	default:
		return import_take_json(im, final);
	}
}

/* Takes what is whole and moves the rest to the front. */
static int consume(struct importer *im, bool final)
{
	int err;

	while ((err = take_record(im, final)) > 0) {
		if (write_count(im->w) < IMPORT_BATCH_MUTATIONS &&
		    write_size(im->w) < IMPORT_BATCH_SIZE)
			continue;
		err = hand_on(im);
		if (err < 0)
			return err;
	}
	if (err < 0)
		return err;
	if (im->start > 0) {
		im->input.size -= im->start;
		memmove(im->input.data, im->input.data + im->start,
			im->input.size);
		im->start = 0;
	}
	if (im->input.size > IMPORT_RECORD_MAX)
		return fail(
			ERR_bad_line,
			"line %llu: longer than %u MiB; is a quote missing?",
			(unsigned long long)im->line, IMPORT_RECORD_MAX >> 20);
	return 0;
}

/* An error is final; what was good before it is committed all the same. */
static int finish_failed(struct importer *im, int err)
{
	char detail[512];

	if (err == 0)
		return 0;
	im->failed = err;
	if (im->strict && line_to_blame(err)) {
		strncpy(detail, err_detail(), sizeof(detail) - 1);
		detail[sizeof(detail) - 1] = 0;
		err = import_commit(im, false);
		if (err < 0)
			im->failed = err;
		else
			fail(-im->failed, "%s", detail);
	}
	return im->failed;
}

int importer_feed(struct importer *im, struct bytes data)
{
	int err;

	if (im->failed < 0)
		return im->failed;
	im->result.byte_count += data.size;
	im->feed_size = data.size;
	err = buf_add_bytes(&im->input, data);
	if (!err && data.size > 0)
		err = consume(im, false);
	return finish_failed(im, err);
}

int importer_settle(struct importer *im)
{
	if (im->failed < 0)
		return im->failed;
	return finish_failed(im, hand_on(im));
}

int importer_flush(struct importer *im, bool sync)
{
	if (im->failed < 0)
		return im->failed;
	return finish_failed(im, import_commit(im, sync));
}

/* A header that never came. */
static int check_header(struct importer *im)
{
	if (im->format == TEXT_JSONL || im->header == HEADER_DONE)
		return 0;
	return fail(ERR_bad_line,
		    "error parsing headers: %s header reader error:EOF",
		    im->header == HEADER_FAMILIES ? "family" : "columns");
}

int importer_finish(struct importer *im, bool sync)
{
	int err;

	if (im->failed < 0)
		return im->failed;
	err = consume(im, true);
	if (!err)
		err = check_header(im);
	if (!err)
		err = import_commit(im, sync);
	return finish_failed(im, err);
}
