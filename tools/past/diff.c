#include "store/text/value/number.h"
#include "store/text/value/quote.h"
#include "tools/data/select.h"
#include "tools/past/compare.h"
#include "tools/past/diff.h"
#include "tools/verb/time.h"

/* So much of a value is shown. */
#define SHOWN_SIZE 60

static int add_value(const struct cell *c, struct buf *out)
{
	struct bytes shown = c->value;
	int err;

	if (c->aggregate)
		return aggregate_print(c, out);
	if (cell_size(c) <= SHOWN_SIZE)
		return quote_go(shown, out);
	if (shown.size > SHOWN_SIZE)
		shown.size = SHOWN_SIZE;
	err = shown.size > 0 ? quote_go(shown, out) : 0;
	return err < 0 ? err
		       : buf_printf(out, "...%llu bytes",
				    (unsigned long long)cell_size(c));
}

/* A line of one side. */
static int print_cell(char sign, const struct cell *c, FILE *out)
{
	struct buf line = BUF_INIT;
	int err = buf_printf(&line, "%c ", sign);

	if (!err)
		err = quote_go(c->row, &line);
	if (!err)
		err = buf_printf(&line, " %.*s:", (int)c->family.size,
				 c->family.data);
	if (!err)
		err = quote_go(c->qualifier, &line);
	if (!err)
		err = buf_printf(&line, " @%llu ",
				 (unsigned long long)c->timestamp_us);
	if (!err)
		err = add_value(c, &line);
	if (!err)
		fprintf(out, "%.*s\n", (int)line.size, line.data);
	buf_release(&line);
	return err;
}

static int print_differences(struct compare *x, FILE *out, bool *any)
{
	static const char signs[COMPARE_SIDES] = { '-', '+' };
	int err, i;

	while ((err = compare_next(x)) > 0) {
		*any = true;
		for (i = 0; i < COMPARE_SIDES && err >= 0; i++)
			if (x->cell_sides & 1u << i)
				err = print_cell(signs[i], &x->sides[i].cell,
						 out);
		if (err < 0)
			break;
	}
	return err;
}

static int run(struct verb_call *c, struct select_words *words,
	       struct compare *x)
{
	struct bytes table = bytes_string(c->argv[1]);
	struct snapshot *moment;
	bool any = false;
	int err;

	if (verb_moment(c, words[0].from, &moment))
		return 2;
	err = compare_take(x, COMPARE_OLD, c->store, moment, table);
	if (!err && verb_moment(c, words[0].to, &moment))
		return 2;
	if (!err)
		err = compare_take(x, COMPARE_NEW, c->store, moment, table);
	if (!err)
		err = compare_begin(x, &words[COMPARE_OLD].select,
				    &words[COMPARE_NEW].select);
	if (!err)
		err = print_differences(x, c->out, &any);
	return err < 0 ? verb_failed(c, "Comparing", err) : any;
}

int verb_diff(struct verb_call *c)
{
	struct select_words words[COMPARE_SIDES] = { 0 };
	struct compare x = { 0 };
	int wrong = 0, i;

	if (c->argc < 3)
		return verb_usage(c);
	for (i = 0; i < COMPARE_SIDES && !wrong; i++)
		wrong = select_parse(c, SELECT_DIFF, &words[i]) ? 2 : 0;
	if (!wrong && !words[0].from)
		wrong = verb_usage(c);
	if (!wrong)
		wrong = run(c, words, &x);
	compare_close(&x);
	for (i = 0; i < COMPARE_SIDES; i++)
		select_words_release(&words[i]);
	return wrong;
}
