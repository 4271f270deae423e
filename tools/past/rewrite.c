#include "tools/past/rewrite.h"

struct rewriting {
	struct compare *x;
	struct bytes table;
	struct rewrite_counts *counts;
	struct write *w;
	uint64_t row_number; /* of x, which is named in w */
	bool parted;         /* and of which a part was committed */
};

static int commit(struct rewriting *r)
{
	return write_count(r->w) > 0 ? store_commit_more(r->x->store, r->w) : 0;
}

/* Names the row in the write, of the table that is compared: its name may have
 * become another's. */
static int name_row(struct rewriting *r)
{
	int err = write_row(r->w, r->table, buf_bytes(&r->x->row));

	if (!err && write_table_id(r->w) != r->x->sides[COMPARE_NEW].table->id)
		err = fail(ERR_no_table,
			   "table \"%s\" was dropped meanwhile, and another "
			   "has its name",
			   err_name(r->table));
	return err;
}

/* The changes that follow are of another row. */
static int begin_row(struct rewriting *r)
{
	int err = 0;

	if (write_count(r->w) >= REWRITE_BATCH ||
	    write_size(r->w) >= REWRITE_BATCH_SIZE)
		err = commit(r);
	r->row_number = r->x->row_number;
	r->parted = false;
	return err < 0 ? err : name_row(r);
}

/* What was collected goes ahead of the rest of its row. */
static int part_row(struct rewriting *r)
{
	int err = commit(r);

	r->counts->parted += !r->parted;
	r->parted = true;
	return err < 0 ? err : name_row(r);
}

/* Whatever the version is now, hidden or not, an aggregate must not be added
 * to. */
static int put_cell(struct rewriting *r)
{
	const struct compare_side *old = &r->x->sides[COMPARE_OLD];
	const struct cell *c = compare_cell(r->x);
	int err = 0;

	if (r->x->cell_sides == COMPARE_ONLY_NEW || c->aggregate)
		err = write_delete_cells(r->w, c->family, c->qualifier,
					 c->timestamp_us, c->timestamp_us + 1);
	if (err < 0 || r->x->cell_sides == COMPARE_ONLY_NEW)
		return err;
	return write_set_cell(r->w, c->family, c->qualifier, c->timestamp_us,
			      select_source(old->scan), c);
}

static int rewrite_cell(struct rewriting *r)
{
	bool is_gone = r->x->row_sides == COMPARE_ONLY_NEW;
	int err = 0;

	if (r->row_number != r->x->row_number) {
		r->counts->rows += !is_gone;
		r->counts->deleted += is_gone;
		err = begin_row(r);
	} else if (write_count(r->w) >= REWRITE_COUNT ||
		   write_size(r->w) >= REWRITE_SIZE) {
		err = part_row(r);
	}
	if (err < 0)
		return err;
	if (!is_gone)
		return put_cell(r);
	compare_skip_row(r->x);
	return write_delete_row(r->w);
}

int rewrite_rows(struct compare *x, struct bytes table,
		 struct rewrite_counts *counts)
{
	struct rewriting r = { .x = x, .table = table, .counts = counts };
	int err = write_new(x->store, &r.w);

	while (!err && (err = compare_next(x)) > 0)
		err = rewrite_cell(&r);
	if (!err)
		err = commit(&r);
	write_free(r.w);
	return err < 0 ? err : store_sync(x->store);
}
