#include <assert.h>

#include "store/text/json/json_mutation.h"
#include "store/text/print/print_result.h"
#include "store/text/value/number.h"
#include "tools/data/set.h"
#include "tools/verb/verb.h"

/*
 * set and addtocell differ in what an argument adds to the write; mutate hands
 * its arguments to store/text/json. All commit with a sync, so that a change is
 * durable when the command has ended.
 */

/* Takes family:qualifier=value[@timestamp] apart; the timestamp stays with the
 * value. The family ends at the first colon and the qualifier, which may be
 * empty, at the first equals sign after it. 0 or -ERR_bad_argument. */
static int parse_cell(const char *text, struct bytes *family,
		      struct bytes *qualifier, struct bytes *value)
{
	const char *colon = strchr(text, ':');
	const char *equals = colon ? strchr(colon, '=') : NULL;

	if (!equals || colon == text)
		return fail(ERR_bad_argument, "Bad set arg \"%s\"", text);
	*family = bytes_of(text, (size_t)(colon - text));
	*qualifier = bytes_of(colon + 1, (size_t)(equals - colon) - 1);
	*value = bytes_string(equals + 1);
	return 0;
}

/* Cuts "@<integer>" from the end of the value; -1 and none are now. What
 * follows the last @ and is no integer is part of the value. */
static int take_timestamp(struct bytes *value, uint64_t *us)
{
	const uint8_t *at = memrchr(value->data, '@', value->size);
	size_t size;
	int64_t number;

	*us = STORE_NOW;
	if (!at)
		return 0;
	size = (size_t)(at - value->data);
	if (!int_parse_go(bytes_after(*value, size + 1), &number))
		return 0;
	value->size = size;
	if (number < -1)
		return fail(ERR_bad_timestamp, "invalid timestamp %lld",
			    (long long)number);
	if (number >= 0)
		*us = (uint64_t)number;
	return 0;
}

/* Taken anywhere among the cells, and ignored. */
static bool is_option(const char *text)
{
	return !strncmp(text, "app-profile=", 12);
}

/* Adds one argument to w: 0 or an error. */
typedef int add_cell(struct write *w, struct bytes family,
		     struct bytes qualifier, uint64_t us, struct bytes value);

/* As write_add takes it; the value was found to be a number. */
static int add_number(struct write *w, struct bytes family,
		      struct bytes qualifier, uint64_t us, struct bytes value)
{
	int64_t number = 0;
	bool parsed = int_parse_go(value, &number);

	assert(parsed);
	(void)parsed;
	return write_add(w, family, qualifier, us, number);
}

/* Adds what an argument says to w: 0, or 1 after it said what is wrong. */
static int add_argument(struct verb_call *c, struct write *w, const char *text,
			add_cell *add)
{
	struct bytes family, qualifier, value;
	int64_t number;
	uint64_t us;
	int err;

	err = parse_cell(text, &family, &qualifier, &value);
	if (err < 0)
		return verb_wrong(c, "%s", verb_error_text(err));
	err = take_timestamp(&value, &us);
	if (!err && add == add_number && !int_parse_go(value, &number))
		return verb_wrong(c, "Only int values are supported by "
				     "addtocell.");
	if (!err)
		err = add(w, family, qualifier, us, value);
	return err < 0 ? verb_failed(c, "Applying mutation", err) : 0;
}

/* set and addtocell: all arguments into one write of one row. The exit status;
 * nothing is committed after the first argument that is wrong. */
static int write_cells(struct verb_call *c, add_cell *add)
{
	int i, cells = 0, wrong = 0, err;
	struct write *w;

	for (i = 3; i < c->argc; i++)
		cells += !is_option(c->argv[i]);
	if (cells == 0)
		return verb_usage(c);
	err = write_new(c->store, &w);
	if (err < 0)
		return verb_failed(c, "Applying mutation", err);
	err = write_row(w, bytes_string(c->argv[1]), bytes_string(c->argv[2]));
	if (err < 0)
		wrong = verb_failed(c, "Applying mutation", err);
	for (i = 3; !wrong && i < c->argc; i++)
		if (!is_option(c->argv[i]))
			wrong = add_argument(c, w, c->argv[i], add);
	if (!wrong) {
		err = store_commit(c->store, w, true);
		if (err < 0)
			wrong = verb_failed(c, "Applying mutation", err);
	}
	write_free(w);
	return wrong;
}

int verb_set(struct verb_call *c)
{
	return write_cells(c, write_set);
}

int verb_addtocell(struct verb_call *c)
{
	return write_cells(c, add_number);
}

/* Prints what a mutation came to. It is done, so that an error of this, which
 * is one of memory or of a time without a date, is told and no failure of it.
 */
static void print_outcome(struct verb_call *c, const struct json_result *r)
{
	struct buf text = BUF_INIT;
	int err = print_result(r, TEXT_CBT, &text);

	if (r->has_condition)
		fputs(r->matched ? "matched\n" : "not matched\n", c->out);
	if (text.size > 0)
		fwrite(text.data, 1, text.size, c->out);
	if (err < 0)
		verb_failed(c, "Printing what it made", err);
	buf_release(&text);
}

/* Each is committed and synced before the next one is looked at. */
int verb_mutate(struct verb_call *c)
{
	struct json_result r = JSON_RESULT_INIT;
	struct bytes table;
	int i, err = 0, status = 0;

	if (c->argc < 3)
		return verb_usage(c);
	table = bytes_string(c->argv[1]);
	for (i = 2; err == 0 && i < c->argc; i++) {
		err = mutation_run_json(c->store, table, BYTES_NONE,
					bytes_string(c->argv[i]), true, &r);
		if (err == 0)
			print_outcome(c, &r);
		if (r.has_condition && !r.matched)
			status = 1;
		if (err == 0 && !r.done) {
			verb_wrong(c,
				   "Applying mutation %d: the condition does "
				   "not hold",
				   i - 1);
			i = c->argc;
		}
		json_result_release(&r);
	}
	if (err == 0)
		return status;
	return verb_wrong(c, "Applying mutation %d: %s", i - 2,
			  verb_error_text(err));
}
