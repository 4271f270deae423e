#include <assert.h>
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "store/text/value/number.h"

bool int_parse(struct bytes text, int64_t *out)
{
	bool minus = text.size > 0 && text.data[0] == '-';
	uint64_t value = 0, max = (uint64_t)INT64_MAX + minus;
	size_t i = text.size > 0 && (minus || text.data[0] == '+');

	if (i == text.size)
		return false;
	for (; i < text.size; i++) {
		uint64_t digit = (uint64_t)text.data[i] - '0';

		if (digit > 9 || value > (max - digit) / 10)
			return false;
		value = value * 10 + digit;
	}
	/* Negated as unsigned, where the magnitude of INT64_MIN fits. */
	*out = minus ? (int64_t)(0 - value) : (int64_t)value;
	return true;
}

int int_parse_added(struct bytes text, int64_t *out)
{
	text = bytes_trim(text);
	if (text.size == 0)
		return 0;
	return int_parse(text, out) ? 1 : -EINVAL;
}

/* 0 to 15, or 16 for what is no digit in any base; the caller compares it with
 * the base. */
static unsigned int digit_value(uint8_t c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10u;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10u;
	return 16;
}

/* Takes 0x, 0o, 0b or a leading 0 from the front and returns the base, 10
 * without them. The 0 of octal stays, for it is a digit; the letter forms allow
 * an underscore to follow, which *prefixed tells. */
static unsigned int take_base(struct bytes *text, bool *prefixed)
{
	unsigned int base;

	*prefixed = false;
	if (text->size < 2 || text->data[0] != '0')
		return 10;
	switch (text->data[1] | 0x20) {
	case 'x':
		base = 16;
		break;
	case 'o':
		base = 8;
		break;
	case 'b':
		base = 2;
		break;
	default:
		return 8;
	}
	*text = bytes_after(*text, 2);
	*prefixed = true;
	return base;
}

/* digit_before is Go's rule for underscores: each stands behind a digit, or
 * behind a prefix of letters, and before a digit. Go allows them in any base
 * when it is asked to find the base itself. */
bool int_parse_go(struct bytes text, int64_t *out)
{
	uint64_t value = 0, limit = INT64_MAX;
	bool negative = false, digit_before;
	unsigned int base;
	size_t i;

	if (text.size > 0 && (text.data[0] == '-' || text.data[0] == '+')) {
		negative = text.data[0] == '-';
		/* The magnitude of INT64_MIN is one more than that of
		 * INT64_MAX. */
		limit += negative;
		text = bytes_after(text, 1);
	}
	base = take_base(&text, &digit_before);
	if (text.size == 0)
		return false;
	for (i = 0; i < text.size; i++) {
		unsigned int digit = digit_value(text.data[i]);

		if (text.data[i] == '_') {
			if (!digit_before)
				return false;
			digit_before = false;
			continue;
		}
		if (digit >= base || value > (limit - digit) / base)
			return false;
		value = value * base + digit;
		digit_before = true;
	}
	if (!digit_before)
		return false;
	/* Negated as unsigned, where the magnitude of INT64_MIN fits. */
	*out = negative ? (int64_t)(0 - value) : (int64_t)value;
	return true;
}

int aggregate_print(const struct cell *cell, struct buf *out)
{
	int64_t number = aggregate_number(cell->aggregate, cell->value);

	return buf_printf(out, "%lld", (long long)number);
}

int size_parse(const char *word, const char *text, uint64_t *out)
{
	static const char units[] = "KMGT";
	unsigned long long n;
	unsigned int shift = 0;
	const char *unit;
	char *end;

	errno = 0;
	n = strtoull(text, &end, 10);
	unit = *end ? strchr(units, toupper((unsigned char)*end)) : NULL;
	if (unit) {
		shift = 10 * (unsigned int)(unit - units + 1);
		end++;
	}
	/* strtoull takes blanks, and a sign, and negates. */
	if (*end || !isdigit((unsigned char)*text))
		return fail(ERR_bad_argument,
			    "%s=%s: not a number, such as 512M", word, text);
	if (errno || n > UINT64_MAX >> shift)
		return fail(ERR_bad_argument, "%s=%s: too large", word, text);
	*out = n << shift;
	return 0;
}

int print_u64(uint64_t v, unsigned int digits, struct buf *out)
{
	char text[20]; /* UINT64_MAX has 20 digits */
	unsigned int at = sizeof(text);

	assert(digits <= sizeof(text));
	do {
		text[--at] = (char)('0' + v % 10);
		v /= 10;
	} while (v > 0);
	while (at > 0 && sizeof(text) - at < digits)
		text[--at] = '0';
	return buf_add(out, text + at, sizeof(text) - at);
}
