#include <assert.h>
#include <stdio.h>
#include <time.h>

#include "store/text/print/print_cbt.h"
#include "store/text/print/print_large.h"
#include "store/text/print/print_state.h"
#include "store/text/value/number.h"
#include "store/text/value/quote.h"
#include "store/text/value/utf8.h"

/*
 * To the byte what Google's cbt read prints:
 *
 *   ----------------------------------------
 *   row
 *     family:qualifier                         @ 2023/09/10-15:21:48.000001
 *       "value"
 *
 * with an empty line between rows and behind the last. Names are as they are
 * in the store, values quoted as Go does. [label] behind the time is ours.
 */
#define DASHES "----------------------------------------\n"
#define NAME_WIDTH 40

/* Local time as Go's "2006/01/02-15:04:05.000000"; -ERR_bad_timestamp where the
 * calendar of libc ends. */
static int print_time(struct printer *p, uint64_t us, struct buf *out)
{
	uint64_t second = us / 1000000;
	time_t t = (time_t)second;
	struct tm tm;
	int err;

	if (second != p->second) {
		if (!localtime_r(&t, &tm))
			return fail(ERR_bad_timestamp,
				    "timestamp %llu has no calendar date",
				    (unsigned long long)us);
		snprintf(p->second_text, sizeof(p->second_text),
			 "%04d/%02d/%02d-%02d:%02d:%02d", tm.tm_year + 1900,
			 tm.tm_mon + 1, tm.tm_mday, tm.tm_hour, tm.tm_min,
			 tm.tm_sec);
		p->second = second;
	}
	err = buf_add_string(out, p->second_text);
	if (!err)
		err = buf_add_byte(out, '.');
	return err < 0 ? err : print_u64(us % 1000000, 6, out);
}

/* " family:qualifier", filled up to NAME_WIDTH code points, as Go's %-40s
 * counts them; a longer name pushes the time to the right. */
static int print_name(const struct cell *c, struct buf *out)
{
	static const char blanks[] = "                                        ";
	static_assert(sizeof(blanks) > NAME_WIDTH, "enough to fill");
	size_t width = utf8_count(c->family) + 1 + utf8_count(c->qualifier);
	int err = buf_add(out, "  ", 2);

	if (!err)
		err = buf_add_bytes(out, c->family);
	if (!err)
		err = buf_add_byte(out, ':');
	if (!err)
		err = buf_add_bytes(out, c->qualifier);
	if (!err && width < NAME_WIDTH)
		err = buf_add(out, blanks, NAME_WIDTH - width);
	return err < 0 ? err : buf_add(out, " @ ", 3);
}

int print_cbt_cell(struct printer *p, const struct cell *cell,
		   enum print_same same, struct buf *out)
{
	int err = 0;

	assert(p->format == TEXT_CBT);
	if (same == SAME_NOTHING) {
		/* Between rows; printer_finish does it behind the last. */
		if (p->started)
			err = buf_add_byte(out, '\n');
		if (!err)
			err = buf_add_string(out, DASHES);
		if (!err)
			err = buf_add_bytes(out, cell->row);
		if (!err)
			err = buf_add_byte(out, '\n');
	}
	if (!err)
		err = print_name(cell, out);
	if (!err)
		err = print_time(p, cell->timestamp_us, out);
	if (!err && p->label.size > 0)
		err = buf_printf(out, " [%.*s]", (int)p->label.size,
				 (const char *)p->label.data);
	if (!err)
		err = buf_add(out, "\n    ", 5);
	if (!err && p->given) {
		print_later(p, quote_go_part);
		err = buf_add_byte(out, '"');
		return err ? err : buf_add_string(&p->large.tail, "\"\n");
	}
	if (!err)
		err = quote_go(cell->value, out);
	return err < 0 ? err : buf_add_byte(out, '\n');
}
