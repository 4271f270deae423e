#include <stdlib.h>
#include <string.h>

#include "store/store.h"
#include "tests/bench/engine/peer.h"

#define TABLE BYTES_LITERAL("bench")

struct session {
	struct store *store;
	struct write *write;
	struct buf memory;
};

static void check(int err, const char *what)
{
	if (err < 0)
		bench_die("tabletfs: %s: %s", what, err_detail());
}

static void *open_store(const char *directory)
{
	struct gc_policy *gc =
		bench_over_time ? gc_policy_leaf(GC_MAX_VERSIONS, 1) : NULL;
	struct family_spec families[] = {
		{ .name = BYTES_LITERAL("activity"), .gc = gc },
		{ .name = BYTES_LITERAL("profile"), .gc = gc },
		{ .name = BYTES_LITERAL("sum"), .type = FAMILY_INTSUM },
	};
	struct store_options o;
	uint64_t history_s = bench_number("HISTORY", 0);
	struct schema *schema;
	struct store *s;

	store_options_init(&o);
	o.create = true;
	if (!bench_over_time)
		o.sync_interval_ms = 0;
	o.memtable_size = bench_memtable;
	o.cache_size = bench_cache;
	check(store_open(directory, &o, &s), "open");
	schema = store_schema(s);
	if (!schema_table(schema, TABLE))
		check(store_create_table(s, TABLE, false, families, 3),
		      "create table");
	schema_put(schema);
	gc_policy_free(gc);
	check(store_set_history(s, history_s * 1000000, 0), "history");
	return s;
}

static void close_store(void *db)
{
	check(store_close(db), "close");
}

static void *new_session(void *db)
{
	struct session *s = calloc(1, sizeof(*s));

	if (!s)
		bench_die("no memory");
	s->store = db;
	check(write_new(db, &s->write), "write");
	return s;
}

static void end_session(void *session)
{
	struct session *s = session;

	write_free(s->write);
	buf_release(&s->memory);
	free(s);
}

static void put(void *session, const struct cell_name *c, const void *value,
		size_t size)
{
	struct session *s = session;

	check(write_row(s->write, TABLE, bytes_string(c->row)), "row");
	check(write_set(s->write, bytes_string(c->family),
			bytes_string(c->qualifier),
			bench_over_time ? STORE_NOW : c->timestamp,
			bytes_of(value, size)),
	      "set");
}

static void commit(void *session, bool sync)
{
	struct session *s = session;

	check(store_commit(s->store, s->write, sync), "commit");
}

static long newest(void *session, const struct cell_name *c)
{
	struct session *s = session;
	struct cell cell;
	int err = store_get(s->store, NULL, TABLE, bytes_string(c->row),
			    bytes_string(c->family), bytes_string(c->qualifier),
			    &cell, &s->memory);

	check(err, "get");
	if (err == 0)
		return -1;
	bench_touch(cell.value.data, cell.value.size);
	return (long)cell.value.size;
}

/* There is no call for one version: the columns here have one. */
static long get(void *session, const struct cell_name *c)
{
	return newest(session, c);
}

static uint64_t scan(void *session, const char *row, uint64_t rows,
		     bool rows_only)
{
	struct session *s = session;
	struct scan_range range = { .table = TABLE,
				    .start = bytes_string(row),
				    .rows_only = rows_only };
	enum cursor_step step = rows_only ? CURSOR_ROW : CURSOR_VERSION;
	const uint8_t *last = NULL;
	char last_row[32] = "";
	uint64_t count = 0, seen = 0;
	struct scan *scan;
	struct cell cell;
	int err;

	check(scan_open(s->store, NULL, &range, &scan), "scan");
	while ((err = scan_next(scan, step, &cell)) == 1) {
		if (!last || strlen(last_row) != cell.row.size ||
		    memcmp(last_row, cell.row.data, cell.row.size) != 0) {
			if (seen++ == rows)
				break;
			memcpy(last_row, cell.row.data, cell.row.size);
			last_row[cell.row.size] = 0;
			last = cell.row.data;
		}
		if (!rows_only)
			bench_touch(cell.value.data, cell.value.size);
		count++;
	}
	check(err, "scan");
	scan_close(scan);
	return count;
}

static void erase(void *session, const struct cell_name *c)
{
	struct session *s = session;

	check(write_row(s->write, TABLE, bytes_string(c->row)), "row");
	check(write_delete_row(s->write), "delete");
	commit(session, false);
}

static bool first(void *session, char row[32])
{
	struct session *s = session;
	struct scan_range range = { .table = TABLE };
	struct scan *scan;
	struct cell cell;
	int err;

	check(scan_open(s->store, NULL, &range, &scan), "scan");
	err = scan_next(scan, CURSOR_ROW, &cell);
	check(err, "scan");
	if (err == 1) {
		memcpy(row, cell.row.data, cell.row.size);
		row[cell.row.size] = 0;
	}
	scan_close(scan);
	return err == 1;
}

static void increment(void *session, const struct cell_name *c)
{
	struct session *s = session;
	struct modify_rule rule = { .family = bytes_string(c->family),
				    .qualifier = bytes_string(c->qualifier),
				    .is_increment = true,
				    .amount = 1 };
	struct cell cell;

	check(store_modify(s->store, TABLE, bytes_string(c->row), &rule, 1,
			   false, &cell, &s->memory),
	      "increment");
	s->memory.size = 0;
}

static void add(void *session, const struct cell_name *c)
{
	struct session *s = session;

	check(write_row(s->write, TABLE, bytes_string(c->row)), "row");
	check(write_add(s->write, BYTES_LITERAL("sum"),
			bytes_string(c->qualifier), 0, 1),
	      "add");
	commit(session, false);
}

static void copy(void *session, void *into)
{
	struct session *s = session;
	struct scan_range range = { .table = TABLE };
	struct write *w;
	struct scan *scan;
	struct cell c;
	size_t count = 0;
	int err;

	check(write_new(into, &w), "write");
	check(scan_open(s->store, NULL, &range, &scan), "scan");
	while ((err = scan_next(scan, CURSOR_VERSION, &c)) == 1) {
		check(write_row(w, TABLE, c.row), "row");
		check(write_set(w, c.family, c.qualifier, c.timestamp_us,
				c.value),
		      "set");
		if (++count % 100 == 0)
			check(store_commit(into, w, false), "commit");
	}
	check(err, "scan");
	check(store_commit(into, w, false), "commit");
	scan_close(scan);
	write_free(w);
}

static void compact(void *db)
{
	check(store_compact(db, BYTES_NONE), "compact");
}

const struct peer peer_tabletfs = {
	.name = "tabletfs",
	.open = open_store,
	.close = close_store,
	.session = new_session,
	.end_session = end_session,
	.put = put,
	.commit = commit,
	.get = get,
	.newest = newest,
	.scan = scan,
	.erase = erase,
	.first = first,
	.increment = increment,
	.add = add,
	.compact = compact,
	.copy = copy,
};
