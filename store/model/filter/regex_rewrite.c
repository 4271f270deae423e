#include <ctype.h>
#include <stdio.h>

#include "store/base/err.h"
#include "store/model/filter/regex_rewrite.h"

/*
 * Before PCRE2 sees a pattern, it is rewritten: what only PCRE2 knows is
 * refused, and what both know with different meanings is spelled out.
 */
#define REPEAT_MAX 1000 /* as RE2's; also of repetitions in one another */

/* What a repetition would repeat. */
enum item_kind {
	ITEM_NONE,
	ITEM_SINGLE, /* matches one byte */
	ITEM_GROUP,
	ITEM_REPEATED, /* has a repetition already */
};

/* Of a group, and of all outside of groups. */
struct level {
	size_t start; /* in out, of its parenthesis */
	bool multiline;
	bool fold;
	/* How often the item in it that is repeated most often is repeated. */
	unsigned int repeats;
};

struct rewrite {
	const uint8_t *p, *end;
	struct buf out;
	struct buf head;
	bool head_open;    /* only literals so far */
	bool head_is_item; /* the last byte of the head is the item */
	enum item_kind item;
	size_t item_start, item_end; /* in out; flags may follow */
	unsigned int item_repeats;   /* as those of a level */
	struct level level;
	struct buf outer; /* levels of the open groups around */
	struct buf names; /* of groups: <name><name> */
};

static int bad(const struct rewrite *r, const uint8_t *from, const char *why)
{
	int size = (int)(r->end - from < 20 ? r->end - from : 20);

	return fail(ERR_bad_argument, "error parsing regexp: %s: `%.*s`", why,
		    size, from);
}

static int emit(struct rewrite *r, size_t size)
{
	int err = buf_add(&r->out, r->p, size);

	r->p += size;
	return err;
}

static bool at(const struct rewrite *r, const char *text)
{
	return bytes_starts_with(bytes_of(r->p, (size_t)(r->end - r->p)),
				 bytes_string(text));
}

/* What stands in out from start on is what a repetition would repeat. */
static void set_item(struct rewrite *r, enum item_kind kind, size_t start,
		     unsigned int repeats)
{
	r->item = kind;
	r->item_start = start;
	r->item_end = r->out.size;
	r->item_repeats = repeats;
	r->head_is_item = false;
	if (r->level.repeats < repeats)
		r->level.repeats = repeats;
}

/* A byte that stands for itself, however it was written. */
static int literal(struct rewrite *r, uint8_t byte)
{
	size_t start = r->out.size;
	int err = buf_printf(&r->out, "\\x%02x", byte);

	set_item(r, ITEM_SINGLE, start, 1);
	if (err < 0 || !r->head_open || r->outer.size > 0)
		return err;
	r->head_is_item = true;
	return buf_add_byte(&r->head, byte);
}

/* Anything else that matches one byte: text in PCRE2's words. */
static int single(struct rewrite *r, const char *text)
{
	size_t start = r->out.size;
	int err = buf_add_string(&r->out, text);

	r->head_open = false;
	set_item(r, ITEM_SINGLE, start, 1);
	return err;
}

static bool is_octal(const uint8_t *p, const uint8_t *end)
{
	return p < end && *p >= '0' && *p <= '7';
}

/* \0, \12, \123; a single digit but 0 would be a backreference. */
static int octal(struct rewrite *r, uint8_t *byte)
{
	const uint8_t *start = r->p;
	unsigned int value = 0, count = 0;

	r->p++;
	if (*r->p != '0' && !is_octal(r->p + 1, r->end))
		return bad(r, start, "invalid escape sequence");
	while (count < 3 && is_octal(r->p, r->end)) {
		value = value * 8 + (unsigned int)(*r->p++ - '0');
		count++;
	}
	*byte = (uint8_t)value;
	return value > 0xff ? bad(r, start, "invalid escape sequence") : 0;
}

/* 0 to 15; 16 for what is no hexadecimal digit. */
static unsigned int hex_digit(uint8_t c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10u : 16;
}

/* \x7F or \x{7F}. */
static int hexadecimal(struct rewrite *r, uint8_t *byte)
{
	const uint8_t *start = r->p, *p = r->p + 2;
	bool braced = p < r->end && *p == '{';
	unsigned int value = 0, count = 0;

	p += braced;
	while (p < r->end && hex_digit(*p) < 16 && value < 0x100 &&
	       (braced || count < 2)) {
		value = value * 16 + hex_digit(*p++);
		count++;
	}
	if (braced && (p == r->end || *p != '}'))
		count = 0;
	if (value > 0xff || count == 0 || (!braced && count != 2))
		return bad(r, start, "invalid escape sequence");
	r->p = p + braced;
	*byte = (uint8_t)value;
	return 0;
}

/* At a backslash before what stands for one byte. */
static int escaped_byte(struct rewrite *r, uint8_t *byte)
{
	static const char named[] = "afnrtv", bytes[] = "\a\f\n\r\t\v";
	const char *found;

	if (r->end - r->p < 2)
		return bad(r, r->p, "trailing backslash at end of expression");
	if (r->p[1] >= '0' && r->p[1] <= '7')
		return octal(r, byte);
	if (r->p[1] == 'x')
		return hexadecimal(r, byte);
	*byte = r->p[1];
	found = memchr(named, *byte, sizeof(named) - 1);
	if (!found && (*byte >= 0x80 || isalnum(*byte)))
		return bad(r, r->p, "invalid escape sequence");
	if (found)
		*byte = (uint8_t)bytes[found - named];
	r->p += 2;
	return 0;
}

/* \Q...\E: what is between stands for itself. */
static int quoted(struct rewrite *r)
{
	int err = 0;

	r->p += 2;
	while (!err && r->p < r->end) {
		if (at(r, "\\E")) {
			r->p += 2;
			return 0;
		}
		err = literal(r, *r->p++);
	}
	return err;
}

/* Bytes that fold to letters outside of Latin-1 included. */
#define CASED "A-Za-z\\xb5\\xc0-\\xd6\\xd8-\\xf6\\xf8-\\xff"
#define NOT_CASED "\\x00-@\\[-`{-\\xb4\\xb6-\\xbf\\xd7\\xf7"

/* The inside of a class of a Unicode property, or of all but those. */
static int put_property(struct rewrite *r, struct bytes name, bool negated)
{
	static const char categories[] =
		" Any C Cc Cf Co Cs L Ll Lm Lo Lt Lu M Mc Me Mn N Nd Nl No"
		" P Pc Pd Pe Pf Pi Po Ps S Sc Sk Sm So Z Zl Zp Zs ";
	bool is_script;
	char padded[8];

	snprintf(padded, sizeof(padded), " %.*s ", (int)name.size,
		 (const char *)name.data);
	is_script = name.size > 3 || !strstr(categories, padded);
	if (is_script && name.size < 3 && strcmp(padded, " Yi ") != 0)
		return 1;
	if (r->level.fold && (bytes_equal(name, BYTES_LITERAL("Lu")) ||
			      bytes_equal(name, BYTES_LITERAL("Ll"))))
		return buf_add_string(&r->out, negated ? NOT_CASED : CASED);
	/* The one letter of Latin-1 that folds to Greek is of no script. */
	if (r->level.fold && bytes_equal(name, BYTES_LITERAL("Greek")))
		return buf_add_string(
			&r->out, negated ? "\\x00-\\xb4\\xb6-\\xff" : "\\xb5");
	return buf_printf(&r->out, "\\%c{%s%.*s}", negated ? 'P' : 'p',
			  is_script ? "sc:" : "", (int)name.size,
			  (const char *)name.data);
}

/* \pL, \p{Greek}, \p{^Greek} and the same with P: the inside of a class. */
static int property(struct rewrite *r)
{
	const uint8_t *start = r->p, *close = NULL;
	struct bytes name = bytes_of(r->p + 2, r->end - r->p > 2);
	bool negated = r->p[1] == 'P';
	size_t i;
	int err;

	r->p += 2 + name.size;
	if (name.size > 0 && *name.data == '{') {
		close = memchr(r->p, '}', (size_t)(r->end - r->p));
		if (!close)
			return bad(r, start, "invalid character class range");
		name = bytes_of(r->p, (size_t)(close - r->p));
		r->p = close + 1;
	}
	if (name.size > 0 && *name.data == '^') {
		negated = !negated;
		name = bytes_after(name, 1);
	}
	for (i = 0; i < name.size; i++)
		if (!isalpha(name.data[i]) && name.data[i] != '_')
			return bad(r, start, "invalid character class range");
	if (name.size == 0 || name.size > 64 || !isupper(*name.data))
		return bad(r, start, "invalid character class range");
	err = put_property(r, name, negated);
	return err > 0 ? bad(r, start, "invalid character class range") : err;
}

/* \d \w \s \p and their opposites, whose inside of a class is emitted: 1, or 0
 * if there is none at r->p. */
static int put_set(struct rewrite *r)
{
	uint8_t c = r->end - r->p > 1 && *r->p == '\\' ? r->p[1] : 0;
	int err;

	switch (c) {
	case 'p':
	case 'P':
		err = property(r);
		break;
	case 's': /* no vertical tab, unlike PCRE2's */
	case 'S':
		r->p += 2;
		err = buf_add_string(&r->out,
				     c == 's' ? "\\t\\n\\f\\r "
					      : "\\x00-\\x08\\x0b\\x0e-\\x1f!-"
						"\\xff");
		break;
	case 'd':
	case 'D':
	case 'w':
	case 'W':
		err = emit(r, 2);
		break;
	default:
		return 0;
	}
	return err < 0 ? err : 1;
}

/* ^ $ \A \z \b \B of size bytes, which are text in PCRE2's words, or NULL if
 * they are the same. In a group, because RE2 lets them be repeated. */
static int assertion(struct rewrite *r, size_t size, const char *text)
{
	size_t start = r->out.size;
	int err = buf_add_string(&r->out, "(?:");

	if (!err)
		err = text ? buf_add_string(&r->out, text)
			   : buf_add(&r->out, r->p, size);
	if (!err)
		err = buf_add_byte(&r->out, ')');
	r->p += size;
	set_item(r, ITEM_GROUP, start, 1);
	return err;
}

/* At a backslash outside of classes. */
static int escape(struct rewrite *r)
{
	uint8_t c = r->end - r->p < 2 ? 0 : r->p[1];
	size_t start = r->out.size;
	uint8_t byte;
	int err;

	if (c == 'Q')
		return quoted(r);
	if (c == 'C') {
		r->p += 2;
		return single(r, "[\\x00-\\xff]");
	}
	if (c && strchr("bBAz", c)) {
		r->head_open = false;
		return assertion(r, 2, NULL);
	}
	err = buf_add_byte(&r->out, '[');
	if (!err)
		err = put_set(r);
	if (err == 1) {
		r->head_open = false;
		err = buf_add_byte(&r->out, ']');
		set_item(r, ITEM_SINGLE, start, 1);
		return err;
	}
	r->out.size = start;
	if (!err)
		err = escaped_byte(r, &byte);
	return err < 0 ? err : literal(r, byte);
}

/* At "[:" in a class: 1 if it was a name, 0 if it is just a bracket. */
static int posix_class(struct rewrite *r)
{
	static const char names[] =
		" alnum alpha ascii blank cntrl digit graph lower print punct "
		"space upper word xdigit ";
	const uint8_t *close =
		memmem(r->p + 2, (size_t)(r->end - r->p) - 2, ":]", 2);
	const uint8_t *name = r->p + 2;
	char padded[16];
	int err;

	if (!close)
		return 0;
	name += *name == '^';
	snprintf(padded, sizeof(padded), " %.*s ",
		 close > name ? (int)(close - name) : 0, name);
	if (close <= name || close - name > 6 || !strstr(names, padded))
		return bad(r, r->p, "invalid character class range");
	err = emit(r, (size_t)(close - r->p) + 2);
	return err < 0 ? err : 1;
}

static int class_byte(struct rewrite *r, uint8_t *byte)
{
	if (r->p == r->end)
		return 0;
	if (*r->p == '\\')
		return escaped_byte(r, byte);
	*byte = *r->p++;
	return 0;
}

/* A byte in a class, or a range of them. A dash is one itself unless bytes
 * stand on both of its sides. */
static int class_range(struct rewrite *r)
{
	const uint8_t *start = r->p;
	uint8_t from = 0, to;
	int err = class_byte(r, &from);

	to = from;
	if (!err && r->end - r->p > 1 && r->p[0] == '-' && r->p[1] != ']') {
		r->p++;
		err = class_byte(r, &to);
	}
	if (!err && to < from)
		err = bad(r, start, "invalid character class range");
	return err < 0 ? err : buf_printf(&r->out, "\\x%02x-\\x%02x", from, to);
}

/* [...] */
static int class(struct rewrite *r)
{
	const uint8_t *start = r->p;
	size_t item = r->out.size;
	bool first = true;
	int err = emit(r, 1);

	r->head_open = false;
	if (!err && r->p < r->end && *r->p == '^')
		err = emit(r, 1);
	for (; err >= 0 && r->p < r->end && (first || *r->p != ']');
	     first = false) {
		err = r->end - r->p > 2 && at(r, "[:") ? posix_class(r) : 0;
		if (err == 0)
			err = put_set(r);
		if (err == 0)
			err = class_range(r);
	}
	if (err < 0)
		return err;
	if (r->p == r->end)
		return bad(r, start, "missing closing ]");
	err = emit(r, 1);
	set_item(r, ITEM_SINGLE, item, 1);
	return err;
}

/* At "(?": the flags i, m, s and U, up to ":" for a group, or ")". */
static int flags(struct rewrite *r, const struct level *outer)
{
	const uint8_t *p = r->p + 2;
	bool on = true, missing = false;

	for (; p < r->end && strchr("imsU-", *p) && *p; p++) {
		missing = *p == '-';
		if (missing && !on)
			break;
		on = on && !missing;
		if (*p == 'm')
			r->level.multiline = on;
		if (*p == 'i')
			r->level.fold = on;
	}
	if (p == r->end || missing || (*p != ':' && *p != ')'))
		return bad(r, r->p, "invalid or unsupported Perl syntax");
	if (*p == ')') {
		/* No group: what stands before can still be repeated. */
		r->outer.size -= sizeof(struct level);
		r->level.start = outer->start;
		r->level.repeats = outer->repeats;
	} else {
		r->item = ITEM_NONE;
	}
	return emit(r, (size_t)(p - r->p) + 1);
}

/* At "<" of a group's name, which has to be another one each time. */
static int name(struct rewrite *r, const uint8_t *p)
{
	const uint8_t *end = p + 1;

	while (end < r->end && (*end == '_' || isalnum(*end)))
		end++;
	if (end == r->end || *end != '>' || end == p + 1)
		return bad(r, r->p, "invalid named capture");
	end++;
	if (r->names.size > 0 &&
	    memmem(r->names.data, r->names.size, p, (size_t)(end - p)))
		return bad(r, r->p, "duplicate capture group name");
	r->p = end;
	return buf_add(&r->names, p, (size_t)(end - p));
}

/* At "(": a plain group, (?:, (?P<name>, (?<name>, or flags. */
static int group(struct rewrite *r)
{
	const uint8_t *p = r->p + 1;
	struct level outer = r->level;
	int err = buf_add(&r->outer, &outer, sizeof(outer));

	if (err < 0)
		return err;
	if (r->outer.size / sizeof(outer) > REGEX_NESTED_MAX)
		return bad(r, r->p, "expression nests too deeply");
	r->head_open = false;
	r->level.start = r->out.size;
	r->level.repeats = 1;
	if (p < r->end && *p == '*')
		return bad(r, p, "missing argument to repetition operator");
	if (p < r->end && *p == '?') {
		p++;
		p += p < r->end && *p == 'P';
		if (p == r->end || *p != '<')
			return flags(r, &outer);
		err = name(r, p);
	} else {
		r->p = p;
	}
	r->item = ITEM_NONE;
	return err < 0 ? err : buf_add_string(&r->out, "(?:");
}

/* At ")". */
static int group_end(struct rewrite *r)
{
	struct level inner = r->level;
	int err;

	if (r->outer.size == 0)
		return bad(r, r->p, "unexpected )");
	err = emit(r, 1);
	r->outer.size -= sizeof(inner);
	memcpy(&r->level, r->outer.data + r->outer.size, sizeof(inner));
	set_item(r, ITEM_GROUP, inner.start, inner.repeats);
	return err;
}

/* The size of {n}, {n,} or {n,m}; 0 if the brace is a literal, which it is also
 * if a number has a leading 0; negative if one is too large. Then *times is m
 * or, without one, n. */
static int braces(const struct rewrite *r, unsigned int *times)
{
	const uint8_t *p = r->p + 1;
	unsigned int numbers = 0;
	unsigned int low = 0;

	for (;;) {
		unsigned int value = 0, digits = 0;

		while (p < r->end && *p >= '0' && *p <= '9') {
			value = value > REPEAT_MAX
					? value
					: value * 10 + (unsigned int)(*p - '0');
			p++;
			digits++;
		}
		if (digits > 1 && p[-(int)digits] == '0')
			return 0;
		if (p == r->end || (digits == 0 && numbers == 0))
			return 0;
		if (*p == '}' || *p == ',') {
			if (value > REPEAT_MAX ||
			    (numbers > 0 && digits > 0 && value < low))
				return bad(r, r->p, "invalid repeat count");
			*times = digits > 0 ? value : low;
			low = value;
		}
		if (*p == '}')
			return (int)(p + 1 - r->p);
		if (*p != ',' || numbers++ > 0)
			return 0;
		p++;
	}
}

/*
 * X+ as XX*, and X{n,} as X{n}X*: of an item that is no group, PCRE2's DFA
 * keeps a state for each number of times that it has met it, so that its time
 * would not be linear.
 */
static int unbounded(struct rewrite *r, size_t size)
{
	size_t item = r->item_start, item_size = r->item_end - item;
	int err = 0;

	if (*r->p == '{')
		err = buf_printf(&r->out, "%.*s}", (int)size - 2, r->p);
	if (!err)
		err = buf_reserve(&r->out, item_size);
	if (!err)
		err = buf_add(&r->out, r->out.data + item, item_size);
	r->p += size;
	return err ? err : buf_add_byte(&r->out, '*');
}

/* Puts what has a repetition into a group, to give it one more. */
static int enclose(struct rewrite *r)
{
	struct buf text = BUF_INIT;
	int err = buf_add(&text, r->out.data + r->item_start,
			  r->item_end - r->item_start);

	r->out.size = r->item_start;
	if (!err)
		err = buf_printf(&r->out, "(?:%.*s)", (int)text.size,
				 (const char *)text.data);
	buf_release(&text);
	r->item = ITEM_GROUP;
	r->item_end = r->out.size;
	return err;
}

/* The repetition of size bytes at r->p, behind the item at the end of out. */
static int repeat_item(struct rewrite *r, size_t size)
{
	const uint8_t *start = r->p;
	int err = r->item == ITEM_REPEATED ? enclose(r) : 0;

	if (err < 0)
		return err;
	if (r->item == ITEM_SINGLE &&
	    (*start == '+' || (size > 1 && start[size - 2] == ',')))
		err = unbounded(r, size);
	else
		err = emit(r, size);
	if (!err && r->p < r->end && *r->p == '?')
		err = emit(r, 1);
	return err;
}

/* A repetition of size bytes, up to times over. One "?" behind it makes it
 * lazy, which changes nothing here; anything more is refused. */
static int repetition(struct rewrite *r, size_t size, unsigned int times)
{
	const uint8_t *start = r->p;
	unsigned int repeats = r->item_repeats;
	struct buf flags = BUF_INIT;
	int err;

	if (r->item == ITEM_NONE)
		return bad(r, start, "missing argument to repetition operator");
	if (times > 1)
		repeats *= times;
	if (repeats > REPEAT_MAX && times > 1)
		return bad(r, start, "invalid repeat count");
	if (r->head_is_item)
		r->head.size--;
	r->head_open = false;
	err = buf_add(&flags, r->out.data + r->item_end,
		      r->out.size - r->item_end);
	r->out.size = r->item_end;
	if (!err)
		err = repeat_item(r, size);
	set_item(r, ITEM_REPEATED, r->item_start, repeats);
	if (!err)
		err = buf_add_bytes(&r->out, buf_bytes(&flags));
	buf_release(&flags);
	if (!err && r->p < r->end &&
	    (memchr("*+?", *r->p, 3) ||
	     (*r->p == '{' && braces(r, &times) > 0)))
		err = bad(r, start, "invalid nested repetition operator");
	return err;
}

static int token(struct rewrite *r)
{
	unsigned int times = 0;
	int size;

	switch (*r->p) {
	case '\\':
		return escape(r);
	case '[':
		return class(r);
	case '(':
		return group(r);
	case ')':
		return group_end(r);
	case '|':
		if (r->outer.size == 0)
			buf_reset(&r->head);
		r->head_open = false;
		r->item = ITEM_NONE;
		return emit(r, 1);
	case '*':
	case '+':
	case '?':
		return repetition(r, 1, 0);
	case '{':
		size = braces(r, &times);
		if (size < 0)
			return size;
		return size > 0 ? repetition(r, (size_t)size, times)
				: literal(r, *r->p++);
	case '.':
		r->p++;
		return single(r, ".");
	case '^':
		r->head_open = r->head_open && r->out.size == 0;
		return assertion(r, 1, NULL);
	case '$':
		r->head_open = false;
		return assertion(r, 1, r->level.multiline ? NULL : "\\z");
	default:
		return literal(r, *r->p++);
	}
}

int regex_rewrite(struct bytes pattern, struct regex_rewritten *out)
{
	struct rewrite r = { .p = pattern.data,
			     .end = pattern.data + pattern.size,
			     .level.repeats = 1,
			     .head_open = true };
	int err = 0;

	while (!err && r.p < r.end)
		err = token(&r);
	if (!err && r.outer.size > 0)
		err = fail(ERR_bad_argument,
			   "error parsing regexp: missing closing ): `%.*s`",
			   (int)(pattern.size < 100 ? pattern.size : 100),
			   pattern.data);
	buf_release(&r.outer);
	buf_release(&r.names);
	out->pattern = r.out;
	out->head = r.head;
	out->is_literal = r.head_open;
	return err;
}
