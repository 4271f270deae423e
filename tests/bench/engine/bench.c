#include <dirent.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>

#include "tests/bench/engine/peer.h"

size_t bench_memtable = 64 << 20;
size_t bench_cache = 256 << 20;
bool bench_over_time;

void bench_die(const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	vfprintf(stderr, fmt, args);
	va_end(args);
	fputc('\n', stderr);
	exit(EXIT_FAILURE);
}

void bench_touch(const void *value, size_t size)
{
	__asm__ volatile("" ::"r"(((const uint8_t *)value)[size - 1]));
}

size_t bench_column(const struct cell_name *c, uint8_t *key)
{
	const char *parts[] = { c->row, c->family, c->qualifier };
	uint8_t *p = key;
	int i;

	for (i = 0; i < 3; i++) {
		size_t size = strlen(parts[i]) + 1;

		memcpy(p, parts[i], size);
		p += size;
	}
	return (size_t)(p - key);
}

size_t bench_key(const struct cell_name *c, uint8_t *key)
{
	size_t size = bench_column(c, key);
	uint64_t timestamp = __builtin_bswap64(~c->timestamp);

	memcpy(key + size, &timestamp, sizeof(timestamp));
	return size + sizeof(timestamp);
}

size_t bench_row_size(const void *key, size_t size)
{
	const char *zero = memchr(key, 0, size);

	if (!zero)
		bench_die("key without a row");
	return (size_t)(zero - (const char *)key) + 1;
}

double bench_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

uint64_t bench_mix(uint64_t x)
{
	x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
	return x ^ x >> 31;
}

void bench_value(uint64_t n, uint8_t *value, size_t size)
{
	size_t i;

	memset(value, 'x', size);
	for (i = 0; i + 8 <= size / 2; i += 8) {
		uint64_t x = bench_mix(n * 8 + i + 1);

		memcpy(value + i, &x, 8);
	}
}

static double cpu_time(void)
{
	struct rusage u;

	getrusage(RUSAGE_SELF, &u);
	return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
	       (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) / 1e6;
}

/* Tenths of a second: some stores wait until nobody has written for a while. */
#define SETTLED 25

void bench_settle(void)
{
	struct timespec pause = { 0, 100000000 };
	double before, quiet = 0;

	while (quiet < SETTLED) {
		before = cpu_time();
		nanosleep(&pause, NULL);
		quiet = cpu_time() - before < 0.002 ? quiet + 1 : 0;
	}
}

uint64_t bench_disk(const char *directory, uint64_t *held)
{
	DIR *d = opendir(directory);
	uint64_t size = 0, blocks = 0;
	struct dirent *e;
	struct stat st;

	if (!d)
		bench_die("cannot list %s", directory);
	while ((e = readdir(d)))
		if (fstatat(dirfd(d), e->d_name, &st, AT_SYMLINK_NOFOLLOW) ==
			    0 &&
		    S_ISREG(st.st_mode)) {
			blocks = (uint64_t)st.st_blocks * 512;
			size += blocks;
			if (held && blocks > (uint64_t)st.st_size)
				*held += blocks - (uint64_t)st.st_size;
		}
	closedir(d);
	return size;
}

uint64_t bench_number(const char *name, uint64_t otherwise)
{
	const char *text = getenv(name);

	return text && *text ? strtoull(text, NULL, 10) : otherwise;
}
