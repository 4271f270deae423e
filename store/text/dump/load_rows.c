#include <assert.h>

#include "store/text/dump/load_rows.h"

/* What is collected is handed on at so many bytes or cells, well below what a
 * commit may have. */
#define BATCH_SIZE ((size_t)8 << 20)
#define BATCH_COUNT (STORE_MUTATIONS_MAX / 2)

void load_rows_release(struct load_rows *r)
{
	store_bulk_free(r->load);
	write_free(r->sets);
	write_free(r->merges);
	large_writer_free(r->writer);
	buf_release(&r->table);
	buf_release(&r->row);
	buf_release(&r->family);
	buf_release(&r->qualifier);
	buf_release(&r->value);
}

/* Hands on what was collected. */
static int hand_on(struct load_rows *r)
{
	int err = 0;

	if (r->sets && write_count(r->sets) > 0 && r->commits) {
		err = store_commit(r->store, r->sets, false);
	} else if (r->sets && write_count(r->sets) > 0) {
		if (!r->load)
			err = store_bulk_begin(r->store, &r->load);
		if (!err)
			err = store_bulk_add(r->load, r->sets);
		assert(err != 0);
	}
	if (err >= 0 && r->merges && write_count(r->merges) > 0)
		err = store_commit_more(r->store, r->merges);
	r->sets_named = r->merges_named = false;
	return err < 0 ? err : 0;
}

int load_rows_flush(struct load_rows *r)
{
	int err = hand_on(r);

	if (!err && r->load) {
		err = store_bulk_publish(r->load);
		store_bulk_free(r->load);
		r->load = NULL;
	}
	return err;
}

int load_rows_table(struct load_rows *r, struct bytes table)
{
	int err = load_rows_flush(r);

	return err < 0 ? err : buf_set(&r->table, table);
}

int load_rows_row(struct load_rows *r, struct bytes row)
{
	r->sets_named = r->merges_named = false;
	return buf_set(&r->row, row);
}

/* By its name the table was found; is it the one that is meant? */
static int check_table(const struct load_rows *r, const struct write *w)
{
	return r->table_id == 0 || write_table_id(w) == r->table_id
		       ? 0
		       : fail(ERR_no_table,
			      "table \"%s\" was dropped meanwhile, and another "
			      "has its name",
			      err_name(buf_bytes(&r->table)));
}

/* The write that takes the next cell, with its row named; or an error. */
static int collect(struct load_rows *r, struct write **out)
{
	struct write **w = r->aggregate ? &r->merges : &r->sets;
	bool *named = r->aggregate ? &r->merges_named : &r->sets_named;
	int err = *w ? 0 : write_new(r->store, w);

	if (!err &&
	    (write_size(*w) >= BATCH_SIZE || write_count(*w) >= BATCH_COUNT))
		err = hand_on(r);
	if (!err && !*named)
		err = write_row(*w, buf_bytes(&r->table), buf_bytes(&r->row));
	if (!err)
		err = check_table(r, *w);
	*named = !err;
	*out = *w;
	return err;
}

int load_rows_cell(struct load_rows *r, uint64_t timestamp_us,
		   struct bytes value)
{
	struct write *w;
	int err = collect(r, &w);

	if (err < 0)
		return err;
	return (r->aggregate ? write_merge : write_set)(
		w, buf_bytes(&r->family), buf_bytes(&r->qualifier),
		timestamp_us, value);
}

int load_rows_begin(struct load_rows *r, uint64_t timestamp_us, uint64_t size)
{
	assert(r->have == r->size && size > 0 && !r->writer);
	r->timestamp_us = timestamp_us;
	r->size = size;
	r->have = 0;
	r->chunk = 0;
	buf_reset(&r->value);
	if (r->aggregate || size < store_large_size(r->store))
		return 0;
	return store_large_new(r->store, NULL, size, &r->writer);
}

/* All of a large value is written but the last chunk, which r->value is. */
static int finish_large(struct load_rows *r)
{
	struct large *large;
	struct write *w;
	int err = large_writer_put(r->writer, r->chunk, buf_bytes(&r->value));

	if (err < 0)
		return err;
	large_writer_finish(r->writer, &large);
	r->writer = NULL;
	err = collect(r, &w);
	if (!err)
		err = write_set_large(w, buf_bytes(&r->family),
				      buf_bytes(&r->qualifier), r->timestamp_us,
				      large);
	large_put(large);
	return err;
}

/* Adds part of a large value, and writes each chunk that is whole and not the
 * last. */
static int add_large(struct load_rows *r, struct bytes part)
{
	size_t chunk = large_writer_chunk_size(r->writer);
	int err = 0;

	while (!err && part.size > 0) {
		size_t n = chunk - r->value.size;

		if (n == 0) {
			err = large_writer_put(r->writer, r->chunk++,
					       buf_bytes(&r->value));
			buf_reset(&r->value);
			continue;
		}
		if (n > part.size)
			n = part.size;
		err = buf_add(&r->value, part.data, n);
		part = bytes_after(part, n);
	}
	return err;
}

int load_rows_part(struct load_rows *r, struct bytes part)
{
	int err;

	assert(part.size <= r->size - r->have);
	r->have += part.size;
	err = r->writer ? add_large(r, part) : buf_add_bytes(&r->value, part);
	if (err < 0 || r->have < r->size)
		return err;
	return r->writer ? finish_large(r)
			 : load_rows_cell(r, r->timestamp_us,
					  buf_bytes(&r->value));
}
