#include <assert.h>
#include <stdlib.h>

#include "store/base/coding.h"
#include "store/engine/large/large.h"
#include "store/model/write.h"

/*
 * Collecting: each call checks its arguments against the schema as it is at the
 * last naming of a row, encodes the key, and adds a record to the batch:
 *
 *   set                             KEY_PUT     version key, value
 *   set of a large value            KEY_BLOB    version key, references
 *   add, merge                      KEY_MERGE   version key, state
 *   delete one version              KEY_DELETE  version key
 *   delete versions, a column, a
 *   family, a row, rows             BATCH_RANGE first key, key after the last
 *
 * So a deletion costs one record however much it deletes, and says nothing of
 * what is there. A large value is in a blob file before its record is made.
 * What the commit adds and patches is in commit.c.
 */

/* Bytes of a write that is no more than those of most. */
#define BATCH_LIGHT ((size_t)4 << 20)
/* Of what a write that holds more puts into blob files. */
#define MOVED_LEAST 1024

/* Takes the schema of now; write_row takes a newer one if there is one. */
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

/* Counts the batch as it is now. */
static void count_batch(struct write *w)
{
	struct memory *m;

	if (w->batch.data.capacity == w->counted)
		return;
	m = store_memory(w->s);
	memory_hold(m, MEMORY_REQUESTS, w->batch.data.capacity);
	memory_give(m, MEMORY_REQUESTS, w->counted);
	w->counted = w->batch.data.capacity;
}

/* NULL is allowed. Nothing is committed. */
void write_free(struct write *w)
{
	if (!w)
		return;
	schema_put(w->schema);
	batch_release(&w->batch);
	count_batch(w);
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

/* The memory of the bufs is kept for what comes next. */
void write_reset(struct write *w)
{
	batch_reset(&w->batch);
	w->moved = 0;
	buf_reset(&w->now_places);
	buf_reset(&w->prefixes);
	pending_release(&w->pending);
	blob_release(w->s->engine, &w->holds);
	w->hidden_count = 0;
	w->row_end = 0;
	w->after_us = 0;
	w->stale = w->is_uncounted = false;
}

/* Also what write_hidden has added, in an update that looked at its view. */
size_t write_count(const struct write *w)
{
	return w->batch.count;
}

size_t write_size(const struct write *w)
{
	return w->batch.data.size + w->moved;
}

/* Sizes and counts alone: going back is cutting off. */
struct write_mark write_mark(const struct write *w)
{
	return (struct write_mark){
		.data_size = w->batch.data.size,
		.moved_size = w->moved,
		.now_size = w->now_places.size,
		.count = w->batch.count,
		.range_count = w->batch.range_count,
		.blob_count = w->batch.blob_count,
		.hidden_count = (uint32_t)w->hidden_count,
	};
}

/* Holds stay: they keep files that nothing here refers to any more, until the
 * write is emptied. The row has to be named again. */
void write_rewind(struct write *w, struct write_mark mark)
{
	assert(mark.data_size <= w->batch.data.size);
	assert(mark.hidden_count <= w->hidden_count);
	w->batch.data.size = mark.data_size;
	w->moved = mark.moved_size;
	w->batch.count = mark.count;
	w->batch.range_count = mark.range_count;
	w->batch.blob_count = mark.blob_count;
	w->now_places.size = mark.now_size;
	w->hidden_count = mark.hidden_count;
	/* Prefixes end with that of the last column that is still noted. */
	w->prefixes.size = 0;
	if (w->hidden_count > 0)
		w->prefixes.size = w->hidden[w->hidden_count - 1].start +
				   w->hidden[w->hidden_count - 1].size;
	w->row_end = 0;
	pending_release(&w->pending);
}

/* Fails with -ERR_no_table. */
static int unknown_table(struct bytes name)
{
	return fail(ERR_no_table, "table \"%s\" not found", err_name(name));
}

int write_unknown_family(struct bytes name)
{
	return fail(ERR_no_family, "unknown family \"%s\"", err_name(name));
}

/* Takes the newest schema; what was added so far has to be checked again if it
 * is another than before. The pointer is read without schema_lock, as it is
 * only compared: the reference that w has keeps its address from being used for
 * another, and if it changes after that, the commit notices. */
static void refresh(struct write *w)
{
	if (atomic_load_explicit(&w->s->schema, memory_order_acquire) ==
	    w->schema)
		return;
	schema_put(w->schema);
	w->schema = store_schema(w->s);
	w->table = NULL;
	w->family = NULL;
	/* Records of the old schema stay; only a commit can look at them all.
	 */
	if (w->batch.count > 0)
		w->stale = true;
}

/* Sets the table of what follows. That of the row before is tried first: rows
 * of one table come one after another. */
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

/* Puts the row's prefix into w->key, to which columns are appended. */
int write_row(struct write *w, struct bytes table, struct bytes row)
{
	int err;

	w->row_end = 0;
	w->in_millis = false;
	w->earlier_ms = 0;
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

/* Puts the family's prefix behind the row's in w->key. The family of the call
 * before is tried first. */
static int begin_family(struct write *w, struct bytes name)
{
	const struct family *family = w->family;

	assert(w->row_end == 0 || w->table);
	if (w->row_end == 0)
		return fail(ERR_bad_argument, "no row was named");
	if (!family || !bytes_equal(family->name, name)) {
		family = table_family(w->table, name);
		if (!family)
			return write_unknown_family(name);
		w->family = family;
	}
	w->key.size = w->row_end;
	return key_add_part(&w->key, name);
}

/* The family's name needs no check of its size: the schema has it. */
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

/* For what sets a value, which in a family of aggregates would be taken for a
 * state. */
int write_plain_column(struct write *w, struct bytes family,
		       struct bytes qualifier)
{
	int err = write_column(w, family, qualifier);

	if (err < 0 || !family_is_aggregate(w->family))
		return err;
	return fail(ERR_type_mismatch,
		    "family \"%s\" holds aggregates, which are added to, not "
		    "set",
		    err_name(family));
}

/* Only inside an update, after a row was named. */
uint64_t write_now(const struct write *w)
{
	if (!w->table->millis && !w->in_millis)
		return w->now_us;
	return write_millis(w->now_us, w->earlier_ms);
}

void write_earlier(struct write *w, uint32_t ms)
{
	assert(w->row_end > 0);
	w->in_millis = true;
	w->earlier_ms = ms;
}

/* The clock may be read before the row's time is: that only waits longer. */
void write_follow(struct write *w)
{
	struct bytes row = bytes_of(w->key.data, w->row_end);
	uint64_t us;

	assert(w->row_end > 0);
	if (w->table->millis)
		return;
	us = recent_get(&w->s->recent, row, store_now(w->s));
	if (us > w->after_us)
		w->after_us = us;
}

uint64_t write_wait_us(const struct write *w)
{
	uint64_t next = (w->after_us / 1000 + 1) * 1000, now;

	if (w->after_us == 0)
		return 0;
	now = store_now(w->s);
	/* A clock that was set back is not waited for. */
	return next > now && next - now <= 1000 ? next - now : 0;
}

/* A time before 1970 comes as a number above INT64_MAX, and is shown as the
 * negative one it was. */
int write_check_timestamp(const struct table *table, uint64_t timestamp_us)
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

/* The limit is the store's, far below what a list of references could hold. */
int write_check_size(uint64_t size)
{
	if (size > STORE_VALUE_MAX)
		return fail(ERR_value_too_large,
			    "value has %llu bytes, at most %u are allowed",
			    (unsigned long long)size, STORE_VALUE_MAX);
	return 0;
}

/* Adds a version of the column in w->key. With STORE_NOW outside an update, the
 * timestamp is 0 until the commit, which is told its place: it ends the key,
 * which lies before the value and its size. */
static int add_version(struct write *w, uint64_t timestamp_us,
		       struct bytes value,
		       int (*add)(struct batch *b, struct bytes version_key,
				  struct bytes value))
{
	bool later = timestamp_us == STORE_NOW && w->now_us == STORE_NOW;
	size_t value_size = varint_size(value.size) + value.size;
	int err = 0;

	assert(w->key.size > w->row_end && w->row_end > 0);
	if (w->moved + w->batch.data.size > BATCH_SIZE_MAX)
		return fail(ERR_batch_too_large, "more than %u bytes",
			    BATCH_SIZE_MAX);
	if (timestamp_us == STORE_NOW)
		timestamp_us = later ? 0 : write_now(w);
	if (!later)
		err = write_check_timestamp(w->table, timestamp_us);
	if (err == 0)
		err = key_add_timestamp(&w->key, timestamp_us);
	/* A record whose place is not noted would keep its 0. */
	if (err == 0 && later)
		err = buf_reserve(&w->now_places, sizeof(uint64_t));
	if (err == 0)
		err = add(&w->batch, buf_bytes(&w->key), value);
	count_batch(w);
	if (err == 0 && later)
		err = buf_add_u64le(
			&w->now_places,
			write_note(w->batch.data.size - value_size -
					   KEY_TIMESTAMP_SIZE,
				   w->earlier_ms,
				   (w->table->millis ? WRITE_NOTE_TABLE : 0) |
					   (w->in_millis ? WRITE_NOTE_ALWAYS
							 : 0)));
	return err;
}

/* Begins a column of an aggregate family. The message is Bigtable's. */
static int aggregate_column(struct write *w, struct bytes family,
			    struct bytes qualifier)
{
	int err = write_column(w, family, qualifier);

	if (err < 0 || family_is_aggregate(w->family))
		return err;
	return fail(ERR_type_mismatch,
		    "illegal attempt to use AddToCell on non-aggregate cell: "
		    "family \"%s\" is not of an aggregate type",
		    err_name(family));
}

/* Merges the numbers into the state in sum, which starts empty. */
static int add_up(struct aggregate *sum, const int64_t *numbers, size_t count,
		  struct buf *scratch)
{
	size_t i;
	int err = 0;

	for (i = 0; i < count && err == 0; i++) {
		buf_reset(scratch);
		err = aggregate_of(sum->kind, numbers[i], scratch);
		if (err == 0)
			err = aggregate_add(sum, buf_bytes(scratch));
	}
	return err;
}

/* The numbers as a state of their own, which whoever reads merges. */
int write_add_all(struct write *w, struct bytes family, struct bytes qualifier,
		  uint64_t timestamp_us, const int64_t *numbers, size_t count)
{
	struct aggregate sum = { 0 };
	int err = aggregate_column(w, family, qualifier);

	assert(count > 0);
	if (err < 0)
		return err;
	aggregate_start(&sum, family_aggregate(w->family));
	err = add_up(&sum, numbers, count, &w->memory);
	if (err == 0)
		err = add_version(w, timestamp_us, buf_bytes(&sum.state),
				  batch_merge);
	aggregate_release(&sum);
	return err;
}

int write_add(struct write *w, struct bytes family, struct bytes qualifier,
	      uint64_t timestamp_us, int64_t number)
{
	return write_add_all(w, family, qualifier, timestamp_us, &number, 1);
}

/* A state that the caller has read from a cell of such a family, here or
 * elsewhere. */
int write_merge(struct write *w, struct bytes family, struct bytes qualifier,
		uint64_t timestamp_us, struct bytes state)
{
	int err = aggregate_column(w, family, qualifier);

	if (err == 0 && !aggregate_is_state(family_aggregate(w->family), state))
		err = fail(ERR_type_mismatch,
			   "%zu bytes are no state of the type of family "
			   "\"%s\"",
			   state.size, err_name(family));
	return err < 0 ? err : add_version(w, timestamp_us, state, batch_merge);
}

/* The hold comes before the record, so that what a record refers to cannot be
 * collected; if the record is refused, it is held for nothing until w is
 * emptied. */
int write_set_large(struct write *w, struct bytes family,
		    struct bytes qualifier, uint64_t timestamp_us,
		    struct large *value)
{
	int err = write_check_size(large_size(value));

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

/* Whether a value is written to a blob file: small ones are, too, in a write
 * that holds much, so that what it has in memory stays small. */
static bool goes_to_file(const struct write *w, size_t size)
{
	return size >= w->s->large_size ||
	       (w->batch.data.size >= BATCH_LIGHT && size >= MOVED_LEAST);
}

/* A small one counts for the limit of a request as if it were in the batch. */
static int note_moved(struct write *w, size_t size)
{
	if (size >= w->s->large_size)
		return 0;
	if (w->moved + w->batch.data.size + w->key.size + size > BATCH_SIZE_MAX)
		return fail(ERR_batch_too_large, "more than %u bytes",
			    BATCH_SIZE_MAX);
	w->moved += size;
	return 0;
}

/* A large value is written to a blob file, so all that can be wrong is told
 * before; to write_set_large it is right then. */
int write_set(struct write *w, struct bytes family, struct bytes qualifier,
	      uint64_t timestamp_us, struct bytes value)
{
	struct large *large;
	int err = write_check_size(value.size);

	if (err == 0)
		err = write_plain_column(w, family, qualifier);
	if (err < 0)
		return err;
	if (!goes_to_file(w, value.size))
		return add_version(w, timestamp_us, value, batch_put);
	if (timestamp_us != STORE_NOW)
		err = write_check_timestamp(w->table, timestamp_us);
	if (err == 0)
		err = note_moved(w, value.size);
	if (err == 0)
		err = large_make(w->s->engine, value, &large);
	if (err < 0)
		return err;
	err = write_set_large(w, family, qualifier, timestamp_us, large);
	large_put(large);
	return err;
}

/* A large value is not copied, only referred to once more. If the store has
 * collected it since the scan began, the scan still has it, and a copy is made.
 */
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
		err = scan_load(scan, cell, &value);
		if (err == 0)
			err = write_set(w, family, qualifier, timestamp_us,
					buf_bytes(&value));
		buf_release(&value);
	}
	return err;
}

/* Notes that the column in w->key loses single versions; see write_hidden. */
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
	/* It counts only once the prefix is there: what fails before leaves
	 * nothing. */
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
 * to - 1 and ends before from - 1; without from, at the end of the column. */
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

/* All of a column, or one version, which is a deletion of its own and not a
 * range: ranges cost all readers. Of a single version, to is from + 1 and no
 * multiple of 1,000, so only from is checked. A whole column needs no look for
 * hidden versions, as none stays. */
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
		err = write_check_timestamp(w->table, from_us);
	if (err == 0 && to_us > 0 && to_us != from_us + 1)
		err = write_check_timestamp(w->table, to_us);
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

/* Deletes all that begins with w->key, by one range. */
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

/* A family whose policy hides versions needs no look: none stays. */
int write_delete_family(struct write *w, struct bytes family)
{
	int err = begin_family(w, family);

	return err < 0 ? err : delete_prefixed(w);
}

/* Of all families, also of those that are not in the schema any more. */
int write_delete_row(struct write *w)
{
	if (w->row_end == 0)
		return fail(ERR_bad_argument, "no row was named");
	w->key.size = w->row_end;
	return delete_prefixed(w);
}

/* The prefix is of the key's bytes: it is escaped like a row key, and not
 * terminated. */
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

/* A range without rows, such as one that ends before it starts, deletes nothing
 * and is no error. */
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
	if (start.size == 0 && end.size == 0)
		err = table_check_drop(w->table);
	if (err == 0)
		err = key_row_range(w->table_id, start, end, &w->key, &end_key);
	if (err == 0 &&
	    bytes_compare(buf_bytes(&w->key), buf_bytes(&end_key)) < 0)
		err = batch_delete_range(&w->batch, buf_bytes(&w->key),
					 buf_bytes(&end_key));
	buf_release(&end_key);
	return err;
}
