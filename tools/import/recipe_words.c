#include <stdlib.h>

#include "tools/import/recipe_words.h"

struct bytes recipe_word(const char *argument)
{
	size_t size = strcspn(argument, "=/");

	return bytes_of(argument, argument[size] == '=' ? size : 0);
}

static bool is(struct bytes word, const char *text)
{
	return bytes_equal(word, bytes_string(text));
}

bool recipe_is_meant(const struct verb_call *c, int first)
{
	int i;

	for (i = first; i < c->argc; i++) {
		struct bytes word = recipe_word(c->argv[i]);

		if (is(word, "recipe") || is(word, "resume") ||
		    (recipe_has_word(word) && !is(word, "format")))
			return true;
	}
	return false;
}

/* Reads and parses a file. */
static int take_file(struct recipe *r, const char *path)
{
	FILE *in = fopen(path, "re");
	/* A byte more, so that one that is too long is told. */
	uint8_t *text = malloc(RECIPE_SIZE_MAX + 1);
	size_t size = 0;
	int err = -ENOMEM;

	errno = in ? 0 : errno;
	if (in && text)
		size = fread(text, 1, RECIPE_SIZE_MAX + 1, in);
	if (!in || ferror(in))
		err = fail(errno ? errno : EIO, "recipe %s", path);
	else if (text)
		err = recipe_parse(r, bytes_of(text, size), path);
	if (in)
		fclose(in);
	free(text);
	return err;
}

int recipe_take(struct verb_call *c, struct recipe *r, const char *argument)
{
	struct bytes word = recipe_word(argument);
	int err;

	if (is(word, "recipe"))
		err = take_file(r, argument + word.size + 1);
	else if (recipe_has_word(word))
		err = recipe_add_word(r, argument);
	else
		return 0;
	if (err == 0)
		return 1;
	verb_wrong(c, "%s", verb_error_text(err));
	return -1;
}
