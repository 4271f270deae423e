#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/bench/engine/peer.h"

/*
 * This store and others as engines: the same work for each in turn, in rounds,
 * each in a process and a directory of its own.
 *
 *   bench-engine DIRECTORY     with CELLS=, ROUNDS=, ENGINES=, MEMTABLE=
 *                              (bytes) and ONLY= (part of a title)
 *
 * Prints thousands per second: min, median and max of the rounds, and the ratio
 * of our median to each of the others'. After loading and before reading, an
 * engine is given the time to finish its background work.
 */
enum work {
	LOAD_SORTED,
	LOAD_RANDOM,
	GET,
	NEWEST,
	MISSING,
	COLD,
	SCAN,
	ROWS,
	RANGES,
	SYNC_WRITES,
	SYNC_16,
	MIXED_1,
	MIXED_2,
	DISK,
	WORK_COUNT,
};

static const char *const titles[WORK_COUNT] = {
	"load, sorted",
	"load, random rows",
	"get, existing",
	"get newest version",
	"get, missing",
	"get, nothing cached",
	"full scan, cells",
	"rows only",
	"ranges of 1,000 rows",
	"fsync'd single writes",
	"fsync'd writes, 16 threads",
	"50/50 read-write, 1 thread",
	"50/50 read-write, 2 threads",
	"megabytes on disk",
};

enum {
	ROW_CELLS = 8,
	BATCH = 100,
	VALUE_SIZE = 100,
	ROUNDS_MAX = 20,
	COLD_GETS = 2000,
	THREADS_MAX = 16,
};

static uint64_t cells = 1000000;
static unsigned int rounds = 3;

static uint64_t row_count(void)
{
	return cells / ROW_CELLS;
}

/* Cell n of all; shuffled, rows come in another order. */
static void name_cell(uint64_t n, bool shuffled, struct cell_name *c)
{
	static const char *const qualifiers[ROW_CELLS] = {
		"address", "birthday", "city", "email",
		"first",   "last",     "seen", "visits",
	};
	uint64_t row = n / ROW_CELLS;
	int i;

	/* 7,919 is a prime, so no row comes twice unless it divides them. */
	if (shuffled)
		row = row * UINT64_C(7919) % row_count();
	memcpy(c->row, "user00000000000000000000", 25);
	for (i = 23; row > 0; i--, row /= 10)
		c->row[i] = (char)('0' + row % 10);
	c->family = n % ROW_CELLS < ROW_CELLS / 2 ? "activity" : "profile";
	c->qualifier = qualifiers[n % ROW_CELLS];
	c->timestamp = UINT64_C(1700000000000000) + n;
}

static void put_cell(const struct peer *peer, void *session, uint64_t n,
		     bool shuffled)
{
	uint8_t value[VALUE_SIZE];
	struct cell_name c;

	name_cell(n, shuffled, &c);
	bench_value(n, value, sizeof(value));
	peer->put(session, &c, value, sizeof(value));
}

static double load(const struct peer *peer, void *db, bool shuffled)
{
	void *session = peer->session(db);
	double began = bench_now(), took;
	uint64_t n;

	for (n = 0; n < cells; n++) {
		put_cell(peer, session, n, shuffled);
		if (n % BATCH == BATCH - 1 || n + 1 == cells)
			peer->commit(session, false);
	}
	took = bench_now() - began;
	peer->end_session(session);
	return (double)cells / took;
}

static double gets(const struct peer *peer, void *db, enum work work)
{
	void *session = peer->session(db);
	uint64_t count = work == COLD ? COLD_GETS : cells / 5, n;
	double began = bench_now(), took;

	for (n = 0; n < count; n++) {
		struct cell_name c;
		long size;

		name_cell(bench_mix(n + 1) % cells, true, &c);
		if (work == MISSING)
			c.row[4 + n % 8] = 'm';
		size = work == NEWEST ? peer->newest(session, &c)
				      : peer->get(session, &c);
		if (size != (work == MISSING ? -1 : VALUE_SIZE))
			bench_die("%s: %s: cell %s/%s:%s gives %ld", peer->name,
				  titles[work], c.row, c.family, c.qualifier,
				  size);
	}
	took = bench_now() - began;
	peer->end_session(session);
	return (double)count / took;
}

static double scans(const struct peer *peer, void *db, enum work work)
{
	void *session = peer->session(db);
	uint64_t count = 0, expected = 0, range = 1000, n;
	double began = bench_now(), took;
	struct cell_name c;

	if (work != RANGES) {
		expected = work == SCAN ? row_count() * ROW_CELLS : row_count();
		count = peer->scan(session, "", UINT64_MAX, work == ROWS);
	} else {
		if (range > row_count() / 2)
			range = row_count() / 2;
		for (n = 0; n < 100 && expected < cells; n++) {
			uint64_t row = bench_mix(n + 1) % (row_count() - range);

			name_cell(row * ROW_CELLS, false, &c);
			count += peer->scan(session, c.row, range, false);
			expected += range * ROW_CELLS;
		}
	}
	took = bench_now() - began;
	peer->end_session(session);
	if (count != expected)
		bench_die("%s: %s: %llu instead of %llu", peer->name,
			  titles[work], (unsigned long long)count,
			  (unsigned long long)expected);
	return (double)count / took;
}

/* Cells [first, first + count) of all, by one thread. */
struct part {
	const struct peer *peer;
	void *db;
	uint64_t first, count;
};

static void *sync_thread(void *context)
{
	struct part *p = context;
	void *session = p->peer->session(p->db);
	uint64_t n;

	for (n = p->first; n < p->first + p->count; n++) {
		put_cell(p->peer, session, n, true);
		p->peer->commit(session, true);
	}
	p->peer->end_session(session);
	return NULL;
}

static double sync_writes(const struct peer *peer, void *db)
{
	struct part p = { peer, db, 0, 1 };
	double began;

	sync_thread(&p);
	p.count = 500;
	began = bench_now();
	sync_thread(&p);
	return (double)p.count / (bench_now() - began);
}

static void *mixed_thread(void *context)
{
	struct part *p = context;
	void *session = p->peer->session(p->db);
	struct cell_name c;
	uint64_t n;

	for (n = p->first; n < p->first + p->count; n++) {
		uint64_t at = bench_mix(n + 1) % cells;

		if (n % 2) {
			put_cell(p->peer, session, at, true);
			p->peer->commit(session, false);
			continue;
		}
		name_cell(at, true, &c);
		if (p->peer->newest(session, &c) != VALUE_SIZE)
			bench_die("%s: no %s", p->peer->name, c.row);
	}
	p->peer->end_session(session);
	return NULL;
}

/* Operations of work a second, by threads that share count of them. */
static double by_threads(const struct peer *peer, void *db, uint64_t count,
			 void *(*work)(void *part), unsigned int threads)
{
	struct part parts[THREADS_MAX];
	pthread_t ids[THREADS_MAX];
	double began = bench_now();
	unsigned int i;

	count /= threads;
	for (i = 0; i < threads; i++) {
		parts[i] = (struct part){ peer, db, i * 2 * count, count };
		if (pthread_create(&ids[i], NULL, work, &parts[i]))
			bench_die("no thread");
	}
	for (i = 0; i < threads; i++)
		pthread_join(ids[i], NULL);
	return (double)(count * threads) / (bench_now() - began);
}

/* Makes the system forget the pages of files; false if it will not. */
static bool forget_pages(void)
{
	FILE *f;

	sync();
	f = fopen("/proc/sys/vm/drop_caches", "w");
	if (!f)
		return false;
	fputs("1\n", f);
	return fclose(f) == 0;
}

static bool wanted(enum work work)
{
	const char *only = getenv("ONLY");

	return !only || !*only || strstr(titles[work], only);
}

static void work_all(const struct peer *peer, const char *directory,
		     double *result)
{
	char path[PATH_MAX + 16];
	void *db;

	if (wanted(LOAD_SORTED)) {
		snprintf(path, sizeof(path), "%s/sorted", directory);
		mkdir(path, 0755);
		db = peer->open(path);
		result[LOAD_SORTED] = load(peer, db, false);
		peer->close(db);
	}
	snprintf(path, sizeof(path), "%s/random", directory);
	mkdir(path, 0755);
	db = peer->open(path);
	result[LOAD_RANDOM] = load(peer, db, true);
	bench_settle();
	peer->close(db);
	if (wanted(COLD)) {
		db = peer->open(path);
		bench_settle(); /* a merge that was due when it was closed */
		if (forget_pages())
			result[COLD] = gets(peer, db, COLD);
		peer->close(db);
	}
	db = peer->open(path);
	bench_settle();
	result[DISK] = (double)bench_disk(path, NULL) * 1000 / 1e6;
	if (wanted(GET))
		gets(peer, db, GET); /* warms the cache */
	if (wanted(GET))
		result[GET] = gets(peer, db, GET);
	if (wanted(NEWEST))
		result[NEWEST] = gets(peer, db, NEWEST);
	if (wanted(MISSING))
		result[MISSING] = gets(peer, db, MISSING);
	if (wanted(SCAN))
		result[SCAN] = scans(peer, db, SCAN);
	if (wanted(ROWS))
		result[ROWS] = scans(peer, db, ROWS);
	if (wanted(RANGES))
		result[RANGES] = scans(peer, db, RANGES);
	if (wanted(SYNC_WRITES))
		result[SYNC_WRITES] = sync_writes(peer, db);
	if (wanted(SYNC_16))
		result[SYNC_16] = by_threads(peer, db, 8000, sync_thread, 16);
	if (wanted(MIXED_1))
		result[MIXED_1] =
			by_threads(peer, db, cells / 5, mixed_thread, 1);
	if (wanted(MIXED_2))
		result[MIXED_2] =
			by_threads(peer, db, cells / 5, mixed_thread, 2);
	peer->close(db);
}

/* All work in a child, so that no engine finds another's memory. */
static void run(const struct peer *peer, const char *directory, double *result)
{
	int ends[2], status;
	pid_t child;

	if (mkdir(directory, 0755) < 0 || pipe(ends) < 0)
		bench_die("%s: cannot begin", directory);
	child = fork();
	if (child < 0)
		bench_die("no process");
	if (child == 0) {
		double results[WORK_COUNT] = { 0 };

		work_all(peer, directory, results);
		if (write(ends[1], results, sizeof(results)) !=
		    (ssize_t)sizeof(results))
			bench_die("no result");
		_exit(EXIT_SUCCESS);
	}
	close(ends[1]);
	if (read(ends[0], result, WORK_COUNT * sizeof(*result)) !=
		    (ssize_t)(WORK_COUNT * sizeof(*result)) ||
	    waitpid(child, &status, 0) < 0 || status != 0)
		bench_die("%s: failed", peer->name);
	close(ends[0]);
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static void print(const struct peer **peers, size_t count,
		  double results[][ROUNDS_MAX][WORK_COUNT])
{
	unsigned int work, r;
	size_t i;

	printf("\nthousands per second: min / median / max of %u rounds "
	       "(tabletfs' median / its own)\n%-28s",
	       rounds, "");
	for (i = 0; i < count; i++)
		printf(" %28s", peers[i]->name);
	putchar('\n');
	for (work = 0; work < WORK_COUNT; work++) {
		double ours = 0;

		printf("%-28s", titles[work]);
		for (i = 0; i < count; i++) {
			double v[ROUNDS_MAX], median;
			char text[64];
			int n;

			for (r = 0; r < rounds; r++)
				v[r] = results[i][r][work] / 1000;
			qsort(v, rounds, sizeof(*v), by_value);
			median = v[rounds / 2];
			n = snprintf(text, sizeof(text), "%.4g / %.4g / %.4g",
				     v[0], median, v[rounds - 1]);
			if (i == 0)
				ours = median;
			else if (median > 0)
				snprintf(text + n, sizeof(text) - (size_t)n,
					 " (%.2f)", ours / median);
			printf(" %28s", median > 0 ? text : "-");
		}
		putchar('\n');
	}
}

int main(int argc, char **argv)
{
	static const struct peer *const all[] = { &peer_tabletfs, &peer_rocksdb,
						  &peer_leveldb, &peer_lmdb,
						  &peer_sqlite };
	static double results[5][ROUNDS_MAX][WORK_COUNT];
	const char *engines = getenv("ENGINES");
	const struct peer *peers[5];
	size_t count = 0, i;
	unsigned int r;
	char path[PATH_MAX];

	if (argc != 2)
		bench_die("usage: bench-engine DIRECTORY");
	cells = bench_number("CELLS", cells);
	bench_memtable = bench_number("MEMTABLE", bench_memtable);
	rounds = (unsigned int)bench_number("ROUNDS", rounds);
	if (rounds < 1 || rounds > ROUNDS_MAX || cells < 1000)
		bench_die("ROUNDS is 1 to %d, CELLS at least 1000", ROUNDS_MAX);
	for (i = 0; i < 5; i++)
		if (!engines || !*engines || strstr(engines, all[i]->name))
			peers[count++] = all[i];
	for (r = 0; r < rounds; r++) {
		for (i = 0; i < count; i++) {
			snprintf(path, sizeof(path), "%s/%u-%s", argv[1], r,
				 peers[i]->name);
			fprintf(stderr, "round %u: %s\n", r + 1,
				peers[i]->name);
			run(peers[i], path, results[i][r]);
		}
	}
	print(peers, count, results);
	return EXIT_SUCCESS;
}
