#include <stdlib.h>
#include <string.h>
#include <lmdb.h>

#include "tests/bench/engine/peer.h"

struct db {
	MDB_env *env;
	MDB_dbi dbi;
};

struct session {
	struct db *db;
	MDB_txn *write, *read; /* write only within a batch */
	MDB_cursor *cursor;    /* of read */
};

static void check(int err)
{
	if (err)
		bench_die("lmdb: %s", mdb_strerror(err));
}

static void *open_db(const char *directory)
{
	struct db *db = calloc(1, sizeof(*db));
	MDB_txn *txn;

	if (!db)
		bench_die("no memory");
	check(mdb_env_create(&db->env));
	check(mdb_env_set_mapsize(db->env, (size_t)64 << 30));
	check(mdb_env_open(db->env, directory, MDB_NOSYNC | MDB_NOTLS, 0644));
	check(mdb_txn_begin(db->env, NULL, 0, &txn));
	check(mdb_dbi_open(txn, NULL, 0, &db->dbi));
	check(mdb_txn_commit(txn));
	return db;
}

static void close_db(void *opened)
{
	struct db *db = opened;

	mdb_env_close(db->env);
	free(db);
}

static void *new_session(void *db)
{
	struct session *s = calloc(1, sizeof(*s));

	if (!s)
		bench_die("no memory");
	s->db = db;
	check(mdb_txn_begin(s->db->env, NULL, MDB_RDONLY, &s->read));
	check(mdb_cursor_open(s->read, s->db->dbi, &s->cursor));
	mdb_txn_reset(s->read);
	return s;
}

static void end_session(void *session)
{
	struct session *s = session;

	mdb_cursor_close(s->cursor);
	mdb_txn_abort(s->read);
	free(s);
}

static void put(void *session, const struct cell_name *c, const void *value,
		size_t size)
{
	struct session *s = session;
	uint8_t key[BENCH_KEY_MAX];
	MDB_val k = { bench_key(c, key), key };
	MDB_val v = { size, (void *)(uintptr_t)value };

	if (!s->write)
		check(mdb_txn_begin(s->db->env, NULL, 0, &s->write));
	check(mdb_put(s->write, s->db->dbi, &k, &v, 0));
}

static void commit(void *session, bool sync)
{
	struct session *s = session;

	check(mdb_txn_commit(s->write));
	s->write = NULL;
	if (sync)
		check(mdb_env_sync(s->db->env, 1));
}

static long get(void *session, const struct cell_name *c)
{
	struct session *s = session;
	uint8_t key[BENCH_KEY_MAX];
	MDB_val k = { bench_key(c, key), key }, v;
	long result = -1;
	int err;

	check(mdb_txn_renew(s->read));
	err = mdb_get(s->read, s->db->dbi, &k, &v);
	if (err == 0) {
		bench_touch(v.mv_data, v.mv_size);
		result = (long)v.mv_size;
	} else if (err != MDB_NOTFOUND) {
		check(err);
	}
	mdb_txn_reset(s->read);
	return result;
}

static int begin_read(struct session *s, MDB_val *k, MDB_val *v)
{
	check(mdb_txn_renew(s->read));
	check(mdb_cursor_renew(s->read, s->cursor));
	return mdb_cursor_get(s->cursor, k, v,
			      k->mv_size > 0 ? MDB_SET_RANGE : MDB_FIRST);
}

static long newest(void *session, const struct cell_name *c)
{
	struct session *s = session;
	uint8_t column[BENCH_KEY_MAX];
	size_t size = bench_column(c, column);
	MDB_val k = { size, column }, v;
	long result = -1;

	if (begin_read(s, &k, &v) == 0 && k.mv_size > size &&
	    memcmp(k.mv_data, column, size) == 0) {
		bench_touch(v.mv_data, v.mv_size);
		result = (long)v.mv_size;
	}
	mdb_txn_reset(s->read);
	return result;
}

static uint64_t scan(void *session, const char *row, uint64_t rows,
		     bool rows_only)
{
	struct session *s = session;
	MDB_val k = { strlen(row), (void *)(uintptr_t)row }, v;
	uint64_t count = 0, seen = 0;
	uint8_t last[BENCH_KEY_MAX];
	size_t last_size = 0;
	int err = begin_read(s, &k, &v);

	while (err == 0) {
		if (last_size == 0 || k.mv_size < last_size ||
		    memcmp(k.mv_data, last, last_size) != 0) {
			if (seen++ == rows)
				break;
			last_size = bench_row_size(k.mv_data, k.mv_size);
			memcpy(last, k.mv_data, last_size);
		}
		count++;
		if (rows_only) {
			last[last_size - 1] = 1;
			k = (MDB_val){ last_size, last };
			last_size = 0;
			err = mdb_cursor_get(s->cursor, &k, &v, MDB_SET_RANGE);
			continue;
		}
		bench_touch(v.mv_data, v.mv_size);
		err = mdb_cursor_get(s->cursor, &k, &v, MDB_NEXT);
	}
	if (err != 0 && err != MDB_NOTFOUND)
		check(err);
	mdb_txn_reset(s->read);
	return count;
}

const struct peer peer_lmdb = {
	.name = "lmdb",
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
