#include <assert.h>
#include <stdlib.h>

#include "store/base/err.h"
#include "store/scan.h"
#include "store/update.h"

/* A check is a condition that one scan answers: whether the filter lets a cell
 * of the row pass. One is enough. */
struct row_checking {
	struct store *s;
	struct row_check check;
	struct scan *scan; /* that has paused, or NULL */
	struct conditional *conditional;
	bool matched;
};

/* The filter is asked about the store without the write: nothing is in that
 * yet. */
static int ask(void *context, struct condition_watch *w)
{
	struct row_checking *c = context;
	struct scan_range range = { .table = c->check.table,
				    .row = c->check.row,
				    .filter = c->check.filter };
	struct cell cell;
	int err = 0;

	if (!c->scan) {
		condition_watch(w, &range);
		err = scan_open(c->s, NULL, &range, &c->scan);
	}
	if (err == 0)
		err = scan_next(c->scan, CURSOR_ROW, &cell);
	if (err == -EAGAIN && w->pause)
		return err;
	scan_close(c->scan);
	c->scan = NULL;
	return err;
}

static int decide(void *context, bool holds, struct write *w)
{
	struct row_checking *c = context;
	int (*branch)(void *context, struct write *w) =
		holds ? c->check.if_true : c->check.if_false;

	c->matched = holds;
	return branch ? branch(c->check.context, w) : 0;
}

static bool stop(void *context)
{
	const struct row_checking *c = context;

	return c->check.stop(c->check.context);
}

static bool pause_check(void *context)
{
	const struct row_checking *c = context;

	return c->check.pause(c->check.context);
}

static bool has_room(void *context, uint64_t size)
{
	const struct row_checking *c = context;

	return c->check.room(c->check.context, size);
}

int row_checking_new(struct store *s, const struct row_check *check,
		     struct row_checking **out)
{
	struct row_condition q = { .table = check->table,
				   .row = check->row,
				   .ask = ask,
				   .decide = decide,
				   .stop = check->stop ? stop : NULL,
				   .pause = check->pause ? pause_check : NULL,
				   .room = check->room ? has_room : NULL };
	struct row_checking *c;
	int err;

	*out = NULL;
	if (!check->if_true && !check->if_false)
		return fail(ERR_bad_argument, "no mutation was given");
	c = calloc(1, sizeof(*c));
	if (!c)
		return -ENOMEM;
	c->s = s;
	c->check = *check;
	q.context = c;
	err = conditional_new(s, &q, &c->conditional);
	if (err < 0) {
		row_checking_free(c);
		return err;
	}
	*out = c;
	return 0;
}

/* *matched is told also if the commit fails after that. */
int row_checking_run(struct row_checking *c, bool sync, bool *matched)
{
	int err = conditional_run(c->conditional, sync);

	*matched = c->matched;
	return err;
}

void row_checking_free(struct row_checking *c)
{
	if (!c)
		return;
	scan_close(c->scan);
	conditional_free(c->conditional);
	free(c);
}

int store_check_and_mutate(struct store *s, const struct row_check *check,
			   bool sync, bool *matched)
{
	struct row_check at_once = *check;
	struct row_checking *c;
	int err;

	*matched = false;
	at_once.pause = NULL;
	at_once.room = NULL;
	err = row_checking_new(s, &at_once, &c);
	if (err == 0)
		err = row_checking_run(c, sync, matched);
	row_checking_free(c);
	return err;
}
