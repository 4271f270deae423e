#include <stdlib.h>

#include "store/text/recipe/apply.h"
#include "tools/import/key.h"
#include "tools/import/recipe_words.h"

/* A record of the words that are fields. Both arrays have room for all. */
struct words {
	struct bytes *names;
	struct record_column *columns;
	size_t count;
};

/* Only these words are the recipe's: set, at and others name fields here. */
static bool is_of_recipe(const char *argument)
{
	static const char *const words[] = { "recipe", "key", "zone" };
	struct bytes word = recipe_word(argument);
	size_t i;

	for (i = 0; i < 3; i++)
		if (bytes_equal(word, bytes_string(words[i])))
			return true;
	return false;
}

bool key_has_table(const struct verb_call *c)
{
	return c->argc > 1 && !strchr(c->argv[1], '=');
}

/* Takes all arguments. 0, or 1 after it said what is wrong. */
static int take_words(struct verb_call *c, int root, struct recipe *r,
		      struct words *w)
{
	const struct recipe_home home = { c->argc > 1 ? c->argv[1] : "", root };
	bool has_table = key_has_table(c);
	int i;

	for (i = has_table ? 2 : 1; i < c->argc; i++) {
		const char *equals = strchr(c->argv[i], '=');

		if (!equals)
			return verb_wrong(c, "bad arg \"%s\"", c->argv[i]);
		if (is_of_recipe(c->argv[i])) {
			if (recipe_take(c, r, c->argv[i],
					has_table ? &home : NULL) < 0)
				return 1;
			continue;
		}
		w->names[w->count] =
			bytes_of(c->argv[i], (size_t)(equals - c->argv[i]));
		w->columns[w->count++].value = bytes_string(equals + 1);
	}
	if (!recipe_has_key(r))
		return verb_wrong(c, "which recipe? Say recipe=FILE or "
				     "key='{FIELD}'");
	return 0;
}

static int print_keys(struct verb_call *c, struct recipe *r,
		      const struct words *w)
{
	struct record record = { .file = BYTES_LITERAL("-"),
				 .line = 1,
				 .columns = w->columns,
				 .column_count = w->count };
	struct buf keys = BUF_INIT;
	struct applier *a;
	int err = applier_new(r, 0, false, &a);

	if (!err)
		err = applier_key_header(a, w->names, w->count);
	if (!err)
		err = applier_keys(a, &record, &keys);
	if (!err)
		fwrite(keys.data, 1, keys.size, c->out);
	applier_free(a);
	buf_release(&keys);
	return err < 0 ? verb_wrong(c, "%s", verb_error_text(err)) : 0;
}

int key_at(struct verb_call *c, int root)
{
	struct words w = { 0 };
	struct recipe *r = NULL;
	int status = 1;

	w.names = calloc((size_t)c->argc, sizeof(*w.names));
	w.columns = calloc((size_t)c->argc, sizeof(*w.columns));
	if (!w.names || !w.columns || recipe_new(&r) < 0)
		verb_failed(c, "Making keys", -ENOMEM);
	else if (take_words(c, root, r, &w) == 0)
		status = print_keys(c, r, &w);
	recipe_free(r);
	free(w.names);
	free(w.columns);
	return status;
}

int verb_key(struct verb_call *c)
{
	return key_at(c, -1);
}
