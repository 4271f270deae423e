#include <stdlib.h>

#include "store/text/value/number.h"
#include "tests/conformance/filter.h"
#include "tests/conformance/target.h"

/* Operations that write what depends on what is there. */

/* The lines of the block that begin with this word. */
static bool parse_branch(struct run *r, const struct operation *o,
			 const char *name, struct proto_mutation **at,
			 size_t *count)
{
	size_t size = strlen(name), i;

	*at = run_alloc(r, (o->block.count + 1) * sizeof(**at));
	for (i = 0; *at && i < o->block.count; i++) {
		const char *line = o->block.items[i];

		if (!strncmp(line, name, size) && line[size] == ' ' &&
		    !parse_line(r, line, 1, &(*at)[(*count)++]))
			return false;
	}
	return *at != NULL;
}

int run_check(struct run *r, const struct operation *o)
{
	struct proto_check_and_mutate_row q = { .table_name = BYTES_NONE };
	const char *filter_text = option(o, 3, "filter");
	bool matched;
	int err = 0;

	if (!parse_name(r, word(o, 1), &q.table_name) ||
	    !parse_bytes(r, word(o, 2), &q.row_key) ||
	    !parse_branch(r, o, "true", &q.true_mutations.at,
			  &q.true_mutations.count) ||
	    !parse_branch(r, o, "false", &q.false_mutations.at,
			  &q.false_mutations.count))
		return RUN_MALFORMED;
	if (filter_text)
		err = case_filter(r, filter_text, &q.predicate_filter);
	if (!err)
		err = r->target->check(r, &q, &matched);
	return err ? err : buf_printf(&r->out, "matched %d\n", matched);
}

/* incr F QUAL INT | append F QUAL VALUE, of which the last three are words. */
static bool parse_rule(struct run *r, const char *name, char *const *words,
		       struct proto_read_modify_write_rule *rule)
{
	if (!parse_name(r, words[0], &rule->family_name) ||
	    !parse_bytes(r, words[1], &rule->column_qualifier))
		return false;
	if (!strcmp(name, "incr")) {
		rule->rule_case = nr_read_modify_write_rule_increment_amount;
		return int_parse_go(bytes_string(words[2]),
				    &rule->increment_amount);
	}
	rule->rule_case = nr_read_modify_write_rule_append_value;
	return !strcmp(name, "append") &&
	       parse_bytes(r, words[2], &rule->append_value);
}

static int take_cell(void *context, const struct cell *cell, struct bytes label)
{
	struct run *r = context;
	int err = put_cell(r, &r->out, cell);

	(void)label;
	return err ? err : buf_add_byte(&r->out, '\n');
}

static int modify(struct run *r, const struct operation *o,
		  struct proto_read_modify_write_rule *rules, size_t count)
{
	struct proto_read_modify_write_row q = { .rules = { rules, count } };
	struct taker taker = { take_cell, r };
	int err;

	if (!parse_name(r, word(o, 1), &q.table_name) ||
	    !parse_bytes(r, word(o, 2), &q.row_key))
		return RUN_MALFORMED;
	err = r->target->modify(r, &q, &taker);
	return err ? err : buf_add_string(&r->out, "ok\n");
}

static int run_one_rule(struct run *r, const struct operation *o)
{
	struct proto_read_modify_write_rule rule = { .rule_case = 0 };

	if (o->words.count != 6 ||
	    !parse_rule(r, word(o, 0), o->words.items + 3, &rule))
		return RUN_MALFORMED;
	return modify(r, o, &rule, 1);
}

int run_incr(struct run *r, const struct operation *o)
{
	return run_one_rule(r, o);
}

int run_append(struct run *r, const struct operation *o)
{
	return run_one_rule(r, o);
}

int run_rmw(struct run *r, const struct operation *o)
{
	size_t count = o->block.count, i;
	struct proto_read_modify_write_rule *rules =
		run_alloc(r, (count + 1) * sizeof(*rules));
	bool ok = rules != NULL;

	for (i = 0; ok && i < count; i++) {
		struct list line = { NULL, 0 };

		ok = run_words(r, o->block.items[i], &line) == 0 &&
		     line.count == 4 &&
		     parse_rule(r, line.items[0], line.items + 1, &rules[i]);
		free(line.items);
	}
	return ok ? modify(r, o, rules, count) : RUN_MALFORMED;
}
