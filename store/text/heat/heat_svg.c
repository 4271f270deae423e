#include <stdio.h>
#include <stdlib.h>

#include "store/text/heat/heat_svg.h"

/*
 * The cells are one path for each level of brightness, in a drawing of its own
 * whose unit is a cell, so that a script zooms by changing what part of it is
 * shown. Colours are classes, so that they are those of the viewer's theme.
 */
#define WIDTH 1200
#define HEIGHT 720
#define LEFT 220
#define TOP 64
#define RIGHT 20
#define BOTTOM 80
#define LABEL_SIZE 30 /* characters */

int heat_add_xml(struct bytes text, struct buf *out)
{
	size_t i;
	int err = 0;

	for (i = 0; i < text.size && err == 0; i++)
		switch (text.data[i]) {
		case '&':
			err = buf_add_string(out, "&amp;");
			break;
		case '<':
			err = buf_add_string(out, "&lt;");
			break;
		case '>':
			err = buf_add_string(out, "&gt;");
			break;
		case '"':
			err = buf_add_string(out, "&quot;");
			break;
		case '\'':
			err = buf_add_string(out, "&#39;");
			break;
		default:
			err = buf_add_byte(out, text.data[i]);
		}
	return err;
}

/* A colour between these, in the order of a theme's levels. */
static int add_colours(struct buf *out, const uint8_t (*stops)[3], size_t count)
{
	int err = 0, i, j;

	for (i = 1; i <= HEAT_LEVELS && err == 0; i++) {
		double at = (double)(i - 1) / (HEAT_LEVELS - 1) *
			    (double)(count - 1);
		size_t low = (size_t)at < count - 1 ? (size_t)at : count - 2;
		int rgb[3];

		for (j = 0; j < 3; j++)
			rgb[j] = (int)(stops[low][j] +
				       (at - (double)low) * (stops[low + 1][j] -
							     stops[low][j]));
		err = buf_printf(out, ".c%d{fill:#%02x%02x%02x}", i, rgb[0],
				 rgb[1], rgb[2]);
	}
	return err;
}

static int add_style(struct buf *out)
{
	static const uint8_t light[][3] = {
		{ 232, 240, 254 }, { 158, 202, 225 }, { 66, 146, 198 },
		{ 8, 81, 156 },    { 127, 0, 90 },    { 200, 0, 40 }
	};
	static const uint8_t dark[][3] = { { 22, 11, 57 },
					   { 87, 16, 110 },
					   { 188, 55, 84 },
					   { 249, 142, 9 },
					   { 252, 255, 164 } };
	int err = buf_add_string(out,
				 "<style>.bg{fill:#fff}.plot{fill:#f6f7f8}"
				 "text{fill:#222;font:12px sans-serif}"
				 ".title{font-size:16px}.tick{stroke:#8885}");

	if (err == 0)
		err = add_colours(out, light, sizeof(light) / sizeof(*light));
	if (err == 0)
		err = buf_add_string(out, "@media(prefers-color-scheme:dark){"
					  ".bg{fill:#16181c}.plot{fill:#0b0c0f}"
					  "text{fill:#ddd}");
	if (err == 0)
		err = add_colours(out, dark, sizeof(dark) / sizeof(*dark));
	return err < 0 ? err : buf_add_string(out, "}</style>\n");
}

/* The cells of a level: runs of a row are one rectangle each. */
static int add_level(const struct heat_picture *p, const uint8_t *levels,
		     int level, struct buf *out)
{
	size_t r, c, start, before = out->size;
	int err = buf_printf(out, "<path class=\"c%d\" d=\"", level);
	size_t empty = out->size;

	for (r = 0; r < p->rows; r++)
		for (c = 0; c < p->columns && err == 0; c++) {
			if (levels[r * p->columns + c] != level)
				continue;
			for (start = c;
			     c + 1 < p->columns &&
			     levels[r * p->columns + c + 1] == level;)
				c++;
			err = buf_printf(out, "M%zu %zuh%zuv1h-%zuz", start, r,
					 c + 1 - start, c + 1 - start);
		}
	if (err == 0 && out->size == empty) {
		out->size = before;
		return 0;
	}
	return err < 0 ? err : buf_add_string(out, "\"/>\n");
}

static int add_cells(const struct heat_picture *p, struct buf *out)
{
	size_t rows = p->rows ? p->rows : 1;
	size_t count = p->rows * p->columns, i;
	uint8_t *levels = malloc(count + 1);
	int err, level;

	if (!levels)
		return -ENOMEM;
	for (i = 0; i < count; i++)
		levels[i] = (uint8_t)heat_level(p, p->values[i]);
	/* The pointer meets a drawing only where it is painted: where nothing
	 * came, its ground is. */
	err = buf_printf(
		out,
		"<svg id=\"cells\" x=\"%d\" y=\"%d\" width=\"%d\" "
		"height=\"%d\" viewBox=\"0 0 %zu %zu\" "
		"preserveAspectRatio=\"none\" "
		"shape-rendering=\"crispEdges\">\n"
		"<rect class=\"plot\" width=\"%zu\" height=\"%zu\"/>\n",
		LEFT, TOP, WIDTH - LEFT - RIGHT, HEIGHT - TOP - BOTTOM,
		p->columns, rows, p->columns, rows);
	for (level = 1; level <= HEAT_LEVELS && err == 0; level++)
		err = add_level(p, levels, level, out);
	free(levels);
	return err < 0 ? err : buf_add_string(out, "</svg>\n");
}

/* A text at a place: class and what else the tag has, then its content. */
static int add_text(double x, double y, const char *attributes,
		    const struct buf *text, struct buf *out)
{
	int err = buf_printf(out, "<text x=\"%.1f\" y=\"%.1f\" %s>", x, y,
			     attributes);

	if (err == 0)
		err = heat_add_xml(buf_bytes(text), out);
	return err < 0 ? err : buf_add_string(out, "</text>\n");
}

static int add_keys(const struct heat_picture *p, struct buf *out)
{
	bool *shown = calloc(p->rows + 1, sizeof(*shown));
	double high = (double)(HEIGHT - TOP - BOTTOM) /
		      (double)(p->rows ? p->rows : 1);
	struct buf text = BUF_INIT;
	char attributes[80];
	size_t r;
	int err = shown ? 0 : -ENOMEM;

	if (err == 0)
		heat_choose_labels(p, (size_t)(16 / high) + 1, shown);
	for (r = 0; r < p->rows && err == 0; r++) {
		double y = TOP + high * (double)r;

		if (!shown[r])
			continue;
		buf_reset(&text);
		err = heat_add_key(p->row[r].start, LABEL_SIZE, &text);
		snprintf(attributes, sizeof(attributes),
			 "class=\"key\" data-row=\"%zu\" text-anchor=\"end\"",
			 r);
		if (err == 0)
			err = add_text(LEFT - 8, y + 11, attributes, &text,
				       out);
	}
	buf_release(&text);
	free(shown);
	return err;
}

static int add_times(const struct heat_picture *p, struct buf *out)
{
	double wide = (double)(WIDTH - LEFT - RIGHT) / (double)p->columns;
	size_t step = heat_choose_times(p, 5), c;
	struct buf text = BUF_INIT;
	char attributes[80];
	int err = 0;

	for (c = 0; c < p->columns && err == 0; c += step) {
		buf_reset(&text);
		err = heat_add_time(p->from_s + c * p->column_s, &text);
		snprintf(attributes, sizeof(attributes),
			 "class=\"time\" data-column=\"%zu\"", c);
		/* The last would leave the picture. */
		if (err == 0 && (double)c * wide < WIDTH - LEFT - 140)
			err = add_text(LEFT + wide * (double)c,
				       HEIGHT - BOTTOM + 16, attributes, &text,
				       out);
	}
	buf_release(&text);
	return err;
}

/* The levels side by side, with what the first, the middle and the last one
 * begin at. */
static int add_legend(const struct heat_picture *p, struct buf *out)
{
	static const int marks[] = { 1, HEAT_LEVELS / 3 + 1,
				     HEAT_LEVELS * 2 / 3 + 1, HEAT_LEVELS };
	struct buf text = BUF_INIT;
	int err = 0, i;

	for (i = 1; i <= HEAT_LEVELS && err == 0; i++)
		err = buf_printf(out,
				 "<rect class=\"c%d\" x=\"%d\" y=\"%d\" "
				 "width=\"16\" height=\"12\"/>\n",
				 i, LEFT + 16 * (i - 1), HEIGHT - 44);
	for (i = 0; i < 4 && err == 0; i++) {
		buf_reset(&text);
		err = heat_add_number(i == 3 ? p->peak
					     : heat_level_value(p, marks[i]),
				      &text);
		if (err == 0 && i == 3)
			err = buf_printf(&text, " %s", heat_unit(p->metric));
		if (err == 0)
			err = add_text(LEFT + 16 * (marks[i] - 1), HEIGHT - 18,
				       "", &text, out);
	}
	buf_release(&text);
	return err;
}

static int add_head(const struct heat_picture *p, struct bytes table,
		    struct buf *out)
{
	struct buf text = BUF_INIT;
	int err = heat_add_title(p, table, &text);

	if (err == 0)
		err = add_text(16, 22, "class=\"title\"", &text, out);
	buf_reset(&text);
	if (err == 0)
		err = heat_add_figures(p, &text);
	if (err == 0)
		err = add_text(16, 40, "", &text, out);
	buf_reset(&text);
	if (err == 0)
		err = buf_add_string(&text, HEAT_CAUTION);
	if (err == 0)
		err = add_text(16, 56, "", &text, out);
	buf_release(&text);
	return err;
}

int heat_print_svg(const struct heat_picture *p, struct bytes table,
		   struct buf *out)
{
	int err = buf_printf(
		out,
		"<svg xmlns=\"http://www.w3.org/2000/svg\" id=\"heat\" "
		"viewBox=\"0 0 %d %d\" role=\"img\">\n",
		WIDTH, HEIGHT);

	if (err == 0)
		err = add_style(out);
	if (err == 0)
		err = buf_printf(out,
				 "<rect class=\"bg\" width=\"%d\" "
				 "height=\"%d\"/>\n",
				 WIDTH, HEIGHT);
	if (err == 0)
		err = add_head(p, table, out);
	if (err == 0)
		err = add_cells(p, out);
	if (err == 0)
		err = add_keys(p, out);
	if (err == 0)
		err = add_times(p, out);
	if (err == 0 && p->rows > 0)
		err = add_legend(p, out);
	return err < 0 ? err : buf_add_string(out, "</svg>\n");
}
