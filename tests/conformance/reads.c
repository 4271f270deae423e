#include <stdlib.h>

#include "tests/conformance/filter.h"
#include "tests/conformance/sha256.h"

/* Operations that read rows. */

struct interval {
	struct buf start, end; /* start <= key < end; an empty end is open */
};

/* A line of a cell, which copies of it are put in order by. */
struct copy {
	struct buf value, label;
};

struct rows {
	struct buf table;
	struct interval *intervals;
	size_t count;
	uint64_t limit;
	bool reversed;
	bool refused; /* a range was empty by construction */
	struct filter *filter;
	/* Copies of one cell that interleaves made. */
	struct copy *copies;
	size_t copy_count;
	struct buf cell;  /* their lines up to the value */
	uint64_t cell_us; /* their time, which may be printed as another's */
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
	free(rows->copies);
	buf_release(&rows->cell);
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

/* Whether the bounds leave nothing between them, whatever keys there are. */
static bool is_refused(const struct interval *in)
{
	return in->end.size > 0 &&
	       bytes_compare(buf_bytes(&in->start), buf_bytes(&in->end)) >= 0;
}

static bool add_range(struct rows *rows, const char *text)
{
	struct interval *in = interval_add(rows);
	size_t size = strcspn(text, ",");

	if (!in || !take_bound(in, text, size))
		return false;
	text += size;
	if (*text && !take_bound(in, text + 1, strlen(text + 1)))
		return false;
	rows->refused |= is_refused(in);
	return true;
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
			err = case_filter(r, value, &rows->filter);
		else
			ok = false;
		if (!ok)
			return RUN_MALFORMED;
	}
	if (rows->limit == 0)
		rows->limit = UINT64_MAX;
	/* The documents demand an error; the emulator finds no rows. */
	if (!err && rows->refused)
		return o->conforming.count > 0
			       ? fail(ERR_bad_argument,
				      "start_key must be less than end_key")
			       : RUN_AGREES;
	return err ? err : unite(rows);
}

static int put_row(struct rows *rows, const struct cell *cell)
{
	int err = buf_add_string(&rows->lines, "row ");

	if (!err)
		err = put_bytes(&rows->lines, cell->row);
	return err ? err : buf_add_byte(&rows->lines, '\n');
}

static int put_place(const struct run *r, struct buf *out,
		     const struct cell *cell)
{
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
	return err ? err : buf_add_byte(out, ' ');
}

int put_cell(const struct run *r, struct buf *out, const struct cell *cell)
{
	int err = put_place(r, out, cell);

	return err ? err : put_bytes(out, cell->value);
}

static int compare_copies(const void *a, const void *b)
{
	const struct copy *x = a, *y = b;
	int order = bytes_compare(buf_bytes(&x->value), buf_bytes(&y->value));

	return order ? order
		     : bytes_compare(buf_bytes(&x->label),
				     buf_bytes(&y->label));
}

static int put_copy(struct buf *out, struct buf *place, const struct copy *c)
{
	int err = buf_add_bytes(out, buf_bytes(place));

	if (!err)
		err = put_bytes(out, buf_bytes(&c->value));
	if (!err && c->label.size > 0)
		err = buf_add_string(out, " labels=");
	if (!err)
		err = buf_add_bytes(out, buf_bytes(&c->label));
	return err ? err : buf_add_byte(out, '\n');
}

/* Prints the copies of the cell before, sorted. */
static int flush_copies(struct rows *rows)
{
	size_t i;
	int err = 0;

	if (rows->copy_count > 1)
		qsort(rows->copies, rows->copy_count, sizeof(*rows->copies),
		      compare_copies);
	for (i = 0; i < rows->copy_count; i++) {
		if (!err)
			err = put_copy(&rows->lines, &rows->cell,
				       &rows->copies[i]);
		buf_release(&rows->copies[i].value);
		buf_release(&rows->copies[i].label);
	}
	rows->copy_count = 0;
	return err;
}

static int add_copy(struct run *r, struct rows *rows, const struct cell *cell,
		    struct bytes label)
{
	struct buf place = BUF_INIT;
	struct copy *grown;
	int err = put_place(r, &place, cell);

	if (!err && rows->copy_count > 0 &&
	    (cell->timestamp_us != rows->cell_us ||
	     !bytes_equal(buf_bytes(&place), buf_bytes(&rows->cell))))
		err = flush_copies(rows);
	buf_release(&rows->cell);
	rows->cell = place;
	rows->cell_us = cell->timestamp_us;
	grown = realloc(rows->copies,
			(rows->copy_count + 1) * sizeof(*rows->copies));
	if (err || !grown)
		return err ? err : -ENOMEM;
	rows->copies = grown;
	grown += rows->copy_count++;
	memset(grown, 0, sizeof(*grown));
	err = buf_add_bytes(&grown->value, cell->value);
	return err ? err : buf_add_bytes(&grown->label, label);
}

static int scan_interval(struct run *r, struct rows *rows,
			 const struct scan_range *range, bool cells)
{
	enum cursor_step step = CURSOR_VERSION;
	struct buf row = BUF_INIT;
	struct scan *scan;
	struct cell cell;
	int err = scan_open(r->store, NULL, range, &scan);

	if (err < 0)
		return err;
	for (;;) {
		err = scan_next(scan, step, &cell);
		if (err == 0 && rows->reversed && step == CURSOR_VERSION &&
		    row.size > 0) {
			step = CURSOR_ROW;
			continue;
		}
		if (err <= 0)
			break;
		step = CURSOR_VERSION;
		if (!bytes_equal(buf_bytes(&row), cell.row)) {
			err = flush_copies(rows);
			if (err < 0 || rows->row_count >= rows->limit)
				break;
			rows->row_count++;
			err = buf_set(&row, cell.row);
			if (!err)
				err = put_row(rows, &cell);
		}
		rows->cell_count++;
		if (err >= 0 && cells)
			err = add_copy(r, rows, &cell, scan_label(scan));
		if (err < 0)
			break;
	}
	scan_close(scan);
	buf_release(&row);
	return err < 0 ? err : flush_copies(rows);
}

static int scan_all(struct run *r, struct rows *rows, bool cells)
{
	struct scan_range range = { .reverse = rows->reversed,
				    .filter = rows->filter };
	size_t i;
	int err = 0;

	range.table = buf_bytes(&rows->table);
	for (i = 0; !err && i < rows->count; i++) {
		size_t n = rows->reversed ? rows->count - 1 - i : i;

		range.start = buf_bytes(&rows->intervals[n].start);
		range.end = buf_bytes(&rows->intervals[n].end);
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

	range.filter = rows.filter;

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
