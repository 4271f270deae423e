#include "store/text/import/import_commit.h"
#include "store/text/import/import_json.h"
#include "store/text/import/import_line.h"
#include "store/text/import/import_state.h"
#include "store/text/json/json_mutation.h"

static bool blank(struct bytes line)
{
	size_t i;

	for (i = 0; i < line.size; i++)
		if (line.data[i] != ' ' && line.data[i] != '\t')
			return false;
	return true;
}

static struct json_context context_of(struct importer *im)
{
	return (struct json_context){ im->store, &im->json,
				      buf_bytes(&im->table), BYTES_NONE,
				      im->now_us };
}

static int add_body(struct importer *im)
{
	struct json_context c = context_of(im);

	return json_mutation_add(&c, im->body, im->w);
}

/* A line that depends on what is there, so on the lines before it as well. */
static int update(struct importer *im)
{
	struct json_context c = context_of(im);
	size_t count;
	int err = import_commit(im, false);

	if (err < 0)
		return err;
	im->log_only = true;
	err = json_mutation_update(&c, im->body, false, &count);
	if (err < 0)
		return import_refuse(im, err);
	im->result.row_count++;
	im->result.cell_count += count;
	return 1;
}

/* im->at is the size of the line with its end. */
static int take_line(struct importer *im)
{
	bool reads;
	int err = json_mutation_parse(
		&im->json, bytes_of(im->input.data + im->start, im->at),
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
	if (err > 0)
		import_advance(im, im->at);
	return err;
}
