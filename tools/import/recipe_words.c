#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "store/text/track/stored_recipe.h"
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

/* What an import by a recipe has besides that cbt's has not. */
static bool is_option(struct bytes word)
{
	return is(word, "recipe") || is(word, "resume") ||
	       is(word, "rejects") || is(word, "dry-run") ||
	       is(word, "duplicates") || is(word, "on-error");
}

bool recipe_is_meant(const struct verb_call *c, int first)
{
	int i;

	for (i = first; i < c->argc; i++) {
		struct bytes word = recipe_word(c->argv[i]);

		if (is_option(word) ||
		    (recipe_has_word(word) && !is(word, "format")))
			return true;
	}
	return false;
}

bool recipe_is_dry(const struct verb_call *c, int first)
{
	int i = first;

	while (i < c->argc && strncmp(c->argv[i], "dry-run=", 8) != 0)
		i++;
	return i < c->argc && recipe_is_meant(c, first);
}

/* Reads what fd holds, and closes it unless it is -1, of which errno tells. */
static int read_text(int fd, const char *path, struct buf *text)
{
	size_t max = RECIPE_SIZE_MAX + 1;
	ssize_t size = fd < 0 ? -1 : 1;
	int err;

	buf_reset(text);
	/* A byte more, so that one that is too long is told. */
	err = buf_reserve(text, max);
	while (!err && size > 0 && text->size < max) {
		size = read(fd, text->data + text->size, max - text->size);
		text->size += size > 0 ? (size_t)size : 0;
	}
	if (!err && size < 0)
		err = fail(errno, "recipe %s", path);
	if (fd > STDIN_FILENO)
		close(fd);
	return err;
}

int recipe_read(const char *path, struct buf *text)
{
	return read_text(strcmp(path, "-") ? open(path, O_RDONLY | O_CLOEXEC)
					   : STDIN_FILENO,
			 path, text);
}

static int take_file(struct recipe *r, const char *path)
{
	struct buf text = BUF_INIT;
	int err = recipe_read(path, &text);

	if (!err)
		err = recipe_parse(r, buf_bytes(&text), path);
	buf_release(&text);
	return err;
}

/* Of a table of a mount, by its file there. */
static int take_mounted(struct recipe *r, const struct recipe_home *home,
			const char *name)
{
	struct buf path = BUF_INIT, text = BUF_INIT;
	int fd, err = buf_printf(&path, "%s/.recipes/%s", home->table, name);

	if (!err)
		err = buf_terminate(&path);
	if (!err) {
		fd = openat(home->root, (char *)path.data,
			    O_RDONLY | O_CLOEXEC);
		if (fd < 0 && errno == ENOENT)
			err = stored_recipe_missing(bytes_string(home->table),
						    bytes_string(name));
		else
			err = read_text(fd, (char *)path.data, &text);
	}
	if (!err)
		err = recipe_parse(r, buf_bytes(&text), name);
	buf_release(&path);
	buf_release(&text);
	return err;
}

/* recipe=: a file, or the name of a stored one. */
static int take_recipe(struct verb_call *c, struct recipe *r, const char *value,
		       const struct recipe_home *home)
{
	int err;

	if (!home || strchr(value, '/') || access(value, F_OK) == 0)
		return take_file(r, value);
	err = stored_recipe_check_name(bytes_string(value));
	if (!err && home->root >= 0)
		err = take_mounted(r, home, value);
	else if (!err)
		err = stored_recipe_parse(c->store, bytes_string(home->table),
					  bytes_string(value), r);
	return err == -ERR_no_recipe
		       ? fail(ERR_no_recipe,
			      "recipe %s: there is no such file, and table "
			      "\"%s\" has no recipe of this name",
			      value, home->table)
		       : err;
}

int recipe_take(struct verb_call *c, struct recipe *r, const char *argument,
		const struct recipe_home *home)
{
	struct bytes word = recipe_word(argument);
	int err;

	if (is(word, "recipe"))
		err = take_recipe(c, r, argument + word.size + 1, home);
	else if (recipe_has_word(word))
		err = recipe_add_word(r, argument);
	else
		return 0;
	if (err == 0)
		return 1;
	verb_wrong(c, "%s", verb_error_text(err));
	return -1;
}
