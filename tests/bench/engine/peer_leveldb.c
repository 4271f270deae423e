#include <stdlib.h>
#include <string.h>
#include <leveldb/c.h>

#include "tests/bench/engine/peer.h"

/* It compresses with Snappy, having no LZ4. */
struct session {
	leveldb_t *db;
	leveldb_writebatch_t *batch;
	leveldb_readoptions_t *read;
	leveldb_writeoptions_t *write, *write_sync;
};

static void check(char *error)
{
	if (error)
		bench_die("leveldb: %s", error);
}

static void *open_db(const char *directory)
{
	leveldb_options_t *o = leveldb_options_create();
	char *error = NULL;
	leveldb_t *db;

	leveldb_options_set_create_if_missing(o, 1);
	leveldb_options_set_write_buffer_size(o, bench_memtable);
	leveldb_options_set_cache(o, leveldb_cache_create_lru(bench_cache));
	leveldb_options_set_filter_policy(
		o, leveldb_filterpolicy_create_bloom(10));
	db = leveldb_open(o, directory, &error);
	check(error);
	return db;
}

static void close_db(void *db)
{
	leveldb_close(db);
}

static void *new_session(void *db)
{
	struct session *s = calloc(1, sizeof(*s));

	if (!s)
		bench_die("no memory");
	s->db = db;
	s->batch = leveldb_writebatch_create();
	s->read = leveldb_readoptions_create();
	s->write = leveldb_writeoptions_create();
	s->write_sync = leveldb_writeoptions_create();
	leveldb_writeoptions_set_sync(s->write_sync, 1);
	return s;
}

static void end_session(void *session)
{
	struct session *s = session;

	leveldb_writebatch_destroy(s->batch);
	leveldb_readoptions_destroy(s->read);
	leveldb_writeoptions_destroy(s->write);
	leveldb_writeoptions_destroy(s->write_sync);
	free(s);
}

static void put(void *session, const struct cell_name *c, const void *value,
		size_t size)
{
	struct session *s = session;
	uint8_t key[BENCH_KEY_MAX];

	leveldb_writebatch_put(s->batch, (char *)key, bench_key(c, key), value,
			       size);
}

static void commit(void *session, bool sync)
{
	struct session *s = session;
	char *error = NULL;

	leveldb_write(s->db, sync ? s->write_sync : s->write, s->batch, &error);
	check(error);
	leveldb_writebatch_clear(s->batch);
}

static long get(void *session, const struct cell_name *c)
{
	struct session *s = session;
	uint8_t key[BENCH_KEY_MAX];
	char *error = NULL, *value;
	size_t size;

	value = leveldb_get(s->db, s->read, (char *)key, bench_key(c, key),
			    &size, &error);
	check(error);
	if (!value)
		return -1;
	bench_touch(value, size);
	leveldb_free(value);
	return (long)size;
}

static long newest(void *session, const struct cell_name *c)
{
	struct session *s = session;
	leveldb_iterator_t *it = leveldb_create_iterator(s->db, s->read);
	uint8_t column[BENCH_KEY_MAX];
	size_t column_size = bench_column(c, column), size;
	const char *key;
	long result = -1;

	leveldb_iter_seek(it, (char *)column, column_size);
	if (leveldb_iter_valid(it)) {
		key = leveldb_iter_key(it, &size);
		if (size > column_size && !memcmp(key, column, column_size)) {
			const char *value = leveldb_iter_value(it, &size);

			bench_touch(value, size);
			result = (long)size;
		}
	}
	leveldb_iter_destroy(it);
	return result;
}

static uint64_t scan(void *session, const char *row, uint64_t rows,
		     bool rows_only)
{
	struct session *s = session;
	leveldb_iterator_t *it = leveldb_create_iterator(s->db, s->read);
	uint8_t last[BENCH_KEY_MAX];
	size_t last_size = 0, size;
	uint64_t count = 0, seen = 0;
	const char *key, *value;

	leveldb_iter_seek(it, row, strlen(row));
	while (leveldb_iter_valid(it)) {
		key = leveldb_iter_key(it, &size);
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
			leveldb_iter_seek(it, (char *)last, last_size);
			last_size = 0;
			continue;
		}
		value = leveldb_iter_value(it, &size);
		bench_touch(value, size);
		leveldb_iter_next(it);
	}
	leveldb_iter_destroy(it);
	return count;
}

static void erase(void *session, const struct cell_name *c)
{
	struct session *s = session;
	uint8_t key[BENCH_KEY_MAX];

	leveldb_writebatch_delete(s->batch, (char *)key, bench_key(c, key));
	commit(session, false);
}

static bool first(void *session, char row[32])
{
	struct session *s = session;
	leveldb_iterator_t *it = leveldb_create_iterator(s->db, s->read);
	const char *key;
	size_t size;
	bool any;

	leveldb_iter_seek_to_first(it);
	any = leveldb_iter_valid(it);
	if (any) {
		key = leveldb_iter_key(it, &size);
		memcpy(row, key, bench_row_size(key, size));
	}
	leveldb_iter_destroy(it);
	return any;
}

static void compact(void *db)
{
	leveldb_compact_range(db, NULL, 0, NULL, 0);
}

const struct peer peer_leveldb = {
	.name = "leveldb",
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
