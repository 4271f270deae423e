#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "tests/bench/time/work.h"

/* The file beside is begun anew at so many bytes. */
#define BESIDE_MAX (64 << 20)
#define VALUE_SIZE 100
#define BATCH 100

static void name_row(uint64_t n, struct cell_name *c)
{
	*c = (struct cell_name){ .family = "activity", .qualifier = "q" };
	snprintf(c->row, sizeof(c->row), "user%016llu", (unsigned long long)n);
}

/* The same bytes as a commit has, to a file beside the store: what that meets
 * is the disk's. */
static void append(struct run *r, const struct cell_name *c, const void *value,
		   size_t size)
{
	char bytes[BENCH_KEY_MAX + 256];
	size_t key = bench_key(c, (uint8_t *)bytes);
	uint64_t start;

	memcpy(bytes + key, value, size);
	if (r->beside_at > BESIDE_MAX) {
		r->beside_at = 0;
		if (ftruncate(r->beside, 0) < 0)
			bench_die("cannot truncate the file beside");
	}
	start = meter_now_ns();
	if (pwrite(r->beside, bytes, key + size, (off_t)r->beside_at) !=
	    (ssize_t)(key + size))
		bench_die("cannot append to the file beside");
	meter_add(&r->appends, meter_now_ns() - start);
	r->beside_at += key + size;
	r->appended += key + size;
	r->given += key + size;
}

static void put(struct run *r, const struct cell_name *c, uint64_t n)
{
	uint8_t value[VALUE_SIZE];
	uint64_t start;

	bench_value(n, value, sizeof(value));
	start = meter_now_ns();
	r->peer->put(r->session, c, value, sizeof(value));
	r->peer->commit(r->session, false);
	meter_add(&r->commits, meter_now_ns() - start);
	append(r, c, value, sizeof(value));
}

static void erase(struct run *r, const struct cell_name *c)
{
	uint64_t start = meter_now_ns();

	r->peer->erase(r->session, c);
	meter_add(&r->commits, meter_now_ns() - start);
	append(r, c, "", 0);
}

/* How long a read took, in us. */
static double get(struct run *r, const struct cell_name *c, bool there)
{
	uint64_t start = meter_now_ns(), took;

	if ((r->peer->newest(r->session, c) >= 0) != there)
		bench_die("%s: %s is %sthere", r->peer->name, c->row,
			  there ? "not " : "");
	took = meter_now_ns() - start;
	meter_add(&r->reads, took);
	return (double)took / 1000;
}

static void load(struct run *r, uint64_t rows)
{
	uint8_t value[VALUE_SIZE];
	struct cell_name c;
	uint64_t n;

	for (n = 0; n < rows; n++) {
		name_row(n, &c);
		/* Values of neighbours have nothing in common. */
		bench_value(bench_mix(n), value, sizeof(value));
		r->peer->put(r->session, &c, value, sizeof(value));
		if (n % BATCH == BATCH - 1 || n + 1 == rows)
			r->peer->commit(r->session, false);
	}
}

static void begin(struct run *r)
{
	r->wrote_before = meter_written();
	r->began = bench_now();
	watch_begin(&r->watch, r->directory);
}

static void end(struct run *r)
{
	r->ended = bench_now();
	watch_end(&r->watch);
}

/* YCSB's zipfian of Gray et al., theta 0.99; ranks are scattered over rows. */
struct zipf {
	uint64_t rows;
	double zeta, alpha, eta;
};

static void zipf_init(struct zipf *z, uint64_t rows)
{
	double theta = 0.99, two = 1 + pow(0.5, theta);
	uint64_t i;

	z->rows = rows;
	z->zeta = 0;
	for (i = 1; i <= rows; i++)
		z->zeta += 1 / pow((double)i, theta);
	z->alpha = 1 / (1 - theta);
	z->eta = (1 - pow(2 / (double)rows, 1 - theta)) / (1 - two / z->zeta);
}

static uint64_t zipf_row(const struct zipf *z, uint64_t random)
{
	double u = (double)(random >> 11) / (double)(UINT64_C(1) << 53);
	double uz = u * z->zeta;
	uint64_t rank;

	if (uz < 1)
		rank = 0;
	else if (uz < 1 + pow(0.5, 0.99))
		rank = 1;
	else
		rank = (uint64_t)((double)z->rows *
				  pow(z->eta * u - z->eta + 1, z->alpha));
	return bench_mix(rank + 1) % z->rows;
}

static void overwrite(struct run *r, bool zipfian)
{
	uint64_t rows = bench_number("ROWS", 2200000), n;
	double seconds = (double)bench_number("TIME", 600);
	/* Of which bytes written and kept hardly go by how fast they went. */
	uint64_t commits = bench_number("COMMITS", 0);
	struct cell_name c;
	struct zipf z;

	zipf_init(&z, rows);
	load(r, rows);
	bench_settle();
	begin(r);
	for (n = 0; commits > 0 ? n < commits
				: n % 64 || bench_now() - r->began < seconds;
	     n++) {
		uint64_t random = bench_mix(n + 12345);

		name_row(zipfian ? zipf_row(&z, random) : random % rows, &c);
		put(r, &c, random);
	}
	end(r);
}

static void overwrite_uniform(struct run *r)
{
	overwrite(r, false);
}

static void overwrite_zipfian(struct run *r)
{
	overwrite(r, true);
}

/* When the space was given back: all but a tenth of it. */
static void delete_all(struct run *r)
{
	uint64_t rows = bench_number("DELETE_ROWS", 1500000), n, before;
	unsigned int idle = (unsigned int)bench_number("IDLE", 35);
	const struct watch_second *s = r->watch.seconds;
	struct cell_name c;
	size_t i, deleted;

	load(r, rows);
	bench_settle();
	before = bench_disk(r->directory, NULL);
	begin(r);
	for (n = 0; n < rows; n++) {
		name_row(n, &c);
		erase(r, &c);
	}
	r->ended = bench_now();
	deleted = r->watch.count;
	sleep(idle);
	watch_end(&r->watch);
	for (i = deleted; i < r->watch.count; i++)
		if (s[i].disk - s[i].held < before / 10)
			break;
	n = r->watch.count - 1;
	snprintf(r->more, sizeof(r->more),
		 "%.0f MB before, %.0f when deleted, %.0f (%.0f held) after "
		 "%u s idle; a tenth %s%zu s; resident then %.0f MiB",
		 (double)before / 1e6, (double)s[deleted].disk / 1e6,
		 (double)s[n].disk / 1e6, (double)s[n].held / 1e6, idle,
		 i == r->watch.count ? "not in " : "after ", i - deleted,
		 (double)s[n].resident / 1048576);
}

/* A row is pushed at the end, the first one popped: 100 wait. */
static void queue(struct run *r)
{
	uint64_t count = bench_number("OPERATIONS", 1000000), n;
	struct cell_name c;
	uint64_t start;

	begin(r);
	for (n = 0; n < count; n++) {
		name_row(n, &c);
		put(r, &c, n);
		if (n < 100)
			continue;
		start = meter_now_ns();
		if (!r->peer->first(r->session, c.row))
			bench_die("%s: the queue is empty", r->peer->name);
		r->peer->erase(r->session, &c);
		meter_add(&r->reads, meter_now_ns() - start);
		append(r, &c, "", 0);
	}
	end(r);
	snprintf(r->more, sizeof(r->more), "a pop is told as a read");
}

static void hot_cell(struct run *r)
{
	uint64_t count = bench_number("OPERATIONS", 1000000), n;
	struct cell_name c;

	name_row(1, &c);
	begin(r);
	for (n = 0; n < count; n++) {
		put(r, &c, n);
		if (n % 1000 == 999)
			get(r, &c, true);
	}
	end(r);
}

/* Increments with their answers, then as many without. */
static void counter(struct run *r)
{
	uint64_t count = bench_number("OPERATIONS", 1000000), n, start;
	struct cell_name c;

	name_row(1, &c);
	begin(r);
	for (n = 0; n < 2 * count; n++) {
		if (n >= count && !r->peer->add)
			break;
		if (n == count)
			c.family = "sum";
		start = meter_now_ns();
		if (n >= count)
			r->peer->add(r->session, &c);
		else if (r->peer->increment)
			r->peer->increment(r->session, &c);
		else {
			r->peer->newest(r->session, &c);
			r->peer->put(r->session, &c, &n, 8);
			r->peer->commit(r->session, false);
		}
		meter_add(&r->commits, meter_now_ns() - start);
		append(r, &c, &n, 8);
		if (n % 1000 == 999)
			get(r, &c, true);
	}
	end(r);
}

/* The same name made and removed. */
static void same_name(struct run *r)
{
	uint64_t count = bench_number("OPERATIONS", 1000000) / 5, n;
	struct cell_name c;

	name_row(1, &c);
	begin(r);
	for (n = 0; n < count; n++) {
		put(r, &c, n);
		erase(r, &c);
		get(r, &c, false);
	}
	end(r);
}

const struct work works[] = {
	{ "overwrite-uniform", overwrite_uniform, true },
	{ "overwrite-zipfian", overwrite_zipfian, true },
	{ "delete-all", delete_all, false },
	{ "queue", queue, false },
	{ "hot-cell", hot_cell, false },
	{ "counter", counter, false },
	{ "same-name", same_name, false },
};
const size_t work_count = sizeof(works) / sizeof(*works);

uint64_t work_live(const struct run *r, const char *directory)
{
	struct run fresh = { .peer = r->peer };
	uint64_t held = 0, size;

	fresh.db = r->peer->open(directory);
	fresh.session = r->peer->session(fresh.db);
	if (r->peer->copy)
		r->peer->copy(r->session, fresh.db);
	else
		load(&fresh, bench_number("ROWS", 2200000));
	r->peer->end_session(fresh.session);
	r->peer->compact(fresh.db);
	bench_settle();
	r->peer->close(fresh.db);
	size = bench_disk(directory, &held);
	return size - held;
}
