#include "store/text/track/stored_recipe.h"
#include "tools/admin/recipe.h"
#include "tools/import/recipe_words.h"

/* The word that stands in place of a file. */
#define TEXT "text="

int recipe_bring(struct verb_call *c, struct buf *text)
{
	struct buf content = BUF_INIT;
	int err;

	if (c->argc != 5 || strcmp(c->argv[2], "set") ||
	    !strncmp(c->argv[4], TEXT, strlen(TEXT)))
		return 0;
	err = recipe_read(c->argv[4], &content);
	/* A word ends with a NUL. */
	if (!err && content.size > 0 && memchr(content.data, 0, content.size))
		err = fail(ERR_bad_argument, "%s: a recipe is text",
			   c->argv[4]);
	if (!err)
		err = buf_add_string(text, TEXT);
	if (!err)
		err = buf_add_bytes(text, buf_bytes(&content));
	if (!err)
		err = buf_terminate(text);
	buf_release(&content);
	if (err < 0)
		return verb_failed(c, "Storing recipe", err);
	c->argv[4] = (char *)text->data;
	return 0;
}

/* A name in each line. */
static void list(struct verb_call *c, const struct table *t)
{
	struct stored_recipe r;
	size_t i = 0;

	while (stored_recipe_next(t, &i, &r))
		fprintf(c->out, "%.*s\n", (int)r.name.size,
			(const char *)r.name.data);
}

/* Lists all, or shows the one of this name. */
static int show(struct verb_call *c, const char *name)
{
	struct schema *schema = store_schema(c->store);
	struct bytes table = bytes_string(c->argv[1]);
	const struct table *t = schema_table(schema, table);
	struct stored_recipe r;
	int err = 0;

	if (!t)
		err = fail(ERR_no_table, "table \"%s\" not found", c->argv[1]);
	else if (!name)
		list(c, t);
	else if (stored_recipe_find(t, bytes_string(name), &r))
		fwrite(r.text.data, 1, r.text.size, c->out);
	else
		err = stored_recipe_missing(table, bytes_string(name));
	schema_put(schema);
	return err < 0 ? verb_failed(c, "Showing recipe", err) : 0;
}

int verb_recipe(struct verb_call *c)
{
	const char *what = c->argc > 2 ? c->argv[2] : "";
	const struct clock *clock = &clock_real;
	struct bytes table, name;
	int err;

	if (c->argc == 2)
		return show(c, NULL);
	if (c->argc == 4 && !strcmp(what, "show"))
		return show(c, c->argv[3]);
	if (c->argc < 4)
		return verb_usage(c);
	table = bytes_string(c->argv[1]);
	name = bytes_string(c->argv[3]);
	if (c->argc == 4 && !strcmp(what, "rm")) {
		err = stored_recipe_remove(c->store, table, name);
		return err < 0 ? verb_failed(c, "Removing recipe", err) : 0;
	}
	if (c->argc != 5 || strcmp(what, "set") != 0 ||
	    strncmp(c->argv[4], TEXT, strlen(TEXT)) != 0)
		return verb_usage(c);
	err = stored_recipe_set(c->store, table, name,
				bytes_string(c->argv[4] + strlen(TEXT)),
				clock_now(clock));
	return err < 0 ? verb_failed(c, "Storing recipe", err) : 0;
}
