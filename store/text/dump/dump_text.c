#include "store/attributes.h"
#include "store/text/dump/dump_text.h"
#include "store/base/err.h"
#include "store/text/value/base64.h"
#include "store/text/value/utf8.h"

static_assert(4 * DUMP_PART + 64 < DUMP_LINE_MAX, "a part fits a line");
static_assert(4 * STORE_ATTRIBUTE_VALUE_MAX + STORE_ATTRIBUTE_NAME_MAX + 64 <
		      DUMP_LINE_MAX,
	      "an attribute fits a line");

static bool is_control(uint8_t c)
{
	return c < ' ' || c == 0x7f;
}

/* A control character, or the backslash. */
static int add_escaped(uint8_t c, struct buf *out)
{
	switch (c) {
	case '\\':
		return buf_add(out, "\\\\", 2);
	case '\n':
		return buf_add(out, "\\n", 2);
	case '\r':
		return buf_add(out, "\\r", 2);
	case '\t':
		return buf_add(out, "\\t", 2);
	default:
		return buf_printf(out, "\\x%02x", c);
	}
}

int dump_text_add_base64(struct bytes s, struct buf *out)
{
	int err = buf_add_byte(out, '=');

	return err < 0 ? err : base64_encode(s, out);
}

int dump_text_add(struct bytes s, struct buf *out)
{
	size_t i, from = 0;
	int err;

	if (!utf8_valid(s))
		return dump_text_add_base64(s, out);
	err = buf_add_byte(out, '\'');
	for (i = 0; !err && i < s.size; i++) {
		if (!is_control(s.data[i]) && s.data[i] != '\\')
			continue;
		err = buf_add(out, s.data + from, i - from);
		if (!err)
			err = add_escaped(s.data[i], out);
		from = i + 1;
	}
	return err < 0 || s.size == 0
		       ? err
		       : buf_add(out, s.data + from, s.size - from);
}

/* 0 to 15; 16 for what is no digit of a dump. */
static unsigned int hex_digit(uint8_t c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	return c >= 'a' && c <= 'f' ? c - 'a' + 10U : 16;
}

/* Takes what follows a backslash from the front of *text. */
static int take_escaped(struct bytes *text, struct buf *out)
{
	static const char letters[] = "\\nrt", meant[] = "\\\n\r\t";
	const char *at;
	unsigned int high, low;

	if (text->size == 0)
		return fail(ERR_bad_line, "it ends in a backslash");
	at = memchr(letters, text->data[0], 4);
	if (at) {
		*text = bytes_after(*text, 1);
		return buf_add_byte(out, (uint8_t)meant[at - letters]);
	}
	high = text->size < 3 ? 16 : hex_digit(text->data[1]);
	low = text->size < 3 ? 16 : hex_digit(text->data[2]);
	if (text->data[0] != 'x' || high > 15 || low > 15)
		return fail(ERR_bad_line, "what follows a backslash is one of "
					  "\\ n r t, or x and two digits of "
					  "0-9a-f");
	*text = bytes_after(*text, 3);
	return buf_add_byte(out, (uint8_t)(high << 4 | low));
}

static int take_plain(struct bytes text, struct buf *out)
{
	int err = 0;

	while (!err && text.size > 0) {
		size_t n = 0;

		while (n < text.size && text.data[n] != '\\' &&
		       !is_control(text.data[n]))
			n++;
		err = buf_add(out, text.data, n);
		text = bytes_after(text, n);
		if (err || text.size == 0)
			break;
		if (is_control(text.data[0]))
			return fail(ERR_bad_line,
				    "a byte \\x%02x, which is written so",
				    text.data[0]);
		text = bytes_after(text, 1);
		err = take_escaped(&text, out);
	}
	return err;
}

int dump_text_take(struct bytes text, struct buf *out)
{
	if (text.size > 0 && text.data[0] == '\'')
		return take_plain(bytes_after(text, 1), out);
	if (text.size > 0 && text.data[0] == '=')
		return base64_decode(bytes_after(text, 1), out);
	return fail(ERR_bad_line, "bytes begin with ' as text, or with = as "
				  "base64");
}
