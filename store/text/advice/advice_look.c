#include <errno.h>
#include <stdlib.h>

#include "store/base/hash.h"
#include "store/text/advice/advice_look.h"

/* A table with no more rows is read as a whole, of others PIECES stretches of
 * as many cells; a row that has begun is read to its end. */
#define ROWS_MAX 500000
#define PIECES 64
#define PIECE_CELLS 20000

/* Where the table is parted into pieces. */
struct pieces {
	struct buf keys[PIECES];
	size_t count;
	uint64_t seen, step; /* of samples */
};

struct walk {
	struct advice_look *l;
	const struct table *table;
	struct scan *scan;
	/* Of the present row and column. */
	struct buf row, family, qualifier;
	uint64_t row_size, versions;
};

static int set_most(struct advice_most *m, uint64_t value, struct bytes row,
		    struct bytes family, struct bytes qualifier)
{
	int err = 0;

	if (value <= m->value)
		return 0;
	m->value = value;
	err = buf_set(&m->row, row);
	if (err == 0)
		err = buf_set(&m->family, family);
	return err < 0 ? err : buf_set(&m->qualifier, qualifier);
}

static void release_most(struct advice_most *m)
{
	buf_release(&m->row);
	buf_release(&m->family);
	buf_release(&m->qualifier);
}

void advice_look_release(struct advice_look *l)
{
	release_most(&l->row);
	release_most(&l->cell);
	release_most(&l->versions);
	release_most(&l->name);
	advice_keys_release(&l->keys);
}

static bool keeps_all(const struct walk *w, struct bytes family)
{
	const struct family *f = table_family(w->table, family);

	return f && !family_gc(f) && !family_is_aggregate(f);
}

static int end_column(struct walk *w)
{
	int err = 0;

	if (w->versions > 0 && keeps_all(w, buf_bytes(&w->family)))
		err = set_most(&w->l->versions, w->versions, buf_bytes(&w->row),
			       buf_bytes(&w->family), buf_bytes(&w->qualifier));
	w->versions = 0;
	return err;
}

static int end_row(struct walk *w)
{
	int err = end_column(w);

	if (err == 0 && w->row.size > 0)
		err = set_most(&w->l->row, w->row_size, buf_bytes(&w->row),
			       BYTES_NONE, BYTES_NONE);
	w->row_size = 0;
	return err;
}

/* Names are noted while they are few, as those of columns; what is many is
 * data. */
static int note_name(struct advice_look *l, const struct cell *c)
{
	uint64_t hash = hash64(c->family) * 31 + hash64(c->qualifier);
	size_t i, size = c->family.size + c->qualifier.size;

	for (i = 0; i < l->name_count; i++)
		if (i == ADVICE_NAMES - 1 || l->names[i] == hash)
			return 0;
	l->names[l->name_count++] = hash;
	l->name_sizes += size;
	return set_most(&l->name, size, c->row, c->family, c->qualifier);
}

static int begin_column(struct walk *w, const struct cell *c)
{
	int err = end_column(w);

	if (err == 0)
		err = buf_set(&w->family, c->family);
	if (err == 0)
		err = buf_set(&w->qualifier, c->qualifier);
	return err < 0 ? err : note_name(w->l, c);
}

static int begin_row(struct walk *w, const struct cell *c)
{
	int err = end_row(w);

	w->l->rows++;
	w->l->key_size += c->row.size;
	if (err == 0)
		err = advice_keys_add(&w->l->keys, c->row);
	return err < 0 ? err : buf_set(&w->row, c->row);
}

static int count_cell(struct walk *w, const struct cell *c)
{
	struct advice_look *l = w->l;
	uint64_t size = cell_size(c);
	size_t names = c->family.size + c->qualifier.size;
	bool is_row = !bytes_equal(c->row, buf_bytes(&w->row));
	int err = is_row ? begin_row(w, c) : 0;

	if (err == 0 &&
	    (is_row || !bytes_equal(c->qualifier, buf_bytes(&w->qualifier)) ||
	     !bytes_equal(c->family, buf_bytes(&w->family))))
		err = begin_column(w, c);
	w->versions++;
	w->row_size += size + c->row.size + names;
	l->cells++;
	l->keys_of_cells += c->row.size;
	l->names_of_cells += names;
	l->all_of_cells += size + c->row.size + names;
	return err < 0 ? err
		       : set_most(&l->cell, size, c->row, c->family,
				  c->qualifier);
}

/* From the scan's next cell on, at least so many, to the end of a row: 1, or 0
 * at the end of the table. */
static int walk_piece(struct walk *w, int found, struct cell *c, uint64_t cells)
{
	uint64_t end = w->l->cells + cells;
	int err = 0;

	while (found == 1 && err == 0) {
		if (w->l->cells >= end &&
		    !bytes_equal(c->row, buf_bytes(&w->row)))
			return 1;
		err = count_cell(w, c);
		if (err == 0)
			found = scan_next(w->scan, CURSOR_VERSION, c);
	}
	return err < 0 ? err : found;
}

static int count_sample(void *context, struct bytes row, uint64_t size)
{
	struct pieces *p = context;

	(void)row;
	(void)size;
	p->seen++;
	return 0;
}

static int take_sample(void *context, struct bytes row, uint64_t size)
{
	struct pieces *p = context;

	(void)size;
	if (row.size == 0 || p->seen++ % p->step || p->count == PIECES)
		return 0;
	return buf_set(&p->keys[p->count++], row);
}

/* Keys that part the table, about as many as there are to be pieces. */
static int find_pieces(struct store *s, struct bytes table, struct pieces *p)
{
	int err = store_sample_rows(s, table, BYTES_NONE, BYTES_NONE,
				    count_sample, p);

	p->step = p->seen / PIECES + 1;
	p->seen = 0;
	return err < 0 ? err
		       : store_sample_rows(s, table, BYTES_NONE, BYTES_NONE,
					   take_sample, p);
}

/* The first cells, then those from each piece's key on that lies further on. */
static int walk_pieces(struct store *s, struct walk *w)
{
	struct pieces *p = calloc(1, sizeof(*p));
	struct cell c;
	size_t i;
	int found, err;

	if (!p)
		return -ENOMEM;
	err = find_pieces(s, w->table->name, p);
	found = err < 0 ? err : scan_next(w->scan, CURSOR_VERSION, &c);
	found = walk_piece(w, found, &c, ROWS_MAX);
	for (i = 0; i < p->count && found == 1; i++) {
		if (bytes_compare(buf_bytes(&p->keys[i]), c.row) > 0)
			found = scan_seek(w->scan, buf_bytes(&p->keys[i]), &c);
		found = walk_piece(w, found, &c, PIECE_CELLS);
	}
	w->l->is_whole = false;
	for (i = 0; i < PIECES; i++)
		buf_release(&p->keys[i]);
	free(p);
	return found < 0 ? found : 0;
}

int advice_look(struct store *s, const struct table *table, bool (*stop)(void),
		struct advice_look *l)
{
	struct walk w = { .l = l, .table = table };
	struct scan_range range = { .table = table->name,
				    .keep_large = true,
				    .stop = stop };
	uint64_t rows;
	struct cell c;
	int err = store_estimate_rows(s, table->name, BYTES_NONE, BYTES_NONE,
				      &rows);

	*l = (struct advice_look){ .is_whole = true };
	if (err == 0)
		err = scan_open(s, NULL, &range, &w.scan);
	if (err < 0)
		return err;
	if (rows > ROWS_MAX)
		err = walk_pieces(s, &w);
	else
		err = walk_piece(&w, scan_next(w.scan, CURSOR_VERSION, &c), &c,
				 UINT64_MAX / 2);
	if (err == 0)
		err = end_row(&w);
	scan_close(w.scan);
	buf_release(&w.row);
	buf_release(&w.family);
	buf_release(&w.qualifier);
	return err;
}
