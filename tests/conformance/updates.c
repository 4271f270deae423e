#include <stdlib.h>

#include "store/text/value/number.h"
#include "tests/conformance/filter.h"
#include "tests/conformance/run.h"

/* Operations that write what depends on what is there. */

struct branches {
	struct run *r;
	const struct operation *o;
	int result; /* what a line that is no mutation gave */
};

/* Adds the lines of the block that begin with this word. */
static int add_branch(struct branches *b, const char *name, struct write *w)
{
	size_t size = strlen(name), i;
	int err = 0;

	for (i = 0; !err && i < b->o->block.count; i++) {
		const char *line = b->o->block.items[i];

		if (!strncmp(line, name, size) && line[size] == ' ')
			err = add_line(b->r, line, 1, w);
	}
	b->result = err;
	return err > 0 ? -EINVAL : err;
}

static int add_true(void *context, struct write *w)
{
	return add_branch(context, "true", w);
}

static int add_false(void *context, struct write *w)
{
	return add_branch(context, "false", w);
}

int run_check(struct run *r, const struct operation *o)
{
	const char *filter_text = option(o, 3, "filter");
	struct branches b = { .r = r, .o = o };
	struct row_check check = { .context = &b };
	struct buf table = BUF_INIT, row = BUF_INIT;
	bool matched;
	int err = RUN_MALFORMED;

	if (!parse_name(word(o, 1), &table) || !parse_bytes(word(o, 2), &row))
		goto release;
	err = filter_text ? case_filter(r, filter_text, &check.filter) : 0;
	if (err)
		goto release;
	check.table = buf_bytes(&table);
	check.row = buf_bytes(&row);
	if (o->block.count > 0) {
		check.if_true = add_true;
		check.if_false = add_false;
	}
	err = store_check_and_mutate(r->store, &check, false, &matched);
	if (err < 0 && b.result > 0)
		err = b.result;
	if (!err)
		err = buf_printf(&r->out, "matched %d\n", matched);
release:
	filter_free(check.filter);
	buf_release(&table);
	buf_release(&row);
	return err;
}

/* A rule and the memory of its names and value. */
struct rule {
	struct buf family, qualifier, value;
};

/* incr F QUAL INT | append F QUAL VALUE, from words on. */
static bool parse_rule(const char *name, char *const *words, struct rule *texts,
		       struct modify_rule *rule)
{
	if (!parse_name(words[0], &texts->family) ||
	    !parse_bytes(words[1], &texts->qualifier))
		return false;
	rule->family = buf_bytes(&texts->family);
	rule->qualifier = buf_bytes(&texts->qualifier);
	rule->is_increment = !strcmp(name, "incr");
	if (rule->is_increment)
		return int_parse_go(bytes_string(words[2]), &rule->amount);
	if (strcmp(name, "append") || !parse_bytes(words[2], &texts->value))
		return false;
	rule->value = buf_bytes(&texts->value);
	return true;
}

static int put_cells(struct run *r, const struct cell *cells, size_t count)
{
	size_t i;
	int err = 0;

	for (i = 0; !err && i < count; i++) {
		err = put_cell(r, &r->out, &cells[i]);
		if (!err)
			err = buf_add_byte(&r->out, '\n');
	}
	return err ? err : buf_add_string(&r->out, "ok\n");
}

/* Lists of words, each a rule: name, family, qualifier, argument. */
static int run_rules(struct run *r, const struct operation *o,
		     const struct list *lines, size_t count)
{
	struct rule *texts = calloc(count + 1, sizeof(*texts));
	struct modify_rule *rules = calloc(count + 1, sizeof(*rules));
	struct cell *cells = calloc(count + 1, sizeof(*cells));
	struct buf table = BUF_INIT, row = BUF_INIT, memory = BUF_INIT;
	size_t i;
	int err = texts && rules && cells ? 0 : -ENOMEM, made;

	if (!err &&
	    (!parse_name(word(o, 1), &table) || !parse_bytes(word(o, 2), &row)))
		err = RUN_MALFORMED;
	for (i = 0; !err && i < count; i++)
		if (lines[i].count != 4 ||
		    !parse_rule(lines[i].items[0], lines[i].items + 1,
				&texts[i], &rules[i]))
			err = RUN_MALFORMED;
	if (!err) {
		made = store_modify(r->store, buf_bytes(&table),
				    buf_bytes(&row), rules, count, false, cells,
				    &memory);
		err = made < 0 ? made : put_cells(r, cells, (size_t)made);
	}
	for (i = 0; texts && i < count; i++) {
		buf_release(&texts[i].family);
		buf_release(&texts[i].qualifier);
		buf_release(&texts[i].value);
	}
	free(texts);
	free(rules);
	free(cells);
	buf_release(&table);
	buf_release(&row);
	buf_release(&memory);
	return err;
}

static int run_one_rule(struct run *r, const struct operation *o)
{
	char *items[4];
	struct list line = { items, 4 };
	size_t i;

	if (o->words.count != 6)
		return RUN_MALFORMED;
	items[0] = o->words.items[0];
	for (i = 1; i < 4; i++)
		items[i] = o->words.items[i + 2];
	return run_rules(r, o, &line, 1);
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
	struct list *lines = calloc(count + 1, sizeof(*lines));
	char **texts = calloc(count + 1, sizeof(*texts));
	int err = lines && texts ? 0 : -ENOMEM;

	for (i = 0; !err && i < count; i++) {
		texts[i] = strdup(o->block.items[i]);
		err = texts[i] ? list_split(&lines[i], texts[i]) : -ENOMEM;
	}
	if (!err)
		err = run_rules(r, o, lines, count);
	for (i = 0; lines && texts && i < count; i++) {
		free(lines[i].items);
		free(texts[i]);
	}
	free(lines);
	free(texts);
	return err;
}
