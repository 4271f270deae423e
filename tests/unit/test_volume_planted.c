#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/base/err.h"
#include "store/base/volume/volume.h"
#include "store/base/volume/volume_posix_lease.h"
#include "store/base/volume/volume_posix_own.h"
#include "tests/unit/suite.h"
#include "tests/unit/volume_directory.h"

/* What others put into the directory of a volume, or made of it. */

START_TEST(foreign_directories_are_refused)
{
	struct volume *v;

	ck_assert_int_eq(volume_posix_open(directory, false, &v), -ENOENT);
	ck_assert_int_eq(mkdir(directory, 0755), 0);
	ck_assert_int_eq(volume_posix_open(directory, false, &v),
			 -ERR_not_a_store);
	make_file("letter.txt", "dear");
	ck_assert_int_eq(volume_posix_open(directory, true, &v),
			 -ERR_not_a_store);
	ck_assert_ptr_nonnull(strstr(err_detail(), "letter.txt"));
	ck_assert(!exists("tabletfs"));
	make_file("tabletfs", "#!/bin/sh\n");
	ck_assert_int_eq(volume_posix_open(directory, true, &v),
			 -ERR_not_a_store);
	make_file("tabletfs", "TabletFS store, format 7\n");
	ck_assert_int_eq(volume_posix_open(directory, true, &v),
			 -ERR_format_newer);
}
END_TEST

/* It is the files that repair goes by; the marker cannot be read here. */
START_TEST(a_damaged_marker_is_no_hindrance)
{
	struct volume *v = open_volume();
	char path[160];

	v->ops->close(v);
	snprintf(path, sizeof(path), "%s/tabletfs", directory);
	ck_assert_int_eq(unlink(path), 0);
	ck_assert_int_eq(volume_posix_open_damaged(directory, &v), 1);
	v->ops->close(v);
	ck_assert_int_eq(mkdir(path, 0700), 0);
	ck_assert_int_eq(volume_posix_open(directory, false, &v),
			 -ERR_not_a_store);
	ck_assert_int_eq(volume_posix_open_damaged(directory, &v), 1);
	v->ops->close(v);
}
END_TEST

START_TEST(an_empty_directory_becomes_a_store)
{
	struct volume_space space;
	struct volume *v;
	char path[160];

	ck_assert_int_eq(mkdir(directory, 0700), 0);
	snprintf(path, sizeof(path), "%s/lost+found", directory);
	ck_assert_int_eq(mkdir(path, 0700), 0);
	v = open_volume();
	check_list(v, "");
	ck_assert_int_eq(v->ops->space(v, &space), 0);
	ck_assert_uint_ge(space.total_size, space.free_size);
	v->ops->close(v);
	ck_assert_int_eq(volume_posix_open(directory, false, &v), 0);
	v->ops->close(v);
	snprintf(path, sizeof(path), "%s/no/such", directory);
	ck_assert_int_eq(volume_posix_open(path, true, &v), -ENOENT);
}
END_TEST

/* Where no other may come between, or only for so long. */
START_TEST(a_lock_on_the_directory_is_no_hindrance)
{
	struct volume *v = open_volume(), *other = open_volume();
	int fd = open(directory, O_RDONLY | O_DIRECTORY);

	ck_assert_int_eq(flock(fd, LOCK_EX), 0);
	ck_assert_int_eq(v->ops->lease_take(v, "me", NULL, NULL), 0);
	ck_assert_int_eq(v->ops->root_swap(v, 0, BYTES_LITERAL("one")), 0);
	ck_assert_int_eq(other->ops->root_swap(other, 1, BYTES_LITERAL("x")),
			 -EBUSY);
	ck_assert_ptr_nonnull(strstr(err_detail(), directory));
	close(fd);
	v->ops->close(v);
	other->ops->close(other);
}
END_TEST

START_TEST(a_fifo_is_not_waited_for)
{
	struct volume *v = open_volume();
	uint64_t version = 0;
	struct buf content = BUF_INIT;
	struct reader *r;
	char path[160];

	snprintf(path, sizeof(path), "%s/00000001-00000001.sst", directory);
	ck_assert_int_eq(mkfifo(path, 0600), 0);
	ck_assert_int_eq(v->ops->open(v, "00000001-00000001.sst", &r), -EIO);
	snprintf(path, sizeof(path), "%s/root", directory);
	ck_assert_int_eq(mkfifo(path, 0600), 0);
	ck_assert_int_eq(v->ops->root_get(v, &version, &content),
			 -ERR_manifest_damaged);
	buf_release(&content);
	v->ops->close(v);
}
END_TEST

/* What stands under the store's names but is none of its files is removed, or
 * left if it is a directory; it is neither waited for nor written to. */
START_TEST(planted_names_do_no_harm)
{
	static const char *const planted[] = { "x.tmp", "3.spare",
					       "root.spare" };
	struct volume *v;
	char path[160];
	size_t i;

	for (i = 0; i < 3; i++) {
		v = open_volume();
		v->ops->close(v);
		snprintf(path, sizeof(path), "%s/%s", directory, planted[i]);
		unlink(path);
		ck_assert_int_eq(mkfifo(path, 0600), 0);
		v = open_volume();
		ck_assert_int_eq(v->ops->lease_take(v, "", NULL, NULL), 0);
		ck_assert_int_eq(v->ops->root_swap(v, i, BYTES_LITERAL("x")),
				 0);
		v->ops->close(v);
	}
	for (i = 0; i < 2; i++) {
		snprintf(path, sizeof(path), "%s/%s", directory, planted[i]);
		ck_assert_int_eq(mkdir(path, 0700), 0);
	}
	v = open_volume();
	ck_assert_int_eq(v->ops->lease_take(v, "", NULL, NULL), 0);
	ck_assert_int_eq(
		v->ops->spare_hold(v,
				   (uint64_t[]){ 1 << 16, 1 << 16, 1 << 16,
						 1 << 16, 1 << 16 },
				   5, false),
		0);
	v->ops->close(v);
}
END_TEST

/* A copy of the directory that was made by links shares no file that is
 * overwritten. */
START_TEST(a_copy_by_links_stays_as_it_is)
{
	struct volume *v = open_volume(), *copy;
	struct buf content = BUF_INIT;
	char command[300];
	uint64_t version;

	ck_assert_int_eq(v->ops->root_swap(v, 0, BYTES_LITERAL("old")), 0);
	ck_assert_int_eq(v->ops->root_swap(v, 1, BYTES_LITERAL("both")), 0);
	snprintf(command, sizeof(command), "cp -al %s %s/copy", directory, top);
	ck_assert_int_eq(system(command), 0);
	ck_assert_int_eq(v->ops->root_swap(v, 2, BYTES_LITERAL("newer")), 0);
	ck_assert_int_eq(v->ops->root_swap(v, 3, BYTES_LITERAL("newest")), 0);
	v->ops->close(v);
	snprintf(command, sizeof(command), "%s/copy", top);
	ck_assert_int_eq(volume_posix_open(command, false, &copy), 0);
	ck_assert_int_eq(copy->ops->root_get(copy, &version, &content), 0);
	ck_assert_uint_eq(version, 2);
	ck_assert(bytes_equal(buf_bytes(&content), BYTES_LITERAL("both")));
	buf_release(&content);
	copy->ops->close(copy);
}
END_TEST

/* The lock file is written to, so it is the store's alone. Who has it is told
 * of all the same, and readers write nothing. */
START_TEST(a_lock_with_another_name_is_not_written_to)
{
	struct volume *v = open_volume(), *other = open_volume();
	char path[160], victim[160], text[16] = "";
	FILE *f;

	snprintf(path, sizeof(path), "%s/lock", directory);
	snprintf(victim, sizeof(victim), "%s/victim", top);
	f = fopen(victim, "w");
	ck_assert_ptr_nonnull(f);
	fputs("precious", f);
	fclose(f);
	ck_assert_int_eq(link(victim, path), 0);
	ck_assert_int_eq(v->ops->lease_take(v, "a holder", NULL, NULL),
			 -EMLINK);
	ck_assert_ptr_nonnull(strstr(err_detail(), path));
	f = fopen(victim, "r");
	ck_assert_uint_eq(fread(text, 1, sizeof(text) - 1, f), 8);
	ck_assert_str_eq(text, "precious");
	fclose(f);
	ck_assert_int_eq(v->ops->lease_share(v), 0);
	v->ops->lease_release(v);

	ck_assert_int_eq(unlink(path), 0);
	ck_assert_int_eq(v->ops->lease_take(v, "a holder", NULL, NULL), 0);
	ck_assert_int_eq(unlink(victim), 0);
	ck_assert_int_eq(link(path, victim), 0);
	ck_assert_int_eq(other->ops->lease_take(other, "other", NULL, NULL),
			 -ERR_store_in_use);
	ck_assert_ptr_nonnull(strstr(err_detail(), "a holder"));
	v->ops->close(v);
	other->ops->close(other);
}
END_TEST

START_TEST(a_lock_that_is_no_file_is_refused)
{
	struct volume *v = open_volume();
	char path[160];

	snprintf(path, sizeof(path), "%s/lock", directory);
	ck_assert_int_eq(mkfifo(path, 0600), 0);
	ck_assert_int_eq(v->ops->lease_take(v, "me", NULL, NULL), -EINVAL);
	ck_assert_ptr_nonnull(strstr(err_detail(), path));
	ck_assert_int_eq(v->ops->lease_share(v), -EINVAL);
	ck_assert_int_eq(unlink(path), 0);
	ck_assert_int_eq(symlink("/dev/null", path), 0);
	ck_assert_int_eq(v->ops->lease_take(v, "me", NULL, NULL), -ELOOP);
	v->ops->close(v);
}
END_TEST

static void check_in_use(struct volume *v, int (*enter)(struct volume *v))
{
	struct buf line = BUF_INIT;
	bool here;

	ck_assert_int_eq(enter(v), -ERR_store_in_use);
	ck_assert_ptr_nonnull(strstr(err_detail(), "removed or replaced"));
	ck_assert_int_eq(volume_posix_holder(directory, &line, &here), 1);
	buf_release(&line);
}

static int take(struct volume *v)
{
	return v->ops->lease_take(v, "other", NULL, NULL);
}

static int share(struct volume *v)
{
	return v->ops->lease_share(v);
}

/* Neither the lock file that is missing nor another one hides a holder, from
 * who is to write nor from who is to read. */
START_TEST(a_removed_lock_hides_no_holder)
{
	struct volume *v = open_volume(), *other = open_volume();
	char path[160];
	int fd;

	snprintf(path, sizeof(path), "%s/lock", directory);
	ck_assert_int_eq(take(v), 0);
	ck_assert_int_eq(unlink(path), 0);
	check_in_use(other, share);
	check_in_use(other, take);
	ck_assert_int_eq(unlink(path), 0);
	make_file("lock", "pid 1, mounted at /mnt\n");
	check_in_use(other, take);
	check_in_use(other, share);
	ck_assert_int_eq(v->ops->root_swap(v, 0, BYTES_LITERAL("one")), 0);
	v->ops->lease_release(v);
	ck_assert_int_eq(share(other), 0);
	ck_assert_int_eq(unlink(path), 0);
	ck_assert_int_eq(share(v), 0);
	v->ops->lease_release(v);
	check_in_use(v, take);
	other->ops->lease_release(other);
	ck_assert_int_eq(take(v), 0);
	v->ops->lease_release(v);
	/* A lock on the directory is nobody's. */
	fd = open(directory, O_RDONLY | O_DIRECTORY);
	ck_assert_int_eq(flock(fd, LOCK_EX), 0);
	ck_assert_int_eq(take(v), 0);
	close(fd);
	v->ops->close(v);
	other->ops->close(other);
}
END_TEST

/* Two that make a volume at once: one has it, and the other is told so. */
struct maker {
	pthread_barrier_t begin, end;
	atomic_uint holders;
};

static void *make_and_take(void *context)
{
	struct maker *m = context;
	struct volume *v;
	char *why = NULL;
	int err;

	pthread_barrier_wait(&m->begin);
	err = volume_posix_open(directory, true, &v);
	if (err == 0)
		err = take(v);
	if (err == 0)
		m->holders++;
	else if (err != -ERR_store_in_use)
		why = strdup(err_detail());
	pthread_barrier_wait(&m->end);
	if (v)
		v->ops->close(v);
	return why;
}

START_TEST(of_two_that_make_it_one_has_it)
{
	pthread_t threads[2];
	unsigned int round, i;

	for (round = 0; round < 50; round++) {
		struct maker m = { .holders = 0 };

		pthread_barrier_init(&m.begin, NULL, 2);
		pthread_barrier_init(&m.end, NULL, 2);
		for (i = 0; i < 2; i++)
			pthread_create(&threads[i], NULL, make_and_take, &m);
		for (i = 0; i < 2; i++) {
			void *why;

			pthread_join(threads[i], &why);
			ck_assert_msg(!why, "%s", (char *)why);
		}
		ck_assert_uint_eq(m.holders, 1);
		pthread_barrier_destroy(&m.begin);
		pthread_barrier_destroy(&m.end);
		volume_posix_discard(directory);
	}
}
END_TEST

static void read_lock(char *text, size_t size)
{
	char path[160];
	FILE *f;

	snprintf(path, sizeof(path), "%s/lock", directory);
	f = fopen(path, "r");
	ck_assert_ptr_nonnull(f);
	text[fread(text, 1, size - 1, f)] = 0;
	fclose(f);
}

/* Who describes himself anew stays the same. */
START_TEST(a_holder_has_one_identity)
{
	struct volume *v = open_volume();
	char first[200], second[200], *a, *b;

	ck_assert_int_eq(take(v), 0);
	read_lock(first, sizeof(first));
	ck_assert_int_eq(v->ops->lease_describe(v, "mounted"), 0);
	read_lock(second, sizeof(second));
	a = strchr(first, '\n');
	b = strchr(second, '\n');
	ck_assert(a && b);
	ck_assert_str_eq(a, b);
	ck_assert(!volume_posix_had_lease(v));
	v->ops->lease_release(v);
	ck_assert_int_eq(take(v), 0);
	ck_assert(volume_posix_had_lease(v));
	v->ops->lease_release(v);
	make_file("lock", "me\n00000000-0000-0000-0000-000000000000 1 2 3 4\n");
	ck_assert_int_eq(take(v), 0);
	ck_assert(!volume_posix_had_lease(v));
	v->ops->close(v);
}
END_TEST

int main(void)
{
	const TTest *tests[] = {
		foreign_directories_are_refused,
		a_damaged_marker_is_no_hindrance,
		an_empty_directory_becomes_a_store,
		a_lock_on_the_directory_is_no_hindrance,
		a_fifo_is_not_waited_for,
		planted_names_do_no_harm,
		a_copy_by_links_stays_as_it_is,
		a_lock_with_another_name_is_not_written_to,
		a_lock_that_is_no_file_is_refused,
		a_removed_lock_hides_no_holder,
		of_two_that_make_it_one_has_it,
		a_holder_has_one_identity,
	};

	return run_suite("volume_planted", set_up, tear_down, tests,
			 sizeof(tests) / sizeof(*tests));
}
