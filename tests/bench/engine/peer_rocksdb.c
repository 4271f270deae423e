#include <stdlib.h>
#include <string.h>
#include <rocksdb/c.h>

#include "tests/bench/engine/peer.h"

struct session {
	rocksdb_t *db;
	rocksdb_writebatch_t *batch;
	rocksdb_readoptions_t *read;
	rocksdb_writeoptions_t *write, *write_sync;
};

static void check(char *error)
{
	if (error)
		bench_die("rocksdb: %s", error);
}

static void *open_db(const char *directory)
{
	rocksdb_options_t *o = rocksdb_options_create();
	rocksdb_block_based_table_options_t *t =
		rocksdb_block_based_options_create();
	char *error = NULL;
	rocksdb_t *db;

	rocksdb_options_set_create_if_missing(o, 1);
	rocksdb_options_set_write_buffer_size(o, bench_memtable);
	rocksdb_options_set_compression(o, rocksdb_lz4_compression);
	rocksdb_options_increase_parallelism(o, 2);
	rocksdb_block_based_options_set_block_cache(
		t, rocksdb_cache_create_lru(bench_cache));
	rocksdb_block_based_options_set_filter_policy(
		t, rocksdb_filterpolicy_create_bloom_full(10));
	rocksdb_options_set_block_based_table_factory(o, t);
	db = rocksdb_open(o, directory, &error);
	check(error);
	return db;
}

static void close_db(void *db)
{
	rocksdb_close(db);
}

static void *new_session(void *db)
{
	struct session *s = calloc(1, sizeof(*s));

	if (!s)
		bench_die("no memory");
	s->db = db;
	s->batch = rocksdb_writebatch_create();
	s->read = rocksdb_readoptions_create();
	s->write = rocksdb_writeoptions_create();
	s->write_sync = rocksdb_writeoptions_create();
	rocksdb_writeoptions_set_sync(s->write_sync, 1);
	return s;
}

static void end_session(void *session)
{
	struct session *s = session;

	rocksdb_writebatch_destroy(s->batch);
	rocksdb_readoptions_destroy(s->read);
	rocksdb_writeoptions_destroy(s->write);
	rocksdb_writeoptions_destroy(s->write_sync);
	free(s);
}

static void put(void *session, const struct cell_name *c, const void *value,
		size_t size)
{
	struct session *s = session;
	uint8_t key[BENCH_KEY_MAX];

	rocksdb_writebatch_put(s->batch, (char *)key, bench_key(c, key), value,
			       size);
}

static void commit(void *session, bool sync)
{
	struct session *s = session;
	char *error = NULL;

	rocksdb_write(s->db, sync ? s->write_sync : s->write, s->batch, &error);
	check(error);
	rocksdb_writebatch_clear(s->batch);
}

static long get(void *session, const struct cell_name *c)
{
	struct session *s = session;
	rocksdb_pinnableslice_t *slice;
	uint8_t key[BENCH_KEY_MAX];
	char *error = NULL;
	const char *value;
	size_t size;

	slice = rocksdb_get_pinned(s->db, s->read, (char *)key,
				   bench_key(c, key), &error);
	check(error);
	if (!slice)
		return -1;
	value = rocksdb_pinnableslice_value(slice, &size);
	bench_touch(value, size);
	rocksdb_pinnableslice_destroy(slice);
	return (long)size;
}

static long newest(void *session, const struct cell_name *c)
{
	struct session *s = session;
	rocksdb_iterator_t *it = rocksdb_create_iterator(s->db, s->read);
	uint8_t column[BENCH_KEY_MAX];
	size_t column_size = bench_column(c, column), size;
	const char *key;
	long result = -1;

	rocksdb_iter_seek(it, (char *)column, column_size);
	if (rocksdb_iter_valid(it)) {
		key = rocksdb_iter_key(it, &size);
		if (size > column_size && !memcmp(key, column, column_size)) {
			const char *value = rocksdb_iter_value(it, &size);

			bench_touch(value, size);
			result = (long)size;
		}
	}
	rocksdb_iter_destroy(it);
	return result;
}

static uint64_t scan(void *session, const char *row, uint64_t rows,
		     bool rows_only)
{
	struct session *s = session;
	rocksdb_iterator_t *it = rocksdb_create_iterator(s->db, s->read);
	uint8_t last[BENCH_KEY_MAX];
	size_t last_size = 0, size;
	uint64_t count = 0, seen = 0;
	const char *key, *value;

	rocksdb_iter_seek(it, row, strlen(row));
	while (rocksdb_iter_valid(it)) {
		key = rocksdb_iter_key(it, &size);
		if (last_size == 0 || size < last_size ||
		    memcmp(key, last, last_size) != 0) {
			if (seen++ == rows)
				break;
			last_size = bench_row_size(key, size);
			memcpy(last, key, last_size);
		}
		count++;
		if (rows_only) {
			last[last_size - 1] = 1;
			rocksdb_iter_seek(it, (char *)last, last_size);
			last_size = 0;
			continue;
		}
		value = rocksdb_iter_value(it, &size);
		bench_touch(value, size);
		rocksdb_iter_next(it);
	}
	rocksdb_iter_destroy(it);
	return count;
}

static void erase(void *session, const struct cell_name *c)
{
	struct session *s = session;
	uint8_t key[BENCH_KEY_MAX];

	rocksdb_writebatch_delete(s->batch, (char *)key, bench_key(c, key));
	commit(session, false);
}

static bool first(void *session, char row[32])
{
	struct session *s = session;
	rocksdb_iterator_t *it = rocksdb_create_iterator(s->db, s->read);
	const char *key;
	size_t size;
	bool any;

	rocksdb_iter_seek_to_first(it);
	any = rocksdb_iter_valid(it);
	if (any) {
		key = rocksdb_iter_key(it, &size);
		memcpy(row, key, bench_row_size(key, size));
	}
	rocksdb_iter_destroy(it);
	return any;
}

static void compact(void *db)
{
	rocksdb_compact_range(db, NULL, 0, NULL, 0);
}

const struct peer peer_rocksdb = {
	.name = "rocksdb",
	.open = open_db,
	.close = close_db,
	.session = new_session,
	.end_session = end_session,
	.put = put,
	.commit = commit,
	.get = get,
	.newest = newest,
	.scan = scan,
	.erase = erase,
	.first = first,
	.compact = compact,
};
