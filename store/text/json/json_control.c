#include <string.h>

#include "store/base/err.h"
#include "store/text/json/json_control.h"
#include "store/text/value/json_text.h"
#include "store/text/value/utf8.h"

static bool is_blank(uint8_t c)
{
	return c == ' ' || c == '\t';
}

/* Without blanks at both ends, of which CR is one at the last. */
static struct bytes trim(struct bytes s)
{
	while (s.size > 0 &&
	       (is_blank(s.data[s.size - 1]) || s.data[s.size - 1] == '\r'))
		s.size--;
	while (s.size > 0 && is_blank(s.data[0]))
		s = bytes_after(s, 1);
	return s;
}

/* How long the name is in front of the line's colon; 0 if there is none. */
static size_t name_size(struct bytes line)
{
	size_t i = 0;

	while (i < line.size && line.data[i] > ' ' && line.data[i] < 0x7f &&
	       line.data[i] != ':')
		i++;
	return i < line.size && line.data[i] == ':' && line.data[0] != '-' ? i
									   : 0;
}

bool json_control_begins(struct bytes line)
{
	size_t size = name_size(line), i;

	for (i = 0; i < line.size; i++)
		if (strchr(",;\t\"{", line.data[i]))
			return false;
	return size > 0 && size + 1 < line.size && line.data[size + 1] == ' ';
}

/* The first line of text without its end; *text is what is behind it. */
static struct bytes next_line(struct bytes *text)
{
	const uint8_t *end = memchr(text->data, '\n', text->size);
	struct bytes line = bytes_of(
		text->data, end ? (size_t)(end - text->data) : text->size);

	*text = bytes_after(*text, line.size + (end != NULL));
	if (line.size > 0 && line.data[line.size - 1] == '\r')
		line.size--;
	return line;
}

bool json_control_parts(struct bytes line)
{
	return trim(line).size == 0;
}

static int wrong_line(uint64_t number, const char *why)
{
	return fail(ERR_bad_line, "line %llu: %s", (unsigned long long)number,
		    why);
}

/* One that goes on: the first that says something is all of an empty value. */
static int add_more(struct bytes line, bool is_empty, struct buf *out)
{
	int err = is_empty ? 0 : buf_add_string(out, "\\n");

	return err ? err : json_text_part(line, out);
}

/* NAME: VALUE, of which the string stays open. */
static int add_field(struct bytes line, size_t size, struct bytes value,
		     bool is_first, struct buf *out)
{
	int err = is_first ? 0 : buf_add_string(out, "\",");

	if (!err)
		err = json_text_string(bytes_of(line.data, size), out);
	if (!err)
		err = buf_add_string(out, ":\"");
	return err ? err : json_text_part(value, out);
}

int json_control(struct bytes text, uint64_t number, struct buf *out)
{
	bool is_first = true, is_empty = false;
	int err = buf_add_byte(out, '{');

	for (; !err && text.size > 0; number++) {
		struct bytes line = next_line(&text), value;
		size_t size = name_size(line);

		if (line.size == 0 || line.data[0] == '#')
			continue;
		if (!utf8_valid(line))
			return wrong_line(number, "it is not UTF-8");
		if (is_blank(line.data[0]) && !is_first) {
			line = bytes_after(line, 1);
			err = add_more(line, is_empty, out);
			is_empty = is_empty && line.size == 0;
		} else if (size > 0) {
			value = trim(bytes_after(line, size + 1));
			err = add_field(line, size, value, is_first, out);
			is_empty = value.size == 0;
			is_first = false;
		} else {
			return wrong_line(number,
					  "it is no field, NAME: VALUE, and "
					  "does not go on with one, by a blank "
					  "in front");
		}
	}
	return err ? err : buf_add_string(out, "\"}");
}
