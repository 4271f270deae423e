#include <assert.h>

#include "store/base/err.h"
#include "store/text/function/function_text.h"
#include "store/text/value/number.h"
#include "store/text/value/utf8.h"

/* A refusal that shows at most 100 bytes of the value. */
static int refuse(const struct value *v, const char *why)
{
	struct bytes s = v->text;

	if (s.size > 100)
		s.size = 100;
	return fail(ERR_bad_line, "\"%.*s\" %s", (int)s.size, s.data, why);
}

static bool is_space(uint8_t c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}

int text_trim(const struct call *c, struct value *v, struct buf *memory)
{
	struct bytes s = v->text;

	(void)c;
	(void)memory;
	while (s.size > 0 && is_space(s.data[0]))
		s = bytes_after(s, 1);
	while (s.size > 0 && is_space(s.data[s.size - 1]))
		s.size--;
	v->text = s;
	return 0;
}

/* Moves the letters from first on, 26 of them, to the other case. */
static int change_case(struct value *v, uint8_t first, struct buf *memory)
{
	int err = buf_add_bytes(memory, v->text);
	size_t i;

	if (err < 0)
		return err;
	for (i = 0; i < memory->size; i++)
		if (memory->data[i] >= first && memory->data[i] < first + 26)
			memory->data[i] ^= 0x20;
	v->text = buf_bytes(memory);
	return 0;
}

int text_lower(const struct call *c, struct value *v, struct buf *memory)
{
	(void)c;
	return change_case(v, 'A', memory);
}

int text_upper(const struct call *c, struct value *v, struct buf *memory)
{
	(void)c;
	return change_case(v, 'a', memory);
}

/* part(n,separator): the n-th from 1; absent if there are not so many. */
int text_part(const struct call *c, struct value *v, struct buf *memory)
{
	struct bytes s = v->text, separator = c->texts[1];
	uint64_t n = c->numbers[0];

	(void)memory;
	assert(n > 0 && separator.size > 0);
	for (;;) {
		const uint8_t *at =
			s.size ? memmem(s.data, s.size, separator.data,
					separator.size)
			       : NULL;

		if (--n == 0) {
			v->text = at ? bytes_of(s.data, (size_t)(at - s.data))
				     : s;
			return 0;
		}
		if (!at)
			break;
		s = bytes_after(s, (size_t)(at - s.data) + separator.size);
	}
	v->absent = true;
	return 0;
}

/* replace(a,b): each a, from the left. */
int text_replace(const struct call *c, struct value *v, struct buf *memory)
{
	struct bytes s = v->text, from = c->texts[0];
	int err = 0;

	assert(from.size > 0);
	while (!err && s.size > 0) {
		const uint8_t *at =
			memmem(s.data, s.size, from.data, from.size);
		size_t size = at ? (size_t)(at - s.data) : s.size;

		err = buf_add(memory, s.data, size);
		if (!err && at)
			err = buf_add_bytes(memory, c->texts[1]);
		s = bytes_after(s, size + (at ? from.size : 0));
	}
	v->text = buf_bytes(memory);
	return err;
}

/* slice(a,b): the bytes from a, counted from 0, to before b; what lies behind
 * the end is not there. */
int text_slice(const struct call *c, struct value *v, struct buf *memory)
{
	size_t size = v->text.size;
	uint64_t to = c->count > 1 ? c->numbers[1] : size;
	size_t begin = c->numbers[0] < size ? (size_t)c->numbers[0] : size;
	size_t end = to < size ? (size_t)to : size;

	(void)memory;
	v->text = bytes_of(v->text.data + begin, end > begin ? end - begin : 0);
	return 0;
}

int text_length(const struct call *c, struct value *v, struct buf *memory)
{
	int err = print_u64(v->text.size, 1, memory);

	(void)c;
	v->text = buf_bytes(memory);
	return err;
}

/* By code points, so that the result is UTF-8 as well. */
int text_reverse(const struct call *c, struct value *v, struct buf *memory)
{
	struct bytes s = v->text;
	int err = buf_reserve(memory, s.size);
	size_t end = s.size;

	(void)c;
	if (err < 0)
		return err;
	while (s.size > 0) {
		uint32_t rune;
		size_t size = utf8_decode(s, &rune);

		if (size == 0)
			return refuse(v, "is not UTF-8");
		assert(size <= end);
		end -= size;
		memcpy(memory->data + end, s.data, size);
		s = bytes_after(s, size);
	}
	memory->size = v->text.size;
	v->text = buf_bytes(memory);
	return 0;
}

/* One at least, up to such a byte: '9', or 'f' in either case. */
static bool all_digits(struct bytes s, uint8_t last)
{
	size_t i;

	for (i = 0; i < s.size; i++) {
		uint8_t c = s.data[i];

		if (c > '9')
			c |= 0x20;
		if (c < '0' || c > last || (c > '9' && c < 'a'))
			return false;
	}
	return s.size > 0;
}

/* Zeros in front, up to so many digits. */
static int pad(struct value *v, size_t width, struct buf *memory)
{
	size_t size = v->text.size;
	int err;

	if (size > width)
		return refuse(v, "has more digits than pad makes");
	err = buf_reserve(memory, width);
	if (err < 0)
		return err;
	memset(memory->data, '0', width - size);
	memcpy(memory->data + width - size, v->text.data, size);
	memory->size = width;
	v->text = buf_bytes(memory);
	return 0;
}

/* pad(n) */
int text_pad(const struct call *c, struct value *v, struct buf *memory)
{
	if (!all_digits(v->text, '9'))
		return refuse(v, "is not digits only, which pad takes; those "
				 "of hexadecimal numbers pad_hex does");
	return pad(v, (size_t)c->numbers[0], memory);
}

/* pad_hex(n) */
int text_pad_hex(const struct call *c, struct value *v, struct buf *memory)
{
	if (!all_digits(v->text, 'f'))
		return refuse(v, "is not hexadecimal digits only, which "
				 "pad_hex takes");
	return pad(v, (size_t)c->numbers[0], memory);
}

/* A label of a host's name: what no name can have is an address, a port or a
 * URL. */
static bool is_label(struct bytes s)
{
	size_t i;

	for (i = 0; i < s.size; i++)
		if (s.data[i] <= ' ' || strchr(":/@[]?#\\\x7f", s.data[i]))
			return false;
	return s.size > 0 && s.size < 64;
}

/* www.example.com becomes com.example.www. A last label of digits only is that
 * of an address. */
int text_reverse_domain(const struct call *c, struct value *v,
			struct buf *memory)
{
	struct bytes rest = v->text;
	bool last = true;
	int err = 0;

	(void)c;
	while (!err) {
		const uint8_t *dot =
			rest.size ? memrchr(rest.data, '.', rest.size) : NULL;
		size_t at = dot ? (size_t)(dot - rest.data) + 1 : 0;
		struct bytes label = bytes_after(rest, at);

		if (!is_label(label))
			return refuse(v, "is no domain's name");
		if (last && all_digits(label, '9'))
			return refuse(v, "is an address, not a domain's name");
		last = false;
		err = buf_add_bytes(memory, label);
		if (err < 0 || !dot)
			break;
		err = buf_add_byte(memory, '.');
		rest.size = at - 1;
	}
	v->text = buf_bytes(memory);
	return err;
}
