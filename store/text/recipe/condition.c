#include <assert.h>
#include <stdlib.h>

#include "store/base/err.h"
#include "store/text/recipe/condition.h"

/* In the order of enum condition_test. */
static const char *const operators[] = { "=", "!=",     "<",     ">",
					 "~", "exists", "empty", NULL };

void condition_release(struct condition *c)
{
	template_release(&c->left);
	template_release(&c->right);
	regex_free(c->regex);
	c->regex = NULL;
}

/* The word behind the operator. */
static int parse_right(const struct line *l, unsigned int at,
		       struct fields *fields, struct condition *c)
{
	const struct word *w = &l->words[at];
	struct bytes pattern;
	int err = template_parse(l, w, VALUE_TEXT, fields, &c->right);

	if (err < 0 || c->test != CONDITION_MATCHES)
		return err;
	/* Braces of a pattern are doubled, as those of all templates. */
	if (!template_is_text(&c->right, &pattern))
		return line_wrong(l, w, 0,
				  "a pattern has no fields; a literal { is {{");
	err = regex_new(pattern, &c->regex);
	return err == -ERR_bad_argument ? line_wrong(l, w, 0, err_detail())
					: err;
}

int condition_parse(const struct line *l, unsigned int first,
		    struct fields *fields, struct condition *c)
{
	const struct word *w = &l->words[first + 1];
	unsigned int wanted;
	int i = 0, err;

	*c = (struct condition){ 0 };
	if (l->count < first + 2)
		return line_wrong_at(l, (uint32_t)l->source.size + 1,
				     "a condition is {FIELD} and = != < > ~ "
				     "with a word, or exists, or empty");
	while (operators[i] &&
	       !bytes_equal(bytes_string(operators[i]), w->text))
		i++;
	if (!operators[i])
		return line_wrong(l, w, 0,
				  "here one of = != < > ~ exists empty has to "
				  "stand");
	c->test = (enum condition_test)i;
	wanted = first + (c->test < CONDITION_EXISTS ? 3 : 2);
	if (l->count < wanted)
		return line_wrong_at(l, (uint32_t)l->source.size + 1,
				     "what to compare with is missing; an "
				     "empty text is ''");
	if (l->count > wanted)
		return line_wrong(l, &l->words[wanted], 0,
				  "one word too many; '...' keeps blanks");
	err = template_parse(l, &l->words[first], VALUE_TEXT, fields, &c->left);
	if (!err && c->test < CONDITION_EXISTS)
		err = parse_right(l, first + 2, fields, c);
	return err;
}

/* A decimal number, all of the text: false if it is none. Terminates b. */
static bool number_of(struct buf *b, double *out)
{
	size_t i;
	char *end;

	if (b->size == 0 || b->size > 100 || buf_terminate(b) < 0)
		return false;
	for (i = 0; i < b->size; i++)
		if (!b->data[i] || !strchr("0123456789+-.eE", b->data[i]))
			return false;
	*out = strtod((char *)b->data, &end);
	return !*end;
}

/* Negative, 0 or positive. */
static int order(struct buf *left, struct buf *right)
{
	int64_t i, k;
	double x, y;

	/* A double does not tell all integers apart. */
	if (function_integer(buf_bytes(left), &i) &&
	    function_integer(buf_bytes(right), &k))
		return (i > k) - (i < k);
	if (number_of(left, &x) && number_of(right, &y))
		return (x > y) - (x < y);
	return bytes_compare(buf_bytes(left), buf_bytes(right));
}

int condition_holds(const struct condition *c, struct evaluation *e,
		    struct buf *left, struct buf *right)
{
	int absent, right_absent = 0;

	buf_reset(left);
	buf_reset(right);
	absent = evaluate_text(e, &c->left, left);
	if (absent >= 0 && c->test < CONDITION_MATCHES)
		right_absent = evaluate_text(e, &c->right, right);
	if (absent < 0 || right_absent < 0)
		return absent < 0 ? absent : right_absent;
	absent |= right_absent;
	switch (c->test) {
	case CONDITION_EQUAL:
		return !absent &&
		       bytes_equal(buf_bytes(left), buf_bytes(right));
	case CONDITION_UNEQUAL:
		return absent ||
		       !bytes_equal(buf_bytes(left), buf_bytes(right));
	case CONDITION_LESS:
		return !absent && order(left, right) < 0;
	case CONDITION_GREATER:
		return !absent && order(left, right) > 0;
	case CONDITION_MATCHES:
		return absent ? 0
			      : regex_match(c->regex, buf_bytes(left), NULL);
	case CONDITION_EXISTS:
		return !absent;
	case CONDITION_EMPTY:
		return absent || left->size == 0;
	}
	return 0;
}
