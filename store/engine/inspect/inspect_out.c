#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "store/base/coding.h"
#include "store/base/err.h"
#include "store/engine/inspect/inspect_out.h"
#include "store/format/key.h"

/* Gives out a line that is printed; size is what vasprintf returned. */
static int give(struct inspect *i, char *text, int size)
{
	int err;

	if (size < 0)
		return -ENOMEM;
	err = i->options->line(i->options->context, text);
	free(text);
	return err < 0 ? err : 0;
}

int inspect_always(struct inspect *i, const char *fmt, ...)
{
	char *text;
	va_list args;
	int size;

	va_start(args, fmt);
	size = vasprintf(&text, fmt, args);
	va_end(args);
	return give(i, text, size);
}

int inspect_line(struct inspect *i, const char *fmt, ...)
{
	char *text;
	va_list args;
	int size;

	if (i->is_brief)
		return 0;
	va_start(args, fmt);
	size = vasprintf(&text, fmt, args);
	va_end(args);
	return give(i, text, size);
}

/* Paths and reasons may have anything in them. */
static int tell(struct inspect *i, const char *word, uint64_t offset,
		uint64_t end, const char *part, const char *what)
{
	int err;

	inspect_begin(i);
	err = inspect_add(i, "%s ", word);
	if (err == 0)
		err = buf_add_visible(&i->line, bytes_string(i->path));
	if (err == 0)
		err = inspect_add(i, ": offset %llu to %llu: %s: ",
				  (unsigned long long)offset,
				  (unsigned long long)end, part);
	if (err == 0)
		err = buf_add_visible(&i->line, bytes_string(what));
	return err < 0 ? err : inspect_end(i);
}

int inspect_problem(struct inspect *i, uint64_t offset, uint64_t end,
		    const char *part, const char *what)
{
	if (i->is_useless)
		return inspect_note(i, offset, end, part, what);
	i->problem_count++;
	return tell(i, "problem", offset, end, part, what);
}

int inspect_note(struct inspect *i, uint64_t offset, uint64_t end,
		 const char *part, const char *what)
{
	return tell(i, "note", offset, end, part, what);
}

bool inspect_wants(struct inspect *i)
{
	const struct inspect_options *o = i->options;

	if (!o->entries || (o->count > 0 && i->entry_count >= o->count))
		return false;
	i->entry_count++;
	return true;
}

void inspect_begin(struct inspect *i)
{
	buf_reset(&i->line);
}

int inspect_add(struct inspect *i, const char *fmt, ...)
{
	char *text;
	va_list args;
	int size, err;

	va_start(args, fmt);
	size = vasprintf(&text, fmt, args);
	va_end(args);
	if (size < 0)
		return -ENOMEM;
	err = buf_add(&i->line, text, (size_t)size);
	free(text);
	return err;
}

int inspect_end(struct inspect *i)
{
	int err = buf_terminate(&i->line);

	return err < 0 ? err
		       : i->options->line(i->options->context,
					  (const char *)i->line.data);
}

/* " NAME TEXT" with TEXT quoted. */
static int add_text(struct inspect *i, const char *name, struct bytes text)
{
	int err = inspect_add(i, " %s ", name);

	return err < 0 ? err : i->options->quote(text, &i->line);
}

/* The parts from the row on; *end is set behind the last of them that is
 * whole. */
static int add_parts(struct inspect *i, struct bytes key, size_t *end)
{
	static const char *const names[] = { "row", "family", "qualifier" };
	struct bytes part;
	size_t n;
	int err;

	*end = KEY_TABLE_SIZE;
	for (n = 0; n < 3; n++) {
		err = key_part(key, *end, &i->scratch, &part, end);
		if (err == -ERR_key_malformed)
			return 0;
		if (err == 0)
			err = add_text(i, names[n], part);
		if (err < 0)
			return err;
	}
	if (key.size - *end < KEY_TIMESTAMP_SIZE)
		return 0;
	err = inspect_add(i, " timestamp %llu",
			  (unsigned long long)~get_u64be(key.data + *end));
	*end += KEY_TIMESTAMP_SIZE;
	if (err < 0 || key.size - *end != KEY_TRAILER_SIZE)
		return err;
	*end = key.size;
	return inspect_add(i, " seq %llu kind %d",
			   (unsigned long long)key_seq(key),
			   (int)key_kind(key));
}

/* The successor of a prefix is shown by the prefix itself, whose last byte, the
 * end of a terminator, is one less. */
int inspect_add_key(struct inspect *i, struct bytes key)
{
	bool is_behind = key.size >= KEY_TABLE_SIZE + 2 &&
			 key.data[key.size - 2] == 0 &&
			 key.data[key.size - 1] == 2;
	struct buf prefix = BUF_INIT;
	size_t end = 0;
	int err = 0;

	if (is_behind) {
		err = buf_set(&prefix, key);
		if (err < 0)
			return err;
		prefix.data[prefix.size - 1] = 1;
		key = buf_bytes(&prefix);
		err = inspect_add(i, " behind");
	}
	if (err == 0 && key.size >= KEY_TABLE_SIZE) {
		err = inspect_add(i, " table %u", key_table(key));
		if (err == 0)
			err = add_parts(i, key, &end);
	}
	if (err == 0 && end < key.size)
		err = add_text(i, "bytes", bytes_after(key, end));
	buf_release(&prefix);
	return err;
}

const char *inspect_reason(const struct inspect *i)
{
	const char *text = err_detail();
	size_t n = strlen(i->path);

	return strncmp(text, i->path, n) == 0 && strncmp(text + n, ": ", 2) == 0
		       ? text + n + 2
		       : text;
}
