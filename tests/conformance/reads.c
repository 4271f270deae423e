#include <stdlib.h>

#include "tests/conformance/filter.h"
#include "tests/conformance/sha256.h"
#include "tests/conformance/target.h"

/* Operations that read rows. */

/* A line of a cell, which copies of it are put in order by. */
struct copy {
	struct buf value, label;
};

struct rows {
	struct run *r;
	struct proto_read_rows q;
	struct proto_row_set set;
	bool cells; /* are printed, not only rows */
	/* Copies of one cell that interleaves made. */
	struct copy *copies;
	size_t copy_count;
	struct buf cell;  /* their lines up to the value */
	uint64_t cell_us; /* their time, which may be printed as another's */
	/* The result. */
	struct buf row; /* the last one */
	struct buf lines;
	uint64_t row_count, cell_count;
};

static void rows_release(struct rows *rows)
{
	free(rows->copies);
	buf_release(&rows->cell);
	buf_release(&rows->row);
	buf_release(&rows->lines);
}

/* One more range of the set; NULL without memory. */
static struct proto_row_range *range_add(struct rows *rows)
{
	size_t count = rows->set.row_ranges.count;
	struct proto_row_range *grown =
		run_alloc(rows->r, (count + 1) * sizeof(*grown));

	if (!grown)
		return NULL;
	if (count > 0)
		memcpy(grown, rows->set.row_ranges.at, count * sizeof(*grown));
	rows->set.row_ranges.at = grown;
	rows->set.row_ranges.count++;
	return &grown[count];
}

/* The bytes of a word that ends at a comma. */
static bool take_bytes(struct rows *rows, const char **text, struct bytes *out)
{
	struct bytes word =
		run_keep(rows->r, bytes_of(*text, strcspn(*text, ",")));

	*text += word.size;
	*text += **text == ',';
	return word.data && parse_bytes(rows->r, (const char *)word.data, out);
}

/* ge: gt: le: lt: and bytes; an empty bound is open. */
static bool add_range(struct rows *rows, const char *text)
{
	struct proto_row_range *range = range_add(rows);

	while (range && *text) {
		bool lower = text[0] == 'g', equal = text[1] == 'e';

		if (strlen(text) < 3 || text[2] != ':')
			return false;
		text += 3;
		if (lower)
			range->start_key_case =
				equal ? nr_row_range_start_key_closed
				      : nr_row_range_start_key_open;
		else
			range->end_key_case =
				equal ? nr_row_range_end_key_closed
				      : nr_row_range_end_key_open;
		if (!take_bytes(rows, &text,
				lower   ? (equal ? &range->start_key_closed
						 : &range->start_key_open)
				: equal ? &range->end_key_closed
					: &range->end_key_open))
			return false;
	}
	return range != NULL;
}

/* Up to the first key that is behind all with the prefix, as clients do. */
static bool add_prefix(struct rows *rows, const char *text)
{
	struct proto_row_range *range = range_add(rows);
	struct bytes end;
	uint8_t *last;

	if (!range || !parse_bytes(rows->r, text, &range->start_key_closed))
		return false;
	range->start_key_case = nr_row_range_start_key_closed;
	end = run_keep(rows->r, range->start_key_closed);
	while (end.size > 0 && end.data[end.size - 1] == 0xff)
		end.size--;
	if (end.size > 0) {
		last = (uint8_t *)(uintptr_t)end.data + end.size - 1;
		++*last;
		range->end_key_case = nr_row_range_end_key_open;
		range->end_key_open = end;
	}
	return end.data != NULL;
}

static bool add_keys(struct rows *rows, const char *text)
{
	struct bytes *keys = run_alloc(rows->r, strlen(text) * sizeof(*keys));

	if (!keys || rows->set.row_keys.count > 0)
		return false;
	rows->set.row_keys.at = keys;
	while (*text)
		if (!take_bytes(rows, &text, &keys[rows->set.row_keys.count++]))
			return false;
	return true;
}

/* The first key behind key, if it is to be left out. */
static struct bytes behind(struct run *r, struct bytes key, bool out)
{
	if (!out || key.size == 0)
		return key;
	key = run_keep(r, key);
	key.size++; /* the NUL that is there */
	return key;
}

/* Whether the bounds leave nothing between them, whatever keys there are. */
static bool is_refused(struct run *r, const struct proto_row_range *range)
{
	bool open = range->start_key_case == nr_row_range_start_key_open;
	bool closed = range->end_key_case == nr_row_range_end_key_closed;
	struct bytes start = behind(
		r, open ? range->start_key_open : range->start_key_closed,
		open);
	struct bytes end =
		behind(r, closed ? range->end_key_closed : range->end_key_open,
		       closed);

	return end.size > 0 && bytes_compare(start, end) >= 0;
}

static int parse_rows(const struct operation *o, size_t first,
		      struct rows *rows)
{
	struct run *r = rows->r;
	size_t i;
	int err = 0;

	if (!parse_name(r, word(o, 1), &rows->q.table_name))
		return RUN_MALFORMED;
	for (i = first; !err && i < o->words.count; i++) {
		const char *w = o->words.items[i];
		const char *value = strchrnul(w, '=');
		bool ok = *value++ == '=';

		if (ok && !strncmp(w, "prefix=", 7))
			ok = add_prefix(rows, value);
		else if (ok && !strncmp(w, "range=", 6))
			ok = add_range(rows, value);
		else if (ok && !strncmp(w, "keys=", 5))
			ok = add_keys(rows, value);
		else if (ok && !strncmp(w, "limit=", 6))
			rows->q.rows_limit = strtoll(value, NULL, 10);
		else if (ok && !strncmp(w, "reversed=", 9))
			rows->q.reversed = *value == '1';
		else if (ok && !strncmp(w, "filter=", 7))
			err = case_filter(r, value, &rows->q.filter);
		else
			ok = false;
		if (!ok)
			return RUN_MALFORMED;
	}
	if (rows->set.row_keys.count > 0 || rows->set.row_ranges.count > 0)
		rows->q.rows = &rows->set;
	return err;
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

static int take_cell(void *context, const struct cell *cell, struct bytes label)
{
	struct rows *rows = context;
	int err = 0;

	if (!bytes_equal(buf_bytes(&rows->row), cell->row)) {
		err = flush_copies(rows);
		rows->row_count++;
		if (!err)
			err = buf_set(&rows->row, cell->row);
		if (!err)
			err = put_row(rows, cell);
	}
	rows->cell_count++;
	return err || !rows->cells ? err : add_copy(rows->r, rows, cell, label);
}

/* Has the request executed. */
static int read_all(const struct operation *o, struct rows *rows)
{
	struct taker taker = { take_cell, rows };
	bool refused = false;
	size_t i;
	int err = rows->r->target->read_rows(rows->r, &rows->q, &taker);

	for (i = 0; i < rows->set.row_ranges.count; i++)
		refused |= is_refused(rows->r, &rows->set.row_ranges.at[i]);
	if (!err && refused)
		return fail(ERR_bad_argument,
			    "a range that holds nothing has not been refused");
	/* The documents demand an error; the emulator finds no rows. */
	if (err < 0 && refused && o->conforming.count == 0)
		return RUN_AGREES;
	return err ? err : flush_copies(rows);
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
	struct rows rows = {
		.r = r, .cells = shape == SHAPE_SCAN || shape == SHAPE_HASH
	};
	int err = parse_rows(o, 2, &rows);

	if (!err)
		err = read_all(o, &rows);
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
	struct rows rows = { .r = r, .cells = true };
	struct bytes row;
	int err = parse_rows(o, 3, &rows);

	if (!err && !parse_bytes(r, word(o, 2), &row))
		err = RUN_MALFORMED;
	rows.set.row_keys.at = &row;
	rows.set.row_keys.count = 1;
	rows.q.rows = &rows.set;
	if (!err)
		err = read_all(o, &rows);
	if (!err)
		err = buf_add_bytes(&r->out, buf_bytes(&rows.lines));
	if (!err)
		err = buf_printf(&r->out, "end %llu\n",
				 (unsigned long long)rows.row_count);
	rows_release(&rows);
	return err;
}
