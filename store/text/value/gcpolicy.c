#include <assert.h>

#include "store/text/value/duration.h"
#include "store/text/value/gcpolicy.h"

/*
 * cbt's grammar of policies, by recursive descent over tokens:
 *
 *   policy = "never" | expr
 *   expr   = term { ("and" | "&&" | "or" | "||") term }    left to right
 *   term   = "(" expr ")" | "maxage" "=" DURATION | "maxversions" "=" NUMBER
 *
 * A token is a word of letters and digits, one of ( ) =, or && or ||. Messages
 * are cbt's own, which people know and search for, down to the names of Go's
 * functions in them.
 *
 * Each function that parses enters with its first token in p->token and leaves
 * with the first one after it there. On an error it has freed what it made.
 */
struct parser {
	struct bytes rest;       /* of the text, behind token */
	struct bytes token;      /* the present one; empty at the end */
	unsigned int node_count; /* terms, parentheses and pairs so far */
};

/* Bigtable keeps max_num_versions in an int32. */
#define MAX_VERSIONS_LIMIT INT32_MAX

/* Above ASCII all is taken for letters: they make an unknown word, which the
 * message then shows whole. */
static bool word_byte(uint8_t c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
	       (c >= 'A' && c <= 'Z') || c >= 0x80;
}

/* Moves the next token into p->token; -ERR_bad_gc_policy at what begins none. A
 * lone & or | is an error, as the sign of an unfinished pair. */
static int token_next(struct parser *p)
{
	struct bytes in = p->rest;
	size_t size = 1;

	while (in.size > 0 && strchr(" \t\n\r\v\f", in.data[0]) && in.data[0])
		in = bytes_after(in, 1);
	if (in.size == 0) {
		size = 0;
	} else if (in.data[0] == '&' || in.data[0] == '|') {
		if (in.size < 2 || in.data[1] != in.data[0])
			return fail(ERR_bad_gc_policy, "expected %c%c",
				    in.data[0], in.data[0]);
		size = 2;
	} else if (word_byte(in.data[0])) {
		while (size < in.size && word_byte(in.data[size]))
			size++;
	} else if (in.data[0] < ' ' || in.data[0] == 0x7f) {
		return fail(ERR_bad_gc_policy, "bad rune '\\x%02x'",
			    in.data[0]);
	} else if (!memchr("()=", in.data[0], 3)) {
		return fail(ERR_bad_gc_policy, "bad rune '%c'", in.data[0]);
	}
	p->token = bytes_of(in.data, size);
	p->rest = bytes_after(in, size);
	return 0;
}

static bool token_is(const struct parser *p, const char *text)
{
	return bytes_equal(p->token, bytes_string(text));
}

static int unexpected(const struct parser *p, const char *wanted)
{
	return fail(ERR_bad_gc_policy, "expected \"%s\", saw \"%.*s\"", wanted,
		    (int)p->token.size, p->token.data);
}

/* Go's strconv.ParseUint(text, 10, 32) with the range of an int32, and its
 * messages. The value stops growing once it is too large, so it cannot wrap
 * around. */
static int versions_parse(struct bytes text, uint64_t *limit)
{
	uint64_t value = 0;
	const char *why = NULL;
	size_t i;

	for (i = 0; i < text.size && !why; i++) {
		if (text.data[i] < '0' || text.data[i] > '9')
			why = "invalid syntax";
		else if (value <= MAX_VERSIONS_LIMIT)
			value = value * 10 + (uint64_t)(text.data[i] - '0');
	}
	if (!why && value > MAX_VERSIONS_LIMIT)
		why = "value out of range";
	if (why)
		return fail(ERR_bad_gc_policy,
			    "strconv.ParseUint: parsing \"%.*s\": %s",
			    (int)text.size, text.data, why);
	*limit = value;
	return 0;
}

/* maxage=D or maxversions=N, whose first word is the present token. A limit of
 * 0, which would hide every cell, is refused, though Google's emulator takes
 * it. */
static int leaf_parse(struct parser *p, struct gc_policy **out)
{
	enum gc_type type;
	uint64_t limit;
	int err;

	if (token_is(p, "maxage"))
		type = GC_MAX_AGE;
	else if (token_is(p, "maxversions"))
		type = GC_MAX_VERSIONS;
	else
		return fail(ERR_bad_gc_policy, "unexpected token: \"%.*s\"",
			    (int)p->token.size, p->token.data);
	err = token_next(p);
	if (err < 0)
		return err;
	if (!token_is(p, "="))
		return unexpected(p, "=");
	err = token_next(p);
	if (err < 0)
		return err;
	if (p->token.size == 0)
		return fail(ERR_bad_gc_policy, "expected a token after '='");
	err = type == GC_MAX_AGE ? duration_parse(p->token, &limit)
				 : versions_parse(p->token, &limit);
	if (err < 0)
		return err;
	if (limit == 0)
		return fail(ERR_bad_gc_policy, "%s must be more than 0",
			    type == GC_MAX_AGE ? "maxage" : "maxversions");
	*out = gc_policy_leaf(type, limit);
	if (!*out)
		return -ENOMEM;
	err = token_next(p);
	if (err < 0) {
		gc_policy_free(*out);
		*out = NULL;
	}
	return err;
}

static int expr_parse(struct parser *p, unsigned int depth,
		      struct gc_policy **out);

/* One leaf, or an expression in parentheses. depth counts the parentheses
 * around it and bounds the recursion; the count of nodes bounds what one policy
 * costs every reader. */
static int term_parse(struct parser *p, unsigned int depth,
		      struct gc_policy **out)
{
	int err;

	if (p->token.size == 0)
		return fail(ERR_bad_gc_policy, "empty GC policy term");
	if (++p->node_count > GC_NODES_MAX || depth >= GC_DEPTH_MAX)
		return fail(ERR_bad_gc_policy,
			    "more than %d rules or %d levels", GC_NODES_MAX / 2,
			    GC_DEPTH_MAX);
	if (!token_is(p, "("))
		return leaf_parse(p, out);
	err = token_next(p);
	if (!err)
		err = expr_parse(p, depth + 1, out);
	if (err < 0)
		return err;
	err = token_is(p, ")") ? token_next(p) : unexpected(p, ")");
	if (err < 0) {
		gc_policy_free(*out);
		*out = NULL;
	}
	return err;
}

/* GC_UNION, GC_INTERSECTION, or 0 if the token joins nothing. */
static int joint_type(const struct parser *p)
{
	if (token_is(p, "and") || token_is(p, "&&"))
		return GC_INTERSECTION;
	if (token_is(p, "or") || token_is(p, "||"))
		return GC_UNION;
	return 0;
}

/* Terms and what joins them, each pair becoming the left side of the next: so a
 * long row of terms is a deep tree, which policy_depth measures at the end. */
static int expr_parse(struct parser *p, unsigned int depth,
		      struct gc_policy **out)
{
	struct gc_policy *left = NULL, *right;
	int err, type;

	*out = NULL;
	err = term_parse(p, depth, &left);
	while (!err && (type = joint_type(p)) != 0) {
		right = NULL;
		err = token_next(p);
		if (!err)
			err = term_parse(p, depth, &right);
		if (err < 0)
			break;
		/* Owns both from here on, also when it fails. */
		left = gc_policy_pair((enum gc_type)type, left, right);
		p->node_count++;
		if (!left)
			return -ENOMEM;
	}
	if (err < 0) {
		gc_policy_free(left);
		return err;
	}
	assert(left);
	*out = left;
	return 0;
}

/* Levels of the tree, 1 for a leaf. The parser bounds it by its count of nodes,
 * so it may recurse. */
static unsigned int policy_depth(const struct gc_policy *p)
{
	unsigned int left, right;

	if (!p)
		return 0;
	left = policy_depth(p->left);
	right = policy_depth(p->right);
	return 1 + (left > right ? left : right);
}

int gc_policy_parse(struct bytes text, struct gc_policy **out)
{
	struct parser p = { .rest = text };
	struct gc_policy *policy = NULL;
	int err = token_next(&p);

	*out = NULL;
	if (!err && token_is(&p, "never")) {
		err = token_next(&p);
		if (!err && p.token.size == 0)
			return 0;
		/* Something follows: expr_parse refuses the word. */
		p.token = BYTES_LITERAL("never");
	}
	if (!err)
		err = expr_parse(&p, 0, &policy);
	if (!err && p.token.size > 0)
		err = fail(ERR_bad_gc_policy, "want end of input, got \"%.*s\"",
			   (int)p.token.size, p.token.data);
	if (!err && policy_depth(policy) > GC_DEPTH_MAX)
		err = fail(ERR_bad_gc_policy, "more than %d levels",
			   GC_DEPTH_MAX);
	if (err < 0) {
		gc_policy_free(policy);
		return err == -ENOMEM
			       ? err
			       : fail(ERR_bad_gc_policy,
				      "invalid GC policy: %s", err_detail());
	}
	*out = policy;
	return 0;
}

/* cbt shows whole days, hours or minutes by their unit, and else bare
 * microseconds: "age() > 90000000" for 90s. */
static int age_print(uint64_t us, struct buf *out)
{
	if (us % UINT64_C(60000000) == 0)
		return duration_print(us, out);
	return buf_printf(out, "%llu", (unsigned long long)us);
}

/* Recursion is bounded by GC_DEPTH_MAX, which holds for every policy in a
 * schema. */
int gc_policy_print(const struct gc_policy *p, struct buf *out)
{
	int err;

	if (!p)
		return 0;
	switch (p->type) {
	case GC_MAX_VERSIONS:
		return buf_printf(out, "versions() > %llu",
				  (unsigned long long)p->limit);
	case GC_MAX_AGE:
		err = buf_add_string(out, "age() > ");
		return err < 0 ? err : age_print(p->limit, out);
	case GC_UNION:
	case GC_INTERSECTION:
		break;
	}
	err = buf_add_byte(out, '(');
	if (!err)
		err = gc_policy_print(p->left, out);
	if (!err)
		err = buf_add_string(out,
				     p->type == GC_UNION ? " || " : " && ");
	if (!err)
		err = gc_policy_print(p->right, out);
	return err < 0 ? err : buf_add_byte(out, ')');
}

/* Terms join from left to right, so only a pair on the right needs its
 * parentheses; enclosed says that p is one. */
static int words_print(const struct gc_policy *p, bool enclosed,
		       struct buf *out)
{
	int err = 0;

	switch (p->type) {
	case GC_MAX_VERSIONS:
		return buf_printf(out, "maxversions=%llu",
				  (unsigned long long)p->limit);
	case GC_MAX_AGE:
		err = buf_add_string(out, "maxage=");
		return err < 0 ? err : duration_print(p->limit, out);
	case GC_UNION:
	case GC_INTERSECTION:
		break;
	}
	assert(p->left && p->right);
	if (enclosed)
		err = buf_add_byte(out, '(');
	if (!err)
		err = words_print(p->left, false, out);
	if (!err)
		err = buf_add_string(out, p->type == GC_UNION ? "||" : "&&");
	if (!err)
		err = words_print(p->right, true, out);
	if (!err && enclosed)
		err = buf_add_byte(out, ')');
	return err;
}

int gc_policy_print_words(const struct gc_policy *p, struct buf *out)
{
	return p ? words_print(p, false, out) : buf_add_string(out, "never");
}
