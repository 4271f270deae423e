#include <assert.h>
#include <stdlib.h>

#include "store/text/print/print.h"
#include "store/text/print/print_cbt.h"
#include "store/text/print/print_json.h"
#include "store/text/print/print_large.h"
#include "store/text/print/print_state.h"
#include "store/text/value/base64.h"
#include "store/text/value/number.h"

/*
 * What all layouts share, and CSV and TSV, which need to know nothing but their
 * cell. The other two are told how far it agrees with the cell before.
 */

int printer_new(enum text_format format, struct printer **out)
{
	*out = calloc(1, sizeof(**out));
	if (!*out)
		return -ENOMEM;
	(*out)->format = (*out)->fields.format = format;
	(*out)->second = UINT64_MAX;
	return 0;
}

void printer_free(struct printer *p)
{
	if (!p)
		return;
	buf_release(&p->row);
	buf_release(&p->family);
	buf_release(&p->qualifier);
	buf_release(&p->version);
	buf_release(&p->merges);
	large_put(p->large.value);
	buf_release(&p->large.tail);
	buf_release(&p->large.part);
	free(p);
}

/* Prints a part of the large value that waits, if one does, of which the next
 * cell is as much the same: 1 if there is more of it, else 0 or an error. */
static int print_part(struct printer *p, enum print_same same, struct buf *out)
{
	struct print_large *l = &p->large;
	struct bytes part;
	int err = 0;

	if (!l->value)
		return 0;
	if (l->at == 0 && p->format == TEXT_JSONL)
		err = print_json_begin(p, same, out);
	if (!err)
		err = print_read(l->value, l->at, &l->part,
				 p->format != TEXT_JSONL && !p->fields.base64,
				 &part);
	if (!err)
		err = l->print(part, out);
	if (err)
		return err;
	l->at += part.size;
	if (l->at < large_size(l->value))
		return 1;
	large_put(l->value);
	l->value = NULL;
	return buf_add_bytes(out, buf_bytes(&l->tail));
}

/* The last field, a large value, and the end of the line. */
static int delimited_large(struct printer *p, struct buf *out)
{
	uint8_t first;
	int plain, err;

	if (p->fields.base64 || p->format == TEXT_TSV) {
		print_later(p, p->fields.base64 ? base64_encode : print_tsv);
		return buf_add_byte(&p->large.tail, '\n');
	}
	err = large_read(p->given, 0, &first, 1);
	plain = err ? err : print_test(p, print_csv_is_plain);
	if (plain < 0)
		return plain;
	plain = plain && first != ' ' && first != '\t';
	print_later(p, plain ? print_csv_plain : print_csv_quoted);
	err = plain ? 0 : buf_add_byte(out, '"');
	return err < 0 ? err
		       : buf_add_string(&p->large.tail, plain ? "\n" : "\"\n");
}

/* A cell a line: a layout with a column for each qualifier would have to know
 * them all before the first row. */
static int delimited_cell(struct printer *p, const struct cell *c,
			  struct buf *out)
{
	const struct print_fields *how = &p->fields;
	uint8_t comma = print_delimiter(how);
	struct buf time = BUF_INIT;
	int err = print_field(how, c->row, out);

	if (!err)
		err = buf_add_byte(out, comma);
	if (!err)
		err = print_field(how, c->family, out);
	if (!err)
		err = buf_add_byte(out, comma);
	if (!err)
		err = print_field(how, c->qualifier, out);
	if (!err)
		err = buf_add_byte(out, comma);
	if (!err && !how->base64)
		err = print_u64(c->timestamp_us, 1, out);
	if (!err && how->base64) {
		err = print_u64(c->timestamp_us, 1, &time);
		if (!err)
			err = base64_encode(buf_bytes(&time), out);
		buf_release(&time);
	}
	if (!err)
		err = buf_add_byte(out, comma);
	if (!err && p->given)
		return delimited_large(p, out);
	if (!err)
		err = print_value_field(how, c, out);
	return err < 0 ? err : buf_add_byte(out, '\n');
}

/* The names are the columns of delimited_cell. */
static int delimited_header(struct printer *p, struct buf *out)
{
	return buf_add_string(out,
			      p->format == TEXT_CSV
				      ? "row,family,qualifier,timestamp,value\n"
				      : "row\tfamily\tqualifier\ttimestamp"
					"\tvalue\n");
}

/* How far the cell agrees with the one that was fed before. */
static enum print_same compare(const struct printer *p, const struct cell *c)
{
	if (!p->started || !bytes_equal(buf_bytes(&p->row), c->row))
		return SAME_NOTHING;
	if (!bytes_equal(buf_bytes(&p->family), c->family))
		return SAME_ROW;
	if (!bytes_equal(buf_bytes(&p->qualifier), c->qualifier))
		return SAME_FAMILY;
	return SAME_COLUMN;
}

/* Copies what differs, for a cell lives until the scan goes on only. After an
 * error the printer is not used again, so a half is good enough. */
static int remember(struct printer *p, const struct cell *c,
		    enum print_same same)
{
	int err = 0;

	p->started = true;
	if (same < SAME_ROW)
		err = buf_set(&p->row, c->row);
	if (!err && same < SAME_FAMILY)
		err = buf_set(&p->family, c->family);
	if (!err && same < SAME_COLUMN)
		err = buf_set(&p->qualifier, c->qualifier);
	return err;
}

void printer_base64(struct printer *p)
{
	p->fields.base64 = true;
}

void printer_resume(struct printer *p)
{
	/* The header is there. Rows of the others stand by themselves. */
	p->started = p->format == TEXT_CSV || p->format == TEXT_TSV;
}

void printer_label(struct printer *p, struct bytes label)
{
	p->label = label;
}

int printer_cell(struct printer *p, const struct cell *cell, struct buf *out)
{
	enum print_same same = compare(p, cell);
	int err = print_part(p, same, out);

	if (err)
		return err;
	switch (p->format) {
	case TEXT_CSV:
	case TEXT_TSV:
		if (!p->started)
			err = delimited_header(p, out);
		if (!err)
			err = delimited_cell(p, cell, out);
		p->started = true;
		return err;
	case TEXT_JSONL:
		err = print_json_cell(p, cell, same, out);
		break;
	case TEXT_CBT:
		err = print_cbt_cell(p, cell, same, out);
		break;
	}
	/* It was borrowed for this cell. */
	p->label = BYTES_NONE;
	return err < 0 ? err : remember(p, cell, same);
}

int printer_large(struct printer *p, const struct cell *cell,
		  struct large *large, struct buf *out)
{
	int err;

	assert(cell->value.size == 0 && large_size(large) > 0);
	p->given = large;
	err = printer_cell(p, cell, out);
	p->given = NULL;
	return err;
}

int printer_finish(struct printer *p, struct buf *out)
{
	bool started = p->started;
	int err = print_part(p, SAME_NOTHING, out);

	if (err)
		return err;
	/* Ready for another stream. */
	p->started = false;
	switch (p->format) {
	case TEXT_CSV:
	case TEXT_TSV:
		return started ? 0 : delimited_header(p, out);
	case TEXT_JSONL:
		return started ? print_json_finish(p, out) : 0;
	case TEXT_CBT:
		break;
	}
	return started ? buf_add_byte(out, '\n') : 0;
}
