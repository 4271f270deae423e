#include <dlfcn.h>
#include <fcntl.h>
#include <unistd.h>

#include "store/base/volume/volume.h"
#include "tests/unit/suite.h"
#include "tests/unit/volume_directory.h"

/* Bytes that were asked for ahead, from ahead_start on without a gap. */
static uint64_t ahead_start, ahead_size;

int posix_fadvise(int fd, off_t offset, off_t size, int advice)
{
	(void)fd;
	ck_assert_int_eq(advice, POSIX_FADV_WILLNEED);
	if (ahead_size == 0)
		ahead_start = (uint64_t)offset;
	ck_assert_uint_eq(offset, ahead_start + ahead_size);
	ahead_size += (uint64_t)size;
	return 0;
}

/* Of memory; 0: as many as there are. */
static long pages;

long sysconf(int name)
{
	long (*real)(int);

	*(void **)&real = dlsym(RTLD_NEXT, "sysconf");
	return name == _SC_PHYS_PAGES && pages > 0 ? pages : real(name);
}

static void read_at(struct volume *v, struct reader *r, uint64_t offset)
{
	char byte;

	ck_assert_int_eq(v->ops->pread(r, offset, &byte, 1), 0);
	ck_assert_int_eq(byte, 'x');
}

#define MEGA ((uint64_t)1 << 20)

/* A file of two megabytes and a half, to be read. */
static struct reader *make_segment(struct volume *v)
{
	static char half[MEGA / 2];
	struct segment_writer *w;
	struct reader *r;
	int i;

	memset(half, 'x', sizeof(half));
	ck_assert_int_eq(v->ops->segment_create(v, "1.sst", &w), 0);
	for (i = 0; i < 5; i++)
		ck_assert_int_eq(
			v->ops->segment_append(w, bytes_of(half, sizeof(half))),
			0);
	ck_assert_int_eq(v->ops->segment_finish(w), 0);
	ck_assert_int_eq(v->ops->open(v, "1.sst", &r), 0);
	ahead_size = 0;
	return r;
}

/* The sixth read in a megabyte asks for all of it, once; others for nothing. */
START_TEST(reads_near_each_other_ask_ahead)
{
	struct volume *v = open_volume();
	struct reader *r = make_segment(v);
	uint64_t i;

	for (i = 0; i < 5; i++) {
		read_at(v, r, i);
		read_at(v, r, MEGA + i * 1000);
		read_at(v, r, 2 * MEGA + i);
	}
	ck_assert_uint_eq(ahead_size, 0);
	read_at(v, r, 2 * MEGA - 1);
	ck_assert_uint_eq(ahead_start, MEGA);
	ck_assert_uint_eq(ahead_size, MEGA);
	for (i = 0; i < 300; i++)
		read_at(v, r, MEGA + i);
	ck_assert_uint_eq(ahead_size, MEGA);
	/* The last one ends with the file. */
	ahead_size = 0;
	read_at(v, r, 2 * MEGA);
	ck_assert_uint_eq(ahead_start, 2 * MEGA);
	ck_assert_uint_eq(ahead_size, MEGA / 2);
	v->ops->reader_close(r);
	/* A new reader begins anew. */
	ahead_size = 0;
	ck_assert_int_eq(v->ops->open(v, "1.sst", &r), 0);
	for (i = 0; i < 6; i++)
		read_at(v, r, i);
	ck_assert_uint_eq(ahead_start, 0);
	ck_assert_uint_eq(ahead_size, MEGA);
	v->ops->reader_close(r);
	v->ops->close(v);
}
END_TEST

/* A quarter of memory is all that open readers ask for. */
START_TEST(no_more_is_asked_for_than_memory_allows)
{
	struct volume *v = open_volume();
	struct reader *r = make_segment(v);
	uint64_t i;

	pages = (long)(4 * MEGA) / sysconf(_SC_PAGESIZE);
	for (i = 0; i < 6; i++)
		read_at(v, r, i);
	ck_assert_uint_eq(ahead_size, MEGA);
	for (i = 0; i < 20; i++)
		read_at(v, r, MEGA + i);
	ck_assert_uint_eq(ahead_size, MEGA);
	v->ops->reader_close(r);
	ck_assert_int_eq(v->ops->open(v, "1.sst", &r), 0);
	ahead_size = 0;
	for (i = 0; i < 6; i++)
		read_at(v, r, MEGA + i);
	ck_assert_uint_eq(ahead_size, MEGA);
	pages = 0;
	v->ops->reader_close(r);
	v->ops->close(v);
}
END_TEST

int main(void)
{
	const TTest *tests[] = {
		reads_near_each_other_ask_ahead,
		no_more_is_asked_for_than_memory_allows,
	};

	return run_suite("volume_ahead", set_up, tear_down, tests,
			 sizeof(tests) / sizeof(*tests));
}
