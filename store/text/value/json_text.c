#include "store/text/value/base64.h"
#include "store/text/value/json_text.h"
#include "store/text/value/utf8.h"

/* What is inside a JSON string of valid UTF-8. Only what JSON demands is
 * escaped: other text stays as readable as it is. */
int json_text_part(struct bytes s, struct buf *out)
{
	int err = 0;

	while (!err && s.size > 0) {
		static const char special[] = "\b\f\n\r\t\"\\";
		static const char letters[] = "bfnrt\"\\";
		const char *found;
		size_t n = 0;

		while (n < s.size && s.data[n] >= 0x20 && s.data[n] != '"' &&
		       s.data[n] != '\\')
			n++;
		err = buf_add(out, s.data, n);
		s = bytes_after(s, n);
		if (err < 0 || s.size == 0)
			break;
		found = memchr(special, s.data[0], sizeof(special) - 1);
		err = found ? buf_printf(out, "\\%c", letters[found - special])
			    : buf_printf(out, "\\u%04x", s.data[0]);
		s = bytes_after(s, 1);
	}
	return err;
}

/* A JSON string of valid UTF-8. */
int json_text_string(struct bytes s, struct buf *out)
{
	int err = buf_add_byte(out, '"');

	if (!err)
		err = json_text_part(s, out);
	return err < 0 ? err : buf_add_byte(out, '"');
}

/* A member of an object: the bytes of a value or row key that is not UTF-8. */
int json_text_base64(struct bytes s, struct buf *out)
{
	int err = buf_add_string(out, "\"base64\": \"");

	if (!err)
		err = base64_encode(s, out);
	return err < 0 ? err : buf_add_byte(out, '"');
}

/* A string, or {"base64": "..."}. */
int json_text_key(struct bytes row, struct buf *out)
{
	int err;

	if (utf8_valid(row))
		return json_text_string(row, out);
	err = buf_add_byte(out, '{');
	if (!err)
		err = json_text_base64(row, out);
	return err < 0 ? err : buf_add_byte(out, '}');
}

/* A qualifier as an object's key, which cannot be an object. What is not UTF-8,
 * and what would read as such an escape, is "base64:" and its base64. */
int json_text_qualifier(struct bytes q, struct buf *out)
{
	int err;

	if (utf8_valid(q) && !bytes_starts_with(q, BYTES_LITERAL("base64:")))
		return json_text_string(q, out);
	err = buf_add_string(out, "\"base64:");
	if (!err)
		err = base64_encode(q, out);
	return err < 0 ? err : buf_add_byte(out, '"');
}
