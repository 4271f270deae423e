#include <assert.h>
#include <stdlib.h>

#include "store/base/coding.h"
#include "store/base/err.h"
#include "store/base/hash.h"
#include "store/text/function/function.h"
#include "store/text/function/function_text.h"
#include "store/text/function/time_format.h"
#include "store/text/value/base64.h"
#include "store/text/value/duration.h"
#include "store/text/value/json_text.h"
#include "store/text/value/number.h"
#include "store/text/value/utf8.h"

/*
 * The table of functions, and those of times, hashes and encodings; those from
 * text to text are in function_text.c. Each runs on a value that is there and
 * of the type that it takes.
 */

static int wrong(const struct value *v, const char *why)
{
	struct bytes s = v->text;

	if (s.size > 100)
		s.size = 100;
	return fail(ERR_bad_line, "\"%.*s\" %s", (int)s.size, s.data, why);
}

/* Times. */

/* Digits, perhaps with a sign and a fraction, in a unit of so many
 * microseconds. What is finer is cut, towards the past. */
static int read_unix(struct value *v, int64_t unit_us)
{
	struct bytes s = v->text;
	const uint8_t *dot = s.size ? memchr(s.data, '.', s.size) : NULL;
	int64_t whole, part = 0, scale = unit_us;
	bool finer = false;

	if (dot)
		s.size = (size_t)(dot - s.data);
	if (!function_integer(s, &whole) ||
	    __builtin_mul_overflow(whole, unit_us, &v->us))
		return wrong(v, "is no time since 1970 in such a unit");
	if (!dot)
		return 0;
	s = bytes_after(v->text, s.size + 1);
	for (; s.size > 0; s = bytes_after(s, 1)) {
		scale /= 10;
		if (s.data[0] < '0' || s.data[0] > '9')
			return wrong(v, "is no time since 1970 in such a unit");
		part += scale * (s.data[0] - '0');
		finer |= scale == 0 && s.data[0] != '0';
	}
	if (v->text.data[0] == '-')
		part = -part - finer;
	if (__builtin_add_overflow(v->us, part, &v->us))
		return wrong(v, "is too far away");
	return 0;
}

/* The words that stand where a format may: microseconds in one unit. */
static int64_t unix_unit(struct bytes word)
{
	return bytes_equal(word, BYTES_LITERAL("unix_s"))    ? 1000000
	       : bytes_equal(word, BYTES_LITERAL("unix_ms")) ? 1000
	       : bytes_equal(word, BYTES_LITERAL("unix_us")) ? 1
							     : 0;
}

/* A moment of a text, by the format or unit. */
static int run_time(const struct call *c, int zone_s, struct value *v)
{
	int64_t unit = unix_unit(c->texts[0]);

	if (unit > 0)
		return read_unix(v, unit);
	return time_format_read(c->texts[0], v->text, zone_s, &v->us);
}

static int run_date(const struct call *c, struct value *v, struct buf *memory)
{
	int err = time_format_write(c->texts[0], v->us, memory);

	v->text = buf_bytes(memory);
	return err;
}

/* Towards the past, also before 1970. */
static int run_floor(const struct call *c, struct value *v, struct buf *memory)
{
	int64_t unit = (int64_t)c->numbers[0], rest = v->us % unit;

	(void)memory;
	if (rest < 0)
		rest += unit;
	if (__builtin_sub_overflow(v->us, rest, &v->us))
		return fail(ERR_bad_line, "a time is too far away");
	return 0;
}

static int print_signed(int64_t n, struct buf *memory, struct value *v)
{
	int err = buf_printf(memory, "%lld", (long long)n);

	v->text = buf_bytes(memory);
	return err;
}

/* Nineteen digits, of which the newest time's are the smallest. */
static int run_reverse_time(const struct call *c, struct value *v,
			    struct buf *memory)
{
	uint64_t reversed = (uint64_t)INT64_MAX - (uint64_t)v->us;
	int err;

	(void)c;
	if (reversed > UINT64_C(9999999999999999999))
		return fail(ERR_bad_line, "a time is too long ago to reverse");
	err = print_u64(reversed, 19, memory);
	v->text = buf_bytes(memory);
	return err;
}

/* Towards the past. */
static int64_t divided(int64_t us, int64_t unit)
{
	return us / unit - (us % unit < 0);
}

static int run_unix_s(const struct call *c, struct value *v, struct buf *memory)
{
	(void)c;
	return print_signed(divided(v->us, 1000000), memory, v);
}

static int run_unix_ms(const struct call *c, struct value *v,
		       struct buf *memory)
{
	(void)c;
	return print_signed(divided(v->us, 1000), memory, v);
}

static int run_unix_us(const struct call *c, struct value *v,
		       struct buf *memory)
{
	(void)c;
	return print_signed(v->us, memory, v);
}

/* Hashes. */

static int run_salt(const struct call *c, struct value *v, struct buf *memory)
{
	int err = print_u64(hash64_key(v->text) % c->numbers[0], 1, memory);

	v->text = buf_bytes(memory);
	return err;
}

/* The first n of 16 hexadecimal digits. */
static int run_hash(const struct call *c, struct value *v, struct buf *memory)
{
	int err = buf_printf(memory, "%016llx",
			     (unsigned long long)hash64_key(v->text));

	memory->size = err < 0 ? 0 : (size_t)c->numbers[0];
	v->text = buf_bytes(memory);
	return err;
}

/* Encodings. */

static int add_u64be(uint64_t n, struct buf *memory, struct value *v)
{
	uint8_t bytes[8];
	int err;

	put_u64be(bytes, n);
	err = buf_add(memory, bytes, sizeof(bytes));
	v->text = buf_bytes(memory);
	return err;
}

static int run_int64(const struct call *c, struct value *v, struct buf *memory)
{
	int64_t n;

	(void)c;
	if (!function_integer(v->text, &n))
		return wrong(v, "is no 64-bit integer");
	return add_u64be((uint64_t)n, memory, v);
}

/* The program never calls setlocale, so the point is a point. No words, such as
 * nan, and no hexadecimal. */
static int run_float64(const struct call *c, struct value *v,
		       struct buf *memory)
{
	size_t i;
	double number;
	uint64_t bits;
	char *end;
	int err = buf_add_bytes(memory, v->text);

	(void)c;
	if (!err)
		err = buf_terminate(memory);
	if (err < 0)
		return err;
	for (i = 0; i < v->text.size; i++)
		if (!strchr("0123456789+-.eE", v->text.data[i]) ||
		    v->text.data[i] == 0)
			return wrong(v, "is no number");
	number = strtod((char *)memory->data, &end);
	if (i == 0 || *end || number - number != 0)
		return wrong(v, "is no number of 64 bits");
	memcpy(&bits, &number, 8);
	buf_reset(memory);
	return add_u64be(bits, memory, v);
}

static int run_base64(const struct call *c, struct value *v, struct buf *memory)
{
	int err = base64_encode(v->text, memory);

	(void)c;
	v->text = buf_bytes(memory);
	return err;
}

static int run_unbase64(const struct call *c, struct value *v,
			struct buf *memory)
{
	int err = base64_decode(v->text, memory);

	(void)c;
	v->text = buf_bytes(memory);
	return err;
}

static int run_hex(const struct call *c, struct value *v, struct buf *memory)
{
	static const char digits[] = "0123456789abcdef";
	int err = buf_reserve(memory, 2 * v->text.size);
	size_t i;

	(void)c;
	for (i = 0; !err && i < v->text.size; i++) {
		buf_add_byte(memory, digits[v->text.data[i] >> 4]);
		buf_add_byte(memory, digits[v->text.data[i] & 15]);
	}
	v->text = buf_bytes(memory);
	return err;
}

/* 0 to 15, or 16 if it is no hexadecimal digit. */
static unsigned int hex_digit(uint8_t c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10u : 16;
}

static int run_unhex(const struct call *c, struct value *v, struct buf *memory)
{
	int err = v->text.size % 2 ? wrong(v, "has an odd number of digits")
				   : buf_reserve(memory, v->text.size / 2);
	size_t i;

	(void)c;
	for (i = 0; !err && i < v->text.size; i += 2) {
		unsigned int high = hex_digit(v->text.data[i]);
		unsigned int low = hex_digit(v->text.data[i + 1]);

		if (high > 15 || low > 15)
			return wrong(v, "is not hexadecimal");
		buf_add_byte(memory, (uint8_t)(high << 4 | low));
	}
	v->text = buf_bytes(memory);
	return err;
}

/* A text as a JSON string; what JSON had as another value stays it. */
static int run_json(const struct call *c, struct value *v, struct buf *memory)
{
	int err;

	(void)c;
	if (v->json)
		return 0;
	if (!utf8_valid(v->text))
		return wrong(v, "is not UTF-8, which JSON needs");
	err = json_text_string(v->text, memory);
	v->text = buf_bytes(memory);
	v->json = true;
	return err;
}

/* any says only that a key's field may hold its delimiter. */
static int run_any(const struct call *c, struct value *v, struct buf *memory)
{
	(void)c;
	(void)v;
	(void)memory;
	return 0;
}

/* What arguments are: n a number from 1, z one from 0, t a text, T one that is
 * not empty, d a duration, r a format to read, w one to write. Behind ? they
 * may be left away. A maximum is of each number. */
struct function {
	const char *usage; /* the name, and its arguments for people */
	const char *arguments;
	enum value_type takes, gives;
	uint64_t max;
	/* NULL of time and default, which function_run knows itself. */
	int (*run)(const struct call *c, struct value *v, struct buf *memory);
};

#define TEXT VALUE_TEXT
#define TIME VALUE_TIME

static const struct function functions[] = {
	{ "trim", "", TEXT, TEXT, 0, text_trim },
	{ "lower", "", TEXT, TEXT, 0, text_lower },
	{ "upper", "", TEXT, TEXT, 0, text_upper },
	{ "default(x)", "t", TEXT, TEXT, 0, NULL },
	{ "part(n,sep)", "nT", TEXT, TEXT, UINT32_MAX, text_part },
	{ "replace(a,b)", "Tt", TEXT, TEXT, 0, text_replace },
	{ "slice(a,b)", "z?z", TEXT, TEXT, UINT32_MAX, text_slice },
	{ "length", "", TEXT, TEXT, 0, text_length },
	{ "reverse", "", TEXT, TEXT, 0, text_reverse },
	{ "pad(n)", "n", TEXT, TEXT, 4096, text_pad },
	{ "pad_hex(n)", "n", TEXT, TEXT, 4096, text_pad_hex },
	{ "reverse_domain", "", TEXT, TEXT, 0, text_reverse_domain },
	{ "salt(n)", "n", TEXT, TEXT, UINT32_MAX, run_salt },
	{ "hash(n)", "n", TEXT, TEXT, 16, run_hash },
	{ "int64", "", TEXT, TEXT, 0, run_int64 },
	{ "float64", "", TEXT, TEXT, 0, run_float64 },
	{ "base64", "", TEXT, TEXT, 0, run_base64 },
	{ "unbase64", "", TEXT, TEXT, 0, run_unbase64 },
	{ "hex", "", TEXT, TEXT, 0, run_hex },
	{ "unhex", "", TEXT, TEXT, 0, run_unhex },
	{ "json", "", TEXT, TEXT, 0, run_json },
	{ "any", "", TEXT, TEXT, 0, run_any },
	{ "time(format|unix_s|unix_ms|unix_us)", "?r", TEXT, TIME, 0, NULL },
	{ "floor(1h)", "d", TIME, TIME, 0, run_floor },
	{ "date(format)", "?w", TIME, TEXT, 0, run_date },
	{ "reverse_time", "", TIME, TEXT, 0, run_reverse_time },
	{ "unix_s", "", TIME, TEXT, 0, run_unix_s },
	{ "unix_ms", "", TIME, TEXT, 0, run_unix_ms },
	{ "unix_us", "", TIME, TEXT, 0, run_unix_us },
};

#undef TEXT
#undef TIME

#define FUNCTION_COUNT (sizeof(functions) / sizeof(functions[0]))

const char *function_usage(unsigned int index)
{
	return index < FUNCTION_COUNT ? functions[index].usage : NULL;
}

static struct bytes name_of(const struct function *f)
{
	return bytes_of(f->usage, strcspn(f->usage, "("));
}

static bool is_named(const struct call *c, const char *name)
{
	return bytes_equal(name_of(c->function), bytes_string(name));
}

/* By the letter of the table; what is to be known of an argument goes into
 * numbers[i]. */
static int check_argument(struct call *c, unsigned int i, char kind)
{
	struct bytes text = c->texts[i];
	int64_t n;

	switch (kind) {
	case 'n':
	case 'z':
		if (!function_integer(text, &n) || n < (kind == 'n') ||
		    (c->function->max && (uint64_t)n > c->function->max))
			return fail(ERR_bad_argument,
				    "%s takes a number from %d to %llu",
				    c->function->usage, kind == 'n',
				    (unsigned long long)c->function->max);
		c->numbers[i] = (uint64_t)n;
		return 0;
	case 'T':
		if (text.size > 0)
			return 0;
		return fail(ERR_bad_argument, "%s takes no empty text",
			    c->function->usage);
	case 'd':
		if (duration_parse(text, &c->numbers[i]) == 0 &&
		    c->numbers[i] > 0)
			return 0;
		return fail(ERR_bad_argument,
			    "floor takes a length of time like 1h, 15m or 1d");
	case 'r':
		if (unix_unit(text))
			return 0;
		return time_format_check(text, TIME_READ);
	case 'w':
		return time_format_check(text, TIME_WRITE);
	}
	assert(kind == 't');
	return 0;
}

static int check_arguments(struct call *c)
{
	const char *kinds = c->function->arguments, *p = kinds;
	unsigned int i = 0;
	bool optional = false;
	int err = 0;

	for (; !err && *p; p++) {
		if (*p == '?')
			optional = true;
		else if (i < c->count)
			err = check_argument(c, i, *p), i++;
		else if (!optional)
			break;
	}
	if (err < 0)
		return err;
	if (*p || i < c->count)
		return fail(ERR_bad_argument, "wrong number of arguments: %s",
			    c->function->usage);
	return 0;
}

/* Names all that there are. */
static int unknown(struct bytes name)
{
	struct buf names = BUF_INIT;
	size_t i;
	int err = 0;

	for (i = 0; !err && i < FUNCTION_COUNT; i++)
		err = buf_printf(&names, " %s", functions[i].usage);
	if (!err)
		err = fail(ERR_bad_argument,
			   "unknown function \"%.*s\"; there are%.*s",
			   (int)name.size, name.data, (int)names.size,
			   names.data);
	buf_release(&names);
	return err;
}

int function_bind(struct bytes name, const struct bytes *arguments,
		  unsigned int count, struct call *out)
{
	unsigned int i;
	size_t f = 0;

	assert(count <= FUNCTION_ARGUMENTS_MAX);
	while (f < FUNCTION_COUNT && !bytes_equal(name_of(&functions[f]), name))
		f++;
	if (f == FUNCTION_COUNT)
		return unknown(name);
	*out = (struct call){ .function = &functions[f], .count = count };
	for (i = 0; i < count; i++)
		out->texts[i] = arguments[i];
	return check_arguments(out);
}

enum value_type function_takes(const struct call *c)
{
	return c->function->takes;
}

enum value_type function_gives(const struct call *c)
{
	return c->function->gives;
}

const char *function_name(const struct call *c)
{
	return c->function->usage;
}

bool function_is_any(const struct call *c)
{
	return c->function->run == run_any;
}

bool function_is_default(const struct call *c)
{
	return !c->function->run && is_named(c, "default");
}

int function_run(const struct call *c, int zone_s, struct value *v,
		 struct buf *memory)
{
	/* What was JSON is no more, but for what does not change it. */
	bool keeps = c->function->run == run_json || function_is_any(c);
	int err;

	assert(v->type == c->function->takes);
	if (function_is_default(c)) {
		if (v->absent || v->text.size == 0)
			*v = (struct value){ .text = c->texts[0] };
		return 0;
	}
	if (v->absent) {
		v->type = c->function->gives;
		return 0;
	}
	buf_reset(memory);
	err = c->function->run ? c->function->run(c, v, memory)
			       : run_time(c, zone_s, v);
	v->type = c->function->gives;
	v->json = v->json && keeps;
	return err;
}
