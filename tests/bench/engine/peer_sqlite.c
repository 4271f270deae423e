#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sqlite3.h>

#include "tests/bench/engine/peer.h"

/* A connection for each thread. */
struct session {
	sqlite3 *db;
	sqlite3_stmt *insert, *get, *newest, *scan, *begin, *commit;
	bool open; /* a transaction is */
	int synchronous;
};

struct db {
	char path[512];
};

static void check(sqlite3 *db, int err)
{
	if (err != SQLITE_OK && err != SQLITE_DONE && err != SQLITE_ROW)
		bench_die("sqlite: %s", sqlite3_errmsg(db));
}

static void run(sqlite3 *db, const char *sql)
{
	check(db, sqlite3_exec(db, sql, NULL, NULL, NULL));
}

static sqlite3_stmt *prepare(sqlite3 *db, const char *sql)
{
	sqlite3_stmt *statement;

	check(db, sqlite3_prepare_v2(db, sql, -1, &statement, NULL));
	return statement;
}

static sqlite3 *connect(const struct db *db)
{
	sqlite3 *connection;
	char cache[64];

	if (sqlite3_open(db->path, &connection) != SQLITE_OK)
		bench_die("sqlite: cannot open %s", db->path);
	sqlite3_busy_timeout(connection, 60000);
	snprintf(cache, sizeof(cache), "pragma cache_size=-%zu",
		 bench_cache >> 10);
	run(connection, cache);
	run(connection, "pragma journal_mode=wal");
	run(connection, "pragma synchronous=off");
	return connection;
}

static void *open_db(const char *directory)
{
	struct db *db = calloc(1, sizeof(*db));
	sqlite3 *connection;

	if (!db)
		bench_die("no memory");
	snprintf(db->path, sizeof(db->path), "%s/db", directory);
	connection = connect(db);
	run(connection, "create table if not exists cells(k blob primary key, "
			"v blob) without rowid");
	sqlite3_close(connection);
	return db;
}

static void close_db(void *db)
{
	free(db);
}

static void *new_session(void *db)
{
	struct session *s = calloc(1, sizeof(*s));

	if (!s)
		bench_die("no memory");
	s->db = connect(db);
	s->insert = prepare(s->db, "insert or replace into cells values(?,?)");
	s->get = prepare(s->db, "select v from cells where k=?");
	s->newest = prepare(
		s->db, "select k,v from cells where k>=? order by k limit 1");
	s->scan = prepare(s->db, "select k,v from cells where k>=? order by k");
	s->begin = prepare(s->db, "begin immediate");
	s->commit = prepare(s->db, "commit");
	return s;
}

static void end_session(void *session)
{
	struct session *s = session;
	sqlite3_stmt *all[] = { s->insert, s->get,   s->newest,
				s->scan,   s->begin, s->commit };
	size_t i;

	for (i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		sqlite3_finalize(all[i]);
	sqlite3_close(s->db);
	free(s);
}

static void step(struct session *s, sqlite3_stmt *statement)
{
	check(s->db, sqlite3_step(statement));
	sqlite3_reset(statement);
}

static void put(void *session, const struct cell_name *c, const void *value,
		size_t size)
{
	struct session *s = session;
	uint8_t key[BENCH_KEY_MAX];
	size_t key_size = bench_key(c, key);

	if (!s->open)
		step(s, s->begin);
	s->open = true;
	sqlite3_bind_blob(s->insert, 1, key, (int)key_size, SQLITE_STATIC);
	sqlite3_bind_blob(s->insert, 2, value, (int)size, SQLITE_STATIC);
	step(s, s->insert);
}

static void commit(void *session, bool sync)
{
	struct session *s = session;

	step(s, s->commit);
	s->open = false;
	/* There is no sync of one commit alone, so it is for the next. */
	if (sync && !s->synchronous) {
		run(s->db, "pragma synchronous=full");
		s->synchronous = 1;
	}
}

static long get(void *session, const struct cell_name *c)
{
	struct session *s = session;
	uint8_t key[BENCH_KEY_MAX];
	long result = -1;

	sqlite3_bind_blob(s->get, 1, key, (int)bench_key(c, key),
			  SQLITE_STATIC);
	if (sqlite3_step(s->get) == SQLITE_ROW) {
		result = sqlite3_column_bytes(s->get, 0);
		bench_touch(sqlite3_column_blob(s->get, 0), (size_t)result);
	}
	sqlite3_reset(s->get);
	return result;
}

static long newest(void *session, const struct cell_name *c)
{
	struct session *s = session;
	uint8_t column[BENCH_KEY_MAX];
	size_t size = bench_column(c, column);
	long result = -1;

	sqlite3_bind_blob(s->newest, 1, column, (int)size, SQLITE_STATIC);
	if (sqlite3_step(s->newest) == SQLITE_ROW &&
	    (size_t)sqlite3_column_bytes(s->newest, 0) > size &&
	    !memcmp(sqlite3_column_blob(s->newest, 0), column, size)) {
		result = sqlite3_column_bytes(s->newest, 1);
		bench_touch(sqlite3_column_blob(s->newest, 1), (size_t)result);
	}
	sqlite3_reset(s->newest);
	return result;
}

static bool seek(struct session *s, const void *key, size_t size)
{
	sqlite3_reset(s->scan);
	sqlite3_bind_blob(s->scan, 1, size ? key : "", (int)size,
			  SQLITE_STATIC);
	return sqlite3_step(s->scan) == SQLITE_ROW;
}

static uint64_t scan(void *session, const char *row, uint64_t rows,
		     bool rows_only)
{
	struct session *s = session;
	uint64_t count = 0, seen = 0;
	uint8_t last[BENCH_KEY_MAX];
	size_t last_size = 0;
	bool more = seek(s, row, strlen(row));

	while (more) {
		const void *key = sqlite3_column_blob(s->scan, 0);
		size_t size = (size_t)sqlite3_column_bytes(s->scan, 0);

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
			more = seek(s, last, last_size);
			last_size = 0;
			continue;
		}
		bench_touch(sqlite3_column_blob(s->scan, 1),
			    (size_t)sqlite3_column_bytes(s->scan, 1));
		more = sqlite3_step(s->scan) == SQLITE_ROW;
	}
	sqlite3_reset(s->scan);
	return count;
}

const struct peer peer_sqlite = {
	.name = "sqlite",
	.open = open_db,
	.close = close_db,
	.session = new_session,
	.end_session = end_session,
	.put = put,
	.commit = commit,
	.get = get,
	.newest = newest,
	.scan = scan,
};
