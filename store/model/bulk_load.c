#include <stdlib.h>

#include "store/engine/bulk/bulk.h"
#include "store/model/commit.h"
#include "store/model/look.h"
#include "store/model/model.h"
#include "store/model/schema.h"

/*
 * A bulk load in the model's terms. A family that is dropped while it runs must
 * not come back with its cells, so the load remembers the schema of its last
 * add: if that has changed at the next one or when the load is published, every
 * table and family that it had must still be the same.
 */
struct bulk_load {
	struct store *s;
	struct bulk *bulk;     /* owned; the engine's part */
	struct schema *schema; /* of the last add; NULL: nothing added */
	uint64_t unsampled;    /* bytes since the last write was counted */
	int failed; /* an add, which may have taken a part of its rows; 0 */
};

/* The buffer is as large as a memtable. */
int store_bulk_begin(struct store *s, struct bulk_load **out)
{
	struct bulk_load *load = calloc(1, sizeof(*load));
	int err;

	*out = NULL;
	if (!load)
		return -ENOMEM;
	load->s = s;
	err = bulk_new(s->engine, s->memtable_size, &load->bulk);
	if (err < 0) {
		free(load);
		return err;
	}
	*out = load;
	return 0;
}

/* NULL is allowed. */
void store_bulk_free(struct bulk_load *load)
{
	if (!load)
		return;
	bulk_free(load->bulk);
	schema_put(load->schema);
	free(load);
}

/* Deletions need what is there, and merges too: they cannot be sorted in beside
 * the log as what a load puts there, which replaces what it meets. */
static bool only_sets(const struct batch *batch)
{
	struct batch_record r;
	size_t position = 0;

	while (batch_next(batch, &position, &r))
		if (r.kind != KEY_PUT && r.kind != KEY_BLOB)
			return false;
	return true;
}

/* Whether all that was there is there still: tables by id, so that they may
 * have been renamed, with the timestamps that they took; families by name and
 * birth. Only then are the keys of the load, which nobody reads again, still
 * right. */
static int check_schema(const struct schema *then, const struct schema *now)
{
	size_t i, j;

	for (i = 0; then != now && i < then->table_count; i++) {
		const struct table *a = &then->tables[i];
		const struct table *b = table_by_id(now, a->id);

		if (!b)
			return fail(ERR_no_table,
				    "table \"%s\" was dropped while a bulk "
				    "load was under way; nothing was loaded",
				    err_name(a->name));
		if (b->millis && !a->millis)
			return fail(ERR_bad_timestamp,
				    "table \"%s\" became one of milliseconds "
				    "while a bulk load was under way; nothing "
				    "was loaded",
				    err_name(b->name));
		for (j = 0; j < a->family_count; j++) {
			const struct family *f = &a->families[j];
			const struct family *g = table_family(b, f->name);

			if (!g || g->birth_seq != f->birth_seq)
				return fail(ERR_no_family,
					    "family \"%s\" was dropped while "
					    "a bulk load was under way; "
					    "nothing was loaded",
					    err_name(f->name));
			if (family_aggregate(g) != family_aggregate(f))
				return fail(ERR_type_mismatch,
					    "family \"%s\" became one of "
					    "aggregates while a bulk load was "
					    "under way; nothing was loaded",
					    err_name(f->name));
		}
	}
	return 0;
}

/* Under the writing lock: the schema of now is the load's from here on, if it
 * still has what the load was added to. */
static int take_schema(struct bulk_load *load)
{
	int err =
		load->schema ? check_schema(load->schema, load->s->schema) : 0;

	if (err < 0 || load->schema == load->s->schema)
		return err;
	schema_put(load->schema);
	load->schema = store_schema(load->s);
	return 0;
}

/* A load is a write for as much as a block, where that ends. */
static void sample(struct bulk_load *load, const struct batch_record *r)
{
	struct buf scratch = BUF_INIT;
	struct bytes row;
	size_t end;

	load->unsampled += r->key.size + r->value.size;
	if (load->unsampled < HEAT_BLOCK_SIZE)
		return;
	if (key_part(r->key, KEY_TABLE_SIZE, &scratch, &row, &end) == 0)
		sample_row(load->s->sampler.heat, key_table(r->key), row,
			   HEAT_WRITES, load->unsampled);
	load->unsampled = 0;
	buf_release(&scratch);
}

/* w is settled like a commit, so its time is that of this call and not of the
 * publishing. If it is not for a load it is left settled, which a commit does
 * again. w is emptied also if the load fails half-way: the load is only good
 * for being freed then. */
int store_bulk_add(struct bulk_load *load, struct write *w)
{
	struct store *s = load->s;
	const struct batch *batch;
	struct batch_record r;
	size_t position = 0;
	int err;

	pthread_mutex_lock(&s->writing);
	err = write_settle(w, &batch);
	if (err == 0)
		err = take_schema(load);
	pthread_mutex_unlock(&s->writing);
	if (err < 0)
		return err;
	if (!only_sets(batch))
		return 0;
	while (err == 0 && batch_next(batch, &position, &r)) {
		err = bulk_add(load->bulk, r.key, r.kind, r.value);
		if (err == 0)
			sample(load, &r);
	}
	write_reset(w);
	if (err < 0)
		load->failed = err;
	return err < 0 ? err : 1;
}

/* The long part comes before the lock; under it the schema is compared, and
 * cannot change until the load is visible. A load without adds has no schema.
 */
int store_bulk_publish(struct bulk_load *load)
{
	struct store *s = load->s;
	int err;

	if (!load->schema)
		return 0;
	if (load->failed)
		return fail(-load->failed,
			    "a part of this bulk load was refused before: end "
			    "it and load again");
	err = bulk_prepare(load->bulk);
	if (err < 0)
		return err;
	pthread_mutex_lock(&s->writing);
	err = check_schema(load->schema, s->schema);
	look_note_all(s->look);
	row_guards_note_all(&s->guards);
	if (err == 0)
		err = bulk_publish(load->bulk);
	pthread_mutex_unlock(&s->writing);
	if (err == 0) {
		schema_put(load->schema);
		load->schema = NULL;
	}
	return err;
}
