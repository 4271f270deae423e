#include <errno.h>
#include <stdlib.h>

#include "store/heat.h"
#include "store/heat/heat_grid.h"
#include "store/model/model.h"

/*
 * A picture is a grid, whose intervals are as many as it takes, drawn in few
 * rows. An interval gets as much of the height as it has of the table's rows
 * and, up to one row, of the heat, so a load on all rows is an even plane
 * whatever the fences are, and what came to one row does not vanish among
 * millions. Several small intervals share a row; a large one has several, each
 * with an equal part of its heat, since nothing is known of where in it that
 * came. One that is hot by itself is never joined with others.
 */
#define INTERVALS_MAX 1024
/* An interval that has this many rows' share of the heat is alone. */
#define ALONE 4.0
/* Bytes: a history, fences of all its buckets, and what is summed up. */
#define PICTURE_SIZE (UINT64_C(10) << 20)
#define PATIENCE_MS 5000
/* At first the last hour, from the first heat in it. */
#define USUAL_S 3600

struct drawing {
	struct store *s;
	const struct heat_query *q;
	uint32_t table;
	struct heat_grid grid;
	double *height; /* of the intervals; together rows */
	bool *alone;
	struct heat_picture *out;
};

void heat_picture_free(struct heat_picture *p)
{
	size_t i;

	if (!p)
		return;
	for (i = 0; p->row && i < p->rows; i++) {
		free((uint8_t *)(uintptr_t)p->row[i].start.data);
		free((uint8_t *)(uintptr_t)p->row[i].end.data);
	}
	free(p->row);
	free(p->values);
	free(p);
}

/* Lengths of columns, which are seconds, minutes, hours or days. */
static uint64_t column_length(uint64_t seconds, size_t columns)
{
	static const uint32_t lengths[] = { 1,     2,    5,    10,   15,
					    30,    60,   120,  300,  600,
					    900,   1800, 3600, 7200, 14400,
					    28800, 86400 };
	size_t i = 0;

	while (i + 1 < sizeof(lengths) / sizeof(*lengths) &&
	       lengths[i] * columns < seconds)
		i++;
	return lengths[i];
}

/* The key of a grid as a row key, to out; empty: no bound. */
static int row_key(const struct heat_grid *g, const struct heat_key *key,
		   struct buf *out)
{
	int err;

	buf_reset(out);
	if (key->size == 0)
		return 0;
	err = buf_add_bytes(out, buf_bytes(&g->prefix));
	return err < 0 ? err : buf_add_bytes(out, heat_key_bytes(key));
}

/* How many of the table's rows lie in each interval. */
static int count_rows(struct drawing *d, double *rows)
{
	struct buf start = BUF_INIT, end = BUF_INIT;
	size_t i, n = d->grid.count;
	uint64_t count;
	int err = 0;

	for (i = 0; i < n && err == 0; i++) {
		err = row_key(&d->grid, &d->grid.keys[i], &start);
		if (err == 0)
			err = row_key(&d->grid,
				      i + 1 < n ? &d->grid.keys[i + 1]
						: &d->grid.end,
				      &end);
		if (err == 0)
			err = store_estimate_rows(d->s, d->q->table,
						  buf_bytes(&start),
						  buf_bytes(&end), &count);
		rows[i] = (double)count;
	}
	buf_release(&start);
	buf_release(&end);
	return err;
}

/* The sum of an interval over all columns. */
static double heat_of(const struct heat_grid *g, size_t columns, size_t i)
{
	double sum = 0;
	size_t c;

	for (c = 0; c < columns; c++)
		sum += g->cells[c * g->count + i];
	return sum;
}

/* Sets height to the share that each interval has of the picture's, and share
 * to that of the table's rows; and says which are alone. 1, or 0 if there is no
 * heat. */
static int weigh(struct drawing *d, double *share)
{
	size_t n = d->grid.count, i, rows = d->out->rows;
	double all = 0, heat = 0, total = 0, mine;
	int err = count_rows(d, share);

	for (i = 0; i < n && err == 0; i++) {
		all += share[i];
		heat += heat_of(&d->grid, d->out->columns, i);
	}
	for (i = 0; i < n && err == 0 && heat > 0; i++) {
		mine = heat_of(&d->grid, d->out->columns, i) / heat;
		share[i] = all > 0 ? share[i] / all : 0;
		d->alone[i] = mine > ALONE / (double)rows;
		d->height[i] =
			share[i] +
			(mine < 1.0 / (double)rows ? mine : 1.0 / (double)rows);
		total += d->height[i];
	}
	for (i = 0; i < n && total > 0; i++)
		d->height[i] /= total;
	return err < 0 ? err : heat > 0;
}

/* Intervals that are drawn together: one that is alone, or those between. */
struct segment {
	size_t first, end; /* intervals */
	double height;
};

static struct segment next_segment(const struct drawing *d, size_t first)
{
	struct segment s = { first, first, 0 };

	do
		s.height += d->height[s.end++];
	while (s.end < d->grid.count && !d->alone[first] && !d->alone[s.end]);
	return s;
}

/* How many of about so many rows a segment has. */
static size_t rows_of(const struct segment *s, size_t rows)
{
	size_t n = (size_t)(s->height * (double)rows + 0.5);

	return n > 0 ? n : 1;
}

/* How many rows there would be in all. */
static size_t count_all(const struct drawing *d, size_t rows)
{
	struct segment s = { 0, 0, 0 };
	size_t sum = 0;

	while (s.end < d->grid.count) {
		s = next_segment(d, s.end);
		sum += rows_of(&s, rows);
	}
	return sum;
}

/* A copy of the first key of interval i, or of the end. */
static int copy_key(const struct drawing *d, size_t i, struct bytes *out)
{
	struct buf key = BUF_INIT;
	int err = row_key(&d->grid,
			  i < d->grid.count ? &d->grid.keys[i] : &d->grid.end,
			  &key);

	*out = buf_bytes(&key);
	if (err < 0 || key.size == 0) {
		buf_release(&key);
		*out = BYTES_NONE;
	}
	return err;
}

/* Draws interval i, from top on of a segment that begins at row first and whose
 * n rows are high each. */
static void draw_interval(struct drawing *d, size_t i, double share, double top,
			  size_t first, size_t n, double high)
{
	struct heat_picture *p = d->out;
	double height = d->height[i], end = top + height;
	size_t row = (size_t)(top / high), c;

	for (; row < n && (double)row * high < end; row++) {
		double low = (double)row * high, up = low + high, part;

		part = (up < end ? up : end) - (low > top ? low : top);
		if (part <= 0 || height <= 0)
			continue;
		p->row[first + row].share += share * part / height;
		for (c = 0; c < p->columns; c++)
			p->values[(first + row) * p->columns + c] +=
				d->grid.cells[c * d->grid.count + i] * part /
				height;
	}
}

/* Says between which keys a row lies that begins in interval low, and ends in
 * the one before high. */
static int bound_row(struct drawing *d, struct heat_row *row, size_t low,
		     size_t high)
{
	int err = copy_key(d, low, &row->start);

	return err < 0 ? err : copy_key(d, high, &row->end);
}

static int draw_segment(struct drawing *d, const struct segment *s,
			const double *share, size_t first, size_t n)
{
	double high = s->height / (double)n, top = 0, low, up;
	size_t i, r, a = s->first, b;
	int err = 0;

	for (i = s->first; i < s->end; i++) {
		draw_interval(d, i, share[i], top, first, n, high);
		top += d->height[i];
	}
	for (r = 0, top = 0; r < n && err == 0; r++) {
		low = (double)r * high + high * 1e-6;
		up = (double)(r + 1) * high - high * 1e-6;
		while (a + 1 < s->end && top + d->height[a] <= low)
			top += d->height[a++];
		for (b = a, low = top + d->height[a];
		     b + 1 < s->end && low < up;)
			low += d->height[++b];
		err = bound_row(d, &d->out->row[first + r], a, b + 1);
	}
	return err;
}

/* Rows with the same bounds are parts of one interval. */
static void number_parts(struct heat_picture *p)
{
	size_t i, j, k;

	for (i = 0; i < p->rows; i = j) {
		for (j = i + 1; j < p->rows; j++)
			if (!bytes_equal(p->row[i].start, p->row[j].start) ||
			    !bytes_equal(p->row[i].end, p->row[j].end))
				break;
		for (k = i; k < j; k++) {
			p->row[k].part = (unsigned int)(k - i + 1);
			p->row[k].parts = (unsigned int)(j - i);
		}
	}
}

/* The values as so much a second, and what stands out. A column that is not
 * over, or began before, counts for the time that it has. */
static void finish(struct heat_picture *p, uint64_t from_s, uint64_t to_s)
{
	size_t r, c;
	double sum = 0;

	for (c = 0; c < p->columns; c++) {
		uint64_t start = p->from_s + c * p->column_s;
		uint64_t end = start + p->column_s;
		double seconds;

		start = start > from_s ? start : from_s;
		end = end < to_s ? end : to_s;
		seconds = end > start ? (double)(end - start) : 1;
		for (r = 0; r < p->rows; r++) {
			double *v = &p->values[r * p->columns + c];

			*v /= seconds;
			sum += *v;
			if (*v > p->peak) {
				p->peak = *v;
				p->hottest = (struct heat_place){ r, c };
			}
		}
	}
	if (p->rows > 0)
		p->mean = sum / (double)(p->rows * p->columns);
}

static int draw(struct drawing *d)
{
	struct heat_picture *p = d->out;
	size_t n = d->grid.count, wanted = p->rows, row = 0, all;
	double *share = calloc(n, sizeof(*share));
	struct segment s = { 0, 0, 0 };
	int err = -ENOMEM;

	d->height = calloc(n, sizeof(*d->height));
	d->alone = calloc(n, sizeof(*d->alone));
	if (share && d->height && d->alone)
		err = weigh(d, share);
	if (err <= 0) {
		p->rows = 0;
		goto free_share;
	}
	for (all = count_all(d, wanted); all > p->rows && wanted > 1;
	     all = count_all(d, wanted))
		wanted--;
	p->rows = all;
	p->row = calloc(all, sizeof(*p->row));
	p->values = calloc(all * p->columns, sizeof(*p->values));
	err = p->row && p->values ? 0 : -ENOMEM;
	while (s.end < n && err == 0) {
		s = next_segment(d, s.end);
		err = draw_segment(d, &s, share, row, rows_of(&s, wanted));
		row += rows_of(&s, wanted);
	}
	number_parts(p);
free_share:
	free(share);
	free(d->height);
	free(d->alone);
	return err;
}

/* The first second of any heat in some time. */
struct first_heat {
	uint64_t from_s, to_s, first_s;
};

static int find_first(void *context, const struct heat_fences *fences,
		      unsigned int number, const struct heat_bucket *b)
{
	struct first_heat *f = context;

	(void)fences;
	(void)number;
	if (b->start_s + b->seconds > f->from_s && b->start_s < f->to_s &&
	    b->start_s < f->first_s)
		f->first_s = b->start_s > f->from_s ? b->start_s : f->from_s;
	return 0;
}

/* From when on the picture is, if nobody says: of the last hour, or if it has
 * nothing, of all. */
static int find_from(const struct heat_source *sources, uint32_t table,
		     uint64_t to_s, uint64_t *from_s)
{
	struct first_heat f = { to_s > USUAL_S ? to_s - USUAL_S : 0, to_s,
				UINT64_MAX };
	int i, err = 0, tries;

	for (tries = 0; tries < 2 && f.first_s == UINT64_MAX; tries++) {
		for (i = 0; i < 2 && err == 0; i++)
			err = heat_walk(&sources[i], table, find_first, &f);
		if (tries == 0 && f.first_s == UINT64_MAX)
			f.from_s = to_s > HEAT_QUARTERS_S
					   ? to_s - HEAT_QUARTERS_S
					   : 0;
	}
	*from_s = f.first_s < UINT64_MAX ? f.first_s : f.from_s;
	return err;
}

/* What was counted, as a picture. */
static int make(struct drawing *d, const struct heat_source *sources)
{
	const struct heat_query *q = d->q;
	struct heat_picture *p = d->out;
	uint64_t to_s =
		(q->to_us ? q->to_us : clock_now(&d->s->clock)) / 1000000;
	uint64_t from_s = q->from_us / 1000000;
	struct heat_wanted wanted = { .table = d->table,
				      .metric = q->metric,
				      .metrics = 1,
				      .prefix = q->prefix,
				      .max = INTERVALS_MAX };
	int err = 0;

	to_s += q->to_us == 0;
	if (from_s == 0)
		err = find_from(sources, d->table, to_s, &from_s);
	if (err == 0 && from_s >= to_s)
		err = fail(ERR_bad_argument, "from= is not before to=");
	if (err < 0)
		return err;
	p->column_s = column_length(to_s - from_s, p->columns - 1);
	p->from_s = from_s - from_s % p->column_s;
	if ((to_s - p->from_s) / p->column_s >= p->columns)
		return fail(ERR_bad_argument,
			    "from= and to= are too far from each other: there "
			    "is heat of two weeks at most");
	p->columns =
		(size_t)((to_s - p->from_s + p->column_s - 1) / p->column_s);
	wanted.from_s = p->from_s;
	wanted.column_s = p->column_s;
	wanted.columns = p->columns;
	err = heat_grid_make(sources, 2, &wanted, &d->grid);
	if (err == 0 && d->grid.count > 0)
		err = draw(d);
	else
		p->rows = 0;
	if (err == 0)
		finish(p, from_s, to_s);
	return err;
}

static size_t within(size_t n, size_t usual, size_t max)
{
	n = n ? n : usual;
	return n < max ? n : max;
}

/* What a picture takes while it is drawn, so that there are not many at once:
 * bytes that are given back with it, or 0 after an error. */
static uint64_t take_memory(struct memory *m)
{
	uint64_t size = memory_limit(m) / 4;

	size = size < PICTURE_SIZE ? size : PICTURE_SIZE;
	if (memory_take(m, MEMORY_HEAT, size, PATIENCE_MS))
		return size;
	fail(ENOMEM, "no memory for a heat map: others are being drawn, or "
		     "imports and scans hold it; try again");
	return 0;
}

int store_heat(struct store *s, const struct heat_query *q,
	       struct heat_picture **out)
{
	struct memory *memory = store_memory(s);
	struct schema *schema = store_schema(s);
	const struct table *table = schema_table(schema, q->table);
	struct drawing d = { .s = s, .q = q, .table = table ? table->id : 0 };
	struct buf file = BUF_INIT, recent = BUF_INIT;
	struct heat_source sources[2];
	uint64_t recent_s, taken;
	int err;

	*out = NULL;
	schema_put(schema);
	if (!table)
		return fail(ERR_no_table, "table \"%.*s\" not found",
			    (int)q->table.size, (const char *)q->table.data);
	taken = take_memory(memory);
	if (taken == 0)
		return -ENOMEM;
	d.out = calloc(1, sizeof(*d.out));
	if (!d.out) {
		memory_give(memory, MEMORY_HEAT, taken);
		return -ENOMEM;
	}
	d.out->metric = q->metric;
	d.out->columns = within(q->columns, HEAT_COLUMNS_MAX, HEAT_COLUMNS_MAX);
	d.out->columns = d.out->columns < 8 ? 8 : d.out->columns;
	d.out->rows = within(q->rows, 64, HEAT_ROWS_MAX);
	d.out->rows = d.out->rows < 8 ? 8 : d.out->rows;
	err = heat_collect(s->sampler.heat, d.table, &file, &recent, &recent_s);
	sources[0] = (struct heat_source){ buf_bytes(&file), recent_s };
	sources[1] = (struct heat_source){ buf_bytes(&recent), UINT64_MAX };
	if (err == 0)
		err = make(&d, sources);
	heat_grid_release(&d.grid);
	buf_release(&file);
	buf_release(&recent);
	memory_give(memory, MEMORY_HEAT, taken);
	if (err < 0) {
		heat_picture_free(d.out);
		return err;
	}
	*out = d.out;
	return 0;
}
