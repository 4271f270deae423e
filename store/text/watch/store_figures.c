#include <stdlib.h>
#include <string.h>

#include "store/base/err.h"
#include "store/text/value/quote.h"
#include "store/text/watch/store_figures.h"

#define LEVELS (sizeof(((struct store_stats *)0)->sst_count) / sizeof(uint64_t))

/* Times are counted in microseconds. */
static double seconds(uint64_t us)
{
	return (double)us / 1e6;
}

static void writes(const struct store_stats *s, struct figures *f)
{
	uint64_t written = s->written_size + s->flushed_size + s->merged_size;

	figures_count(f, "writes_total", s->write_count,
		      "Commits since the store was opened.");
	figures_count(f, "written_bytes_total", s->written_size,
		      "Bytes of commits, as the log has them.");
	figures_count(f, "syncs_total", s->sync_count,
		      "Syncs of the log, each for all who waited.");
	figures_count(f, "flushes_total", s->flush_count,
		      "Memtables that became ssts.");
	figures_count(f, "flushed_bytes_total", s->flushed_size,
		      "Bytes of the ssts that flushes made.");
	figures_count(f, "compactions_total", s->compaction_count,
		      "Merges of ssts.");
	figures_count(f, "compacted_bytes_total", s->compacted_size,
		      "Bytes of the ssts that compactions read.");
	figures_count(f, "merged_bytes_total", s->merged_size,
		      "Bytes of the ssts that compactions wrote.");
	figures_counter(f, "work_seconds_total",
			"Time that background work took.");
	figures_add(f, seconds(s->flush_us), "work=\"flush\"");
	figures_add(f, seconds(s->compaction_us), "work=\"compaction\"");
	figures_level(f, "write_amplification",
		      s->written_size > 0
			      ? (double)written / (double)s->written_size
			      : 1,
		      "Bytes written to logs and ssts for a byte committed, "
		      "since the store was opened; large values are in "
		      "neither.");
}

/* What all files take, beside about what is left of them when everything is
 * compacted: the lowest level, and of large values what is alive. */
static double space_amplification(const struct store_stats *s)
{
	uint64_t all = s->blob_size, least = s->blob_size - s->blob_garbage;
	uint64_t lowest = 0;
	size_t i;

	for (i = 0; i < LEVELS; i++) {
		all += s->sst_size[i];
		if (s->sst_size[i] > 0)
			lowest = s->sst_size[i];
	}
	least += lowest;
	return least > 0 ? (double)all / (double)least : 1;
}

static void levels(const char *name, const char *help, const uint64_t *values,
		   struct figures *f)
{
	size_t i;

	figures_gauge(f, name, help);
	for (i = 0; i < LEVELS; i++)
		figures_add(f, (double)values[i], "level=\"%zu\"", i);
}

static void space(const struct store_stats *s, struct figures *f)
{
	levels("ssts", "Files of each level.", s->sst_count, f);
	levels("sst_bytes", "Bytes of each level.", s->sst_size, f);
	figures_level(f, "blobs", (double)s->blob_count,
		      "Files of large values.");
	figures_level(f, "blob_bytes", (double)s->blob_size,
		      "Bytes of large values.");
	figures_level(f, "blob_garbage_bytes", (double)s->blob_garbage,
		      "Of them those that nothing refers to.");
	figures_level(f, "log_bytes", (double)s->log_size,
		      "Bytes of logs that are kept until what they tell is in "
		      "ssts.");
	figures_level(f, "obsolete_bytes", (double)s->obsolete_size,
		      "Bytes of files that are to be removed, or that a reader "
		      "has yet.");
	figures_level(f, "history_bytes", (double)s->history_size,
		      "Bytes that are kept for reading the recent past.");
	figures_level(f, "space_amplification", space_amplification(s),
		      "Bytes of all ssts and large values, beside those of the "
		      "lowest level and of large values that are alive.");
}

/* How many wait for how long, and for what. */
static void stalls(const struct store_stats *s, struct figures *f)
{
	int i;

	figures_counter(f, "stalls_total",
			"How often all writers were stopped, by what they "
			"waited for.");
	for (i = STALL_NONE + 1; i < STALLS; i++)
		figures_add(f, (double)s->stall_count[i], "for=\"%s\"",
			    stall_word(i));
	figures_counter(f, "stall_seconds_total",
			"How long writers were stopped, by what they waited "
			"for.");
	for (i = STALL_NONE + 1; i < STALLS; i++)
		figures_add(f, seconds(s->stall_us[i]), "for=\"%s\"",
			    stall_word(i));
	figures_gauge(f, "stalled_seconds",
		      "How long all writers have been waiting now, by what "
		      "they wait for; 0: they do not.");
	for (i = STALL_NONE + 1; i < STALLS; i++)
		figures_add(f,
			    s->stalled == (enum stall)i ? seconds(s->stalled_us)
							: 0,
			    "for=\"%s\"", stall_word(i));
	figures_counter(f, "slowed_seconds_total",
			"How long writers slept beside a background that was "
			"behind.");
	figures_add(f, seconds(s->slowed_us), NULL);
}

static void background(struct store *store, const struct store_stats *s,
		       struct figures *f)
{
	figures_level(f, "debt_ratio", s->debt,
		      "How far compactions are behind: from 0.5 on writers are "
		      "slowed, at 1 they are stopped, or nearly.");
	figures_level(f, "level0_depth", s->depth,
		      "Files of level 0 that overlap, each of which a read may "
		      "have to ask.");
	figures_gauge(f, "working_seconds",
		      "How long the background has been at what it does now; "
		      "0: it does not.");
	figures_add(f, s->work == WORK_FLUSH ? seconds(s->work_us) : 0,
		    "work=\"flush\"");
	figures_add(f, s->work == WORK_COMPACTION ? seconds(s->work_us) : 0,
		    "work=\"compaction\"");
	figures_level(f, "healthy", store_health(store) == 0,
		      "1, or 0 if the store takes no more writes, or its "
		      "background has trouble: the event log tells why.");
	err_clear();
	figures_histogram(f, "sync_duration_seconds", "Time to sync the log.");
	figures_times(f, NULL, NULL, store_sync_times(store));
}

static void memory(const struct store_stats *s, struct figures *f)
{
	int i;

	figures_count(f, "cache_hits_total", s->cache_hits,
		      "Blocks that were in the cache.");
	figures_count(f, "cache_misses_total", s->cache_misses,
		      "Blocks that were not in the cache.");
	figures_level(f, "cache_bytes", (double)s->cache_used,
		      "Bytes of blocks, indexes and filters in memory.");
	figures_level(f, "memtable_bytes", (double)s->memtable_used,
		      "Bytes of writes that are in no sst yet.");
	figures_level(f, "memtables", (double)s->memtable_count,
		      "The memtable that is written, and those that wait to be "
		      "flushed.");
	figures_gauge(f, "memory_bytes", "Memory that is held, by account.");
	for (i = 0; i < MEMORY_ACCOUNTS; i++)
		figures_add(f, (double)s->memory[i], "account=\"%s\"",
			    memory_name(i));
	figures_level(f, "memory_limit_bytes", (double)s->memory_limit,
		      "What the accounts without bounds of their own may hold "
		      "together.");
}

static void imports(const struct store_stats *s, struct figures *f)
{
	figures_count(f, "import_rows_total", s->import_rows,
		      "Rows that imports committed.");
	figures_count(f, "import_bytes_total", s->import_bytes,
		      "Bytes that imports took.");
	figures_count(f, "import_refused_total", s->import_refused,
		      "Lines that imports refused.");
}

/* Of a store that follows. */
static void following(const struct store_stats *s, struct figures *f)
{
	if (s->follow_staleness_us == 0)
		return;
	figures_level(f, "follow_age_seconds", seconds(s->follow_age_us),
		      "How old what is shown may be, of a mount that follows.");
	figures_level(f, "follow_staleness_seconds",
		      seconds(s->follow_staleness_us),
		      "How old that may become: beyond it reads are ESTALE.");
	figures_count(f, "follow_looks_total", s->follow_looks,
		      "Looks at what who writes the store has committed.");
}

/* A table, what has come to it, and about how many bytes it has in ssts. */
struct table_figures {
	const struct table *table;
	uint64_t counts[HEAT_METRICS];
	uint64_t size;
};

/* Those with the most operations first, then by name. */
static int by_heat(const void *a, const void *b)
{
	const struct table_figures *x = a, *y = b;
	uint64_t m = x->counts[HEAT_READS] + x->counts[HEAT_WRITES];
	uint64_t n = y->counts[HEAT_READS] + y->counts[HEAT_WRITES];

	if (m != n)
		return m > n ? -1 : 1;
	return bytes_compare(x->table->name, y->table->name);
}

/* For store_sample_rows: the last size is that of all. */
static int take_size(void *context, struct bytes row, uint64_t size)
{
	(void)row;
	*(uint64_t *)context = size;
	return 0;
}

static void one_metric(const struct table_figures *t, size_t count,
		       enum heat_metric metric, const char *name,
		       const char *help, struct figures *f)
{
	size_t i;

	figures_counter(f, name, help);
	for (i = 0; i < count; i++)
		figures_add(f, (double)t[i].counts[metric], "table=\"%.*s\"",
			    (int)t[i].table->name.size,
			    (const char *)t[i].table->name.data);
}

/* The first count of t. */
static void print_tables(struct store *s, struct table_figures *t, size_t count,
			 struct figures *f)
{
	size_t i;

	one_metric(t, count, HEAT_READS, "table_reads_total",
		   "Lookups, and blocks of 16 KiB of scans, that reached the "
		   "store, from samples; of the tables with the most "
		   "operations.",
		   f);
	one_metric(t, count, HEAT_WRITES, "table_writes_total",
		   "Changes, and blocks of 16 KiB of loads, from samples.", f);
	one_metric(t, count, HEAT_BYTES, "table_bytes_total",
		   "Bytes of keys and values read or written, from samples.",
		   f);
	figures_gauge(f, "table_file_bytes",
		      "About how many bytes of ssts are the table's.");
	for (i = 0; i < count; i++)
		/* Of one that was dropped meanwhile nothing is told. */
		if (store_sample_rows(s, t[i].table->name, BYTES_NONE,
				      BYTES_NONE, take_size, &t[i].size) == 0)
			figures_add(f, (double)t[i].size, "table=\"%.*s\"",
				    (int)t[i].table->name.size,
				    (const char *)t[i].table->name.data);
	err_clear();
}

static void tables(struct store *s, struct figures *f)
{
	struct schema *schema = store_schema(s);
	size_t count = schema->table_count, i;
	struct table_figures *t = calloc(count + 1, sizeof(*t));

	figures_level(f, "tables", (double)count, "Tables.");
	for (i = 0; i < count && t; i++) {
		t[i].table = &schema->tables[i];
		store_heat_counts(s, t[i].table->id, t[i].counts);
	}
	if (t) {
		qsort(t, count, sizeof(*t), by_heat);
		print_tables(s, t,
			     count < FIGURES_TABLES ? count : FIGURES_TABLES,
			     f);
	} else if (!f->err) {
		f->err = -ENOMEM;
	}
	free(t);
	schema_put(schema);
}

void store_figures(struct store *s, struct figures *f)
{
	struct store_stats stats;

	store_stats(s, &stats);
	figures_gauge(f, "build_info", "1; which program it is.");
	figures_add(f, 1, "version=\"%s\"", TABLETFS_VERSION);
	writes(&stats, f);
	stalls(&stats, f);
	background(s, &stats, f);
	space(&stats, f);
	memory(&stats, f);
	imports(&stats, f);
	following(&stats, f);
	tables(s, f);
}

int store_hot_ranges(struct store *s, struct buf *out)
{
	struct schema *schema = store_schema(s);
	struct buf start = BUF_INIT, end = BUF_INIT;
	double share;
	size_t i;
	int err = 0;

	for (i = 0; i < schema->table_count && err >= 0; i++) {
		const struct table *t = &schema->tables[i];

		err = store_heat_hottest(s, t->id, &start, &end, &share);
		if (err <= 0)
			continue;
		err = buf_printf(out, "# hot table=%.*s share=%.3f start=",
				 (int)t->name.size, (const char *)t->name.data,
				 share);
		if (!err)
			err = quote_go(buf_bytes(&start), out);
		if (!err)
			err = buf_add_string(out, " end=");
		if (!err)
			err = quote_go(buf_bytes(&end), out);
		if (!err)
			err = buf_add_byte(out, '\n');
	}
	buf_release(&start);
	buf_release(&end);
	schema_put(schema);
	return err < 0 ? err : 0;
}

int store_print_figures(struct store *s,
			void (*add)(void *context, struct figures *f),
			void *context, int argc, char **argv, FILE *out,
			FILE *err)
{
	struct buf text = BUF_INIT;
	struct figures f = { .out = &text };
	bool ranges = argc == 2 && !strcmp(argv[1], "ranges=yes");
	int failed;

	if (argc > 1 && !ranges) {
		fprintf(err, "tabletfs: usage: tabletfs " METRICS_USAGE "\n");
		return 1;
	}
	add(context, &f);
	failed = f.err;
	if (!failed && ranges)
		failed = store_hot_ranges(s, &text);
	if (failed)
		fprintf(err, "tabletfs: metrics: %s\n", err_text(failed));
	else
		fwrite(text.data, 1, text.size, out);
	buf_release(&text);
	return failed != 0;
}
