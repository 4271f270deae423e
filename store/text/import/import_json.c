#include <assert.h>

#include "store/text/import/import_commit.h"
#include "store/text/import/import_json.h"
#include "store/text/import/import_line.h"
#include "store/text/import/import_recipe.h"
#include "store/text/import/import_state.h"
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
