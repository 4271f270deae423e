#include <assert.h>

#include "store/text/import/import_commit.h"
#include "store/text/import/import_json.h"
#include "store/text/import/import_line.h"
#include "store/text/import/import_recipe.h"
#include "store/text/import/import_state.h"
#include "store/text/json/json_control.h"
#include "store/text/json/json_mutation.h"

/* Such a line is skipped, not refused as no JSON. */
static bool blank(struct bytes line)
{
	size_t i;

	for (i = 0; i < line.size; i++)
		if (line.data[i] != ' ' && line.data[i] != '\t')
			return false;
	return true;
}

/* No row is expected: each line names its own. */
static struct json_context context_of(struct importer *im)
{
	return (struct json_context){
		im->store,  &im->json,  buf_bytes(&im->table),
		BYTES_NONE, im->now_us, NULL
	};
}

/* For import_add_row. */
static int add_body(struct importer *im)
{
	struct json_context c = context_of(im);

	return json_mutation_add(&c, im->body, im->w);
}

/* Runs a line that depends on what is there, so on the lines before it as well:
 * those are committed first, then it is an update of its own. A load would be
 * published for each such line, so from here on all goes by the log. */
static int update(struct importer *im)
{
	struct json_context c = context_of(im);
	size_t count;
	int err = import_commit(im, false);

	if (err == 0 && im->is_blind && json_find(c.json, im->body, "if"))
		err = json_may_not_ask();
	if (err < 0)
		return err;
	im->log_only = true;
	err = json_mutation_update(&c, im->body, false, &count);
	if (err < 0)
		return import_refuse(im, err);
	/* What does nothing, as "mutations": [], is no row. */
	im->result.row_count += count > 0;
	im->result.cell_count += count;
	return 1;
}

/* Parses the line, of im->at bytes with its end, and does what it says. Its end
 * is space to JSON. */
static int take_line(struct importer *im)
{
	bool reads;
	int err;

	assert(im->at > 0 && im->at <= im->input.size - im->start);
	if (im->recipe)
		return import_recipe_json(
			im, bytes_of(im->input.data + im->start, im->at));
	err = json_mutation_parse(&im->json,
				  bytes_of(im->input.data + im->start, im->at),
				  &im->body, &reads);

	if (err < 0)
		return import_refuse(im, err);
	return reads ? update(im) : import_add_row(im, add_body);
}

int import_take_json(struct importer *im, bool final)
{
	struct bytes line;
	int err = import_take_line(im, final, &line);

	if (err <= 0)
		return err;
	if (!blank(line))
		err = take_line(im);
	return err < 0 ? err : import_advance(im, im->at);
}

/* Of control: the object that it becomes, up to six times as long, is in
 * memory. dpkg's own are a hundred times shorter. */
#define PARAGRAPH_MAX ((size_t)4 << 20)

/* Makes the paragraph of size bytes at the front an object, in by.decoded. */
static int make_object(struct importer *im, size_t size)
{
	struct buf *object = &im->by.decoded;

	buf_reset(object);
	if (size > PARAGRAPH_MAX)
		return fail(
			ERR_bad_line,
			"a paragraph of more than %zu MiB; is the empty line "
			"behind it missing?",
			PARAGRAPH_MAX >> 20);
	return json_control(bytes_of(im->input.data + im->start, size),
			    im->line, object);
}

static int take_paragraph(struct importer *im, size_t size)
{
	int err = make_object(im, size);

	if (err < 0)
		return import_refuse(im, err);
	return import_recipe_json(im, buf_bytes(&im->by.decoded));
}

int import_control_rest(struct importer *im)
{
	size_t size = im->input.size - im->start;
	int err = size > 0 ? make_object(im, size) : 0;

	if (err < 0 || size == 0)
		return err;
	return import_recipe_judge(im, buf_bytes(&im->by.decoded));
}

/* What was looked at is done with: a paragraph, or a line between two. */
static int pass_control(struct importer *im, uint64_t lines)
{
	im->line_next = im->line + lines;
	im->csv_line_at = im->csv_lines = 0;
	return import_advance(im, im->at);
}

int import_take_control(struct importer *im, bool final)
{
	for (;;) {
		const uint8_t *base = im->input.data + im->start;
		size_t size = im->input.size - im->start;
		size_t begin = im->csv_line_at;
		const uint8_t *end = NULL;
		bool is_empty, is_last;
		int err = 1;

		if (size > im->at)
			end = memchr(base + im->at, '\n', size - im->at);
		im->at = end ? (size_t)(end - base) + 1 : size;
		if (!end && (!final || size == 0))
			return 0;
		is_empty = json_control_parts(
			bytes_of(base + begin, im->at - begin - (end != NULL)));
		is_last = final && im->at == size;
		/* Behind the last line's end there is no other. */
		im->csv_lines += im->at > begin;
		im->csv_line_at = im->at;
		if (begin == 0 && (is_empty || base[0] == '#'))
			return pass_control(im, im->csv_lines);
		if (!is_empty && !is_last)
			continue;
		err = take_paragraph(im, is_empty ? begin : im->at);
		return err < 0 ? err : pass_control(im, im->csv_lines);
	}
}
