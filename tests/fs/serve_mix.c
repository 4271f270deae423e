#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "store/base/coding.h"
#include "tests/sim/wire_calls.h"

/*
 * What short calls wait for behind long ones, on one connection:
 *
 *	serve_mix ADDRESS PID ROWS MIB STALLED FLOOD
 *
 * The server is process PID. Fills a table with ROWS rows of 1 KiB, then makes
 * gets and pings one after another: alone; beside a scan whose filter passes
 * nothing and a MutateRows of MIB MiB; then gives up scans, and sees when the
 * server works no more on them; and begins STALLED reads of all of the table of
 * which nothing is taken, and sees by how much the server has grown; and last
 * FLOOD more whose requests are small and decode to much. A line for each
 * figure; times are milliseconds.
 */
#define VALUE 1024
#define BATCH 5000
#define SAMPLES 1000000
#define ROUNDS 20
#define KEYS 200000

static struct grpc_client client;
static char name[256];
static const char *pid;
static uint8_t value[VALUE];

static double now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static void must(bool good, const char *what)
{
	if (good)
		return;
	fprintf(stderr, "serve_mix: %s\n", what);
	exit(1);
}

/* What was measured of one thing. */
struct samples {
	double *at;
	size_t count;
};

static void add(struct samples *s, double sample)
{
	if (!s->at)
		s->at = malloc(SAMPLES * sizeof(double));
	must(s->at && s->count < SAMPLES, "no room for samples");
	s->at[s->count++] = sample;
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static void print_samples(const char *what, struct samples *s)
{
	must(s->count > 0, "nothing was measured");
	qsort(s->at, s->count, sizeof(double), compare);
	printf("%s p50 %.2f p99 %.2f max %.2f of %zu\n", what,
	       s->at[s->count / 2], s->at[s->count - 1 - s->count / 100],
	       s->at[s->count - 1], s->count);
	free(s->at);
	*s = (struct samples){ NULL, 0 };
}

/* Entries with keys PREFIXnumber from first on. */
static void start_batch(struct wire_call *w, const char *prefix, size_t first,
			size_t count)
{
	struct proto_mutate_entry *entries = calloc(count, sizeof(*entries));
	struct proto_set_cell set = { BYTES_LITERAL("f"), BYTES_LITERAL("q"),
				      1000, bytes_of(value, VALUE), 0 };
	struct proto_mutation mutation = {
		.mutation_case = nr_mutation_set_cell,
		.set_cell = &set,
	};
	struct proto_mutate_rows q = { .table_name = bytes_string(name),
				       .entries = { entries, count } };
	char *keys = calloc(count, 32);
	size_t i;

	must(entries && keys, "no memory");
	for (i = 0; i < count; i++) {
		snprintf(keys + 32 * i, 32, "%s%09zu", prefix, first + i);
		entries[i].row_key = bytes_string(keys + 32 * i);
		entries[i].mutations.at = &mutation;
		entries[i].mutations.count = 1;
	}
	wire_start(&client, w, WIRE_DATA "MutateRows", &proto_mutate_rows_type,
		   &q);
	free(entries);
	free(keys);
}

static void fill(size_t rows)
{
	struct wire_call w;
	size_t i;

	for (i = 0; i < rows; i += BATCH) {
		start_batch(&w, "row", i, rows - i < BATCH ? rows - i : BATCH);
		must(grpc_wait(&client, &w.call) && w.call.status == 0,
		     "a batch was not written");
		wire_end(&w);
	}
}

static void start_scan(struct grpc_client *c, struct wire_call *w, bool none)
{
	struct proto_row_filter filter = {
		.filter_case = nr_row_filter_value_regex_filter,
		.value_regex_filter = BYTES_LITERAL("nothing"),
	};
	struct proto_read_rows q = { .table_name = bytes_string(name),
				     .filter = none ? &filter : NULL };

	wire_start(c, w, WIRE_DATA "ReadRows", &proto_read_rows_type, &q);
}

/* A get of a row, and a ping with it: both times. */
static void get_one(size_t row, struct samples *gets, struct samples *pings)
{
	char key[32];
	struct bytes keys;
	struct proto_row_set set = { .row_keys = { &keys, 1 } };
	struct proto_read_rows q = { .table_name = bytes_string(name),
				     .rows = &set };
	unsigned int pongs = client.pongs;
	double start = now_ms();
	struct wire_call w;
	bool ponged = false;

	snprintf(key, sizeof(key), "row%09zu", row);
	keys = bytes_string(key);
	wire_start(&client, &w, WIRE_DATA "ReadRows", &proto_read_rows_type,
		   &q);
	grpc_ping(&client);
	while (!w.call.closed || !ponged) {
		must(!client.gone && now_ms() < start + 120000, "no answer");
		(void)grpc_turn(&client, w.call.closed && ponged ? 0 : 100);
		if (!ponged && client.pongs > pongs) {
			ponged = true;
			add(pings, now_ms() - start);
		}
		if (w.call.closed && w.call.messages) {
			add(gets, now_ms() - start);
			w.call.messages = 0;
		}
	}
	must(w.call.status == 0, "a get failed");
	wire_end(&w);
}

static void measure_alone(size_t rows)
{
	struct samples gets = { NULL, 0 }, pings = { NULL, 0 };
	size_t i;

	for (i = 0; i < 1000; i++)
		get_one(i * 7919 % rows, &gets, &pings);
	print_samples("alone get", &gets);
	print_samples("alone ping", &pings);
}

/* The scan begins again while the write goes on. */
static void measure_beside(size_t rows, size_t mib)
{
	struct samples gets = { NULL, 0 }, pings = { NULL, 0 };
	struct wire_call scan, bulk;
	double start = now_ms();
	unsigned int scans = 0;
	size_t i;

	start_scan(&client, &scan, true);
	start_batch(&bulk, "bulk", 0, mib << 20 >> 10);
	for (i = 0; i < 200 || !bulk.call.closed; i++) {
		get_one(i * 7919 % rows, &gets, &pings);
		if (!scan.call.closed)
			continue;
		must(scan.call.status == 0, "a scan failed");
		wire_end(&scan);
		start_scan(&client, &scan, true);
		scans++;
	}
	must(bulk.call.status == 0, "the write failed");
	grpc_cancel(&client, &scan.call);
	while (!scan.call.closed)
		(void)grpc_turn(&client, 10);
	printf("beside %u scans and %zu MiB in %.0f\n", scans, mib,
	       now_ms() - start);
	print_samples("beside get", &gets);
	print_samples("beside ping", &pings);
	wire_end(&bulk);
	wire_end(&scan);
}

/* What all threads of the server have had of the processors. */
static double cpu_ms(void)
{
	char path[512];
	unsigned long long ns;
	struct dirent *e;
	double sum = 0;
	FILE *f;
	DIR *d;

	snprintf(path, sizeof(path), "/proc/%s/task", pid);
	d = opendir(path);
	must(d != NULL, "there is no such process");
	while ((e = readdir(d))) {
		snprintf(path, sizeof(path), "/proc/%s/task/%s/schedstat", pid,
			 e->d_name);
		f = e->d_name[0] == '.' ? NULL : fopen(path, "r");
		if (f && fscanf(f, "%llu", &ns) == 1)
			sum += (double)ns / 1e6;
		if (f)
			fclose(f);
	}
	closedir(d);
	return sum;
}

/* As long as it uses half of one there is work on scans, of which four run. */
static void measure_cancel(void)
{
	struct samples cancels = { NULL, 0 };
	struct wire_call scans[4];
	double start, before, last, busy;
	unsigned int i, j;

	for (i = 0; i < ROUNDS; i++) {
		for (j = 0; j < 4; j++)
			start_scan(&client, &scans[j], true);
		for (j = 0; j < 20; j++)
			(void)grpc_turn(&client, 1);
		for (j = 0; j < 4; j++)
			if (!scans[j].call.closed)
				grpc_cancel(&client, &scans[j].call);
		start = busy = now_ms();
		(void)grpc_turn(&client, 0);
		/* Work that comes after a rest is no call's: the heap is given
		 * back once a second. */
		for (before = cpu_ms(); now_ms() < busy + 30; before = last) {
			usleep(2000);
			last = cpu_ms();
			if (last - before > 1)
				busy = now_ms();
		}
		add(&cancels, busy - start);
		for (j = 0; j < 4; j++) {
			while (!scans[j].call.closed)
				(void)grpc_turn(&client, 10);
			wire_end(&scans[j]);
		}
	}
	print_samples("cancel", &cancels);
}

static size_t rss_kib(void)
{
	char line[256];
	size_t kib = 0;
	FILE *f;

	snprintf(line, sizeof(line), "/proc/%s/status", pid);
	f = fopen(line, "r");
	must(f != NULL, "there is no such process");
	while (fgets(line, sizeof(line), f))
		if (sscanf(line, "RssAnon: %zu", &kib) == 1)
			break;
	fclose(f);
	return kib;
}

static void measure_stalled(const char *address, unsigned int count)
{
	struct grpc_client *clients = calloc(count, sizeof(*clients));
	struct wire_call *calls = calloc(count, sizeof(*calls));
	unsigned int i, turn;
	size_t before;

	must(clients && calls, "no memory");
	/* What was freed is given back by the second look from now. */
	usleep(2500000);
	before = rss_kib();
	for (i = 0; i < count; i++) {
		grpc_open(&clients[i], address);
		clients[i].stalled = true;
		start_scan(&clients[i], &calls[i], false);
	}
	/* Three seconds: each has been told to rest. */
	for (turn = 0; turn < 30; turn++) {
		for (i = 0; i < count; i++)
			(void)grpc_turn(&clients[i], 0);
		usleep(100000);
	}
	printf("stalled KiB each %zd of %u\n",
	       ((ssize_t)rss_kib() - (ssize_t)before) / (ssize_t)count, count);
	for (i = 0; i < count; i++) {
		grpc_close(&clients[i]);
		wire_end(&calls[i]);
	}
	free(clients);
	free(calls);
}

/* Reads of so many keys, most of which nobody has, that are not taken: with the
 * keys each has some twenty MiB. Others go on meanwhile. */
static void measure_flood(const char *address, unsigned int count, size_t rows)
{
	struct wire_call *calls = calloc(count, sizeof(*calls));
	struct bytes *keys = calloc(KEYS, sizeof(*keys));
	char *text = calloc(KEYS, 8);
	struct proto_row_set set = { .row_keys = { keys, KEYS },
				     .row_ranges = { NULL, 0 } };
	struct proto_row_range all = { .start_key_case = 0 };
	struct proto_read_rows q = { .table_name = bytes_string(name),
				     .rows = &set };
	struct samples gets = { NULL, 0 }, pings = { NULL, 0 };
	size_t before = rss_kib(), i;
	struct grpc_client flood;
	struct wire_call bulk;
	double start;

	must(calls && keys && text, "no memory");
	set.row_ranges.at = &all;
	set.row_ranges.count = 1;
	for (i = 0; i < KEYS; i++) {
		snprintf(text + 8 * i, 8, "%zx", i);
		keys[i] = bytes_string(text + 8 * i);
	}
	grpc_open(&flood, address);
	flood.stalled = true;
	for (i = 0; i < count; i++)
		wire_start(&flood, &calls[i], WIRE_DATA "ReadRows",
			   &proto_read_rows_type, &q);
	start = now_ms();
	for (i = 0; now_ms() < start + 3000; i++) {
		(void)grpc_turn(&flood, 0);
		get_one(i * 7919 % rows, &gets, &pings);
	}
	start = now_ms();
	start_batch(&bulk, "flood", 0, 4000);
	must(grpc_wait(&client, &bulk.call) && bulk.call.status == 0,
	     "a write beside a flood was not done");
	printf("flood write of 4 MiB %.0f\n", now_ms() - start);
	wire_end(&bulk);
	printf("flood KiB %zd of %u\n", (ssize_t)rss_kib() - (ssize_t)before,
	       count);
	print_samples("flood get", &gets);
	print_samples("flood ping", &pings);
	grpc_close(&flood);
	for (i = 0; i < count; i++)
		wire_end(&calls[i]);
	free(calls);
	free(keys);
	free(text);
}

/* A check of 100,000 mutations, which are taken apart and not done. */
static void start_check(struct wire_call *w)
{
	enum { COUNT = 100000 };
	static struct proto_set_cell set;
	static struct proto_mutation many[COUNT];
	static struct proto_row_filter none = {
		.filter_case = nr_row_filter_block_all_filter,
		.block_all_filter = true,
	};
	struct proto_check_and_mutate_row q = {
		.table_name = bytes_string(name),
		.row_key = bytes_string("rest"),
		.predicate_filter = &none,
		.true_mutations = { many, COUNT },
		.false_mutations = { many, 1 },
	};
	size_t i;

	set.family_name = bytes_string("f");
	set.column_qualifier = bytes_string("q");
	set.value = bytes_string("v");
	for (i = 0; i < COUNT; i++) {
		many[i].mutation_case = nr_mutation_set_cell;
		many[i].set_cell = &set;
	}
	wire_start(&client, w, WIRE_DATA "CheckAndMutateRow",
		   &proto_check_and_mutate_row_type, &q);
}

/* As long as the background needs for it on a machine that is SLOW. */
static void rest(unsigned int seconds)
{
	const char *slow = getenv("SLOW");
	int times = slow ? atoi(slow) : 1;

	sleep(seconds * (unsigned int)(times > 1 ? times : 1));
}

/* What stays in memory of large calls, some seconds after they ended. */
static void measure_rest(void)
{
	enum { AT_ONCE = 8, TIMES = 3 };
	struct wire_call calls[AT_ONCE];
	size_t before, i, k;

	/* What was written is in files then. */
	rest(3);
	before = rss_kib();
	for (k = 0; k < TIMES; k++) {
		for (i = 0; i < AT_ONCE; i++)
			start_check(&calls[i]);
		for (i = 0; i < AT_ONCE; i++) {
			must(grpc_wait(&client, &calls[i].call) &&
				     calls[i].call.status == 0,
			     "a check was not done");
			wire_end(&calls[i]);
		}
	}
	printf("rest at once KiB %zd\n", (ssize_t)rss_kib() - (ssize_t)before);
	rest(4);
	printf("rest later KiB %zd\n", (ssize_t)rss_kib() - (ssize_t)before);
}

int main(int argc, char **argv)
{
	size_t rows, i;

	if (argc != 7)
		return 2;
	pid = argv[2];
	rows = strtoull(argv[3], NULL, 10);
	wire_table_name(name, "mix");
	/* What does not compress, nor match. */
	for (i = 0; i < VALUE; i++)
		value[i] = (uint8_t)(i * i * 31 + i / 7 * 17 + rand() % 256);
	grpc_open(&client, argv[1]);
	must(wire_create(&client, "mix") == 0, "no table");
	fill(rows);
	measure_rest();
	measure_alone(rows);
	measure_beside(rows, strtoull(argv[4], NULL, 10));
	measure_cancel();
	measure_stalled(argv[1], (unsigned int)atoi(argv[5]));
	measure_flood(argv[1], (unsigned int)atoi(argv[6]), rows);
	grpc_close(&client);
	return 0;
}
