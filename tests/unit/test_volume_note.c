#include <sys/stat.h>

#include "store/base/err.h"
#include "store/base/volume/volume.h"
#include "tests/unit/suite.h"
#include "tests/unit/volume_directory.h"

/* Notes of a volume in a directory, and what others put in their place. */
static struct volume *volume;

static void begin(void)
{
	set_up();
	volume = open_volume();
	ck_assert_int_eq(volume->ops->lease_take(volume, "me", NULL, NULL), 0);
}

static void end(void)
{
	volume->ops->close(volume);
	tear_down();
}

static int note(const char *text, uint64_t size_max)
{
	return volume->ops->note(volume, bytes_string(text), size_max);
}

static void path_of(const char *name, char *path, size_t size)
{
	snprintf(path, size, "%s/%s", directory, name);
}

/* A file's content, "" if there is none; good until the next call. */
static const char *content(const char *name)
{
	static char text[1000];
	char path[160];
	size_t size;
	FILE *f;

	path_of(name, path, sizeof(path));
	f = fopen(path, "r");
	size = f ? fread(text, 1, sizeof(text) - 1, f) : 0;
	text[size] = 0;
	if (f)
		fclose(f);
	return text;
}

static void reopen(void)
{
	volume->ops->close(volume);
	volume = open_volume();
	ck_assert_int_eq(volume->ops->lease_take(volume, "me", NULL, NULL), 0);
}

START_TEST(notes_are_appended_by_who_has_the_lease)
{
	struct volume *other = open_volume();
	struct stat st;
	char path[160];

	ck_assert_int_eq(other->ops->note(other, bytes_string("x\n"), 100),
			 -EINVAL);
	ck_assert(!exists(VOLUME_NOTES));
	ck_assert_int_eq(note("one\n", 100), 0);
	reopen();
	ck_assert_int_eq(note("two\n", 100), 0);
	ck_assert_str_eq(content(VOLUME_NOTES), "one\ntwo\n");
	path_of(VOLUME_NOTES, path, sizeof(path));
	ck_assert_int_eq(stat(path, &st), 0);
	ck_assert_int_eq(st.st_mode, S_IFREG | 0600);
	/* They are nothing that the engine sees. */
	check_list(volume, "");
	other->ops->close(other);
}
END_TEST

START_TEST(notes_have_a_bound)
{
	ck_assert_int_eq(note("first\n", 12), 0);
	ck_assert_int_eq(note("second\n", 12), 0);
	ck_assert_str_eq(content(VOLUME_NOTES), "second\n");
	ck_assert_str_eq(content(VOLUME_NOTES_OLD), "first\n");
	/* Also over openings. */
	reopen();
	ck_assert_int_eq(note("third\n", 12), 0);
	ck_assert_str_eq(content(VOLUME_NOTES), "third\n");
	ck_assert_str_eq(content(VOLUME_NOTES_OLD), "second\n");
}
END_TEST

START_TEST(a_line_that_was_cut_is_ended)
{
	make_file(VOLUME_NOTES, "half of");
	ck_assert_int_eq(note("whole\n", 100), 0);
	ck_assert_str_eq(content(VOLUME_NOTES), "half of\nwhole\n");
}
END_TEST

START_TEST(removed_or_emptied_notes_begin_again)
{
	char path[160];

	path_of(VOLUME_NOTES, path, sizeof(path));
	ck_assert_int_eq(note("one\n", 100), 0);
	ck_assert_int_eq(unlink(path), 0);
	ck_assert_int_eq(note("two\n", 100), 0);
	ck_assert_str_eq(content(VOLUME_NOTES), "two\n");
	ck_assert_int_eq(truncate(path, 0), 0);
	ck_assert_int_eq(note("three\n", 100), 0);
	ck_assert_str_eq(content(VOLUME_NOTES), "three\n");
}
END_TEST

/* Such as of a copy of the directory that was made by links. */
START_TEST(a_file_with_another_name_is_not_written)
{
	char path[160], other[160];

	make_file(VOLUME_NOTES, "mine\n");
	path_of(VOLUME_NOTES, path, sizeof(path));
	snprintf(other, sizeof(other), "%s/copy", top);
	ck_assert_int_eq(link(path, other), 0);
	ck_assert_int_eq(note("more\n", 100), 0);
	ck_assert_str_eq(content(VOLUME_NOTES), "more\n");
	ck_assert_str_eq(content("../copy"), "mine\n");
	ck_assert_str_eq(content(VOLUME_NOTES_OLD), "mine\n");
}
END_TEST

START_TEST(what_is_no_file_is_neither_waited_for_nor_followed)
{
	char path[160], target[160];

	path_of(VOLUME_NOTES, path, sizeof(path));
	ck_assert_int_eq(mkfifo(path, 0600), 0);
	ck_assert_int_eq(note("x\n", 100), -EIO);
	ck_assert_ptr_nonnull(strstr(err_detail(), path));
	ck_assert_int_eq(unlink(path), 0);

	snprintf(target, sizeof(target), "%s/target", top);
	ck_assert_int_eq(symlink(target, path), 0);
	ck_assert_int_eq(note("x\n", 100), -ELOOP);
	ck_assert_int_ne(access(target, F_OK), 0);
	ck_assert_int_eq(unlink(path), 0);

	ck_assert_int_eq(mkdir(path, 0700), 0);
	ck_assert_int_eq(note("x\n", 100), -EISDIR);
	ck_assert_int_eq(rmdir(path), 0);
	/* As soon as it is gone. */
	ck_assert_int_eq(note("x\n", 100), 0);
	ck_assert_str_eq(content(VOLUME_NOTES), "x\n");
}
END_TEST

START_TEST(what_is_in_the_way_of_old_notes_is_no_hindrance)
{
	char path[160], target[160];

	path_of(VOLUME_NOTES_OLD, path, sizeof(path));
	snprintf(target, sizeof(target), "%s/target", top);
	ck_assert_int_eq(symlink(target, path), 0);
	ck_assert_int_eq(note("one\n", 5), 0);
	ck_assert_int_eq(note("two\n", 5), 0);
	ck_assert_str_eq(content(VOLUME_NOTES_OLD), "one\n");
	ck_assert_int_ne(access(target, F_OK), 0);

	ck_assert_int_eq(unlink(path), 0);
	ck_assert_int_eq(mkdir(path, 0700), 0);
	ck_assert_int_eq(note("three\n", 5), 0);
	ck_assert_str_eq(content(VOLUME_NOTES), "three\n");
}
END_TEST

int main(void)
{
	const TTest *tests[] = {
		notes_are_appended_by_who_has_the_lease,
		notes_have_a_bound,
		a_line_that_was_cut_is_ended,
		removed_or_emptied_notes_begin_again,
		a_file_with_another_name_is_not_written,
		what_is_no_file_is_neither_waited_for_nor_followed,
		what_is_in_the_way_of_old_notes_is_no_hindrance,
	};

	return run_suite("volume_note", begin, end, tests,
			 sizeof(tests) / sizeof(*tests));
}
