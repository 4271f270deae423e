#include <unistd.h>

#include "fs/control/ctl_stats.h"

struct figures {
	/* Since the mount; these only grow. */
	uint64_t requests, changes, errors;
	/* Now. */
	uint64_t uptime_seconds, nodes, node_bytes, exports;
	struct store_stats store;
};

/* Reads all figures. Takes nodes.lock, and the store's own for its part. */
static void read_figures(struct fs *fs, struct figures *f)
{
	/* Atomic counters, which need no lock. */
	f->requests = fs->requests;
	f->changes = fs->changes;
	f->errors = errors_count(&fs->errors);
	f->uptime_seconds = (fs_steady() - fs->start_steady_us) / 1000000;
	pthread_mutex_lock(&fs->nodes.lock);
	f->nodes = fs->nodes.count;
	f->node_bytes = fs->nodes.memory;
	pthread_mutex_unlock(&fs->nodes.lock);
	pthread_mutex_lock(&fs->exports.lock);
	f->exports = fs->exports.count;
	pthread_mutex_unlock(&fs->exports.lock);
	store_stats(fs->store, &f->store);
}

/* Who holds how much memory, a line an account. */
static int print_memory(const struct store_stats *s, struct buf *out)
{
	int err = buf_printf(out, "memory_limit %llu\n",
			     (unsigned long long)s->memory_limit);
	int i;

	for (i = 0; i < MEMORY_ACCOUNTS && !err; i++)
		err = buf_printf(out, "memory_%s %llu\n", memory_name(i),
				 (unsigned long long)s->memory[i]);
	return err;
}

int ctl_print_stats(struct fs *fs, struct buf *out)
{
	struct figures f;
	int err;

	read_figures(fs, &f);
	err = buf_printf(
		out,
		"uptime_seconds %llu\nnodes %llu\nnode_bytes %llu\n"
		"exports %llu\n"
		"requests %llu\nchanges %llu\nerrors %llu\n"
		"store_device %llu\nstore_inode %llu\ndaemon_pid %d\n",
		(unsigned long long)f.uptime_seconds,
		(unsigned long long)f.nodes, (unsigned long long)f.node_bytes,
		(unsigned long long)f.exports, (unsigned long long)f.requests,
		(unsigned long long)f.changes, (unsigned long long)f.errors,
		(unsigned long long)fs->store_device,
		(unsigned long long)fs->store_inode, (int)getpid());
	return err ? err : print_memory(&f.store, out);
}

/* One metric without labels; type is Prometheus' word. */
static int print_figure(const char *type, const char *name, uint64_t value,
			struct buf *out)
{
	return buf_printf(out, "# TYPE tabletfs_%s %s\ntabletfs_%s %llu\n",
			  name, type, name, (unsigned long long)value);
}

/* One gauge, of which each level of the store has a value. */
static int print_levels(const char *name, const uint64_t *levels, size_t count,
			struct buf *out)
{
	size_t i;
	int err = buf_printf(out, "# TYPE tabletfs_%s gauge\n", name);

	for (i = 0; i < count && !err; i++)
		err = buf_printf(out, "tabletfs_%s{level=\"%zu\"} %llu\n", name,
				 i, (unsigned long long)levels[i]);
	return err;
}

/* One gauge, of which each account has a value. */
static int print_accounts(const struct store_stats *s, struct buf *out)
{
	int err = buf_printf(out, "# TYPE tabletfs_memory_bytes gauge\n");
	int i;

	for (i = 0; i < MEMORY_ACCOUNTS && !err; i++)
		err = buf_printf(
			out, "tabletfs_memory_bytes{account=\"%s\"} %llu\n",
			memory_name(i), (unsigned long long)s->memory[i]);
	return err;
}

int ctl_print_metrics(struct fs *fs, struct buf *out)
{
	struct figures f;
	const struct store_stats *s = &f.store;
	/* Names end in _total if they only grow. Their values are read after
	 * this is made. */
	const struct {
		const char *name;
		const uint64_t *value;
		bool is_gauge;
	} all[] = {
		{ "requests_total", &f.requests, false },
		{ "changes_total", &f.changes, false },
		{ "errors_total", &f.errors, false },
		{ "writes_total", &s->write_count, false },
		{ "syncs_total", &s->sync_count, false },
		{ "flushes_total", &s->flush_count, false },
		{ "compactions_total", &s->compaction_count, false },
		{ "written_bytes_total", &s->written_size, false },
		{ "compacted_bytes_total", &s->compacted_size, false },
		{ "cache_hits_total", &s->cache_hits, false },
		{ "cache_misses_total", &s->cache_misses, false },
		{ "uptime_seconds", &f.uptime_seconds, true },
		{ "nodes", &f.nodes, true },
		{ "node_bytes", &f.node_bytes, true },
		{ "exports", &f.exports, true },
		{ "cache_bytes", &s->cache_used, true },
		{ "memtable_bytes", &s->memtable_used, true },
		{ "memtables", &s->memtable_count, true },
		{ "log_bytes", &s->log_size, true },
		{ "obsolete_bytes", &s->obsolete_size, true },
	};
	size_t levels = sizeof(s->sst_count) / sizeof(*s->sst_count), i;
	int err = 0;

	read_figures(fs, &f);
	/* Histograms of requests come last. */
	for (i = 0; i < sizeof(all) / sizeof(*all) && !err; i++)
		err = print_figure(all[i].is_gauge ? "gauge" : "counter",
				   all[i].name, *all[i].value, out);
	if (!err)
		err = print_levels("ssts", s->sst_count, levels, out);
	if (!err)
		err = print_levels("sst_bytes", s->sst_size, levels, out);
	if (!err)
		err = print_accounts(s, out);
	return err ? err : metrics_print(&fs->metrics, out);
}
