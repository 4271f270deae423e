#define PCRE2_CODE_UNIT_WIDTH 8
#include <assert.h>
#include <ctype.h>
#include <pcre2.h>
#include <stdlib.h>

#include "store/base/err.h"
#include "store/regex.h"

/* RE2's limit for a count. */
#define REPEAT_MAX 1000

/* Instead of the place of an item that a repetition may follow: it is a group.
 */
#define GROUP SIZE_MAX

/* The workspace is in ints, of which PCRE2 wants 20 at least; it is made four
 * times as large until a match fits, for the last time when it is no more than
 * WORKSPACE_MAX. */
#define WORKSPACE_MIN 256
#define WORKSPACE_MAX (1 << 22)

/*
 * A pattern goes through three hands: it is rewritten token by token into one
 * that PCRE2 takes for what RE2 means, of which on the way the literal head is
 * noted; PCRE2 compiles it; its DFA matcher, which never goes back in the
 * subject, runs it. RE2's syntax is that of github.com/google/re2/wiki/Syntax,
 * in its byte mode.
 */

/* A compiled pattern, with what a match needs beside it: hence one thread. */
struct regex {
	pcre2_code *code;
	pcre2_match_data *match;
	uint8_t *tables; /* of bytes in upper and lower case; code's */
	int *workspace;  /* of the DFA; grows, and stays as it is */
	size_t workspace_count;
	struct buf head; /* what every match begins with */
	bool is_literal; /* the head is all that matches */
};

/*
 * Before PCRE2 sees a pattern, it is rewritten: what only PCRE2 knows is
 * refused, and what both know with different meanings is spelled out.
 */
struct rewrite {
	const uint8_t *p, *end; /* what is left of the pattern */
	struct buf out;         /* the pattern for PCRE2 so far */
	struct buf head;        /* what every match begins with, so far */
	bool head_open;         /* only literals so far */
	bool repeatable;        /* something that a repetition may follow */
	size_t item;      /* where in out that begins; GROUP: it is a group */
	bool multiline;   /* flag m: ^ and $ are of lines */
	struct buf outer; /* for each open group, multiline before it */
};

/* Refuses the pattern, in RE2's words, and shows where: 20 bytes of it at most.
 */
static int bad(const struct rewrite *r, const uint8_t *from, const char *why)
{
	int size = (int)(r->end - from < 20 ? r->end - from : 20);

	return fail(ERR_bad_argument, "error parsing regexp: %s: `%.*s`", why,
		    size, from);
}

/* Copies so many bytes of the pattern, which mean the same to both. */
static int emit(struct rewrite *r, size_t size)
{
	int err = buf_add(&r->out, r->p, size);

	r->p += size;
	return err;
}

/* A byte that stands for itself, however it was written; as \xHH, so that it
 * means nothing else to PCRE2. In a class head_open is false already. */
static int literal(struct rewrite *r, uint8_t byte)
{
	r->repeatable = true;
	r->item = r->out.size;
	if (r->head_open && r->outer.size == 0) {
		int err = buf_add_byte(&r->head, byte);

		if (err < 0)
			return err;
	}
	return buf_printf(&r->out, "\\x%02x", byte);
}

/* Whether there is one more octal digit. */
static bool is_octal(const uint8_t *p, const uint8_t *end)
{
	return p < end && *p >= '0' && *p <= '7';
}

/* \0, \12, \123; a single digit but 0 would be a backreference, which RE2
 * refuses. */
static int octal(struct rewrite *r)
{
	const uint8_t *start = r->p;
	unsigned int value = 0, count = 0;

	assert(r->p[0] == '\\');
	r->p++;
	if (*r->p != '0' && !is_octal(r->p + 1, r->end))
		return bad(r, start, "invalid escape sequence");
	while (count < 3 && is_octal(r->p, r->end)) {
		value = value * 8 + (unsigned int)(*r->p++ - '0');
		count++;
	}
	if (value > 0xff)
		return bad(r, start, "invalid escape sequence");
	return literal(r, (uint8_t)value);
}

/* \Q...\E: what is between stands for itself; without the end, all of the rest.
 */
static int quoted(struct rewrite *r)
{
	int err = 0;

	r->p += 2;
	while (!err && r->p < r->end) {
		if (r->p + 1 < r->end && r->p[0] == '\\' && r->p[1] == 'E') {
			r->p += 2;
			return 0;
		}
		err = literal(r, *r->p++);
	}
	return err;
}

/* 0 to 15; 16 for what is no hexadecimal digit. Setting 0x20 makes a capital
 * small. */
static unsigned int hex_digit(uint8_t c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10u : 16;
}

/* \x7F or \x{7F}, of one byte: RE2's greater ones are of UTF-8. */
static int hexadecimal(struct rewrite *r)
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
	return literal(r, (uint8_t)value);
}

/* \pL, \p{Greek} and the same with P: copied, since PCRE2 knows the names and
 * says so of those that it does not. */
static int property(struct rewrite *r)
{
	const uint8_t *start = r->p;
	const uint8_t *close = NULL;

	if (r->end - r->p < 3)
		return bad(r, start, "invalid character class range");
	if (r->p[2] != '{')
		return emit(r, 3);
	close = memchr(r->p, '}', (size_t)(r->end - r->p));
	if (!close)
		return bad(r, start, "invalid character class range");
	return emit(r, (size_t)(close - r->p) + 1);
}

/* RE2's \s has no vertical tab; PCRE2's has. In a class \S has to be spelled
 * out, because a class has no class inside. */
static int space(struct rewrite *r, bool in_class)
{
	bool negated = r->p[1] == 'S';

	r->p += 2;
	if (in_class)
		return buf_add_string(
			&r->out, negated ? "\\x00-\\x08\\x0b\\x0e-\\x1f!-\\xff"
					 : "\\t\\n\\f\\r ");
	return buf_printf(&r->out, "[%s\\t\\n\\f\\r ]", negated ? "^" : "");
}

/* ^ $ \A \z \b \B of size bytes, which are text in PCRE2's words, or NULL if
 * they are the same. In a group, because RE2 lets them be repeated and PCRE2
 * does not. */
static int assertion(struct rewrite *r, size_t size, const char *text)
{
	int err = buf_add_string(&r->out, "(?:");

	if (!err)
		err = text ? buf_add_string(&r->out, text)
			   : buf_add(&r->out, r->p, size);
	r->p += size;
	r->repeatable = true;
	r->item = GROUP;
	return err ? err : buf_add_byte(&r->out, ')');
}

/* At a backslash. What is a literal, quoted ones too, leaves the head open, all
 * else closes it. Only what both know alike comes to the end and is copied. */
static int escape(struct rewrite *r, bool in_class)
{
	static const char named[] = "afnrtv", bytes[] = "\a\f\n\r\t\v";
	const uint8_t *start = r->p;
	const char *found;
	uint8_t c;

	if (r->end - r->p < 2)
		return bad(r, start, "trailing backslash at end of expression");
	c = r->p[1];
	if (c >= '0' && c <= '7')
		return octal(r);
	found = memchr(named, c, sizeof(named) - 1);
	if (found || c >= 0x80 || !isalnum(c)) {
		r->p += 2;
		return literal(r, found ? (uint8_t)bytes[found - named] : c);
	}
	if (c == 'x')
		return hexadecimal(r);
	r->repeatable = true;
	if (c == 'Q' && !in_class)
		return quoted(r);
	r->head_open = false;
	if (c == 'C' && !in_class) {
		r->p += 2;
		return buf_add_string(&r->out, "[\\x00-\\xff]");
	}
	if (c == 's' || c == 'S')
		return space(r, in_class);
	if (c == 'p' || c == 'P')
		return property(r);
	if (!in_class && strchr("bBAz", c))
		return assertion(r, 2, NULL);
	if (!strchr("dDwW", c))
		return bad(r, start, "invalid escape sequence");
	return emit(r, 2);
}

/* [...], whose inside is copied but for escapes: "]" is a literal if it comes
 * first, "-" is left as it is, and a "[:" without an end is two literals. All
 * else is literals, which PCRE2 cannot take for anything. */
static int class(struct rewrite *r)
{
	const uint8_t *start = r->p;
	size_t item = r->out.size;
	int err = emit(r, 1);

	r->head_open = false;
	if (!err && r->p < r->end && *r->p == '^')
		err = emit(r, 1);
	if (!err && r->p < r->end && *r->p == ']')
		err = literal(r, *r->p++);
	while (!err && r->p < r->end && *r->p != ']') {
		const uint8_t *close;

		if (*r->p == '\\') {
			err = escape(r, true);
			continue;
		}
		if (*r->p != '[' || r->p + 1 == r->end || r->p[1] != ':') {
			err = *r->p == '-' ? emit(r, 1) : literal(r, *r->p++);
			continue;
		}
		close = memmem(r->p + 2, (size_t)(r->end - r->p) - 2, ":]", 2);
		err = close ? emit(r, (size_t)(close - r->p) + 2)
			    : literal(r, *r->p++);
	}
	if (err < 0)
		return err;
	if (r->p == r->end)
		return bad(r, start, "missing closing ]");
	r->repeatable = true;
	r->item = item;
	return emit(r, 1);
}

/* At "(?": the flags i, m, s and U, up to ":" for a group, or ")". With the
 * latter no group was opened: they hold to the end of the one around, and so
 * does multiline. A "-" must come once, with a flag behind it. */
static int flags(struct rewrite *r)
{
	const uint8_t *p = r->p + 2;
	bool on = true, missing = false;

	for (; p < r->end && strchr("imsU-", *p) && *p; p++) {
		missing = *p == '-';
		if (missing && !on)
			break;
		on = on && !missing;
		if (*p == 'm')
			r->multiline = on;
	}
	if (p == r->end || missing || (*p != ':' && *p != ')'))
		return bad(r, r->p, "invalid or unsupported Perl syntax");
	assert(r->outer.size > 0);
	if (*p == ')')
		r->outer.size--;
	return emit(r, (size_t)(p - r->p) + 1);
}

/* At "(": a plain group, (?:, (?P<name>, (?<name>, or flags. Whatever else
 * begins with "(?", such as lookaround, is no flag and refused there; "(*" is
 * PCRE2's verbs. */
static int group(struct rewrite *r)
{
	const uint8_t *p = r->p + 1;
	int err;

	r->head_open = false;
	r->repeatable = false;
	err = buf_add_byte(&r->outer, r->multiline);
	if (err < 0)
		return err;
	if (p == r->end || (*p != '?' && *p != '*'))
		return emit(r, 1);
	if (*p == '*')
		return bad(r, p, "missing argument to repetition operator");
	p++;
	if (p < r->end && *p == 'P')
		p++;
	if (p < r->end && *p == '<') {
		const uint8_t *close = memchr(p, '>', (size_t)(r->end - p));
		const uint8_t *name = p + 1;

		while (name < r->end && (*name == '_' || isalnum(*name)))
			name++;
		if (close && name == close)
			return emit(r, (size_t)(close - r->p) + 1);
		return bad(r, r->p, "invalid named capture");
	}
	return flags(r);
}

/* The size of {n}, {n,} or {n,m}; 0 if the brace is a literal, which it is also
 * if a number has a leading 0; negative if one is too large. PCRE2 tells if n
 * is more than m. */
static int braces(const struct rewrite *r)
{
	const uint8_t *p = r->p + 1;
	unsigned int numbers = 0;

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
		if (value > REPEAT_MAX)
			return bad(r, r->p, "invalid repeat count");
		if (p == r->end || (digits == 0 && numbers == 0))
			return 0;
		if (*p == '}')
			return (int)(p + 1 - r->p);
		if (*p != ',' || numbers++ > 0)
			return 0;
		p++;
	}
}

/* X+ as XX*, and X{n,} as X{n}X*: of an item that is no group, PCRE2's DFA
 * keeps a state for each number of times that it has met it, so that its time
 * would not be linear. */
static int unbounded(struct rewrite *r, size_t size)
{
	size_t item = r->item, item_size = r->out.size - item;
	int err = 0;

	assert(item <= r->out.size);
	if (*r->p == '{')
		err = buf_printf(&r->out, "%.*s}", (int)size - 2, r->p);
	if (!err)
		err = buf_reserve(&r->out, item_size);
	if (!err)
		err = buf_add(&r->out, r->out.data + item, item_size);
	r->p += size;
	return err ? err : buf_add_byte(&r->out, '*');
}

/* A repetition of size bytes. What it repeats may not be there at all, so its
 * last literal leaves the head. One "?" behind it makes it lazy, which changes
 * nothing here; anything more is refused, as RE2 does, where PCRE2 would take
 * "+" for possessive. */
static int repetition(struct rewrite *r, size_t size)
{
	const uint8_t *start = r->p;
	int err;

	if (!r->repeatable)
		return bad(r, start, "missing argument to repetition operator");
	if (r->head_open && r->outer.size == 0 && r->head.size > 0)
		r->head.size--;
	r->head_open = false;
	r->repeatable = false;
	err = r->item != GROUP && (*start == '+' ||
				   (size > 1 && start[size - 2] == ','))
		      ? unbounded(r, size)
		      : emit(r, size);
	if (!err && r->p < r->end && *r->p == '?')
		err = emit(r, 1);
	if (!err && r->p < r->end &&
	    (memchr("*+?", *r->p, 3) || (*r->p == '{' && braces(r) > 0)))
		err = bad(r, start, "invalid nested repetition operator");
	return err;
}

/* Rewrites what is next in the pattern. Each sets whether it can be repeated
 * and, before what can be repeated, where that begins. */
static int token(struct rewrite *r)
{
	int size;

	if (!memchr("*+?{", *r->p, 4))
		r->item = *r->p == ')' ? GROUP : r->out.size;
	switch (*r->p) {
	case '\\':
		return escape(r, false);
	case '[':
		return class(r);
	case '(':
		return group(r);
	case ')':
		if (r->outer.size == 0)
			return bad(r, r->p, "unexpected )");
		r->multiline = r->outer.data[--r->outer.size];
		r->repeatable = true;
		return emit(r, 1);
	case '|':
		if (r->outer.size == 0)
			buf_reset(&r->head);
		r->head_open = false;
		r->repeatable = false;
		return emit(r, 1);
	case '*':
	case '+':
	case '?':
		return repetition(r, 1);
	case '{':
		size = braces(r);
		if (size < 0)
			return size;
		return size > 0 ? repetition(r, (size_t)size)
				: literal(r, *r->p++);
	case '.':
		r->head_open = false;
		r->repeatable = true;
		return emit(r, 1);
	case '^':
		r->head_open = r->head_open && r->out.size == 0;
		return assertion(r, 1, NULL);
	case '$':
		r->head_open = false;
		return assertion(r, 1, r->multiline ? NULL : "\\z");
	default:
		return literal(r, *r->p++);
	}
}

/* PCRE2's tables begin with the lower case of each byte and then its other
 * case, of ASCII. RE2 takes bytes for Latin-1 there: 0xc0 to 0xde are the
 * capitals of the bytes 0x20 above them, but for 0xd7, the times sign. */
static int tables_new(uint8_t **out)
{
	uint8_t *tables = (uint8_t *)pcre2_maketables(NULL);
	unsigned int c;

	*out = tables;
	if (!tables)
		return -ENOMEM;
	for (c = 0xc0; c <= 0xde; c++) {
		if (c == 0xd7)
			continue;
		tables[c] = (uint8_t)(c + 0x20);
		tables[256 + c] = (uint8_t)(c + 0x20);
		tables[256 + c + 0x20] = (uint8_t)c;
	}
	return 0;
}

/* PCRE2 is told to begin at the subject's start, and regex_match looks at the
 * end. With flag m, "^" is also behind a newline that ends the subject, as in
 * RE2. */
static int compile(struct regex *re, const struct rewrite *r)
{
	pcre2_compile_context *context = pcre2_compile_context_create(NULL);
	unsigned char text[128];
	PCRE2_SIZE offset;
	int code = context ? tables_new(&re->tables) : -ENOMEM;

	if (code < 0) {
		pcre2_compile_context_free(context);
		return code;
	}
	pcre2_set_character_tables(context, re->tables);
	pcre2_set_newline(context, PCRE2_NEWLINE_LF);
	re->code = pcre2_compile(
		r->out.data ? r->out.data : (const uint8_t *)"", r->out.size,
		PCRE2_ANCHORED | PCRE2_ALT_CIRCUMFLEX, &code, &offset, context);
	pcre2_compile_context_free(context);
	if (re->code)
		return 0;
	pcre2_get_error_message(code, text, sizeof(text));
	return fail(ERR_bad_argument, "error parsing regexp: %s", text);
}

/* The pattern is not kept. One of literals alone, with at most a "^" before it,
 * is compiled like any other, though regex_match does without. */
int regex_new(struct bytes pattern, struct regex **out)
{
	struct rewrite r = { .p = pattern.data,
			     .end = pattern.data + pattern.size,
			     .head_open = true };
	struct regex *re = calloc(1, sizeof(*re));
	int err = re ? 0 : -ENOMEM;

	*out = NULL;
	while (!err && r.p < r.end)
		err = token(&r);
	if (!err && r.outer.size > 0)
		err = fail(ERR_bad_argument,
			   "error parsing regexp: missing closing ): `%.*s`",
			   (int)(pattern.size < 100 ? pattern.size : 100),
			   pattern.data);
	if (!err)
		err = compile(re, &r);
	if (!err) {
		re->workspace_count = WORKSPACE_MIN;
		re->workspace = malloc(WORKSPACE_MIN * sizeof(int));
		re->match = pcre2_match_data_create(1, NULL);
		if (!re->workspace || !re->match)
			err = -ENOMEM;
	}
	buf_release(&r.out);
	buf_release(&r.outer);
	if (err < 0) {
		buf_release(&r.head);
		regex_free(re);
		return err;
	}
	re->head = r.head;
	re->is_literal = r.head_open;
	*out = re;
	return 0;
}

/* NULL is allowed. The tables are from malloc, as pcre2_maketables was given no
 * other. */
void regex_free(struct regex *r)
{
	if (!r)
		return;
	pcre2_code_free(r->code);
	free(r->tables);
	pcre2_match_data_free(r->match);
	free(r->workspace);
	buf_release(&r->head);
	free(r);
}

/* The longest of the matches comes first, so that the whole subject matches if
 * and only if that ends with it. The workspace grows until the DFA's states fit
 * and stays so for later calls. */
int regex_match(struct regex *r, struct bytes subject)
{
	if (r->is_literal)
		return bytes_equal(subject, buf_bytes(&r->head));
	for (;;) {
		int found = pcre2_dfa_match(r->code,
					    subject.data ? subject.data
							 : (const uint8_t *)"",
					    subject.size, 0, 0, r->match, NULL,
					    r->workspace, r->workspace_count);
		int *grown;

		if (found >= 0)
			return pcre2_get_ovector_pointer(r->match)[1] ==
			       subject.size;
		if (found == PCRE2_ERROR_NOMATCH)
			return 0;
		if (found != PCRE2_ERROR_DFA_WSSIZE ||
		    r->workspace_count > WORKSPACE_MAX)
			return fail(ERR_bad_argument,
				    "regexp is too large to match (%d)", found);
		grown = realloc(r->workspace,
				r->workspace_count * 4 * sizeof(int));
		if (!grown)
			return -ENOMEM;
		r->workspace = grown;
		r->workspace_count *= 4;
	}
}

struct bytes regex_head(const struct regex *r)
{
	return buf_bytes(&r->head);
}

bool regex_is_literal(const struct regex *r)
{
	return r->is_literal;
}
