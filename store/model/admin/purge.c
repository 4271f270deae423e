#include <errno.h>
#include <stdlib.h>

#include "store/engine/purge/purge.h"
#include "store/engine/purge/visit.h"
#include "store/engine/run/step.h"
#include "store/engine/run/write.h"
#include "store/model/admin/change.h"
#include "store/model/commit.h"
#include "store/model/schema_record.h"

struct purging {
	struct store *s;
	struct bytes name;
	const struct purge_span *rows;
	size_t count;
	struct schema *schema;     /* owned */
	const struct table *table; /* of it; NULL: there is none now */
	struct buf ids;            /* uint32_t, each once */
	struct buf keys;           /* sized, of ranges */
	struct erase_range *ranges;
	size_t range_count;
};

static int add_id(struct purging *p, uint32_t id)
{
	uint32_t known;
	size_t i;

	for (i = 0; i < p->ids.size; i += sizeof(id)) {
		memcpy(&known, p->ids.data + i, sizeof(known));
		if (known == id)
			return 0;
	}
	return buf_add(&p->ids, &id, sizeof(id));
}

/* A record that a table of the name has or had. One that has another name by
 * now is another table. */
static int take_record(void *context, struct bytes key, struct bytes value)
{
	struct purging *p = context;
	struct schema *one;
	uint32_t id = 0;
	int err;

	if (key_kind(key) != KEY_PUT)
		return 0;
	err = schema_new(&one);
	if (err < 0)
		return err;
	err = table_decode(one, p->name, key_seq(key), value);
	if (err == 0)
		id = one->tables[0].id;
	schema_put(one);
	if (err < 0 ||
	    (table_by_id(p->schema, id) && (!p->table || p->table->id != id)))
		return err;
	return add_id(p, id);
}

/* The ids of all tables that the name has stood for, as far as any file tells.
 */
static int find_ids(struct purging *p)
{
	struct buf key = BUF_INIT, end = BUF_INIT;
	int err = p->table ? add_id(p, p->table->id) : 0;

	if (err == 0)
		err = engine_flush(p->s->engine);
	if (err == 0)
		err = schema_record_key(p->name, SCHEMA_FAMILY, BYTES_NONE,
					&key);
	if (err == 0)
		err = key_successor(buf_bytes(&key), &end);
	if (err == 0)
		err = engine_visit(p->s->engine, buf_bytes(&key),
				   buf_bytes(&end), take_record, p);
	buf_release(&key);
	buf_release(&end);
	if (err == 0 && p->ids.size == 0)
		err = no_table(p->name);
	return err;
}

static int by_id(const void *a, const void *b)
{
	uint32_t x, y;

	memcpy(&x, a, sizeof(x));
	memcpy(&y, b, sizeof(y));
	return x < y ? -1 : x > y;
}

/* The bounds of one span in one table, at the end of keys, from *at on. The
 * start is the row's key without its end, which deletions by prefix begin with,
 * too. */
static int add_keys(struct purging *p, uint32_t id,
		    const struct purge_span *row)
{
	struct buf from = BUF_INIT, to = BUF_INIT;
	int err = key_row_range(id, BYTES_NONE, row->end, &from, &to);

	if (err == 0)
		err = key_add_open_part(&from, row->start);
	if (err == 0)
		err = buf_add_sized(&p->keys, buf_bytes(&from));
	if (err == 0)
		err = buf_add_sized(&p->keys, buf_bytes(&to));
	buf_release(&from);
	buf_release(&to);
	return err;
}

/* Of the keys that were added; what touches becomes one. */
static void fill_ranges(struct purging *p)
{
	struct bytes rest = buf_bytes(&p->keys), start, end;
	struct erase_range *last = NULL;

	while (take_sized(&rest, &start) && take_sized(&rest, &end)) {
		if (last && bytes_compare(start, last->end) <= 0) {
			last->end = end;
			continue;
		}
		last = &p->ranges[p->range_count++];
		*last = (struct erase_range){ start, end };
	}
}

static int find_ranges(struct purging *p)
{
	size_t count = p->ids.size / sizeof(uint32_t), i, j;
	uint32_t id;
	int err = 0;

	qsort(p->ids.data, count, sizeof(id), by_id);
	p->ranges = calloc(count * p->count + 1, sizeof(*p->ranges));
	if (!p->ranges)
		return -ENOMEM;
	for (i = 0; i < count && err == 0; i++) {
		memcpy(&id, p->ids.data + i * sizeof(id), sizeof(id));
		for (j = 0; j < p->count && err == 0; j++)
			err = add_keys(p, id, &p->rows[j]);
	}
	if (err == 0)
		fill_ranges(p);
	return err;
}

/* How many rows there are in a span. */
static int count_rows(struct purging *p, const struct purge_span *row,
		      uint64_t *rows)
{
	const struct scan_range range = { .table = p->name,
					  .table_id = p->table->id,
					  .start = row->start,
					  .end = row->end,
					  .rows_only = true };
	struct scan *scan;
	struct cell cell;
	int err = scan_open(p->s, NULL, &range, &scan);

	if (err < 0)
		return err;
	while ((err = scan_next(scan, CURSOR_ROW, &cell)) == 1)
		++*rows;
	scan_close(scan);
	return err;
}

/* Commits w. While it does, but not while it waits for the disk, whoever holds
 * some of the rows gives nothing back. */
static int commit(struct purging *p, struct write *w, uint64_t *seq)
{
	const struct purge_holder *h = &p->s->purge_holder;
	int err;

	if (h->begin)
		h->begin(h->context, p->name, p->rows, p->count);
	pthread_mutex_lock(&p->s->writing);
	err = commit_locked(p->s, w, seq);
	commit_end(p->s, w);
	if (h->end)
		h->end(h->context);
	return err < 0 ? err : commit_wait(p->s, true);
}

/* Deletes what is there by one write; *seq is its sequence. */
static int delete_rows(struct purging *p, uint64_t *rows, uint64_t *seq)
{
	struct write *w;
	size_t i;
	int err = write_new(p->s, &w);

	for (i = 0; i < p->count && err == 0; i++) {
		err = count_rows(p, &p->rows[i], rows);
		if (err == 0)
			err = write_delete_range(w, p->name, p->rows[i].start,
						 p->rows[i].end);
	}
	if (err == 0 && write_table_id(w) != p->table->id)
		err = fail(ERR_no_table,
			   "table \"%s\" is another one by now; say it again",
			   err_name(p->name));
	if (err == 0)
		err = commit(p, w, seq);
	write_free(w);
	return err;
}

/* Of what is sampled, fences are row keys. */
static int forget_heat(struct purging *p)
{
	uint32_t id;
	size_t i;
	int err = 0;

	for (i = 0; i < p->ids.size && err == 0; i += sizeof(id)) {
		memcpy(&id, p->ids.data + i, sizeof(id));
		err = heat_erase(p->s->sampler.heat, id);
	}
	return err;
}

static int purge(struct purging *p, unsigned int wait_ms,
		 struct purge_result *out)
{
	uint64_t seq;
	int err = p->table ? table_check_drop(p->table) : 0;

	if (err == 0)
		err = find_ids(p);
	if (err == 0)
		err = find_ranges(p);
	if (err < 0)
		return err;
	seq = engine_visible_seq(p->s->engine);
	if (p->table)
		err = delete_rows(p, &out->rows, &seq);
	if (err == 0)
		err = engine_purge(p->s->engine, p->ranges, p->range_count, seq,
				   wait_ms, out);
	return err < 0 ? err : forget_heat(p);
}

void store_on_purge(struct store *s, const struct purge_holder *holder)
{
	s->purge_holder = holder ? *holder : (struct purge_holder){ 0 };
}

int store_purge(struct store *s, struct bytes table,
		const struct purge_span *rows, size_t count,
		unsigned int wait_ms, struct purge_result *out)
{
	struct purging p = { .s = s,
			     .name = table,
			     .rows = rows,
			     .count = count,
			     .schema = store_schema(s) };
	int err;

	*out = (struct purge_result){ 0 };
	p.table = schema_table(p.schema, table);
	err = count > 0 ? purge(&p, wait_ms, out) : 0;
	free(p.ranges);
	buf_release(&p.keys);
	buf_release(&p.ids);
	schema_put(p.schema);
	return err;
}
