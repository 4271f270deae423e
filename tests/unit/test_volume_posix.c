#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "store/base/err.h"
#include "store/base/volume/volume.h"
#include "store/base/volume/volume_posix.h"
#include "store/base/volume/volume_posix_lease.h"
#include "store/base/volume/volume_posix_own.h"
#include "tests/unit/suite.h"
#include "tests/unit/volume_directory.h"

/* In place of the C library's, to fail on request. */
static bool no_flags, fails_sync, no_fallocate;

int renameat2(int from, const char *old, int to, const char *name,
	      unsigned int flags)
{
	if (flags && no_flags) {
		errno = EINVAL;
		return -1;
	}
	return (int)syscall(SYS_renameat2, from, old, to, name, flags);
}

int fallocate(int fd, int mode, off_t offset, off_t size)
{
	if (no_fallocate) {
		errno = EOPNOTSUPP;
		return -1;
	}
	return (int)syscall(SYS_fallocate, fd, mode, offset, size);
}

int fsync(int fd)
{
	if (fails_sync) {
		errno = EIO;
		return -1;
	}
	return (int)syscall(SYS_fsync, fd);
}

static void write_segment(struct volume *v, const char *name, const char *text)
{
	struct segment_writer *w;

	ck_assert_int_eq(v->ops->segment_create(v, name, &w), 0);
	ck_assert_int_eq(v->ops->segment_append(w, bytes_string(text)), 0);
	ck_assert_uint_eq(w->size, strlen(text));
	ck_assert_int_eq(v->ops->segment_finish(w), 0);
}

START_TEST(segments)
{
	struct volume *v = open_volume();
	struct segment_writer *w;
	struct reader *r;
	char text[8] = "";
	struct stat st;

	ck_assert_int_eq(stat(directory, &st), 0);
	ck_assert_uint_eq(st.st_mode & 0777, 0700);
	ck_assert_int_eq(v->ops->open(v, "1.sst", &r), -ENOENT);
	ck_assert_ptr_nonnull(strstr(err_detail(), "1.sst"));
	write_segment(v, "1.sst", "hello");
	ck_assert_int_eq(v->ops->segment_create(v, "1.sst", &w), -EEXIST);
	ck_assert_int_eq(v->ops->log_create(v, "1.sst", &(struct log *){ 0 }),
			 -EEXIST);
	check_list(v, "1.sst ");

	ck_assert_int_eq(v->ops->segment_create(v, "2.sst", &w), 0);
	check_list(v, "1.sst ");
	ck_assert_int_eq(v->ops->open(v, "2.sst", &r), -ENOENT);
	v->ops->segment_abandon(w);
	ck_assert(!exists("2.sst.tmp"));

	ck_assert_int_eq(v->ops->open(v, "1.sst", &r), 0);
	ck_assert_uint_eq(r->size, 5);
	ck_assert_int_eq(v->ops->remove(v, "1.sst"), 0);
	ck_assert_int_eq(v->ops->remove(v, "1.sst"), -ENOENT);
	check_list(v, "");
	ck_assert_int_eq(v->ops->pread(r, 1, text, 4), 0);
	ck_assert_str_eq(text, "ello");
	ck_assert_int_eq(v->ops->pread(r, 1, text, 5), -EIO);
	ck_assert_int_eq(v->ops->pread(r, 100, text, 1), -EIO);
	v->ops->reader_close(r);
	v->ops->close(v);
}
END_TEST

START_TEST(segment_that_meets_its_name_is_refused)
{
	struct volume *v = open_volume();
	struct segment_writer *w;

	ck_assert_int_eq(v->ops->segment_create(v, "1.sst", &w), 0);
	make_file("1.sst", "other");
	ck_assert_int_eq(v->ops->segment_finish(w), -EEXIST);
	ck_assert(exists("1.sst"));
	ck_assert(!exists("1.sst.tmp"));
	v->ops->close(v);
}
END_TEST

START_TEST(names)
{
	static const char *const wrong[] = {
		"",
		"root",
		"lock",
		"tabletfs",
		"a.tmp",
		"../x",
		".dot",
		"A",
		"a b",
		"a/b",
		"\xff",
		"0123456789012345678901234567890123456789012345678901234567890"
		"1234",
	};
	struct volume *v = open_volume();
	struct segment_writer *w;
	struct reader *r;
	struct log *l;
	size_t i;

	for (i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		ck_assert_int_eq(v->ops->segment_create(v, wrong[i], &w),
				 -EINVAL);
		ck_assert_int_eq(v->ops->log_create(v, wrong[i], &l), -EINVAL);
		ck_assert_int_eq(v->ops->open(v, wrong[i], &r), -EINVAL);
		ck_assert_int_eq(v->ops->remove(v, wrong[i]), -EINVAL);
	}
	v->ops->close(v);
}
END_TEST

START_TEST(logs)
{
	struct volume *v = open_volume();
	struct reader *r;
	struct log *l;
	char text[8] = "";

	ck_assert_int_eq(v->ops->log_create(v, "1.log", &l), 0);
	ck_assert_int_eq(v->ops->log_append(l, BYTES_LITERAL("abc")), 0);
	ck_assert_int_eq(v->ops->log_sync(l), 0);
	ck_assert_int_eq(v->ops->log_append(l, BYTES_LITERAL("def")), 0);
	ck_assert_uint_eq(l->size, 6);
	ck_assert_int_eq(v->ops->open(v, "1.log", &r), 0);
	ck_assert_uint_eq(r->size, 6);
	ck_assert_int_eq(v->ops->log_append(l, BYTES_LITERAL("g")), 0);
	ck_assert_int_eq(v->ops->pread(r, 0, text, 6), 0);
	ck_assert_str_eq(text, "abcdef");
	v->ops->reader_close(r);
	ck_assert_int_eq(v->ops->log_sync(l), 0);
	v->ops->log_close(l);
	check_list(v, "1.log ");
	ck_assert_int_eq(v->ops->log_create(v, "1.log", &l), -EEXIST);
	v->ops->close(v);
}
END_TEST

START_TEST(root)
{
	struct volume *v = open_volume(), *other = open_volume();
	struct buf content = BUF_INIT;
	uint64_t version = 9;

	ck_assert_int_eq(v->ops->root_get(v, &version, &content), -ENOENT);
	ck_assert_int_eq(v->ops->root_swap(v, 1, BYTES_LITERAL("x")),
			 -ERR_volume_conflict);
	ck_assert_int_eq(v->ops->root_swap(v, 0, BYTES_LITERAL("one")), 0);
	ck_assert_int_eq(other->ops->root_swap(other, 0, BYTES_LITERAL("x")),
			 -ERR_volume_conflict);
	ck_assert_int_eq(other->ops->root_swap(other, 1, BYTES_LITERAL("two")),
			 0);
	ck_assert_int_eq(v->ops->root_get(v, &version, &content), 0);
	ck_assert_uint_eq(version, 2);
	ck_assert(bytes_equal(buf_bytes(&content), BYTES_LITERAL("two")));
	check_list(v, "");
	buf_release(&content);
	v->ops->close(v);
	other->ops->close(other);
}
END_TEST

/* No cut and no flipped bit of the root passes for a root. */
START_TEST(damaged_root)
{
	struct volume *v = open_volume();
	struct buf content = BUF_INIT;
	uint8_t raw[64];
	char path[160];
	uint64_t version;
	ssize_t size;
	long i;
	int fd;

	ck_assert_int_eq(v->ops->root_swap(v, 0, BYTES_LITERAL("content")), 0);
	snprintf(path, sizeof(path), "%s/root", directory);
	fd = open(path, O_RDWR);
	size = pread(fd, raw, sizeof(raw), 0);
	ck_assert_int_eq(size, 27);
	for (i = 0; i < size * 8; i++) {
		raw[i / 8] ^= (uint8_t)(1 << i % 8);
		ck_assert_int_eq(pwrite(fd, raw, (size_t)size, 0), size);
		ck_assert_int_eq(v->ops->root_get(v, &version, &content),
				 -ERR_manifest_damaged);
		raw[i / 8] ^= (uint8_t)(1 << i % 8);
	}
	for (i = 0; i < size; i++) {
		ck_assert_int_eq(pwrite(fd, raw, (size_t)size, 0), size);
		ck_assert_int_eq(ftruncate(fd, i), 0);
		ck_assert_int_eq(v->ops->root_get(v, &version, &content),
				 -ERR_manifest_damaged);
	}
	close(fd);
	buf_release(&content);
	v->ops->close(v);
}
END_TEST

static void check_holder(const char *want)
{
	struct buf line = BUF_INIT;
	bool here;
	int err = volume_posix_holder(directory, &line, &here);

	ck_assert_int_eq(err, want ? 0 : -ENOENT);
	ck_assert_int_eq(buf_terminate(&line), 0);
	ck_assert_str_eq((char *)line.data, want ? want : "");
	buf_release(&line);
}

START_TEST(lease)
{
	struct volume *v = open_volume(), *other = open_volume();
	struct segment_writer *w;

	check_holder(NULL);
	ck_assert_int_eq(
		v->ops->lease_take(v, "first, a long line", NULL, NULL), 0);
	ck_assert_int_eq(other->ops->lease_take(other, "second", NULL, NULL),
			 -ERR_store_in_use);
	ck_assert_ptr_nonnull(strstr(err_detail(), "first, a long line"));
	check_holder("first, a long line");
	ck_assert_int_eq(v->ops->lease_describe(v, "short\nline"), 0);
	check_holder("short");
	ck_assert_int_lt(other->ops->lease_describe(other, "x"), 0);
	/* What a writer that died left behind goes with the next one. */
	ck_assert_int_eq(v->ops->segment_create(v, "1.sst", &w), 0);
	v->ops->lease_release(v);
	check_holder(NULL);
	ck_assert(exists("1.sst.tmp"));
	ck_assert_int_eq(other->ops->lease_take(other, "second", NULL, NULL),
			 0);
	ck_assert(!exists("1.sst.tmp"));
	v->ops->segment_abandon(w);
	v->ops->close(v);
	other->ops->close(other);
}
END_TEST

/* Readers share it with one another, and with no writer; they write no line. */
START_TEST(shared_lease)
{
	struct volume *v = open_volume(), *other = open_volume();
	struct buf line = BUF_INIT;

	ck_assert_int_eq(v->ops->lease_share(v), 0);
	ck_assert_msg(!exists("lock"), "a lock file was made");
	v->ops->lease_release(v);
	make_file("lock", "who had it before\n");
	ck_assert_int_eq(v->ops->lease_share(v), 0);
	ck_assert_int_eq(other->ops->lease_share(other), 0);
	other->ops->lease_release(other);
	ck_assert_int_eq(other->ops->lease_take(other, "a writer", NULL, NULL),
			 -ERR_store_in_use);
	ck_assert_ptr_nonnull(strstr(err_detail(), "only reads"));
	ck_assert_int_eq(volume_posix_holder(directory, &line, &(bool){ 0 }),
			 1);
	ck_assert_int_eq(v->ops->lease_describe(v, "a reader"), -EINVAL);
	v->ops->lease_release(v);
	check_holder(NULL);
	ck_assert_int_eq(other->ops->lease_take(other, "a writer", NULL, NULL),
			 0);
	ck_assert_int_eq(v->ops->lease_share(v), -ERR_store_in_use);
	ck_assert_ptr_nonnull(strstr(err_detail(), "a writer"));
	buf_release(&line);
	v->ops->close(v);
	other->ops->close(other);
}
END_TEST

static uint64_t blocks_of(const char *name)
{
	char path[160];
	struct stat st;

	snprintf(path, sizeof(path), "%s/%s", directory, name);
	return stat(path, &st) < 0 ? 0 : (uint64_t)st.st_blocks * 512;
}

static ino_t inode_of(const char *name)
{
	char path[160];
	struct stat st;

	snprintf(path, sizeof(path), "%s/%s", directory, name);
	return stat(path, &st) < 0 ? 0 : st.st_ino;
}

static void check_file(struct volume *v, const char *name, const char *want)
{
	char text[64] = "";
	struct reader *r;

	ck_assert_int_eq(v->ops->open(v, name, &r), 0);
	ck_assert_uint_eq(r->size, strlen(want));
	ck_assert_int_eq(v->ops->pread(r, 0, text, r->size), 0);
	ck_assert_str_eq(text, want);
	v->ops->reader_close(r);
}

static void rename_file(const char *from, const char *to)
{
	char old[160], new[160];

	snprintf(old, sizeof(old), "%s/%s", directory, from);
	snprintf(new, sizeof(new), "%s/%s", directory, to);
	ck_assert_int_eq(rename(old, new), 0);
}

#define PIECE (UINT64_C(256) << 10)

/* A file of size bytes that begins with text, and goes on with zeros. */
static void check_start(struct volume *v, const char *name, const char *text,
			uint64_t size)
{
	static char data[2 * PIECE];
	struct reader *r;
	size_t i;

	ck_assert_int_eq(v->ops->open(v, name, &r), 0);
	ck_assert_uint_eq(r->size, size);
	ck_assert_int_eq(v->ops->pread(r, 0, data, size), 0);
	v->ops->reader_close(r);
	ck_assert_int_eq(memcmp(data, text, strlen(text)), 0);
	for (i = strlen(text); i < size; i++)
		ck_assert_int_eq(data[i], 0);
}

/* A piece has its blocks, becomes a file without losing them, and comes back
 * when that goes; a later life finds it. */
/* As a source tree or the program beside the directory may be. */
START_TEST(what_has_the_name_of_a_marker_is_no_store)
{
	char path[128];
	struct volume *v;
	int fd;

	snprintf(path, sizeof(path), "%s/tabletfs", top);
	ck_assert_int_eq(mkdir(path, 0700), 0);
	v = open_volume();
	v->ops->close(v);
	volume_posix_discard(directory);
	ck_assert_int_eq(rmdir(path), 0);
	fd = open(path, O_WRONLY | O_CREAT, 0700);
	ck_assert_int_eq(write(fd, "TabletF", 7), 7);
	close(fd);
	v = open_volume();
	v->ops->close(v);
	ck_assert_int_eq(unlink(path), 0);
}
END_TEST

START_TEST(pieces)
{
	const uint64_t sizes[] = { PIECE, 2 * PIECE };
	struct volume *v = open_volume();
	struct segment_writer *w;
	ino_t large, small;

	ck_assert_int_eq(v->ops->lease_take(v, "me", NULL, NULL), 0);
	ck_assert_int_eq(v->ops->spare_hold(v, sizes, 2, false), 0);
	check_list(v, "");
	ck_assert_uint_eq(blocks_of("0.spare"), 2 * PIECE);
	ck_assert_uint_eq(blocks_of("1.spare"), PIECE);
	large = inode_of("0.spare");
	small = inode_of("1.spare");

	/* Abandoned, it is a piece again; finished, it is as long as it is. */
	ck_assert_int_eq(v->ops->segment_from_spare(v, "1.sst", 2 * PIECE, &w),
			 0);
	ck_assert_uint_eq(inode_of("1.sst.tmp"), large);
	ck_assert_int_eq(v->ops->segment_append(w, BYTES_LITERAL("stale")), 0);
	v->ops->segment_abandon(w);
	ck_assert_int_eq(v->ops->segment_from_spare(v, "2.sst", 2 * PIECE, &w),
			 0);
	ck_assert_uint_eq(inode_of("2.sst.tmp"), large);
	ck_assert_uint_eq(blocks_of("2.sst.tmp"), 2 * PIECE);
	ck_assert_int_eq(v->ops->segment_append(w, BYTES_LITERAL("new")), 0);
	ck_assert_int_eq(v->ops->segment_finish(w), 0);
	check_file(v, "2.sst", "new");
	ck_assert_uint_lt(blocks_of("2.sst"), PIECE);

	/* Smaller than what is left: the largest. */
	ck_assert_int_eq(v->ops->segment_from_spare(v, "3.sst", PIECE + 1, &w),
			 0);
	ck_assert_uint_eq(inode_of("3.sst.tmp"), small);
	v->ops->segment_abandon(w);
	/* What a process leaves that dies there. */
	v->ops->close(v);
	rename_file("3.spare", "3.sst.tmp");
	ck_assert_uint_eq(inode_of("3.sst.tmp"), small);
	v = open_volume();
	ck_assert_int_eq(v->ops->lease_take(v, "me", NULL, NULL), 0);
	ck_assert_int_eq(v->ops->spare_hold(v, sizes, 1, false), 0);
	ck_assert(!exists("3.sst.tmp"));
	ck_assert_int_eq(v->ops->segment_from_spare(v, "3.sst", 1, &w), 0);
	ck_assert_uint_eq(inode_of("3.sst.tmp"), small);
	v->ops->segment_abandon(w);

	/* With none wanted they are given back. */
	ck_assert_int_eq(v->ops->spare_hold(v, NULL, 0, false), 0);
	ck_assert_int_eq(v->ops->segment_from_spare(v, "4.sst", 1, &w),
			 -ENOSPC);
	v->ops->close(v);
}
END_TEST

/* What a former life held stays until the next one knows what it needs. */
START_TEST(kept_pieces)
{
	const uint64_t sizes[] = { 4 << 20, PIECE, PIECE }, one = PIECE;
	struct volume *v = open_volume();

	ck_assert_int_eq(v->ops->lease_take(v, "me", NULL, NULL), 0);
	ck_assert_int_eq(v->ops->spare_hold(v, sizes, 3, false), 0);
	v->ops->close(v);
	v = open_volume();
	ck_assert_int_eq(v->ops->lease_take(v, "me", NULL, NULL), 0);
	ck_assert_int_eq(v->ops->spare_hold(v, &one, 1, true), 0);
	ck_assert_uint_eq(blocks_of("0.spare"), 4 << 20);
	ck_assert(exists("2.spare"));
	ck_assert_int_eq(v->ops->spare_hold(v, &one, 1, false), 0);
	ck_assert_uint_eq(blocks_of("0.spare"), PIECE);
	ck_assert(!exists("2.spare"));
	v->ops->close(v);
}
END_TEST

/* Where there is no fallocate, by zeros: of pieces, and of a log, which reads
 * as in a piece. */
START_TEST(pieces_without_fallocate)
{
	const uint64_t sizes[] = { PIECE, 2 * PIECE };
	struct volume *v = open_volume();
	struct log *l;

	no_fallocate = true;
	ck_assert_int_eq(v->ops->lease_take(v, "me", NULL, NULL), 0);
	ck_assert_int_eq(v->ops->spare_hold(v, sizes, 2, false), 0);
	ck_assert_uint_ge(blocks_of("0.spare"), 2 * PIECE);
	ck_assert_uint_ge(blocks_of("1.spare"), PIECE);
	ck_assert_int_eq(v->ops->log_create(v, "1.log", &l), 0);
	ck_assert_int_eq(v->ops->log_append(l, BYTES_LITERAL("one ")), 0);
	ck_assert_int_eq(v->ops->log_hold(l, PIECE), 0);
	ck_assert_uint_ge(blocks_of("1.log"), PIECE);
	ck_assert_int_eq(v->ops->log_append(l, BYTES_LITERAL("two")), 0);
	check_start(v, "1.log", "one two", PIECE);
	ck_assert_int_eq(v->ops->log_hold(l, 2 * PIECE), 0);
	ck_assert_int_eq(v->ops->log_append(l, BYTES_LITERAL(" six")), 0);
	check_start(v, "1.log", "one two six", 2 * PIECE);
	v->ops->log_close(l);
	v->ops->close(v);
	no_fallocate = false;
}
END_TEST

START_TEST(renaming_without_flags)
{
	char from[96], to[96];

	snprintf(from, sizeof(from), "%s/from", top);
	snprintf(to, sizeof(to), "%s/to", top);
	no_flags = true;
	ck_assert_int_eq(mkdir(from, 0700), 0);
	ck_assert_int_eq(volume_posix_rename(from, to), 0);
	ck_assert_int_eq(access(to, F_OK), 0);
	/* Not even what is empty is replaced. */
	ck_assert_int_eq(mkdir(from, 0700), 0);
	ck_assert_int_eq(volume_posix_rename(from, to), -EEXIST);
	ck_assert_int_eq(access(from, F_OK), 0);
	no_flags = false;
}
END_TEST

START_TEST(a_directory_that_is_not_durable_is_not_there)
{
	struct volume *v;

	fails_sync = true;
	ck_assert_int_eq(volume_posix_open(directory, true, &v), -EIO);
	fails_sync = false;
	ck_assert_int_ne(access(directory, F_OK), 0);
}
END_TEST

static void *open_at_once(void *barrier)
{
	struct volume *v;

	pthread_barrier_wait(barrier);
	if (volume_posix_open(directory, true, &v) < 0)
		return strdup(err_detail());
	v->ops->close(v);
	return NULL;
}

/* Whoever comes first makes the volume, and the others find it. */
START_TEST(made_by_several_at_once)
{
	pthread_t threads[4];
	pthread_barrier_t barrier;
	size_t round, i;

	for (round = 0; round < 50; round++) {
		pthread_barrier_init(&barrier, NULL, 4);
		for (i = 0; i < 4; i++)
			pthread_create(&threads[i], NULL, open_at_once,
				       &barrier);
		for (i = 0; i < 4; i++) {
			void *refused;

			pthread_join(threads[i], &refused);
			ck_assert_msg(!refused, "%s", (char *)refused);
		}
		pthread_barrier_destroy(&barrier);
		volume_posix_discard(directory);
	}
}
END_TEST

/* Neither below a volume nor deeper, and what was made for it is gone. */
START_TEST(none_within_another)
{
	struct volume *v = open_volume(), *inner;
	char path[128], deep[256];

	snprintf(path, sizeof(path), "%s/inner", directory);
	snprintf(deep, sizeof(deep), "%s/deep", path);
	ck_assert_int_eq(volume_posix_open(path, true, &inner),
			 -ERR_not_a_store);
	ck_assert_ptr_nonnull(strstr(err_detail(), "within another store"));
	ck_assert_int_eq(access(path, F_OK), -1);
	ck_assert_int_eq(mkdir(path, 0700), 0);
	ck_assert_int_eq(volume_posix_open(deep, true, &inner),
			 -ERR_not_a_store);
	ck_assert_int_eq(volume_posix_open(path, true, &inner),
			 -ERR_not_a_store);
	ck_assert_int_eq(rmdir(path), 0);
	v->ops->close(v);
}
END_TEST

/* A log in the place of a piece has nothing of what that held before. */
START_TEST(log_in_a_piece)
{
	const uint64_t size = PIECE;
	struct volume *v = open_volume();
	char text[PIECE / 2];
	struct reader *r;
	struct log *l;
	size_t i;

	memset(text, 'x', sizeof(text));
	ck_assert_int_eq(v->ops->lease_take(v, "me", NULL, NULL), 0);
	ck_assert_int_eq(v->ops->spare_hold(v, &size, 1, false), 0);
	ck_assert_int_eq(v->ops->log_from_spare(v, "1.log", PIECE, &l), 0);
	ck_assert_int_eq(v->ops->log_append(l, bytes_of(text, sizeof(text))),
			 0);
	ck_assert_int_eq(
		v->ops->log_from_spare(v, "2.log", 1, &(struct log *){ 0 }),
		-ENOSPC);
	v->ops->log_close(l);
	ck_assert_int_eq(v->ops->remove(v, "1.log"), 0);
	ck_assert_int_eq(v->ops->log_from_spare(v, "2.log", PIECE, &l), 0);
	ck_assert_int_eq(v->ops->log_append(l, BYTES_LITERAL("abc")), 0);
	ck_assert_int_eq(v->ops->log_append(l, BYTES_LITERAL("def")), 0);
	ck_assert_int_eq(v->ops->log_sync(l), 0);
	ck_assert_int_eq(v->ops->open(v, "2.log", &r), 0);
	ck_assert_int_eq(v->ops->pread(r, 0, text, r->size), 0);
	ck_assert_mem_eq(text, "abcdef", 6);
	for (i = 6; i < r->size; i++)
		ck_assert_int_eq(text[i], 0);
	v->ops->reader_close(r);
	v->ops->log_close(l);
	v->ops->close(v);
}
END_TEST

/* What someone has open, or knows by another name, is not overwritten. */
START_TEST(no_piece_of_what_others_read)
{
	const uint64_t size = PIECE;
	struct volume *v = open_volume();
	char path[160], other[160];
	struct segment_writer *w;
	struct reader *r;
	char byte;
	int i;

	ck_assert_int_eq(v->ops->lease_take(v, "me", NULL, NULL), 0);
	for (i = 0; i < 2; i++) {
		ck_assert_int_eq(v->ops->spare_hold(v, &size, 1, false), 0);
		ck_assert_int_eq(v->ops->segment_from_spare(
					 v, i ? "2.sst" : "1.sst", 1, &w),
				 0);
		ck_assert_int_eq(
			v->ops->segment_append(w, bytes_of(path, sizeof(path))),
			0);
		while (w->size < PIECE)
			ck_assert_int_eq(v->ops->segment_append(
						 w, BYTES_LITERAL("content")),
					 0);
		ck_assert_int_eq(v->ops->segment_finish(w), 0);
	}
	ck_assert_int_eq(v->ops->open(v, "1.sst", &r), 0);
	ck_assert_int_eq(v->ops->remove(v, "1.sst"), 0);
	ck_assert_int_eq(v->ops->segment_from_spare(v, "3.sst", 1, &w),
			 -ENOSPC);
	ck_assert_int_eq(v->ops->pread(r, 1, &byte, 1), 0);
	v->ops->reader_close(r);
	snprintf(path, sizeof(path), "%s/2.sst", directory);
	snprintf(other, sizeof(other), "%s/link", top);
	ck_assert_int_eq(link(path, other), 0);
	ck_assert_int_eq(v->ops->remove(v, "2.sst"), 0);
	ck_assert_int_eq(v->ops->segment_from_spare(v, "3.sst", 1, &w),
			 -ENOSPC);
	v->ops->close(v);
}
END_TEST

int main(void)
{
	const TTest *tests[] = {
		segments,
		segment_that_meets_its_name_is_refused,
		names,
		logs,
		root,
		damaged_root,
		lease,
		shared_lease,
		renaming_without_flags,
		a_directory_that_is_not_durable_is_not_there,
		made_by_several_at_once,
		none_within_another,
		what_has_the_name_of_a_marker_is_no_store,
		pieces,
		kept_pieces,
		pieces_without_fallocate,
		log_in_a_piece,
		no_piece_of_what_others_read,
	};

	return run_suite("volume_posix", set_up, tear_down, tests,
			 sizeof(tests) / sizeof(*tests));
}
