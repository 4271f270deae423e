#include <stdlib.h>

#include "tests/conformance/filter.h"
#include "tests/conformance/sha256.h"

/* Operations that read rows. */

struct interval {
	struct buf start, end; /* start <= key < end; an empty end is open */
};

struct rows {
	struct buf table;
	struct interval *intervals;
	size_t count;
	uint64_t limit;
	bool reversed;
	struct filter *filter;
	/* The result. */
	struct buf lines;
	uint64_t row_count, cell_count;
};

static void rows_release(struct rows *rows)
{
	size_t i;

	for (i = 0; i < rows->count; i++) {
		buf_release(&rows->intervals[i].start);
		buf_release(&rows->intervals[i].end);
	}
	free(rows->intervals);
	filter_free(rows->filter);
	buf_release(&rows->table);
	buf_release(&rows->lines);
}

static struct interval *interval_add(struct rows *rows)
{
	struct interval *grown =
		realloc(rows->intervals, (rows->count + 1) * sizeof(*grown));

	if (!grown)
		return NULL;
	rows->intervals = grown;
	memset(&grown[rows->count], 0, sizeof(*grown));
	return &grown[rows->count++];
}

/* ge: gt: le: lt: and bytes; an empty bound is open. */
static bool take_bound(struct interval *in, const char *text, size_t size)
{
	struct buf token = BUF_INIT, key = BUF_INIT;
	bool lower = text[0] == 'g', equal = text[1] == 'e';
	bool ok = size > 3 && buf_add(&token, text + 3, size - 3) == 0 &&
		  buf_terminate(&token) == 0 &&
		  parse_bytes((char *)token.data, &key);

	/* The first key behind k is k and a NUL byte. */
	if (ok && key.size > 0 && lower != equal)
		ok = buf_add_byte(&key, 0) == 0;
	buf_release(&token);
	*(lower ? &in->start : &in->end) = key;
	return ok;
}

static bool add_range(struct rows *rows, const char *text)
{
	struct interval *in = interval_add(rows);
	size_t size = strcspn(text, ",");

	if (!in || !take_bound(in, text, size))
		return false;
	text += size;
	return !*text || take_bound(in, text + 1, strlen(text + 1));
}

static bool add_prefix(struct rows *rows, const char *text)
{
	struct interval *in = interval_add(rows);
	struct buf *end;

	if (!in || !parse_bytes(text, &in->start))
		return false;
	end = &in->end;
	if (buf_set(end, buf_bytes(&in->start)))
		return false;
	while (end->size > 0 && end->data[end->size - 1] == 0xff)
		end->size--;
	if (end->size > 0)
		end->data[end->size - 1]++;
	return true;
}

static bool add_keys(struct rows *rows, const char *text)
{
	while (*text) {
		struct interval *in = interval_add(rows);
		size_t size = strcspn(text, ",");
		struct buf token = BUF_INIT;
		bool ok = in && buf_add(&token, text, size) == 0 &&
			  buf_terminate(&token) == 0 &&
			  parse_bytes((char *)token.data, &in->start) &&
			  buf_set(&in->end, buf_bytes(&in->start)) == 0 &&
			  buf_add_byte(&in->end, 0) == 0;

		buf_release(&token);
		if (!ok)
			return false;
		text += size + (text[size] == ',');
	}
	return true;
}

static int compare_intervals(const void *a, const void *b)
{
	const struct interval *x = a, *y = b;

	return bytes_compare(buf_bytes(&x->start), buf_bytes(&y->start));
}

/* Sorts them and joins those that overlap. */
static int unite(struct rows *rows)
{
	size_t i, last = 0;
	int err = 0;

	if (rows->count == 0)
		return interval_add(rows) ? 0 : -ENOMEM;
	qsort(rows->intervals, rows->count, sizeof(*rows->intervals),
	      compare_intervals);
	for (i = 1; !err && i < rows->count; i++) {
		struct interval *in = &rows->intervals[i];
		struct interval *before = &rows->intervals[last];

		if (before->end.size > 0 &&
		    bytes_compare(buf_bytes(&in->start),
				  buf_bytes(&before->end)) > 0) {
			struct interval swap = rows->intervals[++last];

			rows->intervals[last] = *in;
			*in = swap;
			continue;
		}
		if (before->end.size > 0 &&
		    (in->end.size == 0 ||
		     bytes_compare(buf_bytes(&in->end),
				   buf_bytes(&before->end)) > 0))
			err = buf_set(&before->end, buf_bytes(&in->end));
	}
	for (i = last + 1; i < rows->count; i++) {
		buf_release(&rows->intervals[i].start);
		buf_release(&rows->intervals[i].end);
	}
	rows->count = last + 1;
	return err;
}

static int parse_rows(struct run *r, const struct operation *o, size_t first,
		      struct rows *rows)
{
	size_t i;
	int err = 0;

	rows->limit = UINT64_MAX;
	if (!parse_name(word(o, 1), &rows->table))
		return RUN_MALFORMED;
	for (i = first; !err && i < o->words.count; i++) {
		const char *w = o->words.items[i];
		const char *value = strchr(w, '=');
		bool ok = true;

		if (!value)
			return RUN_MALFORMED;
		value++;
		if (!strncmp(w, "prefix=", 7))
			ok = add_prefix(rows, value);
		else if (!strncmp(w, "range=", 6))
			ok = add_range(rows, value);
		else if (!strncmp(w, "keys=", 5))
			ok = add_keys(rows, value);
		else if (!strncmp(w, "limit=", 6))
			rows->limit = strtoull(value, NULL, 10);
		else if (!strncmp(w, "reversed=", 9))
			rows->reversed = *value == '1';
		else if (!strncmp(w, "filter=", 7))
			err = filter_new(r, value, &rows->filter);
		else
			ok = false;
		if (!ok)
			return RUN_MALFORMED;
	}
	if (rows->limit == 0)
		rows->limit = UINT64_MAX;
	return err ? err : unite(rows);
}

static int put_row(struct rows *rows, const struct cell *cell)
{
	int err = buf_add_string(&rows->lines, "row ");

	if (!err)
		err = put_bytes(&rows->lines, cell->row);
	return err ? err : buf_add_byte(&rows->lines, '\n');
}

static int put_cell(struct run *r, struct rows *rows, const struct cell *cell)
{
	struct buf *out = &rows->lines;
	int err = buf_add_string(out, "c ");

	if (!err)
		err = put_name(out, cell->family);
	if (!err)
		err = buf_add_byte(out, ' ');
	if (!err)
		err = put_bytes(out, cell->qualifier);
	if (!err)
		err = buf_add_byte(out, ' ');
	if (!err)
		err = put_time(r, out, cell->timestamp_us);
	if (!err)
		err = buf_add_byte(out, ' ');
	if (!err)
		err = put_bytes(out, cell->value);
	return err ? err : buf_add_byte(out, '\n');
}

/* What the cell before was, to see what is new about the next. */
struct place {
	struct buf row, column;
	bool printed; /* the row line */
};

static int show(struct run *r, struct rows *rows, struct place *p,
		struct cell *cell, bool cells)
{
	struct buf column = BUF_INIT;
	bool new_row = !bytes_equal(buf_bytes(&p->row), cell->row);
	bool new_column;
	int err = put_name(&column, cell->family);

	if (!err)
		err = put_bytes(&column, cell->qualifier);
	new_column = new_row ||
		     !bytes_equal(buf_bytes(&p->column), buf_bytes(&column));
	buf_release(&p->column);
	p->column = column;
	if (new_row)
		p->printed = false;
	if (!err && new_row)
		err = buf_set(&p->row, cell->row);
	if (err || (rows->row_count >= rows->limit && !p->printed))
		return err;
	err = rows->filter ? filter_cell(rows->filter, cell, new_column) : 1;
	if (err <= 0)
		return err;
	err = p->printed ? 0 : put_row(rows, cell);
	rows->row_count += !p->printed;
	p->printed = true;
	rows->cell_count++;
	return err || !cells ? err : put_cell(r, rows, cell);
}

static int scan_interval(struct run *r, struct rows *rows,
			 const struct scan_range *range, bool cells)
{
	struct place place = { .printed = false };
	enum cursor_step step = CURSOR_VERSION;
	struct scan *scan;
	struct cell cell;
	int err = scan_open(r->store, NULL, range, &scan);

	if (err < 0)
		return err;
	for (;;) {
		err = scan_next(scan, step, &cell);
		if (err == 0 && rows->reversed && step == CURSOR_VERSION &&
		    place.row.size > 0) {
			step = CURSOR_ROW;
			continue;
		}
		if (err <= 0)
			break;
		step = CURSOR_VERSION;
		err = show(r, rows, &place, &cell, cells);
		if (err < 0)
			break;
	}
	scan_close(scan);
	buf_release(&place.row);
	buf_release(&place.column);
	return err;
}

static int scan_all(struct run *r, struct rows *rows, bool cells)
{
	struct scan_range range = { .reverse = rows->reversed };
	size_t i;
	int err = 0;

	range.table = buf_bytes(&rows->table);
	for (i = 0; !err && i < rows->count; i++) {
		size_t n = rows->reversed ? rows->count - 1 - i : i;

		range.start = buf_bytes(&rows->intervals[n].start);
		range.end = buf_bytes(&rows->intervals[n].end);
		if (range.end.size > 0 &&
		    bytes_compare(range.start, range.end) >= 0)
			return run_skip(r, "an empty range is no error here");
		err = scan_interval(r, rows, &range, cells);
	}
	return err;
}

enum shape {
	SHAPE_SCAN,
	SHAPE_KEYS,
	SHAPE_HASH,
	SHAPE_COUNT,
};

/* As the corpus writes them: "> " before each, joined by newlines. */
static int quote_lines(struct bytes lines, struct buf *out)
{
	int err = 0;

	while (!err && lines.size > 0) {
		const uint8_t *end = memchr(lines.data, '\n', lines.size);
		size_t size = (size_t)(end - lines.data);

		err = buf_add_string(out, out->size ? "\n> " : "> ");
		if (!err)
			err = buf_add(out, lines.data, size);
		lines = bytes_after(lines, size + 1);
	}
	return err;
}

static int put_hash(struct run *r, struct rows *rows)
{
	struct buf text = BUF_INIT;
	int err = buf_printf(&r->out, "rows %llu cells %llu sha256 ",
			     (unsigned long long)rows->row_count,
			     (unsigned long long)rows->cell_count);

	if (!err)
		err = quote_lines(buf_bytes(&rows->lines), &text);
	if (!err)
		err = sha256_hex(buf_bytes(&text), &r->out);
	buf_release(&text);
	return err ? err : buf_add_byte(&r->out, '\n');
}

static int read_rows(struct run *r, const struct operation *o, enum shape shape)
{
	struct rows rows = { .count = 0 };
	int err = parse_rows(r, o, 2, &rows);

	if (!err)
		err = scan_all(r, &rows,
			       shape == SHAPE_SCAN || shape == SHAPE_HASH);
	if (!err && shape == SHAPE_HASH)
		err = put_hash(r, &rows);
	else if (!err && shape == SHAPE_COUNT)
		err = buf_printf(&r->out, "n %llu\n",
				 (unsigned long long)rows.row_count);
	else if (!err)
		err = buf_add_bytes(&r->out, buf_bytes(&rows.lines));
	if (!err && (shape == SHAPE_SCAN || shape == SHAPE_KEYS))
		err = buf_printf(&r->out, "end %llu\n",
				 (unsigned long long)rows.row_count);
	rows_release(&rows);
	return err;
}

int run_scan(struct run *r, const struct operation *o)
{
	return read_rows(r, o, SHAPE_SCAN);
}

int run_keys(struct run *r, const struct operation *o)
{
	return read_rows(r, o, SHAPE_KEYS);
}

int run_hash(struct run *r, const struct operation *o)
{
	return read_rows(r, o, SHAPE_HASH);
}

int run_count(struct run *r, const struct operation *o)
{
	return read_rows(r, o, SHAPE_COUNT);
}

int run_lookup(struct run *r, const struct operation *o)
{
	struct rows rows = { .count = 0 };
	struct scan_range range = { .reverse = false };
	struct buf row = BUF_INIT;
	int err = parse_rows(r, o, 3, &rows);

	if (!err && !parse_bytes(word(o, 2), &row))
		err = RUN_MALFORMED;
	range.table = buf_bytes(&rows.table);
	range.row = buf_bytes(&row);
	/* No row has the empty key; to a scan it would mean all rows. */
	if (!err && row.size > 0)
		err = scan_interval(r, &rows, &range, true);
	if (!err)
		err = buf_add_bytes(&r->out, buf_bytes(&rows.lines));
	if (!err)
		err = buf_printf(&r->out, "end %llu\n",
				 (unsigned long long)rows.row_count);
	buf_release(&row);
	rows_release(&rows);
	return err;
}
