#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/bench/time/work.h"

/*
 * What time does to a store: long works, one engine after the other, each in a
 * process of its own, so that memory and bytes written are its own.
 *
 *   bench-time DIRECTORY       with the variables of tests/bench/run-time
 *
 * A line for each work and engine:
 *
 *   k/s            commits (of one cell or one deletion), in thousands
 *   disk/live      bytes of files beside those of what is to be seen in the
 *                  end, copied into a new store and compacted: at the second
 *                  that had most; and with room that is held
 *   commit         p50, p99 in us, p99.99 and longest in ms
 *   append         the same bytes written to a file beside: p99.99 and longest
 *   read           p50 and p99 in us and longest in ms
 *   resident       the most, in MiB
 *   written        bytes written to files for each byte of keys and values
 */
struct result {
	double rate, disk, held;
	double p50, p99, p9999, max, append_p9999, append_max;
	double read_p50, read_p99, read_max, resident, written;
	char more[400];
};

static void most_on_disk(const struct run *r, uint64_t live, struct result *out)
{
	size_t i;

	snprintf(out->more, sizeof(out->more), "%.0f MB live",
		 (double)live / 1e6);
	for (i = 0; i < r->watch.count; i++) {
		const struct watch_second *s = &r->watch.seconds[i];
		double disk = (double)(s->disk - s->held) / (double)live;

		if (disk > out->disk)
			out->disk = disk;
		if ((double)s->disk / (double)live > out->held)
			out->held = (double)s->disk / (double)live;
	}
	if (getenv("SECONDLY"))
		for (i = 0; i < r->watch.count; i++) {
			const struct watch_second *s = &r->watch.seconds[i];

			fprintf(stderr, "%s %zu s: %.0f MB, %.0f held, %.0f\n",
				r->peer->name, i, (double)s->disk / 1e6,
				(double)s->held / 1e6,
				(double)s->resident / 1e6);
		}
}

static void sum_up(const struct run *r, uint64_t wrote, struct result *out)
{
	const struct meter *c = &r->commits;

	out->rate = (double)c->count / (r->ended - r->began) / 1000;
	out->p50 = meter_at(c, 0.5);
	out->p99 = meter_at(c, 0.99);
	out->p9999 = meter_at(c, 0.9999) / 1000;
	out->max = (double)c->max_ns / 1e6;
	out->append_p9999 = meter_at(&r->appends, 0.9999) / 1000;
	out->append_max = (double)r->appends.max_ns / 1e6;
	out->read_p50 = meter_at(&r->reads, 0.5);
	out->read_p99 = meter_at(&r->reads, 0.99);
	out->read_max = (double)r->reads.max_ns / 1e6;
	out->resident = (double)meter_resident_max() / 1048576;
	out->written = (double)(wrote - r->appended) / (double)r->given;
	memcpy(out->more, r->more, sizeof(out->more));
}

/* In a child. */
static void work_one(const struct work *work, const struct peer *peer,
		     const char *directory, struct result *out)
{
	static struct run r;
	char beside[PATH_MAX + 16], live[PATH_MAX + 16];

	snprintf(beside, sizeof(beside), "%s.beside", directory);
	r.peer = peer;
	r.directory = directory;
	r.beside = open(beside, O_CREAT | O_RDWR | O_TRUNC, 0600);
	if (r.beside < 0)
		bench_die("%s: cannot be made", beside);
	r.db = peer->open(directory);
	r.session = peer->session(r.db);
	work->run(&r);
	sum_up(&r, meter_written() - r.wrote_before, out);
	if (work->overwrites) {
		snprintf(live, sizeof(live), "%s.live", directory);
		if (mkdir(live, 0755) < 0)
			bench_die("%s: cannot be made", live);
		most_on_disk(&r, work_live(&r, live), out);
	}
	peer->end_session(r.session);
	peer->close(r.db);
	unlink(beside);
}

static struct result in_child(const struct work *work, const struct peer *peer,
			      const char *root)
{
	struct result result = { 0 };
	char path[PATH_MAX];
	int ends[2], status;
	pid_t child;

	snprintf(path, sizeof(path), "%s/%s-%s", root, work->name, peer->name);
	if (mkdir(path, 0755) < 0 || pipe(ends) < 0 || (child = fork()) < 0)
		bench_die("%s: cannot begin", path);
	if (child == 0) {
		work_one(work, peer, path, &result);
		if (write(ends[1], &result, sizeof(result)) != sizeof(result))
			bench_die("no result");
		_exit(EXIT_SUCCESS);
	}
	close(ends[1]);
	if (read(ends[0], &result, sizeof(result)) != sizeof(result) ||
	    waitpid(child, &status, 0) < 0 || status != 0)
		bench_die("%s: failed", path);
	close(ends[0]);
	snprintf(path, sizeof(path), "rm -rf '%s/%s-%s'*", root, work->name,
		 peer->name);
	if (!getenv("KEEP") && system(path) != 0)
		bench_die("cannot remove a store");
	return result;
}

static void print(const struct work *work, const struct peer *peer,
		  const struct result *r)
{
	printf("%-18s %-9s %7.1f", work->name, peer->name, r->rate);
	if (r->disk > 0)
		printf("  %5.2f %5.2f", r->disk, r->held);
	else
		printf("      -     -");
	printf("  %6.1f %7.1f %8.2f %8.1f  %8.2f %8.1f", r->p50, r->p99,
	       r->p9999, r->max, r->append_p9999, r->append_max);
	if (r->read_p50 > 0)
		printf("  %6.1f %7.1f %7.2f", r->read_p50, r->read_p99,
		       r->read_max);
	else
		printf("       -       -       -");
	printf("  %5.0f  %6.2f\n", r->resident, r->written);
	if (r->more[0])
		printf("%29s%s\n", "", r->more);
	fflush(stdout);
}

static const struct peer *const peers[] = { &peer_tabletfs, &peer_rocksdb,
					    &peer_leveldb };
enum { PEERS = sizeof(peers) / sizeof(*peers) };

static bool is_wanted(const char *variable, const char *name)
{
	const char *list = getenv(variable);

	return !list || !*list || strstr(list, name);
}

int main(int argc, char **argv)
{
	struct result result;
	size_t w, i;

	if (argc != 2)
		bench_die("usage: bench-time DIRECTORY");
	bench_over_time = true;
	bench_memtable = bench_number("MEMTABLE", 32 << 20);
	bench_cache = bench_number("CACHE", 64 << 20);
	printf("%-28s %7s  %11s  %32s  %17s  %22s\n"
	       "%-28s %7s  %5s %5s  %6s %7s %8s %8s  %8s %8s  %6s %7s %7s  "
	       "%5s  %6s\n",
	       "", "", "disk / live", "commit", "append", "read", "", "k/s", "",
	       "+held", "p50", "p99 us", "p99.99", "max ms", "p99.99", "max ms",
	       "p50", "p99 us", "max ms", "MiB", "written");
	fflush(stdout);
	for (w = 0; w < work_count; w++)
		for (i = 0; i < PEERS; i++) {
			if (!is_wanted("WORKS", works[w].name) ||
			    !is_wanted("ENGINES", peers[i]->name))
				continue;
			result = in_child(&works[w], peers[i], argv[1]);
			print(&works[w], peers[i], &result);
		}
	return EXIT_SUCCESS;
}
