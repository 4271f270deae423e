#include <assert.h>
#include <stdio.h>

#include "fs/control/import_steps.h"
#include "fs/query/query.h"
#include "store/text/track/stored_recipe.h"

/* What an import remembers of its cells, to count those that are replaced: of
 * some 400,000, since several may be open in one daemon. */
#define SEEN_MAX ((size_t)4 << 20)

/* Whether a value of the step timestamp says that values end with theirs. */
static bool is_value_encoded(struct bytes timestamp)
{
	return bytes_equal(timestamp, BYTES_LITERAL("value-encoded"));
}

int import_steps_check(struct bytes name, struct bytes value)
{
	if (bytes_equal(name, BYTES_LITERAL("resume")))
		return value.size > 0 && value.size <= IMPORT_NAME_MAX
			       ? 0
			       : fail(ENOENT, "a name has 1 to %d bytes",
				      IMPORT_NAME_MAX);
	if (bytes_equal(name, BYTES_LITERAL("recipe")))
		return stored_recipe_check_name(value) < 0
			       ? fail(ENOENT, "no recipe has such a name")
			       : 0;
	if (bytes_equal(name, BYTES_LITERAL("family")))
		return value.size > 0 ? 0 : fail(ENOENT, "an empty family");
	if (bytes_equal(name, BYTES_LITERAL("on-error")))
		return bytes_equal(value, BYTES_LITERAL("stop"))
			       ? 0
			       : fail(ENOENT, "on-error is stop");
	return is_value_encoded(value) ||
			       bytes_equal(value, BYTES_LITERAL("now"))
		       ? 0
		       : fail(ENOENT, "timestamp is now or value-encoded");
}

void import_steps_read(struct node *file, struct import_steps *steps)
{
	struct node *node = file->parent;
	struct query_step step;

	*steps = (struct import_steps){ .value_timestamps = false };
	while (query_next_step(&node, &step)) {
		if (bytes_equal(step.name, BYTES_LITERAL("family")))
			steps->family = step.value;
		else if (bytes_equal(step.name, BYTES_LITERAL("resume")))
			steps->resume = step.value;
		else if (bytes_equal(step.name, BYTES_LITERAL("recipe")))
			steps->recipe = step.value;
		else if (bytes_equal(step.name, BYTES_LITERAL("on-error")))
			steps->stop = true;
		else
			steps->value_timestamps = is_value_encoded(step.value);
	}
}

/* By the file's name, which is csv, tsv or jsonl, or batch with rows of that.
 */
static enum text_format format_of(struct bytes name)
{
	if (bytes_equal(name, BYTES_LITERAL("csv")))
		return TEXT_CSV;
	return bytes_equal(name, BYTES_LITERAL("tsv")) ? TEXT_TSV : TEXT_JSONL;
}

/* The same with a recipe; data leaves it to that, or to the content. */
static enum recipe_format recipe_format_of(struct bytes name)
{
	if (bytes_equal(name, BYTES_LITERAL("data")))
		return RECIPE_UNSAID;
	switch (format_of(name)) {
	case TEXT_CSV:
		return RECIPE_CSV;
	case TEXT_TSV:
		return RECIPE_TSV;
	default:
		return RECIPE_JSONL;
	}
}

/* Parses the recipe, as it is now. */
static int read_recipe(const struct place *place, struct bytes name,
		       struct recipe **out)
{
	char told[STORE_FAMILY_NAME_MAX + 1];
	struct stored_recipe stored;
	int err;

	*out = NULL;
	if (!stored_recipe_find(place->table, name, &stored))
		return stored_recipe_missing(place->path.table, name);
	err = recipe_new(out);
	snprintf(told, sizeof(told), "%.*s", (int)name.size,
		 (const char *)name.data);
	if (!err)
		err = recipe_parse(*out, stored.text, told);
	return err < 0 ? err : recipe_check(*out);
}

/* Puts the recipe's name in front of what does not fit its table. */
static int of_recipe(struct bytes recipe, int err)
{
	if (err != -ERR_no_family && err != -ERR_type_mismatch)
		return err;
	return fail(-err, "recipe %.*s: %s", (int)recipe.size,
		    (const char *)recipe.data, err_detail());
}

/* An importer by recipe, at the beginning of what is called name. */
static int open_by_recipe(struct fs *fs, struct bytes name,
			  struct import_options *options, struct importer **out)
{
	enum recipe_format by_name = recipe_format_of(name);
	enum recipe_format own = recipe_source(options->recipe)->format;
	int err;

	/* An export of DynamoDB is lines of JSON. */
	if (by_name && own && own != by_name &&
	    !(own == RECIPE_DYNAMODB && by_name == RECIPE_JSONL))
		return fail(ERR_bad_argument,
			    "the recipe says another format than %.*s; write "
			    "to data",
			    (int)name.size, (const char *)name.data);
	options->seen_max = SEEN_MAX;
	err = importer_new(fs->store, TEXT_CSV, options, out);
	if (!err)
		err = importer_begin_file(*out, name, by_name);
	return err;
}

int import_steps_open(struct fs *fs, const struct place *place,
		      struct bytes name, const struct import_steps *steps,
		      struct recipe **recipe, struct importer **out)
{
	struct import_options options = {
		.table = place->path.table,
		.family = steps->family,
		.resume = steps->resume,
		.value_timestamps = steps->value_timestamps,
		.is_blind = steps->is_blind,
		/* No row of a batch is behind its position unless it is in. */
		.strict = steps->stop || steps->resume.size > 0,
	};
	int err;

	assert(place->table);
	*recipe = NULL;
	*out = NULL;
	if (steps->recipe.size == 0)
		return importer_new(fs->store, format_of(name), &options, out);
	err = read_recipe(place, steps->recipe, recipe);
	options.recipe = *recipe;
	if (!err)
		err = open_by_recipe(fs, name, &options, out);
	if (!err)
		return 0;
	importer_free(*out);
	recipe_free(*recipe);
	*recipe = NULL;
	*out = NULL;
	return of_recipe(steps->recipe, err);
}
