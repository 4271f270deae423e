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
	/* The rest is for bench-time; NULL: it takes no part there. */
	/* Commits the deletion of the row, which has no cell but this. */
	void (*erase)(void *session, const struct cell_name *c);
	/* Copies the first row there is; false if there is none. */
	bool (*first)(void *session, char row[32]);
	/* Adds 1 to a number and commits it; NULL: get and put do that. */
	void (*increment)(void *session, const struct cell_name *c);
	/* The same without an answer, of another cell; NULL: there is none. */
	void (*add)(void *session, const struct cell_name *c);
	/* Of everything. */
	void (*compact)(void *db);
	/* What is to be seen, as it is, into a store that is empty; NULL: cells
	 * are alike whenever they were written. */
	void (*copy)(void *session, void *into);
};

extern const struct peer peer_tabletfs, peer_rocksdb, peer_leveldb, peer_lmdb,
	peer_sqlite;

#define BENCH_KEY_MAX 128
/* Bytes that each engine is given. */
extern size_t bench_memtable, bench_cache;
/* bench-time: cells are overwritten, so of versions one is kept; and stores do
 * what they do by themselves. */
extern bool bench_over_time;

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
/* Seconds. */
double bench_now(void);
uint64_t bench_mix(uint64_t x);
/* Value n: half of it compresses. */
void bench_value(uint64_t n, uint8_t *value, size_t size);
/* Until background work has ended: no CPU used for a while. */
void bench_settle(void);
/* Bytes of blocks of all files; *held, unless NULL, grows by those of them that
 * are behind the end of a file. */
uint64_t bench_disk(const char *directory, uint64_t *held);
/* A variable of the environment. */
uint64_t bench_number(const char *name, uint64_t otherwise);

#endif
