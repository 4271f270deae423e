#define PCRE2_CODE_UNIT_WIDTH 8
#include <assert.h>
#include <pcre2.h>
#include <pthread.h>

#include "store/text/value/quote.h"
#include "store/text/value/utf8.h"

/*
 * Go's idea of a printable code point: letters, marks, numbers, punctuation,
 * symbols and the ASCII space. PCRE2 knows the Unicode tables. Compiled once,
 * then only read.
 */
static pcre2_code *printable;

/* Leaves printable NULL if there is no memory: then every call of quote_go that
 * needs it fails, for good, since it is tried once. */
static void printable_init(void)
{
	static const char pattern[] = "[\\p{L}\\p{M}\\p{N}\\p{P}\\p{S}]+";
	PCRE2_SIZE offset;
	int err;

	printable =
		pcre2_compile((PCRE2_SPTR)pattern, sizeof(pattern) - 1,
			      PCRE2_UTF | PCRE2_NO_UTF_CHECK | PCRE2_ANCHORED,
			      &err, &offset, NULL);
}

/* How many leading bytes of s, which begins with a valid sequence of size
 * bytes, are printable: 0 or size; -ENOMEM when there is no memory. The match
 * data is made anew each time, since threads share the pattern only. */
static int printable_size(struct bytes s, size_t size)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	pcre2_match_data *match;
	int found;

	pthread_once(&once, printable_init);
	if (!printable)
		return -ENOMEM;
	match = pcre2_match_data_create(1, NULL);
	if (!match)
		return -ENOMEM;
	found = pcre2_match(printable, s.data, size, 0, PCRE2_NO_UTF_CHECK,
			    match, NULL);
	pcre2_match_data_free(match);
	if (found == PCRE2_ERROR_NOMATCH)
		return 0;
	return found > 0 ? (int)size : -ENOMEM;
}

/* A character below 0x80 that is not shown as itself: the two lists are
 * parallel. NUL is apart, because strchr finds it at the end of any list. */
static int escape_ascii(uint8_t c, struct buf *out)
{
	static const char names[] = "\a\b\f\n\r\t\v\"\\";
	static const char letters[] = "abfnrtv\"\\";
	const char *found = c ? strchr(names, c) : NULL;

	if (found)
		return buf_printf(out, "\\%c", letters[found - names]);
	return buf_printf(out, "\\x%02x", c);
}

/* One code point above ASCII, or one stray byte, at the front of s; returns
 * how many bytes it took or a negative error. */
static int quote_rune(struct bytes s, struct buf *out)
{
	uint32_t rune;
	size_t size = utf8_decode(s, &rune);
	int shown, err;

	assert(s.size > 0 && s.data[0] >= 0x80);
	if (size == 0) {
		err = buf_printf(out, "\\x%02x", s.data[0]);
		return err < 0 ? err : 1;
	}
	shown = printable_size(s, size);
	if (shown < 0)
		return shown;
	if (shown > 0)
		err = buf_add(out, s.data, size);
	else
		err = buf_printf(out, rune < 0x10000 ? "\\u%04x" : "\\U%08x",
				 rune);
	return err < 0 ? err : (int)size;
}

/* Shown as itself, and needs no look at Unicode. */
static bool plain(uint8_t c)
{
	return c >= 0x20 && c < 0x7f && c != '"' && c != '\\';
}

/* Runs of plain bytes go in one piece; what is between them by the byte or by
 * the code point. */
int quote_go_part(struct bytes value, struct buf *out)
{
	int err = 0;

	while (!err && value.size > 0) {
		size_t n = 0;

		while (n < value.size && plain(value.data[n]))
			n++;
		err = buf_add(out, value.data, n);
		value = bytes_after(value, n);
		if (err < 0 || value.size == 0)
			break;
		if (value.data[0] < 0x80) {
			err = escape_ascii(value.data[0], out);
			value = bytes_after(value, 1);
			continue;
		}
		err = quote_rune(value, out);
		if (err < 0)
			break;
		value = bytes_after(value, (size_t)err);
		err = 0;
	}
	return err;
}

int quote_go(struct bytes value, struct buf *out)
{
	int err = buf_add_byte(out, '"');

	if (!err)
		err = quote_go_part(value, out);
	return err < 0 ? err : buf_add_byte(out, '"');
}
