#include <stdlib.h>

#include "store/base/coding.h"
#include "store/base/mutex.h"
#include "store/engine/large/large.h"
#include "store/engine/run/write.h"
#include "store/model/bury.h"
#include "store/model/schema.h"
#include "store/model/write.h"

int write_new(struct store *s, struct write **out)
{
	struct write *w = calloc(1, sizeof(*w));

	*out = w;
	if (!w)
		return -ENOMEM;
	w->s = s;
	w->schema = store_schema(s);
	w->now_us = STORE_NOW;
	return 0;
}

void write_free(struct write *w)
{
	if (!w)
		return;
	schema_put(w->schema);
	batch_release(&w->batch);
	buf_release(&w->key);
	buf_release(&w->now_places);
	buf_release(&w->prefixes);
	buf_release(&w->memory);
	pending_release(&w->pending);
	buf_release(&w->references);
	blob_release(w->s->engine, &w->holds);
	free(w->hidden);
	free(w);
}

void write_reset(struct write *w)
{
	batch_reset(&w->batch);
	buf_reset(&w->now_places);
	buf_reset(&w->prefixes);
	pending_release(&w->pending);
	blob_release(w->s->engine, &w->holds);
	w->hidden_count = 0;
	w->row_end = 0;
	w->stale = false;
}

size_t write_count(const struct write *w)
{
	return w->batch.count;
}

size_t write_size(const struct write *w)
{
	return w->batch.data.size;
}

struct write_mark write_mark(const struct write *w)
{
	return (struct write_mark){
		.data_size = w->batch.data.size,
		.now_size = w->now_places.size,
		.count = w->batch.count,
		.range_count = w->batch.range_count,
		.blob_count = w->batch.blob_count,
		.hidden_count = (uint32_t)w->hidden_count,
	};
}

void write_rewind(struct write *w, struct write_mark mark)
{
	w->batch.data.size = mark.data_size;
	w->batch.count = mark.count;
	w->batch.range_count = mark.range_count;
	w->batch.blob_count = mark.blob_count;
	w->now_places.size = mark.now_size;
	w->hidden_count = mark.hidden_count;
	w->prefixes.size = 0;
	if (w->hidden_count > 0)
		w->prefixes.size = w->hidden[w->hidden_count - 1].start +
				   w->hidden[w->hidden_count - 1].size;
	w->row_end = 0;
	pending_release(&w->pending);
}

static int unknown_table(struct bytes name)
{
	return fail(ERR_no_table, "table \"%.*s\" not found", (int)name.size,
		    (const char *)name.data);
}

static int unknown_family(struct bytes name)
{
	return fail(ERR_no_family, "unknown family \"%.*s\"", (int)name.size,
		    (const char *)name.data);
}

/* The newest schema; what was added so far has to be checked again if it is
 * another than before. */
static void refresh(struct write *w)
{
	if (atomic_load_explicit(&w->s->schema, memory_order_acquire) ==
	    w->schema)
		return;
	schema_put(w->schema);
	w->schema = store_schema(w->s);
	w->table = NULL;
	w->family = NULL;
	if (w->batch.count > 0)
		w->stale = true;
}

static int find_table(struct write *w, struct bytes name)
{
	const struct table *table = w->table;

	if (!table || !bytes_equal(table->name, name)) {
		table = schema_table(w->schema, name);
		if (!table)
			return unknown_table(name);
		w->family = NULL;
	}
	w->table = table;
	w->table_id = table->id;
	return 0;
}

int write_row(struct write *w, struct bytes table, struct bytes row)
{
	int err;

	w->row_end = 0;
	if (row.size == 0)
		return fail(ERR_row_key_empty, "%s",
			    err_text(ERR_row_key_empty));
	if (row.size > STORE_ROW_KEY_MAX)
		return fail(ERR_row_key_too_long,
			    "row key has %zu bytes, at most %d are allowed",
			    row.size, STORE_ROW_KEY_MAX);
	refresh(w);
	err = find_table(w, table);
	if (err < 0)
		return err;
	buf_reset(&w->key);
	err = key_add_table(&w->key, w->table_id);
	if (err == 0)
		err = key_add_part(&w->key, row);
	if (err == 0)
		w->row_end = w->key.size;
	return err;
}

/* Puts the family's prefix behind the row's in w->key. */
static int begin_family(struct write *w, struct bytes name)
{
	const struct family *family = w->family;

	if (w->row_end == 0)
		return fail(ERR_bad_argument, "no row was named");
	if (!family || !bytes_equal(family->name, name)) {
		family = table_family(w->table, name);
		if (!family)
			return unknown_family(name);
		w->family = family;
	}
	w->key.size = w->row_end;
	return key_add_part(&w->key, name);
}

int write_column(struct write *w, struct bytes family, struct bytes qualifier)
{
	int err;

	if (qualifier.size > STORE_QUALIFIER_MAX)
		return fail(ERR_qualifier_too_long,
			    "qualifier has %zu bytes, at most %d are allowed",
			    qualifier.size, STORE_QUALIFIER_MAX);
	err = begin_family(w, family);
	if (err == 0)
		err = key_add_part(&w->key, qualifier);
	return err;
}

int write_plain_column(struct write *w, struct bytes family,
		       struct bytes qualifier)
{
	int err = write_column(w, family, qualifier);

	if (err < 0 || !family_is_aggregate(w->family))
		return err;
	return fail(ERR_type_mismatch,
		    "family \"%.*s\" holds aggregates, which are added to, not "
		    "set",
		    (int)family.size, (const char *)family.data);
}

uint64_t write_now(const struct write *w)
{
	return w->table->millis ? w->now_us - w->now_us % 1000 : w->now_us;
}

static int check_timestamp(const struct table *table, uint64_t timestamp_us)
{
	if (timestamp_us > INT64_MAX)
		return fail(ERR_bad_timestamp, "invalid timestamp %lld",
			    (long long)timestamp_us);
	if (table->millis && timestamp_us % 1000 != 0)
		return fail(ERR_bad_timestamp,
			    "Timestamp granularity mismatch. Expected a "
			    "multiple of 1000 (millisecond granularity), got "
			    "%llu",
			    (unsigned long long)timestamp_us);
	return 0;
}

static int check_size(uint64_t size)
{
	if (size > STORE_VALUE_MAX)
		return fail(ERR_value_too_large,
			    "value has %llu bytes, at most %u are allowed",
			    (unsigned long long)size, STORE_VALUE_MAX);
	return 0;
}

/* Adds a version of the column in w->key. */
static int add_version(struct write *w, uint64_t timestamp_us,
		       struct bytes value,
		       int (*add)(struct batch *b, struct bytes version_key,
				  struct bytes value))
{
	bool later = timestamp_us == STORE_NOW && w->now_us == STORE_NOW;
	size_t value_size = varint_size(value.size) + value.size;
	int err = 0;

	if (timestamp_us == STORE_NOW)
		timestamp_us = later ? 0 : write_now(w);
	if (!later)
		err = check_timestamp(w->table, timestamp_us);
	if (err == 0)
		err = key_add_timestamp(&w->key, timestamp_us);
	if (err == 0)
		err = add(&w->batch, buf_bytes(&w->key), value);
	/* The timestamp ends the key, which lies before the value. */
	if (err == 0 && later)
		err = buf_add_u64le(&w->now_places,
				    (uint64_t)(w->batch.data.size - value_size -
					       KEY_TIMESTAMP_SIZE)
						    << 1 |
					    w->table->millis);
	return err;
}

/* Begins a column of an aggregate family. */
static int aggregate_column(struct write *w, struct bytes family,
			    struct bytes qualifier)
{
	int err = write_column(w, family, qualifier);

	if (err < 0 || family_is_aggregate(w->family))
		return err;
	return fail(ERR_type_mismatch,
		    "illegal attempt to use AddToCell on non-aggregate cell: "
		    "family \"%.*s\" is not of an aggregate type",
		    (int)family.size, (const char *)family.data);
}

int write_add(struct write *w, struct bytes family, struct bytes qualifier,
	      uint64_t timestamp_us, int64_t number)
{
	int err = aggregate_column(w, family, qualifier);

	buf_reset(&w->memory);
	if (err == 0)
		err = aggregate_of(family_aggregate(w->family), number,
				   &w->memory);
	return err < 0 ? err
		       : add_version(w, timestamp_us, buf_bytes(&w->memory),
				     batch_merge);
}

int write_merge(struct write *w, struct bytes family, struct bytes qualifier,
		uint64_t timestamp_us, struct bytes state)
{
	int err = aggregate_column(w, family, qualifier);

	if (err == 0 && !aggregate_is_state(family_aggregate(w->family), state))
		err = fail(ERR_type_mismatch,
			   "%zu bytes are no state of the type of family "
			   "\"%.*s\"",
			   state.size, (int)family.size,
			   (const char *)family.data);
	return err < 0 ? err : add_version(w, timestamp_us, state, batch_merge);
}

int write_set_large(struct write *w, struct bytes family,
		    struct bytes qualifier, uint64_t timestamp_us,
		    struct large *value)
{
	int err = check_size(large_size(value));

	buf_reset(&w->references);
	if (err == 0)
		err = blob_list_encode(large_list(value), &w->references);
	if (err == 0)
		err = large_hold(value, &w->holds);
	if (err == 0)
		err = write_plain_column(w, family, qualifier);
	if (err == 0)
		err = add_version(w, timestamp_us, buf_bytes(&w->references),
				  batch_put_blob);
	return err;
}

int write_set(struct write *w, struct bytes family, struct bytes qualifier,
	      uint64_t timestamp_us, struct bytes value)
{
	struct large *large;
	int err = check_size(value.size);

	/* What is wrong is told before anything is written. */
	if (err == 0)
		err = write_plain_column(w, family, qualifier);
	if (err < 0)
		return err;
	if (value.size < w->s->large_size)
		return add_version(w, timestamp_us, value, batch_put);
	if (timestamp_us != STORE_NOW)
		err = check_timestamp(w->table, timestamp_us);
	if (err == 0)
		err = large_make(w->s->engine, value, &large);
	if (err < 0)
		return err;
	err = write_set_large(w, family, qualifier, timestamp_us, large);
	large_put(large);
	return err;
}

int write_set_cell(struct write *w, struct bytes family, struct bytes qualifier,
		   uint64_t timestamp_us, struct scan *scan,
		   const struct cell *cell)
{
	struct buf value = BUF_INIT;
	struct large *large;
	int err;

	if (cell->aggregate)
		return write_merge(w, family, qualifier, timestamp_us,
				   cell->value);
	if (cell->blob.size == 0)
		return write_set(w, family, qualifier, timestamp_us,
				 cell->value);
	err = scan_open_large(scan, cell, &large);
	if (err == 0) {
		err = write_set_large(w, family, qualifier, timestamp_us,
				      large);
		large_put(large);
	} else if (err == -ESTALE) {
		/* The scan still has what the store is about to lose. */
		err = scan_load(scan, cell, &value);
		if (err == 0)
			err = write_set(w, family, qualifier, timestamp_us,
					buf_bytes(&value));
		buf_release(&value);
	}
	return err;
}

/* Notes that the column loses single versions; see write_hidden. */
static int note_hidden(struct write *w)
{
	struct hidden_column *grown;
	size_t room;
	int err;

	if (w->hidden_count == w->hidden_room) {
		room = w->hidden_room * 2 + 8;
		grown = realloc(w->hidden, room * sizeof(*grown));
		if (!grown)
			return -ENOMEM;
		w->hidden = grown;
		w->hidden_room = room;
	}
	w->hidden[w->hidden_count].start = w->prefixes.size;
	w->hidden[w->hidden_count].size = w->key.size;
	w->hidden[w->hidden_count].ranked =
		gc_rank_limit(w->family->gc) != UINT64_MAX;
	err = buf_add_bytes(&w->prefixes, buf_bytes(&w->key));
	if (err == 0)
		w->hidden_count++;
	return err;
}

/* A range of the present column's versions: newest first, so that it starts at
 * to - 1 and ends before from - 1. */
static int delete_versions(struct write *w, uint64_t from_us, uint64_t to_us)
{
	size_t column_end = w->key.size;
	struct buf end = BUF_INIT;
	int err;

	if (from_us > 0)
		err = buf_add_bytes(&end, buf_bytes(&w->key));
	else
		err = key_successor(buf_bytes(&w->key), &end);
	if (err == 0 && from_us > 0)
		err = key_add_timestamp(&end, from_us - 1);
	if (err == 0 && to_us > 0)
		err = key_add_timestamp(&w->key, to_us - 1);
	if (err == 0)
		err = batch_delete_range(&w->batch, buf_bytes(&w->key),
					 buf_bytes(&end));
	w->key.size = column_end;
	buf_release(&end);
	return err;
}

int write_delete_cells(struct write *w, struct bytes family,
		       struct bytes qualifier, uint64_t from_us, uint64_t to_us)
{
	int err;

	if (to_us > 0 && from_us >= to_us)
		return fail(
			ERR_bad_timestamp, "range from %llu to %llu is empty",
			(unsigned long long)from_us, (unsigned long long)to_us);
	err = write_column(w, family, qualifier);
	if (err == 0)
		err = check_timestamp(w->table, from_us);
	if (err == 0 && to_us > 0 && to_us != from_us + 1)
		err = check_timestamp(w->table, to_us);
	if (err == 0 && (from_us > 0 || to_us > 0))
		err = note_hidden(w);
	if (err < 0)
		return err;
	if (to_us != from_us + 1)
		return delete_versions(w, from_us, to_us);
	err = key_add_timestamp(&w->key, from_us);
	if (err == 0)
		err = batch_delete(&w->batch, buf_bytes(&w->key));
	return err;
}

int write_delete_column(struct write *w, struct bytes family,
			struct bytes qualifier)
{
	return write_delete_cells(w, family, qualifier, 0, 0);
}

static int delete_prefixed(struct write *w)
{
	struct buf end = BUF_INIT;
	int err = key_successor(buf_bytes(&w->key), &end);

	if (err == 0)
		err = batch_delete_range(&w->batch, buf_bytes(&w->key),
					 buf_bytes(&end));
	buf_release(&end);
	return err;
}

int write_delete_family(struct write *w, struct bytes family)
{
	int err = begin_family(w, family);

	return err < 0 ? err : delete_prefixed(w);
}

int write_delete_row(struct write *w)
{
	if (w->row_end == 0)
		return fail(ERR_bad_argument, "no row was named");
	w->key.size = w->row_end;
	return delete_prefixed(w);
}

int write_delete_prefix(struct write *w, struct bytes table,
			struct bytes prefix)
{
	int err;

	if (prefix.size == 0)
		return fail(ERR_bad_argument,
			    "the prefix is empty; to delete all rows, say so");
	w->row_end = 0;
	refresh(w);
	err = find_table(w, table);
	if (err < 0)
		return err;
	buf_reset(&w->key);
	err = key_add_table(&w->key, w->table_id);
	if (err == 0)
		err = key_add_open_part(&w->key, prefix);
	return err < 0 ? err : delete_prefixed(w);
}

int write_delete_range(struct write *w, struct bytes table, struct bytes start,
		       struct bytes end)
{
	struct buf end_key = BUF_INIT;
	int err;

	w->row_end = 0;
	refresh(w);
	err = find_table(w, table);
	if (err < 0)
		return err;
	err = key_row_range(w->table_id, start, end, &w->key, &end_key);
	if (err == 0 &&
	    bytes_compare(buf_bytes(&w->key), buf_bytes(&end_key)) < 0)
		err = batch_delete_range(&w->batch, buf_bytes(&w->key),
					 buf_bytes(&end_key));
	buf_release(&end_key);
	return err;
}

static int revalidate_put(const struct table *table, struct bytes name,
			  const struct batch_record *record)
{
	const struct family *family = table_family(table, name);
	enum aggregate_kind kind;

	if (!family)
		return unknown_family(name);
	kind = family_aggregate(family);
	if (record->kind == KEY_MERGE
		    ? kind && aggregate_is_state(kind, record->value)
		    : !kind)
		return 0;
	return fail(ERR_type_mismatch,
		    "family \"%.*s\" was made anew with another type",
		    (int)name.size, (const char *)name.data);
}

/* Checks every record against the schema of now: its table, and of what it puts
 * the family, must still be there. */
static int revalidate(struct write *w)
{
	const struct schema *schema = w->s->schema;
	struct buf scratch = BUF_INIT;
	struct batch_record record;
	const struct table *table;
	size_t position = 0, end;
	struct bytes family;
	int err = 0;

	while (err == 0 && batch_next(&w->batch, &position, &record)) {
		table = table_by_id(schema, key_table(record.key));
		if (!table) {
			err = fail(ERR_no_table, "the table was dropped");
			break;
		}
		if (!key_kind_is_put(record.kind))
			continue;
		err = key_part(record.key, key_row_end(record.key), &scratch,
			       &family, &end);
		if (err == 0)
			err = revalidate_put(table, family, &record);
	}
	buf_release(&scratch);
	return err;
}

static void patch_now(struct write *w)
{
	uint64_t now = clock_now(&w->s->clock), place;
	struct bytes places = buf_bytes(&w->now_places);

	while (take_u64le(&places, &place)) {
		uint64_t timestamp = place & 1 ? now - now % 1000 : now;

		put_u64be(w->batch.data.data + (place >> 1), ~timestamp);
	}
}

/* Whether the records of both are no more than one batch takes. */
static bool fit_together(const struct batch *a, const struct batch *b)
{
	return a->count <= BATCH_RECORDS_MAX - b->count &&
	       a->data.size <= BATCH_SIZE_MAX - b->data.size;
}

int write_hidden(struct write *w)
{
	bool changed = w->stale || w->schema != w->s->schema;
	struct batch before = BATCH_INIT;
	size_t i;
	int err = 0;

	for (i = 0; i < w->hidden_count && err == 0; i++) {
		struct bytes column =
			bytes_of(w->prefixes.data + w->hidden[i].start,
				 w->hidden[i].size);

		if (w->hidden[i].ranked || changed)
			err = bury_column(w->s, column, &before);
		if (err == 0 && before.count == BURIED_AT_ONCE)
			err = bury_now(w->s, &before);
	}
	if (err == 0 && !fit_together(&before, &w->batch))
		err = bury_now(w->s, &before);
	if (err == 0 && before.count > 0)
		err = batch_append(&before, &w->batch);
	if (err == 0)
		w->hidden_count = w->prefixes.size = 0;
	if (err == 0 && before.count > 0) {
		batch_release(&w->batch);
		w->batch = before;
		return 0;
	}
	batch_release(&before);
	return err;
}

int write_settle(struct write *w, const struct batch **batch)
{
	int err = 0;

	if (w->stale || w->schema != w->s->schema)
		err = revalidate(w);
	if (err < 0)
		return err;
	patch_now(w);
	*batch = &w->batch;
	return 0;
}

int commit_locked(struct store *s, struct write *w, uint64_t *seq)
{
	const struct batch *batch;
	uint64_t last = 0;
	int err;

	if (seq)
		*seq = 0;
	if (w->batch.count == 0)
		return 0;
	err = write_settle(w, &batch);
	if (err < 0)
		return err;
	if (w->hidden_count > 0)
		err = write_hidden(w);
	if (err == 0)
		err = engine_write(s->engine, &w->batch, false, &last);
	if (err == 0 && seq && w->batch.count == 1)
		*seq = last;
	return err;
}

int store_commit(struct store *s, struct write *w, bool sync)
{
	int err;

	mutex_lock_spinning(&s->writing);
	err = commit_locked(s, w, NULL);
	pthread_mutex_unlock(&s->writing);
	write_reset(w);
	if (err == 0 && sync)
		err = engine_sync(s->engine);
	return err;
}
