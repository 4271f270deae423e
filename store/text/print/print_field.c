#include "store/text/print/print_field.h"
#include "store/text/value/base64.h"
#include "store/text/value/number.h"

bool print_csv_is_plain(struct bytes s)
{
	return !memchr(s.data, ',', s.size) && !memchr(s.data, '"', s.size) &&
	       !memchr(s.data, '\n', s.size) && !memchr(s.data, '\r', s.size);
}

/* Inside quotes, in which a quote is doubled. */
int print_csv_quoted(struct bytes s, struct buf *out)
{
	size_t i, from = 0;
	int err = 0;

	for (i = 0; !err && i < s.size; i++) {
		if (s.data[i] != '"')
			continue;
		/* Up to the quote, which then begins the next piece. */
		err = buf_add(out, s.data + from, i + 1 - from);
		from = i;
	}
	return err < 0 ? err : buf_add(out, s.data + from, s.size - from);
}

int print_csv_plain(struct bytes s, struct buf *out)
{
	return buf_add_bytes(out, s);
}

/* In quotes where RFC 4180 wants them; for a leading blank too, as Go's writer
 * has it. Newlines stay as they are. */
static int csv_field(struct bytes s, struct buf *out)
{
	int err;

	if (s.size == 0)
		return buf_add(out, "\"\"", 2);
	if (print_csv_is_plain(s) && s.data[0] != ' ' && s.data[0] != '\t')
		return buf_add_bytes(out, s);
	err = buf_add_byte(out, '"');
	if (!err)
		err = print_csv_quoted(s, out);
	return err < 0 ? err : buf_add_byte(out, '"');
}

/* Never in quotes: tab, newline, carriage return and backslash are a backslash
 * and a letter, so that a line is always a record for cut and awk. */
int print_tsv(struct bytes s, struct buf *out)
{
	static const char special[] = "\t\n\r\\";
	static const char letters[] = "tnr\\";
	size_t i, from = 0;
	int err = 0;

	for (i = 0; !err && i < s.size; i++) {
		const char *found = memchr(special, s.data[i], 4);

		if (!found)
			continue;
		err = buf_add(out, s.data + from, i - from);
		if (!err)
			err = buf_add_byte(out, '\\');
		if (!err)
			err = buf_add_byte(out,
					   (uint8_t)letters[found - special]);
		from = i + 1;
	}
	return err < 0 ? err : buf_add(out, s.data + from, s.size - from);
}

int print_header_field(const struct print_fields *how, struct bytes s,
		       struct buf *out)
{
	return how->format == TEXT_CSV ? csv_field(s, out) : print_tsv(s, out);
}

int print_field(const struct print_fields *how, struct bytes s, struct buf *out)
{
	/* Of no bytes it is none, which only CSV tells from no value. */
	return how->base64 && s.size > 0 ? base64_encode(s, out)
					 : print_header_field(how, s, out);
}

int print_value_field(const struct print_fields *how, const struct cell *c,
		      struct buf *out)
{
	struct buf number = BUF_INIT;
	int err;

	if (c->aggregate == AGGREGATE_NONE ||
	    !aggregate_is_state(c->aggregate, c->value))
		return print_field(how, c->value, out);
	err = aggregate_print(c, &number);
	if (!err)
		err = print_field(how, buf_bytes(&number), out);
	buf_release(&number);
	return err;
}
