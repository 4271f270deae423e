#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "store/engine/run/dead.h"
#include "store/engine/run/step.h"
#include "store/model/model.h"
#include "tests/sim/volume_mem.h"
#include "tests/soak/soak.h"

const char *const soak_figure_names[SOAK_FIGURES] = {
	"space",   "quiet",  "files", "memory",
	"handles", "commit", "probe", "tombs",
};

void soak_fail(struct soak *k, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	vsnprintf(k->problem, sizeof(k->problem), fmt, args);
	va_end(args);
	longjmp(k->failed, 1);
}

void soak_must(struct soak *k, const char *what, int err)
{
	if (err < 0)
		soak_fail(k, "%s: %s: %s", what, err_text(err), err_detail());
}

static uint64_t real_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000 + (uint64_t)t.tv_nsec / 1000;
}

uint64_t soak_now(struct soak *k)
{
	return k->simulated ? k->now_us : clock_now(&clock_real);
}

static uint64_t simulated_now(void *context)
{
	return ((struct soak *)context)->now_us;
}

void soak_slot(struct soak *k, uint64_t slot, uint32_t size)
{
	uint32_t *s = &k->sizes[slot % SOAK_SLOTS];

	if (*s) {
		k->live -= *s - 1 + SOAK_CELL;
		k->cells--;
	}
	*s = size + 1;
	k->stamps[slot % SOAK_SLOTS] = soak_now(k);
	if (size == SOAK_GONE)
		return;
	k->live += size + SOAK_CELL;
	k->written += size + SOAK_CELL;
	k->cells_written++;
	k->cells++;
}

struct bytes soak_value(struct soak *k, uint32_t size)
{
	static uint64_t data[(1 << 20) / 8];
	uint32_t i;

	for (i = 0; i <= size / 8; i++)
		data[i] = rng_next(&k->rng);
	return bytes_of((uint8_t *)data, size);
}

void soak_commit(struct soak *k)
{
	uint64_t before =
		k->simulated ? volume_mem_calls(k->volume) : real_us();

	soak_must(k, "commit", store_commit(k->store, k->w, false));
	if (k->commit_count == k->commit_room) {
		k->commit_room = k->commit_room * 2 + 1024;
		k->commits = realloc(k->commits,
				     k->commit_room * sizeof(*k->commits));
		if (!k->commits)
			abort();
	}
	k->commits[k->commit_count++] =
		(k->simulated ? volume_mem_calls(k->volume) : real_us()) -
		before;
}

/* Sizes for seconds: what is small makes deep trees soon. */
static void set_sizes(struct soak *k)
{
	struct store_options *o = &k->options;

	store_options_init(o);
	o->create = true;
	o->background = !k->simulated;
	if (k->simulated) {
		static struct clock clock;

		clock = (struct clock){ simulated_now, k };
		o->clock = &clock;
	}
	o->memtable_size = k->simulated ? 32 << 10 : 1 << 20;
	o->cache_size = k->simulated ? 64 << 10 : 4 << 20;
	o->file_size = k->simulated ? 16 << 10 : 1 << 20;
	o->blob_threshold = k->simulated ? 1000 : 64 << 10;
	o->blob_chunk_size = k->simulated ? 1500 : 128 << 10;
	o->blob_file_size = k->simulated ? 16 << 10 : 4 << 20;
	k->rows = k->simulated ? 1000 : 3000;
	k->value_max = k->simulated ? 400 : 1500;
	k->large_max = k->simulated ? 8000 : 400 << 10;
}

/* Opens who follows the store, which takes a volume of its own with it. */
static void open_follower(struct soak *k)
{
	struct store_options o = k->options;
	struct volume *other;

	o.create = false;
	o.follow = true;
	soak_must(k, "follower's volume", volume_mem_other(k->volume, &other));
	soak_must(k, "follow", store_open_volume(other, &o, &k->follower));
}

static void open_store(struct soak *k)
{
	int err;

	set_sizes(k);
	if (k->simulated) {
		soak_must(k, "volume", volume_mem_new(&k->volume));
		volume_mem_keep(k->volume);
		err = store_open_volume(k->volume, &k->options, &k->store);
	} else {
		err = store_open(k->directory, &k->options, &k->store);
	}
	soak_must(k, "open", err);
	soak_must(k, "write", write_new(k->store, &k->w));
	k->memory_at_start = soak_memory(k, k->store);
	if (k->simulated)
		open_follower(k);
}

/* Gives everything back, after a failure too. */
static void close_store(struct soak *k)
{
	if (k->scan)
		scan_close(k->scan);
	write_free(k->w);
	if (k->follower)
		store_close(k->follower);
	if (k->store)
		store_close(k->store);
	if (k->simulated && k->volume)
		k->volume->ops->close(k->volume);
	free(k->strays);
	free(k->commits);
}

/* What has become too old is no longer live. */
static void expire(struct soak *k)
{
	uint64_t now = soak_now(k);

	while (k->workload->expires && k->head < k->tail &&
	       k->stamps[k->head % SOAK_SLOTS] + k->max_age_us <= now)
		soak_slot(k, k->head++, SOAK_GONE);
}

/* The clock moves, and the work behind is done as the seed says. */
static void pass_time(struct soak *k)
{
	uint64_t step = k->span_us / k->turns_max;
	uint32_t steps = rng_below(&k->rng, 3);

	k->now_us += step / 2 + rng_next(&k->rng) % (step + 1);
	engine_tick(store_engine(k->store));
	for (; steps > 0; steps--)
		soak_must(k, "step", engine_step(store_engine(k->store)));
}

/* Without a write for so many seconds, all that is dead is looked for. */
#define QUIET_S 8

/* Until there is nothing more to do, or, in real time, nothing has been done
 * for a while. What can expire has. */
static void quiet(struct soak *k)
{
	struct store_stats a, b = { .flush_count = 0 };
	uint64_t pause_us = 150000, spent, same_us = 0, steps = 0;
	unsigned int ticks;
	int err = 1;

	if (k->scan)
		scan_close(k->scan);
	k->scan = NULL;
	if (k->simulated) {
		k->now_us += 2 * k->max_age_us;
		for (ticks = 0; ticks < QUIET_S; ticks++) {
			engine_tick(store_engine(k->store));
			for (err = 1; err > 0 && ++steps < 100000;)
				err = engine_step(store_engine(k->store));
		}
		if (err > 0)
			soak_fail(k, "background work does not end");
		soak_must(k, "step", err);
		return;
	}
	usleep((useconds_t)k->max_age_us);
	for (spent = 0; spent < 40000000; spent += pause_us) {
		store_stats(k->store, &a);
		same_us += pause_us;
		if (a.flush_count != b.flush_count ||
		    a.compacted_size != b.compacted_size ||
		    a.trivial_move_count != b.trivial_move_count)
			same_us = 0;
		/* The store has to know that it is idle, and of its thread that
		 * waits for the processor one sees nothing. */
		if (same_us > 2 * QUIET_S * 1000000 ||
		    (same_us > 0 && soak_excess(k, 16) == 0))
			return;
		b = a;
		usleep((useconds_t)pause_us);
	}
}

static void count_table(struct soak *k, struct store *store, struct bytes table,
			uint64_t *bytes, uint64_t *cells)
{
	struct scan_range range = { .table = table, .keep_large = true };
	struct scan *scan;
	struct cell cell;
	int err = scan_open(store, NULL, &range, &scan);

	if (err == -ERR_no_table)
		return;
	soak_must(k, "scan", err);
	while ((err = scan_next(scan, CURSOR_VERSION, &cell)) == 1) {
		*bytes += cell_size(&cell) + SOAK_CELL;
		++*cells;
	}
	scan_close(scan);
	soak_must(k, "scan", err);
}

static void tell(void *context, const char *problem)
{
	soak_fail(context, "check: %s", problem);
}

/* It holds what the workload says. */
static void compare_store(struct soak *k, struct store *store)
{
	static const char *const one[] = { "t", NULL };
	const char *const *t = k->workload->tables;
	uint64_t bytes = 0, cells = 0, live, most;

	expire(k);
	most = k->cells;
	live = k->live;
	for (t = t ? t : one; *t; t++)
		count_table(k, store, bytes_string(*t), &bytes, &cells);
	expire(k);
	if (cells > most || cells < k->cells || bytes > live || bytes < k->live)
		soak_fail(k,
			  "%" PRIu64 " cells of %" PRIu64 " bytes are there, "
			  "%" PRIu64 " of %" PRIu64 " should be",
			  cells, bytes, k->cells, k->live);
}

/* So does who follows it; and its files are in order. */
static void compare(struct soak *k)
{
	compare_store(k, k->store);
	if (k->follower) {
		soak_must(k, "refresh", store_refresh(k->follower));
		compare_store(k, k->follower);
	}
	soak_must(k, "check", store_check(k->store, tell, k));
}

static void work(struct soak *k, uint64_t end_ms)
{
	uint64_t start = real_us(), looked = start;

	k->workload->start(k);
	for (;;) {
		expire(k);
		k->workload->turn(k);
		k->turn++;
		if (k->simulated) {
			pass_time(k);
			if (k->turn % 25 == 0)
				soak_look(k);
			if (k->turn == k->turns_max)
				break;
			continue;
		}
		if (real_us() - looked > 100000) {
			soak_look(k);
			looked = real_us();
		}
		if (looked - start > end_ms * 1000)
			break;
	}
	compare(k);
	if (k->workload->empty)
		k->workload->empty(k);
	quiet(k);
	expire(k);
	soak_look(k);
	k->figures[SOAK_QUIET] = soak_excess(k, 16);
	compare(k);
}

static int ascending(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/* The longest commit becomes a figure; told is how long one in 10,000 takes. */
static uint64_t sort_commits(struct soak *k)
{
	size_t n = k->commit_count;

	if (n == 0)
		return 0;
	qsort(k->commits, n, sizeof(*k->commits), ascending);
	k->figures[SOAK_COMMIT] = k->commits[n - 1] / (k->simulated ? 1 : 1000);
	return k->commits[n - 1 - n / 10000];
}

/* Sanitizers take time and memory of their own. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED true
#else
#define SANITIZED false
#endif

static uint64_t scaled(uint64_t bound, const struct soak *k,
		       enum soak_figure figure)
{
	if (!SANITIZED || k->simulated || figure <= SOAK_QUIET)
		return bound;
	return figure == SOAK_MEMORY ? UINT64_MAX : bound * 20;
}

static void judge(struct soak *k, const char *form, struct soak_count *count)
{
	uint64_t late = sort_commits(k), bound;
	enum soak_figure f;

	printf("%-6s %-9s %7" PRIu64 " turns, %6" PRIu64 " of %7" PRIu64
	       " KiB live:",
	       form, k->workload->name, k->turn, k->live >> 10,
	       k->written >> 10);
	for (f = 0; f < SOAK_FIGURES; f++) {
		bound = scaled(soak_bound(form, k->workload->name, f), k, f);
		printf(" %s %" PRIu64, soak_figure_names[f], k->figures[f]);
		if (k->figures[f] <= bound) {
			count->passed++;
			continue;
		}
		printf(" (> %" PRIu64 "!)", bound);
		count->failed++;
	}
	printf(" p99.99 %" PRIu64 "\n", late);
}

void soak_run(struct soak *k, const char *form, uint64_t end_ms,
	      struct soak_count *count)
{
	k->rng.state = k->seed;
	if (setjmp(k->failed)) {
		printf("%s %s, turn %" PRIu64 ": %s\n", form, k->workload->name,
		       k->turn, k->problem);
		count->failed++;
	} else {
		open_store(k);
		work(k, end_ms);
		judge(k, form, count);
		count->passed++;
	}
	close_store(k);
}
