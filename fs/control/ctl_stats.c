#include <unistd.h>

#include "fs/control/ctl_stats.h"
#include "store/text/watch/store_figures.h"

struct readings {
	/* Since the mount; these only grow. */
	uint64_t requests, changes, errors;
	/* Now. */
	uint64_t uptime_seconds, nodes, node_bytes, exports;
	struct nodes_share local;
};

/* Takes nodes.lock and exports.lock. */
static void read_figures(struct fs *fs, struct readings *f)
{
	/* Atomic counters, which need no lock. */
	f->requests = fs->requests;
	f->changes = fs->changes;
	f->errors = errors_count(&fs->errors);
	f->uptime_seconds = (fs_steady() - fs->start_steady_us) / 1000000;
	pthread_mutex_lock(&fs->nodes.lock);
	f->nodes = fs->nodes.count;
	f->node_bytes = fs->nodes.memory;
	f->local = fs->nodes.local[false];
	f->local.count += fs->nodes.local[true].count;
	f->local.memory += fs->nodes.local[true].memory;
	pthread_mutex_unlock(&fs->nodes.lock);
	pthread_mutex_lock(&fs->exports.lock);
	f->exports = fs->exports.count;
	pthread_mutex_unlock(&fs->exports.lock);
}

/* What is kept of the past, where it is. */
static int print_history(struct store *s, struct buf *out)
{
	struct history h;

	store_history(s, &h);
	if (h.keep_us == 0)
		return 0;
	return buf_printf(out,
			  "history_bytes %llu\nhistory_oldest_us %llu\n"
			  "history_lost_us %llu\n",
			  (unsigned long long)h.size,
			  (unsigned long long)h.oldest_us,
			  (unsigned long long)h.lost_us);
}

/* What a mount that follows shows, and since when. */
static int print_follow(const struct store_stats *s, struct buf *out)
{
	if (s->follow_staleness_us == 0)
		return 0;
	return buf_printf(out,
			  "follow_sequence %llu\nfollow_age_us %llu\n"
			  "follow_staleness_us %llu\nfollow_looks %llu\n",
			  (unsigned long long)s->visible_seq,
			  (unsigned long long)s->follow_age_us,
			  (unsigned long long)s->follow_staleness_us,
			  (unsigned long long)s->follow_looks);
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
	char position[STORE_POSITION_SIZE];
	struct store_stats store;
	struct readings f;
	int err;

	read_figures(fs, &f);
	store_stats(fs->store, &store);
	store_position(fs->store, position);
	err = buf_printf(
		out,
		"uptime_seconds %llu\nnodes %llu\nnode_bytes %llu\n"
		"empty_directories %zu\nempty_directory_bytes %zu\n"
		"exports %llu\n"
		"requests %llu\nchanges %llu\nerrors %llu\n"
		"store_device %llu\nstore_inode %llu\ndaemon_pid %d\n"
		"position %s\n",
		(unsigned long long)f.uptime_seconds,
		(unsigned long long)f.nodes, (unsigned long long)f.node_bytes,
		f.local.count, f.local.memory, (unsigned long long)f.exports,
		(unsigned long long)f.requests, (unsigned long long)f.changes,
		(unsigned long long)f.errors,
		(unsigned long long)fs->mark.place,
		(unsigned long long)fs->mark.holder, (int)getpid(), position);
	if (!err)
		err = print_history(fs->store, out);
	if (!err)
		err = print_follow(&store, out);
	return err ? err : print_memory(&store, out);
}

/* What the mount itself counts; names end in _total if they only grow. */
static void print_mount(const struct readings *r, struct figures *f)
{
	figures_level(f, "uptime_seconds", (double)r->uptime_seconds,
		      "Since it was mounted.");
	figures_count(f, "requests_total", r->requests,
		      "Requests of the kernel.");
	figures_count(f, "changes_total", r->changes,
		      "Changes of files and directories.");
	figures_count(f, "errors_total", r->errors,
		      "Errors, as .tabletfs/errors has them.");
	figures_level(f, "nodes", (double)r->nodes,
		      "Names that the kernel keeps, or has open.");
	figures_level(f, "node_bytes", (double)r->node_bytes,
		      "Memory that these take.");
	figures_level(f, "empty_directories", (double)r->local.count,
		      "Directories without a cell, which are in memory alone.");
	figures_level(f, "empty_directory_bytes", (double)r->local.memory,
		      "Memory that these take, of node_bytes.");
	figures_level(f, "exports", (double)r->exports,
		      "Exports with a size that are kept.");
}

void ctl_print_metrics(void *context, struct figures *f)
{
	struct fs *fs = context;
	const struct mount_options *o = fs->options;
	struct readings r;

	read_figures(fs, &r);
	print_mount(&r, f);
	store_figures(fs->store, f);
	metrics_print(&fs->metrics, f);
	if (o->serve)
		o->server_figures(o->server, f);
}
