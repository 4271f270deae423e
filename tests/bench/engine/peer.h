#ifndef TESTS_BENCH_ENGINE_PEER_H
#define TESTS_BENCH_ENGINE_PEER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * One store under test. Cells are (row, family, qualifier, timestamp); what has
 * no such thing gets them as a key that sorts alike: bench_key. Whatever fails
 * ends the program, since there is no result then.
 */
struct cell_name {
	char row[32];
	const char *family;
	const char *qualifier;
	uint64_t timestamp;
};

struct peer {
	const char *name;
	void *(*open)(const char *directory);
	void (*close)(void *db);
	/* What one thread needs of db for its calls. */
	void *(*session)(void *db);
	void (*end_session)(void *session);
	/* Cells of a batch; commit writes them. */
	void (*put)(void *session, const struct cell_name *c, const void *value,
		    size_t size);
	void (*commit)(void *session, bool sync);
	/* The value's size, or -1 if there is no such cell. */
	long (*get)(void *session, const struct cell_name *c);
	long (*newest)(void *session, const struct cell_name *c);
	/* From the first row at or after row (all, if empty), at most so many
	 * rows; how many cells were read, or of rows_only how many rows. */
	uint64_t (*scan)(void *session, const char *row, uint64_t rows,
			 bool rows_only);
};

extern const struct peer peer_tabletfs, peer_rocksdb, peer_leveldb, peer_lmdb,
	peer_sqlite;

#define BENCH_KEY_MAX 128
#define BENCH_CACHE (256 << 20)
extern size_t bench_memtable;

/* row 00 family 00 qualifier 00 ~timestamp; returns the size. */
size_t bench_key(const struct cell_name *c, uint8_t *key);
/* That up to the timestamp. */
size_t bench_column(const struct cell_name *c, uint8_t *key);
/* How much of key is its row, with the zero. */
size_t bench_row_size(const void *key, size_t size);

__attribute__((noreturn, format(printf, 1, 2))) void bench_die(const char *fmt,
							       ...);
/* So that the reading of values is not left out. */
void bench_touch(const void *value, size_t size);

#endif
