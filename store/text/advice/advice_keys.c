#include <errno.h>

#include "store/text/advice/advice_keys.h"

/* Nine of ten are enough to tell what a segment is. */
#define IS_MOST(part, all) ((part)*10 >= (all)*9)
/* Fewer keys tell nothing. */
#define KEYS_MIN 20
/* Numbers with fewer digits than this somewhere, and never more than that, are
 * counted up by someone: telephone numbers and times are longer. */
#define SHORT_DIGITS 3
#define LONG_DIGITS 9
/* Seconds since 1970, in years that data is of: 2001 to 2065. */
#define TIME_MIN UINT64_C(1000000000)
#define TIME_MAX UINT64_C(3000000000)

static bool is_digit(uint8_t c)
{
	return c >= '0' && c <= '9';
}

static bool is_letter(uint8_t c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
	       c == '-';
}

/* Parts text into letters and a number of 1 to 18 digits. */
static bool parse(struct bytes text, size_t *letters, uint64_t *number)
{
	size_t i = 0;

	while (i < text.size && is_letter(text.data[i]))
		i++;
	*letters = i;
	*number = 0;
	if (i == text.size || text.size - i > 18 || i > ADVICE_LETTERS)
		return false;
	for (; i < text.size; i++) {
		if (!is_digit(text.data[i]))
			return false;
		*number = *number * 10 + (text.data[i] - '0');
	}
	return true;
}

/* A number in this segment; the rest of the key before it is as in the key
 * before. */
static int add_number(struct advice_keys *k, struct advice_segment *s,
		      struct bytes digits, uint64_t n, struct bytes key)
{
	int err = 0;

	if (s->numbers == 0 || n < s->least)
		s->least = n;
	if (n > s->greatest)
		s->greatest = n;
	if (s->numbers == 0 || digits.size < s->shortest)
		s->shortest = digits.size;
	if (digits.size > s->longest)
		s->longest = digits.size;
	s->has_zeros |= digits.size > 1 && digits.data[0] == '0';
	s->numbers++;
	if (s->has_last && n < s->last && s->before.size == 0) {
		err = buf_set(&s->before, buf_bytes(&k->key));
		if (err == 0)
			err = buf_set(&s->after, key);
	}
	s->last = n;
	s->has_last = true;
	return err;
}

static int add_segment(struct advice_keys *k, size_t i, struct bytes text,
		       struct bytes key)
{
	struct advice_segment *s = &k->segments[i];
	size_t letters, at = (size_t)(text.data - key.data), shared;
	uint64_t n;

	/* Another parent: its numbers begin anew. */
	shared = bytes_shared(key, buf_bytes(&k->key));
	if (shared < at)
		s->has_last = false;
	if (s->count == 0 && buf_set(&s->first, text) < 0)
		return -ENOMEM;
	s->count++;
	s->same += bytes_equal(text, buf_bytes(&s->first));
	if (!parse(text, &letters, &n)) {
		s->has_last = false;
		return 0;
	}
	if (s->numbers == 0) {
		memcpy(s->letters, text.data, letters);
		s->letters_size = letters;
	}
	if (letters != s->letters_size ||
	    memcmp(s->letters, text.data, letters) != 0)
		return 0;
	return add_number(k, s, bytes_after(text, letters), n, key);
}

static bool is_date(struct bytes key)
{
	static const char form[] = "dddd-dd-dd";
	size_t i;

	for (i = 0; form[i]; i++)
		if (i >= key.size || (form[i] == 'd' ? !is_digit(key.data[i])
						     : key.data[i] != '-'))
			return false;
	return true;
}

int advice_keys_add(struct advice_keys *k, struct bytes key)
{
	size_t i = 0, start = 0, end;
	int err = 0;

	k->count++;
	k->dates += is_date(key);
	for (; i < ADVICE_SEGMENTS && start <= key.size && err == 0; i++) {
		for (end = start; end < key.size; end++)
			if (memchr("#/:|", key.data[end], 4))
				break;
		err = add_segment(k, i, bytes_of(key.data + start, end - start),
				  key);
		start = end + 1;
	}
	return err < 0 ? err : buf_set(&k->key, key);
}

void advice_keys_release(struct advice_keys *k)
{
	size_t i;

	for (i = 0; i < ADVICE_SEGMENTS; i++) {
		buf_release(&k->segments[i].first);
		buf_release(&k->segments[i].before);
		buf_release(&k->segments[i].after);
	}
	buf_release(&k->key);
}

/* Few numbers, such as of buckets, are in no order that anybody reads by. */
bool advice_is_unpadded(const struct advice_segment *s)
{
	return s->count >= KEYS_MIN && IS_MOST(s->numbers, s->count) &&
	       s->before.size > 0 && !s->has_zeros &&
	       s->shortest <= SHORT_DIGITS && s->longest <= LONG_DIGITS &&
	       s->shortest < s->longest && s->greatest >= 100;
}

/* The first segment in which keys differ. */
static const struct advice_segment *leading(const struct advice_keys *k)
{
	size_t i = 0;

	while (i + 1 < ADVICE_SEGMENTS && k->segments[i].same == k->count &&
	       k->segments[i + 1].count > 0)
		i++;
	return &k->segments[i];
}

/* Of numbers as many are there as there could be, or half. */
bool advice_is_sequence(const struct advice_keys *k)
{
	const struct advice_segment *s = leading(k);

	return s->count >= KEYS_MIN && IS_MOST(s->numbers, s->count) &&
	       s->greatest - s->least < 2 * s->numbers;
}

/* In seconds, or thousandths or millionths of these. */
bool advice_is_time(const struct advice_keys *k)
{
	const struct advice_segment *s = leading(k);
	uint64_t unit;

	if (k->count >= KEYS_MIN && IS_MOST(k->dates, k->count))
		return true;
	if (s->count < KEYS_MIN || !IS_MOST(s->numbers, s->count) ||
	    s->letters_size > 0)
		return false;
	for (unit = 1; unit <= 1000000; unit *= 1000)
		if (s->least >= TIME_MIN * unit &&
		    s->greatest < TIME_MAX * unit)
			return true;
	return false;
}
