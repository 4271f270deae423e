#include <dirent.h>
#include <unistd.h>

#include "store/base/volume/volume_posix_file.h"
#include "tests/unit/volume_directory.h"

/* Of the volume's directory. */
static size_t entry_count(void)
{
	DIR *d = opendir(directory);
	size_t count = 0;

	ck_assert_ptr_nonnull(d);
	while (readdir(d))
		count++;
	closedir(d);
	return count;
}

/* A file without a name is nowhere, holds what is written, and costs nothing
 * once it is closed. */
START_TEST(scratch_has_no_name)
{
	struct volume *v = open_volume();
	char text[8] = { 0 };
	size_t before = entry_count();
	int fd = v->ops->scratch(v), other = v->ops->scratch(v);

	ck_assert_uint_eq(entry_count(), before);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_ge(other, 0);
	ck_assert_int_eq(
		posix_write_at(fd, BYTES_LITERAL("scratch"), 5, "a file"), 0);
	ck_assert_int_eq(pread(fd, text, 7, 5), 7);
	ck_assert_str_eq(text, "scratch");
	ck_assert_int_eq(pread(other, text, 7, 5), 0);
	close(fd);
	close(other);
	v->ops->close(v);
}
END_TEST

int main(void)
{
	const TTest *tests[] = { scratch_has_no_name };

	return run_suite("volume_scratch", set_up, tear_down, tests,
			 sizeof(tests) / sizeof(*tests));
}
