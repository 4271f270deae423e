#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "store/engine/core/state.h"
#include "store/model/model.h"
#include "tests/sim/named.h"
#include "tests/sim/volume_mem.h"
#include "tests/soak/soak.h"

/* The files of a store, with which name each, and what they are. */
struct listing {
	struct soak *k;
	struct {
		char name[80];
		uint64_t size;
	} * files;
	size_t count, room;
	uint64_t size;
	struct named named;
};

static void add_file(struct listing *l, const char *name, uint64_t size)
{
	if (l->count == l->room) {
		l->room = l->room * 2 + 64;
		l->files = realloc(l->files, l->room * sizeof(*l->files));
		if (!l->files)
			abort();
	}
	snprintf(l->files[l->count].name, sizeof(l->files->name), "%s", name);
	l->files[l->count++].size = size;
	l->size += size;
}

static int add_of_volume(void *context, const char *name)
{
	struct listing *l = context;

	add_file(l, name, volume_mem_file(l->k->volume, name).size);
	return 0;
}

static void list_directory(struct listing *l)
{
	DIR *d = opendir(l->k->directory);
	struct dirent *entry;
	struct stat st;

	if (!d)
		soak_fail(l->k, "%s cannot be listed", l->k->directory);
	while ((entry = readdir(d)))
		if (fstatat(dirfd(d), entry->d_name, &st, 0) == 0 &&
		    S_ISREG(st.st_mode))
			add_file(l, entry->d_name, (uint64_t)st.st_size);
	closedir(d);
}

/* First the files and then what the manifest names: what has come between is
 * in neither. */
static void list(struct listing *l)
{
	struct soak *k = l->k;

	if (k->simulated)
		soak_must(k, "list",
			  k->volume->ops->list(k->volume, add_of_volume, l));
	else
		list_directory(l);
	soak_must(k, "manifest", named_get(k->store, &l->named));
}

static void listing_release(struct listing *l)
{
	free(l->files);
	named_release(&l->named);
}

static uint64_t since(const struct soak *k, const char *name, uint64_t now)
{
	size_t i;

	for (i = 0; i < k->stray_count; i++)
		if (strcmp(k->strays[i].name, name) == 0)
			return k->strays[i].since;
	return now;
}

static void note(struct soak *k, enum soak_figure figure, uint64_t value)
{
	if (value > k->figures[figure])
		k->figures[figure] = value;
}

/* Files that are no part of the store, and how long that has been so. */
static void look_at_strays(struct soak *k, const struct listing *l)
{
	uint64_t now = k->simulated ? k->turn : soak_now(k) / 1000;
	struct soak_stray *strays = calloc(l->count + 1, sizeof(*strays));
	size_t count = 0, i;

	if (!strays)
		abort();
	for (i = 0; i < l->count; i++) {
		if (named_has(&l->named, l->files[i].name))
			continue;
		memcpy(strays[count].name, l->files[i].name,
		       sizeof(strays->name));
		strays[count].since = since(k, l->files[i].name, now);
		note(k, SOAK_FILES, now - strays[count++].since);
	}
	free(k->strays);
	k->strays = strays;
	k->stray_count = count;
}

/* What the log, the memtables and files under way may take. */
static uint64_t slack(const struct soak *k)
{
	const struct store_options *o = &k->options;

	return 3 * (uint64_t)o->memtable_size + 2 * o->file_size + (64 << 10);
}

/* Of less than some memtables, which is all that a sanitizer writes in a
 * second, what one merge has under way is a large share. */
static uint64_t written(const struct soak *k)
{
	uint64_t least = 16 * (uint64_t)k->options.memtable_size;

	return k->written > least ? k->written : least;
}

static uint64_t excess(struct soak *k, const struct listing *l,
		       unsigned int tenths)
{
	uint64_t may = k->live * tenths / 10 + slack(k);

	return l->size > may ? (l->size - may) * 100 / written(k) : 0;
}

uint64_t soak_excess(struct soak *k, unsigned int tenths)
{
	struct listing l = { .k = k };
	uint64_t result;

	list(&l);
	result = excess(k, &l, tenths);
	listing_release(&l);
	return result;
}

static uint64_t resident(void)
{
	FILE *f = fopen("/proc/self/statm", "r");
	unsigned long long size, pages = 0;

	if (f && fscanf(f, "%llu %llu", &size, &pages) != 2)
		pages = 0;
	if (f)
		fclose(f);
	return pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

uint64_t soak_memory(const struct soak *k, struct store *store)
{
	struct store_stats stats;

	if (!k->simulated)
		return resident();
	store_stats(store, &stats);
	return stats.memtable_used + stats.cache_used;
}

static size_t count_handles(const struct soak *k)
{
	size_t count = 0;
	DIR *d;

	if (k->simulated)
		return volume_mem_open_count(k->volume);
	d = opendir("/proc/self/fd");
	while (d && readdir(d))
		count++;
	if (d)
		closedir(d);
	return count;
}

/* Of the store, or of who follows it. */
static void look_at_memory(struct soak *k, struct store *store)
{
	const struct store_options *o = &k->options;
	uint64_t may =
		k->memory_at_start + o->memtable_size * 5 / 2 + o->cache_size;
	uint64_t now = soak_memory(k, store);

	note(k, SOAK_MEMORY, now > may ? (now - may) >> 10 : 0);
}

/* Each store may have one for a file. */
static void look_at_handles(struct soak *k, const struct listing *l)
{
	size_t may = k->follower ? 2 * l->count : l->count;
	size_t handles = count_handles(k);

	note(k, SOAK_HANDLES, handles > may ? handles - may : 0);
}

static void look_at_tombstones(struct soak *k)
{
	struct version *v = engine_version(store_engine(k->store));

	/* Few at the beginning are no share. */
	if (k->cells_written > 5000)
		note(k, SOAK_TOMBS,
		     v->tombstone_count * 1000 / k->cells_written);
	version_put(v);
}

static unsigned int stops;

static bool count_stop(void)
{
	stops++;
	return false;
}

static uint64_t cost(struct soak *k)
{
	struct timespec t;

	if (k->simulated)
		return volume_mem_calls(k->volume) + stops;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * 1000000 + (uint64_t)t.tv_nsec / 1000;
}

/* Reads a cell, and the first row that there is, if the table is there. */
static void probe(struct soak *k, struct bytes table)
{
	struct scan_range range = { .table = table, .stop = count_stop };
	struct buf memory = BUF_INIT;
	uint64_t before = cost(k);
	struct scan *scan;
	struct cell cell;
	int err =
		store_get(k->store, NULL, table, bytes_string("r00000000"),
			  bytes_string("f"), bytes_string("q"), &cell, &memory);

	buf_release(&memory);
	if (err == -ERR_no_table)
		return;
	soak_must(k, "probe", err);
	soak_must(k, "probe", scan_open(k->store, NULL, &range, &scan));
	soak_must(k, "probe", scan_next(scan, CURSOR_ROW, &cell));
	scan_close(scan);
	note(k, SOAK_PROBE, cost(k) - before);
}

void soak_look(struct soak *k)
{
	const char *const *t = k->workload->tables;
	struct listing l = { .k = k };

	if (k->simulated)
		volume_mem_forget(k->volume);
	list(&l);
	note(k, SOAK_SPACE, excess(k, &l, 20));
	look_at_strays(k, &l);
	look_at_memory(k, k->store);
	if (k->follower) {
		soak_must(k, "refresh", store_refresh(k->follower));
		look_at_memory(k, k->follower);
	}
	look_at_handles(k, &l);
	listing_release(&l);
	look_at_tombstones(k);
	probe(k, bytes_string(t ? t[0] : "t"));
}
