#include <assert.h>
#include <linux/fuse.h>
#include <time.h>

#include "fs/state/metrics.h"

/* Prometheus' units are seconds; a histogram is its name with _bucket, _sum
 * and _count. */
#define NAME "tabletfs_request_duration_seconds"

static_assert(FUSE_COPY_FILE_RANGE < METRICS_KINDS, "each opcode has a place");
static_assert(METRICS_BUCKETS <= 64, "a bound is a power of two in 64 bits");

/* The label of each kind; the rest, of which the kernel may send any, together
 * are "other". */
static const char *const names[METRICS_KINDS] = {
	[FUSE_LOOKUP] = "lookup",
	[FUSE_FORGET] = "forget",
	[FUSE_GETATTR] = "getattr",
	[FUSE_SETATTR] = "setattr",
	[FUSE_READLINK] = "readlink",
	[FUSE_SYMLINK] = "symlink",
	[FUSE_MKNOD] = "mknod",
	[FUSE_MKDIR] = "mkdir",
	[FUSE_UNLINK] = "unlink",
	[FUSE_RMDIR] = "rmdir",
	[FUSE_RENAME] = "rename",
	[FUSE_LINK] = "link",
	[FUSE_OPEN] = "open",
	[FUSE_READ] = "read",
	[FUSE_WRITE] = "write",
	[FUSE_STATFS] = "statfs",
	[FUSE_RELEASE] = "release",
	[FUSE_FSYNC] = "fsync",
	[FUSE_SETXATTR] = "setxattr",
	[FUSE_GETXATTR] = "getxattr",
	[FUSE_LISTXATTR] = "listxattr",
	[FUSE_REMOVEXATTR] = "removexattr",
	[FUSE_FLUSH] = "flush",
	[FUSE_INIT] = "init",
	[FUSE_OPENDIR] = "opendir",
	[FUSE_READDIR] = "readdir",
	[FUSE_RELEASEDIR] = "releasedir",
	[FUSE_FSYNCDIR] = "fsyncdir",
	[FUSE_ACCESS] = "access",
	[FUSE_CREATE] = "create",
	[FUSE_INTERRUPT] = "interrupt",
	[FUSE_DESTROY] = "destroy",
	[FUSE_IOCTL] = "ioctl",
	[FUSE_POLL] = "poll",
	[FUSE_BATCH_FORGET] = "batch_forget",
	[FUSE_FALLOCATE] = "fallocate",
	[FUSE_READDIRPLUS] = "readdirplus",
	[FUSE_RENAME2] = "rename2",
	[FUSE_LSEEK] = "lseek",
	[FUSE_COPY_FILE_RANGE] = "copy_file_range",
};

uint64_t metrics_now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* Relaxed: the counters order nothing, and this is on the way of each request.
 */
static void add(_Atomic uint64_t *counter, uint64_t n)
{
	atomic_fetch_add_explicit(counter, n, memory_order_relaxed);
}

/* All kinds without a name share a place that has none, that of opcode 0, which
 * there is not. */
static unsigned int place_of(unsigned int kind)
{
	return kind < METRICS_KINDS && names[kind] ? kind : 0;
}

void metrics_count(struct metrics *m, unsigned int kind, uint64_t start_ns)
{
	uint64_t ns = metrics_now_ns() - start_ns, us = (ns + 999) / 1000;
	struct metric *metric = &m->kinds[place_of(kind)];
	/* The least i with us <= 2^i. */
	unsigned int i =
		us > 1 ? 64 - (unsigned int)__builtin_clzll(us - 1) : 0;

	add(&metric->count, 1);
	add(&metric->total_ns, ns);
	if (i < METRICS_BUCKETS)
		add(&metric->buckets[i], 1);
	if (m->taken && place_of(kind) > 0)
		m->taken(m->context, names[kind], us);
}

/* One histogram. Prometheus' buckets are cumulative: each counts what is in
 * those before it as well. */
static int print_metric(const char *name, const struct metric *m,
			struct buf *out)
{
	unsigned long long count = m->count, below = 0;
	unsigned int i;
	int err = 0;

	for (i = 0; i < METRICS_BUCKETS && !err; i++) {
		below += m->buckets[i];
		err = buf_printf(
			out, NAME "_bucket{operation=\"%s\",le=\"%g\"} %llu\n",
			name, (double)(UINT64_C(1) << i) / 1e6, below);
	}
	/* What was counted meanwhile must not make it fall. */
	if (count < below)
		count = below;
	if (!err)
		err = buf_printf(out,
				 NAME "_bucket{operation=\"%s\",le=\"+Inf\"} "
				      "%llu\n",
				 name, count);
	if (!err)
		err = buf_printf(out, NAME "_sum{operation=\"%s\"} %.9f\n",
				 name, (double)m->total_ns / 1e9);
	return err ? err
		   : buf_printf(out, NAME "_count{operation=\"%s\"} %llu\n",
				name, count);
}

int metrics_print(const struct metrics *m, struct buf *out)
{
	size_t i;
	int err = buf_add_string(out,
				 "# HELP " NAME " Time to answer a request.\n"
				 "# TYPE " NAME " histogram\n");

	for (i = 0; i < METRICS_KINDS && !err; i++)
		if (m->kinds[i].count > 0)
			err = print_metric(names[i] ? names[i] : "other",
					   &m->kinds[i], out);
	return err;
}
