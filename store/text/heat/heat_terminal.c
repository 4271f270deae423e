#include <stdlib.h>

#include "store/text/heat/heat_label.h"
#include "store/text/heat/heat_terminal.h"

#define LABEL_WIDTH 20
#define WIDTH_MIN 40

/* Of the palette of 256 colours, from dark to bright; none is the terminal's
 * own. */
static const uint8_t colours[HEAT_LEVELS + 1] = {
	0,   17,  17,  18,  18,  54,  54,  55,  91,  91,  127, 127, 162,
	162, 161, 197, 196, 202, 202, 208, 208, 214, 220, 227, 230,
};
static const char ramp[] = " ..::--==++**##%%@@";

size_t heat_terminal_columns(const struct heat_style *style)
{
	size_t width = style->width < WIDTH_MIN ? WIDTH_MIN : style->width;

	return width - LABEL_WIDTH - 1;
}

static int level_at(const struct heat_picture *p, size_t row, size_t column)
{
	if (row >= p->rows)
		return 0;
	return heat_level(p, p->values[row * p->columns + column]);
}

/* How many characters a text has on a terminal, if none is wide. */
static size_t width_of(struct bytes text)
{
	size_t i, n = 0;

	for (i = 0; i < text.size; i++)
		n += (text.data[i] & 0xc0) != 0x80;
	return n;
}

static int add_label(const struct heat_picture *p, size_t row, bool shown,
		     struct buf *out)
{
	struct buf label = BUF_INIT;
	int err = shown ? heat_add_key(p->row[row].start, LABEL_WIDTH, &label)
			: 0;
	size_t width = width_of(buf_bytes(&label));

	if (err == 0)
		err = buf_printf(out, "%.*s%*s ", (int)label.size,
				 label.size ? (char *)label.data : "",
				 (int)(LABEL_WIDTH - width), "");
	buf_release(&label);
	return err;
}

/* How wide a column is: few of them are wider. */
static size_t times(const struct heat_picture *p,
		    const struct heat_style *style)
{
	size_t n = heat_terminal_columns(style) / p->columns;

	return n > 0 ? n : 1;
}

static int add_sharp(const struct heat_picture *p, size_t row, size_t wide,
		     struct buf *out)
{
	size_t c;
	int err = 0, level;

	for (c = 0; c < wide * p->columns && err == 0; c++) {
		level = level_at(p, row, c / wide);
		err = buf_add_byte(
			out,
			(uint8_t)
				ramp[level * (sizeof(ramp) - 2) / HEAT_LEVELS]);
	}
	return err < 0 ? err : buf_add_byte(out, '\n');
}

/* Sets what is drawn with (3) or on (4) to the colour of a level. */
static int add_colour(int which, int level, struct buf *out)
{
	return level == 0 ? buf_printf(out, "\033[%d9m", which)
			  : buf_printf(out, "\033[%d8;5;%dm", which,
				       colours[level]);
}

/* Two rows: the upper one is drawn as the upper half of a block, with the lower
 * one behind it, or if that is all, the lower one as its lower half. */
static int add_blocks(const struct heat_picture *p, size_t row, size_t wide,
		      struct buf *out)
{
	int err = 0, was_ink = 0, was_paper = 0;
	size_t c;

	for (c = 0; c < wide * p->columns && err == 0; c++) {
		int upper = level_at(p, row, c / wide);
		int lower = level_at(p, row + 1, c / wide);
		int ink = upper > 0 ? upper : lower;
		int paper = upper > 0 ? lower : 0;

		if (ink != was_ink)
			err = add_colour(3, ink, out);
		if (err == 0 && paper != was_paper)
			err = add_colour(4, paper, out);
		if (err == 0)
			err = buf_add_string(out, upper > 0   ? "\xe2\x96\x80"
						  : lower > 0 ? "\xe2\x96\x84"
							      : " ");
		was_ink = ink;
		was_paper = paper;
	}
	return err < 0 ? err : buf_add_string(out, "\033[0m\n");
}

/* The first time and the last, below. */
static int add_axis(const struct heat_picture *p, size_t wide, struct buf *out)
{
	struct buf from = BUF_INIT, to = BUF_INIT;
	int err = heat_add_time(p->from_s, &from), gap;

	if (err == 0)
		err = heat_add_time(p->from_s + p->columns * p->column_s, &to);
	gap = (int)(wide * p->columns) - (int)from.size - (int)to.size;
	if (err == 0)
		err = buf_printf(out, "%*s%.*s", LABEL_WIDTH + 1, "",
				 (int)from.size, (char *)from.data);
	if (err == 0 && gap > 0)
		err = buf_printf(out, "%*s%.*s", gap, "", (int)to.size,
				 (char *)to.data);
	buf_release(&from);
	buf_release(&to);
	return err < 0 ? err : buf_add_byte(out, '\n');
}

/* The steps of brightness, and what the first and the last stand for. */
static int add_legend(const struct heat_picture *p, bool is_coloured,
		      struct buf *out)
{
	int err = buf_printf(out, "%*s", LABEL_WIDTH + 1, ""), i;

	if (err == 0)
		err = heat_add_number(heat_level_value(p, 1), out);
	if (err == 0)
		err = buf_add_byte(out, ' ');
	for (i = 1; i <= HEAT_LEVELS && err == 0 && is_coloured; i++) {
		err = add_colour(4, i, out);
		if (err == 0)
			err = buf_add_byte(out, ' ');
	}
	if (err == 0)
		err = buf_add_string(out, is_coloured ? "\033[0m" : ramp + 1);
	if (err == 0)
		err = buf_add_byte(out, ' ');
	if (err == 0)
		err = heat_add_number(p->peak, out);
	return err < 0 ? err : buf_printf(out, " %s\n", heat_unit(p->metric));
}

static int add_rows(const struct heat_picture *p,
		    const struct heat_style *style, struct buf *out)
{
	size_t step = style->is_coloured ? 2 : 1, wide = times(p, style), r;
	bool *shown = calloc(p->rows + 1, sizeof(*shown));
	bool second;
	int err = shown ? 0 : -ENOMEM;

	if (err == 0)
		heat_choose_labels(p, 2 * step, shown);
	for (r = 0; r < p->rows && err == 0; r += step) {
		second = !shown[r] && step == 2 && shown[r + 1];
		err = add_label(p, second ? r + 1 : r, shown[r] || second, out);
		if (err == 0)
			err = style->is_coloured ? add_blocks(p, r, wide, out)
						 : add_sharp(p, r, wide, out);
	}
	free(shown);
	if (err == 0)
		err = add_axis(p, wide, out);
	return err < 0 ? err : add_legend(p, style->is_coloured, out);
}

int heat_print_terminal(const struct heat_picture *p, struct bytes table,
			const struct heat_style *style, struct buf *out)
{
	int err = heat_add_title(p, table, out);

	if (err == 0)
		err = buf_add_byte(out, '\n');
	if (err == 0 && p->rows > 0)
		err = add_rows(p, style, out);
	if (err == 0)
		err = heat_add_figures(p, out);
	return err < 0 ? err : buf_add_string(out, "\n" HEAT_CAUTION "\n");
}
