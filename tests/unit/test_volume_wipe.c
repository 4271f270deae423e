#include <fcntl.h>
#include <sys/stat.h>

#include "tests/unit/volume_directory.h"

/* Held room that was other files is overwritten on request. */

#define SIZE (UINT64_C(256) << 10)

/* Whether any byte of a file is c. */
static bool holds(const char *name, char c)
{
	char path[160], text[4096];
	bool any = false;
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "%s/%s", directory, name);
	fd = open(path, O_RDONLY);
	ck_assert_int_ge(fd, 0);
	while ((n = read(fd, text, sizeof(text))) > 0)
		any |= memchr(text, c, (size_t)n) != NULL;
	close(fd);
	return any;
}

/* In the piece that the last one was. */
static void write_secret(struct volume *v)
{
	struct segment_writer *w;
	char text[SIZE];

	memset(text, 's', sizeof(text));
	ck_assert_int_eq(v->ops->segment_from_spare(v, "1.sst", 2 * SIZE, &w),
			 0);
	ck_assert_int_eq(v->ops->segment_append(w, bytes_of(text, SIZE)), 0);
	ck_assert_int_eq(v->ops->segment_finish(w), 0);
}

START_TEST(what_a_removed_file_had_is_in_no_piece)
{
	const uint64_t size = 2 * SIZE;
	struct volume *v = open_volume();
	struct stat st;
	char path[160];

	ck_assert_int_eq(v->ops->lease_take(v, "me", NULL, NULL), 0);
	ck_assert_int_eq(v->ops->spare_hold(v, &size, 1, false), 0);
	write_secret(v);
	ck_assert_int_eq(v->ops->remove(v, "1.sst"), 0);
	ck_assert(holds("1.spare", 's'));
	ck_assert_int_eq(v->ops->spare_wipe(v), 0);
	ck_assert(!holds("1.spare", 's'));
	snprintf(path, sizeof(path), "%s/1.spare", directory);
	ck_assert_int_eq(stat(path, &st), 0);
	ck_assert_uint_ge((uint64_t)st.st_blocks * 512, SIZE);
	v->ops->close(v);
}
END_TEST

/* It is not looked into, and somebody may have deleted it. */
START_TEST(a_piece_that_is_gone_is_no_trouble)
{
	const uint64_t size = SIZE;
	struct volume *v = open_volume();
	char path[160];

	ck_assert_int_eq(v->ops->lease_take(v, "me", NULL, NULL), 0);
	ck_assert_int_eq(v->ops->spare_hold(v, &size, 1, false), 0);
	snprintf(path, sizeof(path), "%s/0.spare", directory);
	ck_assert_int_eq(unlink(path), 0);
	ck_assert_int_eq(v->ops->spare_wipe(v), 0);
	v->ops->close(v);
}
END_TEST

int main(void)
{
	const TTest *tests[] = {
		what_a_removed_file_had_is_in_no_piece,
		a_piece_that_is_gone_is_no_trouble,
	};

	return run_suite("volume_wipe", set_up, tear_down, tests,
			 sizeof(tests) / sizeof(*tests));
}
