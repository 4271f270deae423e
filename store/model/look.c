#include "store/base/coding.h"
#include "store/engine/read/cursor.h"
#include "store/engine/read/snapshot.h"
#include "store/model/bury.h"
#include "store/model/look.h"
#include "store/model/schema.h"
#include "store/scan.h"

/* Walks without the lock before the caller walks with it. */
#define ROUNDS 4
/* Columns that are buried under one holding of the lock: some milliseconds. */
#define AT_ONCE 64
/* What is kept of columns; bytes. */
#define KEPT_MAX ((size_t)8 << 20)

int empty_table(struct store *s, struct bytes table)
{
	struct scan_range range = { .table = table };
	int err = scan_any(s, &range);

	return err == 1 ? fail(ERR_table_not_empty, "table \"%s\" has rows",
			       err_name(table))
			: err;
}

/* A cursor over all of the table, to be closed in every case. */
static int open_cursor(struct store *s, uint32_t table, struct cursor **out)
{
	struct buf start = BUF_INIT, end = BUF_INIT;
	int err = key_add_table(&start, table);

	*out = NULL;
	if (err == 0)
		err = key_successor(buf_bytes(&start), &end);
	if (err == 0)
		err = cursor_open(s->engine, NULL, buf_bytes(&start),
				  buf_bytes(&end), BYTES_NONE, out);
	buf_release(&start);
	buf_release(&end);
	return err;
}

/* Goes from row to row by families, since keys are by row first. */
int empty_family(struct store *s, uint32_t table, struct bytes family)
{
	struct cursor *cursor;
	enum cursor_step step = CURSOR_VERSION;
	struct cell cell;
	int err = open_cursor(s, table, &cursor);

	while (err == 0 && (err = cursor_next(cursor, step, &cell)) == 1) {
		bool in_family = bytes_equal(cell.family, family);

		err = in_family && !cursor_is_part(cursor)
			      ? fail(ERR_family_not_empty,
				     "family \"%s\" has cells: only one "
				     "without any becomes one of aggregates",
				     err_name(family))
			      : 0;
		step = in_family ? CURSOR_VERSION : CURSOR_FAMILY;
	}
	cursor_close(cursor);
	return err;
}

int empty_of_micros(struct store *s, uint32_t table)
{
	struct cursor *cursor;
	struct cell cell;
	int err = open_cursor(s, table, &cursor);

	while (err == 0 &&
	       (err = cursor_next(cursor, CURSOR_VERSION, &cell)) == 1)
		err = cell.timestamp_us % 1000
			      ? fail(ERR_bad_timestamp,
				     "a cell has the timestamp %llu, which is "
				     "no whole millisecond: granularity is for "
				     "tables without such",
				     (unsigned long long)cell.timestamp_us)
			      : 0;
	cursor_close(cursor);
	return err;
}

void look_note_all(struct look *l)
{
	if (l)
		l->any = true;
}

/* A put into the table. */
static void note_put(struct look *l, struct bytes key, struct buf *scratch)
{
	struct bytes family, column;
	size_t end;

	column = bytes_of(key.data, key.size - KEY_TIMESTAMP_SIZE);
	if (l->micros) {
		l->any |= ~get_u64be(key.data + column.size) % 1000 != 0;
		return;
	}
	/* What cannot be told counts. */
	if (key_part(key, key_row_end(key), scratch, &family, &end) < 0) {
		l->any = true;
		return;
	}
	if (!bytes_equal(family, buf_bytes(&l->family)))
		return;
	if (!l->keeps || l->columns.size > KEPT_MAX ||
	    buf_add_sized(&l->columns, column) < 0)
		l->any = true;
}

void look_note(struct look *l, const struct batch *batch)
{
	struct buf scratch = BUF_INIT;
	struct batch_record record;
	size_t position = 0;

	while (l && !l->any && batch_next(batch, &position, &record))
		if (key_kind_is_put(record.kind) &&
		    key_table(record.key) == l->table)
			note_put(l, record.key, &scratch);
	buf_release(&scratch);
}

/* Notes from now on. */
static void note_anew(struct look *l)
{
	pthread_mutex_lock(&l->s->writing);
	l->any = false;
	buf_reset(&l->columns);
	l->s->look = l;
	pthread_mutex_unlock(&l->s->writing);
}

/* Whether something was put since note_anew that the walk may have missed. */
static bool is_stale(struct look *l)
{
	bool any;

	pthread_mutex_lock(&l->s->writing);
	any = l->any;
	pthread_mutex_unlock(&l->s->writing);
	return any;
}

/* The family as it is now, and the table's id; NULL if one is not there. The
 * schema is referenced in any case. */
static const struct family *find(struct look *l, struct bytes table,
				 struct bytes family, struct schema **schema)
{
	const struct table *t;
	const struct family *f;

	*schema = store_schema(l->s);
	t = schema_table(*schema, table);
	f = t ? table_family(t, family) : NULL;
	if (f) {
		l->table = t->id;
		l->birth = f->birth_seq;
	}
	return f;
}

static void begin(struct look *l, struct store *s)
{
	*l = (struct look){ .s = s };
	pthread_mutex_lock(&s->looking);
}

int look_empty_family(struct look *l, struct store *s, struct bytes table,
		      struct bytes family)
{
	const struct family *f;
	struct schema *schema;
	int err, rounds = 0;

	begin(l, s);
	f = find(l, table, family, &schema);
	if (f && family_is_aggregate(f))
		l->table = 0;
	schema_put(schema);
	err = l->table ? buf_set(&l->family, family) : 0;
	if (!l->table || err < 0)
		return err;
	do {
		note_anew(l);
		err = empty_family(s, l->table, family);
	} while (err == 0 && is_stale(l) && ++rounds < ROUNDS);
	return err;
}

int look_of_micros(struct look *l, struct store *s, struct bytes table)
{
	struct schema *schema;
	const struct table *t;
	int err = 0, rounds = 0;

	begin(l, s);
	l->micros = true;
	schema = store_schema(s);
	t = schema_table(schema, table);
	if (t && !t->millis)
		l->table = t->id;
	schema_put(schema);
	if (!l->table)
		return 0;
	do {
		note_anew(l);
		err = empty_of_micros(s, l->table);
	} while (err == 0 && is_stale(l) && ++rounds < ROUNDS);
	return err;
}

/* Buries what is hidden now of columns, which are sized. Needs s->writing. */
static int bury_columns(struct store *s, struct bytes *columns, size_t count)
{
	struct batch batch = BATCH_INIT;
	struct bytes column;
	int err = 0;

	while (err == 0 && count-- > 0 && take_sized(columns, &column)) {
		err = bury_column(s, column, &batch);
		if (err == 0 && batch.count == BURIED_AT_ONCE)
			err = bury_now(s, &batch);
	}
	if (err == 0)
		err = bury_now(s, &batch);
	batch_release(&batch);
	return err;
}

/* The same of all, a few at each holding of the lock. */
static int bury_slowly(struct store *s, struct bytes columns)
{
	int err = 0;

	while (err == 0 && columns.size > 0) {
		pthread_mutex_lock(&s->writing);
		err = bury_columns(s, &columns, AT_ONCE);
		pthread_mutex_unlock(&s->writing);
	}
	return err;
}

/* The columns of the family that have hidden versions, some at a time. */
static int bury_walk(struct look *l)
{
	struct buf columns = BUF_INIT;
	enum cursor_step step = CURSOR_VERSION;
	struct cursor *cursor;
	struct cell cell;
	int err = open_cursor(l->s, l->table, &cursor);

	if (err == 0)
		cursor_show_hidden(cursor);
	while (err == 0 && (err = cursor_next(cursor, step, &cell)) == 1) {
		bool in_family =
			bytes_equal(cell.family, buf_bytes(&l->family));

		step = in_family ? CURSOR_COLUMN : CURSOR_FAMILY;
		err = in_family ? buf_add_sized(&columns,
						cursor_column_prefix(cursor))
				: 0;
		if (err < 0 || columns.size < KEPT_MAX / 64)
			continue;
		err = bury_slowly(l->s, buf_bytes(&columns));
		buf_reset(&columns);
	}
	if (err == 0)
		err = bury_slowly(l->s, buf_bytes(&columns));
	cursor_close(cursor);
	buf_release(&columns);
	return err;
}

/* What was put meanwhile may hide more. Until little is left, or writers are
 * faster. */
static int bury_noted(struct look *l)
{
	struct buf columns;
	int err = 0, rounds;

	for (rounds = 0; err == 0 && rounds < 2 * ROUNDS; rounds++) {
		pthread_mutex_lock(&l->s->writing);
		columns = l->columns;
		l->columns = (struct buf)BUF_INIT;
		pthread_mutex_unlock(&l->s->writing);
		err = bury_slowly(l->s, buf_bytes(&columns));
		buf_release(&columns);
	}
	return err;
}

int look_bury(struct look *l, struct store *s, struct bytes table,
	      struct bytes family, const struct gc_policy *next)
{
	const struct family *f;
	struct schema *schema;
	int err, rounds = 0;

	begin(l, s);
	l->keeps = true;
	f = find(l, table, family, &schema);
	if (!f || !f->gc || gc_policy_equal(f->gc, next))
		l->table = 0;
	schema_put(schema);
	err = l->table ? buf_set(&l->family, family) : 0;
	if (!l->table || err < 0)
		return err;
	/* What has expired by now is gone: until the new policy is in force,
	 * nothing more expires that it could show again. */
	engine_hold_gc_time(s->engine, GC_HELD_BY_LOOK, true);
	do {
		note_anew(l);
		err = bury_walk(l);
		if (err == 0)
			err = bury_noted(l);
	} while (err == 0 && is_stale(l) && ++rounds < ROUNDS);
	return err;
}

bool look_holds(const struct look *l, uint32_t table, uint64_t birth)
{
	return l->table == table && l->birth == birth && l->s->look == l &&
	       !l->any;
}

int look_bury_rest(struct look *l)
{
	struct bytes columns = buf_bytes(&l->columns);

	return bury_columns(l->s, &columns, SIZE_MAX);
}

void look_end(struct look *l)
{
	struct store *s = l->s;

	pthread_mutex_lock(&s->writing);
	s->look = NULL;
	pthread_mutex_unlock(&s->writing);
	if (l->keeps)
		engine_hold_gc_time(s->engine, GC_HELD_BY_LOOK, false);
	buf_release(&l->family);
	buf_release(&l->columns);
	pthread_mutex_unlock(&s->looking);
}
