#include <assert.h>

#include "store/text/print/print_json.h"
#include "store/text/print/print_large.h"
#include "store/text/print/print_state.h"
#include "store/text/value/base64.h"
#include "store/text/value/json_text.h"
#include "store/text/value/number.h"
#include "store/text/value/utf8.h"

/*
 * A line for each row, which an import of JSON lines takes as it is:
 *
 *   {"row": "r", "set": {"f": {"q": {"value": "v", "timestamp": 1}}},
 *    "merge": {"sums": {"q": {"value": ..., "timestamp": 1}}}}
 *
 * Several versions of a column are a list, newest first. What is not UTF-8 is
 * base64. Aggregate families go under "merge", whose states are then added to
 * what is there; they wait in p->merges, for "set" must not be interrupted. All
 * of it is written as it comes, so each piece ends what the one before began.
 */

/* What follows a version's value: timestamp, and the label if a filter gave
 * one. */
static int print_version_end(const struct printer *p, const struct cell *c,
			     struct buf *out)
{
	int err = buf_add_string(out, ", \"timestamp\": ");

	if (!err)
		err = print_u64(c->timestamp_us, 1, out);
	if (!err && p->label.size > 0) {
		err = buf_add_string(out, ", \"label\": ");
		if (!err)
			err = json_text_string(p->label, out);
	}
	return err < 0 ? err : buf_add_byte(out, '}');
}

/* The beginning of a version whose value is large. */
static int print_large_version(struct printer *p, const struct cell *c,
			       struct buf *out)
{
	int text = print_test(p, utf8_valid), err;

	if (text < 0)
		return text;
	print_later(p, text ? json_text_part : base64_encode);
	err = buf_add_string(out, text ? "{\"value\": \"" : "{\"base64\": \"");
	if (!err)
		err = buf_add_byte(&p->large.tail, '"');
	return err < 0 ? err : print_version_end(p, c, &p->large.tail);
}

/* One version. */
static int print_version(struct printer *p, const struct cell *c,
			 struct buf *out)
{
	int err;

	if (p->given)
		return print_large_version(p, c, out);
	err = buf_add_byte(out, '{');
	if (!err && utf8_valid(c->value)) {
		err = buf_add_string(out, "\"value\": ");
		if (!err)
			err = json_text_string(c->value, out);
	} else if (!err) {
		err = json_text_base64(c->value, out);
	}
	return err < 0 ? err : print_version_end(p, c, out);
}

int print_json_begin(struct printer *p, enum print_same same, struct buf *out)
{
	int err = 0;

	/* As the column's first version it waits for a second one. */
	if (!p->listed && same == SAME_COLUMN) {
		err = buf_add_byte(out, '[');
		p->listed = true;
	}
	if (!err)
		err = buf_add_bytes(out, buf_bytes(&p->version));
	buf_reset(&p->version);
	return err;
}

/* Ends the column before: with the version that waits, or the list it
 * became. */
static int close_column(struct printer *p, struct buf *out)
{
	int err = p->listed ? buf_add_byte(out, ']')
			    : buf_add_bytes(out, buf_bytes(&p->version));

	p->listed = false;
	buf_reset(&p->version);
	return err;
}

/* The line begins; neither "set" nor "merge" is there yet. */
static int open_row(struct printer *p, const struct cell *c, struct buf *out)
{
	int err = buf_add_string(out, "{\"row\": ");

	p->set_open = false;
	buf_reset(&p->merges);
	return err < 0 ? err : json_text_key(c->row, out);
}

/* Ends the row, whose last family has ended. */
static int close_row(struct printer *p, struct buf *out)
{
	int err = p->set_open ? buf_add_byte(out, '}') : 0;

	if (!err && p->merges.size > 0) {
		err = buf_add_string(out, ", \"merge\": {");
		if (!err)
			err = buf_add_bytes(out, buf_bytes(&p->merges));
		if (!err)
			err = buf_add_byte(out, '}');
	}
	return err < 0 ? err : buf_add_string(out, "}\n");
}

/* Begins a family, with the comma or the "set" before it: those of aggregates
 * wait for the end of the row. p->aggregate tells from here on where text
 * goes. */
static int open_family(struct printer *p, const struct cell *c, struct buf *out)
{
	int err;

	p->aggregate = c->aggregate != AGGREGATE_NONE;
	if (p->aggregate)
		out = &p->merges;
	if (p->aggregate ? out->size > 0 : p->set_open)
		err = buf_add_string(out, ", ");
	else
		err = p->aggregate ? 0 : buf_add_string(out, ", \"set\": {");
	if (!p->aggregate)
		p->set_open = true;
	if (!err)
		err = json_text_string(c->family, out);
	return err < 0 ? err : buf_add_string(out, ": {");
}

/* The second version of a column opens the list and puts the waiting one
 * first. */
static int another_version(struct printer *p, const struct cell *cell,
			   struct buf *out)
{
	int err = 0;

	if (!p->listed) {
		err = buf_add_byte(out, '[');
		if (!err)
			err = buf_add_bytes(out, buf_bytes(&p->version));
		p->listed = true;
	}
	if (!err)
		err = buf_add_string(out, ", ");
	return err < 0 ? err : print_version(p, cell, out);
}

/* Where the text of the present family goes. */
static struct buf *place(struct printer *p, struct buf *out)
{
	return p->aggregate ? &p->merges : out;
}

/* Ends the column, and the family and row if they differ as well. What is
 * written belongs to the cell before, so it goes where its family goes. */
static int leave(struct printer *p, enum print_same same, struct buf *out)
{
	int err = close_column(p, place(p, out));

	if (!err)
		err = buf_add_string(place(p, out),
				     same == SAME_FAMILY ? ", " : "}");
	if (!err && same == SAME_NOTHING)
		err = close_row(p, out);
	return err;
}

int print_json_cell(struct printer *p, const struct cell *cell,
		    enum print_same same, struct buf *out)
{
	int err = 0;

	assert(p->started || same == SAME_NOTHING);
	if (same == SAME_COLUMN)
		return another_version(p, cell, place(p, out));
	if (p->started)
		err = leave(p, same, out);
	if (!err && same == SAME_NOTHING)
		err = open_row(p, cell, out);
	if (!err && same != SAME_FAMILY)
		err = open_family(p, cell, out);
	if (!err)
		err = json_text_qualifier(cell->qualifier, place(p, out));
	if (!err)
		err = buf_add_string(place(p, out), ": ");
	return err < 0 ? err : print_version(p, cell, &p->version);
}

int print_json_finish(struct printer *p, struct buf *out)
{
	return leave(p, SAME_NOTHING, out);
}
