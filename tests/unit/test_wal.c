#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "store/base/err.h"
#include "store/base/volume/volume_posix.h"
#include "store/engine/log/wal.h"
#include "store/engine/log/wal_chunk.h"
#include "store/engine/log/wal_read.h"
#include "tests/unit/suite.h"

#define LOG_ID 0x100000007
#define BLOCK 32768
/* What a log begins with. */
#define HEAD (WAL_HEADER_SIZE + WAL_HEAD_SIZE)

static char directory[64];
static struct volume *v;

static void set_up(void)
{
	snprintf(directory, sizeof(directory), "/tmp/test-wal-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(directory));
	ck_assert_int_eq(volume_posix_open(directory, true, &v), 0);
}

static void tear_down(void)
{
	char command[96];

	v->ops->close(v);
	snprintf(command, sizeof(command), "rm -rf %s", directory);
	ck_assert_int_eq(system(command), 0);
}

/* Record n has this many bytes: some fill a block but for a few bytes, some
 * span blocks, one is empty. */
static const size_t sizes[] = {
	1,   BLOCK - HEAD - 2 * WAL_HEADER_SIZE - 1 - 22,
	500, 70000,
	0,   10,
	300, BLOCK - WAL_HEADER_SIZE,
	7,   4000
};
#define RECORD_COUNT (sizeof(sizes) / sizeof(sizes[0]))

static void fill(struct buf *b, size_t n)
{
	size_t i;

	buf_reset(b);
	ck_assert_int_eq(buf_reserve(b, sizes[n]), 0);
	for (i = 0; i < sizes[n]; i++)
		b->data[i] = (uint8_t)(i * 31 + n * 7 + 1);
	b->size = sizes[n];
}

/* Expects the records in order; context counts them. */
static int check_record(void *context, struct bytes record)
{
	struct buf want = BUF_INIT;
	size_t *n = context;

	ck_assert_uint_lt(*n, RECORD_COUNT);
	fill(&want, *n);
	ck_assert(bytes_equal(record, buf_bytes(&want)));
	buf_release(&want);
	++*n;
	return 0;
}

/* Writes all records, with a sync after the first synced of them; ends tells
 * where each ends. */
static struct wal *write_log(size_t synced, uint64_t *ends)
{
	struct buf record = BUF_INIT;
	struct wal *w;
	size_t n;

	ck_assert_int_eq(wal_create(v, "1.log", LOG_ID, &w), 0);
	for (n = 0; n < RECORD_COUNT; n++) {
		fill(&record, n);
		ck_assert_int_eq(wal_append(w, buf_bytes(&record)), 0);
		ends[n] = wal_size(w);
		if (n + 1 == synced)
			ck_assert_int_eq(wal_sync(w), 0);
	}
	buf_release(&record);
	return w;
}

/* The same, ended. */
static int finish_log(size_t synced, uint64_t *ends, uint64_t *size)
{
	struct wal *w = write_log(synced, ends);
	int err = wal_finish(w, size);

	wal_abandon(w);
	return err;
}

static int replay(uint64_t final_size, struct wal_replay *result)
{
	size_t count = 0;
	int err = wal_replay(v, "1.log", LOG_ID, final_size, check_record,
			     &count, result);

	ck_assert_uint_eq(count, result->record_count);
	return err;
}

static int open_file(void)
{
	char path[96];
	int fd;

	snprintf(path, sizeof(path), "%s/1.log", directory);
	fd = open(path, O_RDWR);
	ck_assert_int_ge(fd, 0);
	return fd;
}

START_TEST(finished_log)
{
	uint64_t ends[RECORD_COUNT], size;
	struct wal_replay result;

	ck_assert_int_eq(finish_log(3, ends, &size), 0);
	ck_assert_int_eq(replay(size, &result), 0);
	ck_assert_uint_eq(result.record_count, RECORD_COUNT);
	ck_assert_uint_eq(result.good_size, size);
	ck_assert_uint_eq(result.cut_size, 0);
	ck_assert(result.finished);
	ck_assert_int_eq(replay(0, &result), 0);
	ck_assert(result.finished);
	/* A log whose torn tail was cut is finished where it was cut. */
	ck_assert_int_eq(replay(ends[4], &result), 0);
	ck_assert_uint_eq(result.record_count, 5);
	ck_assert(!result.finished);
	ck_assert_int_eq(replay(ends[4] - 1, &result), -ERR_wal_damaged);
	ck_assert_int_eq(replay(size + 1, &result), -ERR_wal_damaged);
}
END_TEST

START_TEST(empty_log)
{
	struct wal_replay result;
	struct wal *w;

	ck_assert_int_eq(wal_create(v, "1.log", LOG_ID, &w), 0);
	wal_abandon(w);
	ck_assert_int_eq(replay(0, &result), 0);
	ck_assert_uint_eq(result.record_count, 0);
	ck_assert_int_eq(
		wal_replay(v, "2.log", 1, 0, check_record, NULL, &result),
		-ENOENT);
}
END_TEST

static int pass(void *context, struct bytes record)
{
	(void)context;
	(void)record;
	return 0;
}

static int stop(void *context, struct bytes record)
{
	(void)record;
	return --*(int *)context ? 0 : -ECANCELED;
}

START_TEST(the_callers_error_ends_it)
{
	uint64_t ends[RECORD_COUNT];
	struct wal_replay result;
	int left = 3;

	wal_abandon(write_log(3, ends));
	ck_assert_int_eq(
		wal_replay(v, "1.log", LOG_ID, 0, stop, &left, &result),
		-ECANCELED);
	ck_assert_int_eq(left, 0);
}
END_TEST

/* Cut anywhere, the whole records before the cut are there. */
START_TEST(torn_tail)
{
	uint64_t ends[RECORD_COUNT], size, cut, least;
	struct wal_replay result;
	size_t whole;
	int fd;

	wal_abandon(write_log(0, ends));
	fd = open_file();
	size = ends[RECORD_COUNT - 1];
	for (cut = size; cut-- > 0; cut -= cut > 200 ? 97 : 0) {
		ck_assert_int_eq(ftruncate(fd, (off_t)cut), 0);
		ck_assert_int_eq(replay(0, &result), 0);
		for (whole = 0; ends[whole] <= cut;)
			whole++;
		ck_assert_uint_eq(result.record_count, whole);
		least = cut < HEAD ? 0 : HEAD;
		ck_assert_uint_eq(result.good_size,
				  whole ? ends[whole - 1] : least);
		/* The zeros that end a block look like held room. */
		if (BLOCK - result.good_size % BLOCK >= WAL_BLOCK_END)
			ck_assert_uint_eq(result.cut_size,
					  cut - result.good_size);
	}
	close(fd);
}
END_TEST

/* A tail of zeros is room that was held; one of other bytes is cut. */
START_TEST(tail_that_is_no_log)
{
	uint64_t ends[RECORD_COUNT], size;
	struct wal_replay result;
	uint8_t other[1000];
	int fd;

	wal_abandon(write_log(RECORD_COUNT, ends));
	size = ends[RECORD_COUNT - 1];
	fd = open_file();
	ck_assert_int_eq(ftruncate(fd, (off_t)size + 100000), 0);
	ck_assert_int_eq(replay(0, &result), 0);
	ck_assert_uint_eq(result.record_count, RECORD_COUNT);
	ck_assert_uint_eq(result.cut_size, 0);
	memset(other, 0x5a, sizeof(other));
	ck_assert_int_eq(pwrite(fd, other, sizeof(other), (off_t)size), 1000);
	ck_assert_int_eq(replay(0, &result), 0);
	ck_assert_uint_eq(result.record_count, RECORD_COUNT);
	/* The same bytes under another id are not this log. */
	ck_assert_int_eq(wal_replay(v, "1.log", LOG_ID + 1, 0, check_record,
				    NULL, &result),
			 0);
	ck_assert_uint_eq(result.record_count, 0);
	close(fd);
}
END_TEST

/*
 * A flipped bit before what a later chunk promised durable is refused, or lies
 * in padding and loses nothing. After it, a prefix remains.
 */
START_TEST(flipped_bits)
{
	uint64_t ends[RECORD_COUNT], size, at;
	const size_t synced = 4;
	struct wal_replay result;
	uint8_t byte, flipped;
	int fd, err;

	wal_abandon(write_log(synced, ends));
	size = ends[RECORD_COUNT - 1];
	fd = open_file();
	for (at = 0; at < size; at += at % 300 < 60 ? 1 : 331) {
		ck_assert_int_eq(pread(fd, &byte, 1, (off_t)at), 1);
		flipped = (uint8_t)(byte ^ 1 << at % 8);
		ck_assert_int_eq(pwrite(fd, &flipped, 1, (off_t)at), 1);
		err = replay(0, &result);
		if (at < ends[synced - 1]) {
			ck_assert(
				err == -ERR_wal_damaged ||
				(!err && result.record_count == RECORD_COUNT));
		} else {
			ck_assert_int_eq(err, 0);
			ck_assert_uint_ge(result.record_count, synced);
		}
		ck_assert_int_eq(pwrite(fd, &byte, 1, (off_t)at), 1);
	}
	close(fd);
}
END_TEST

START_TEST(damage_in_a_finished_log)
{
	uint64_t ends[RECORD_COUNT], size, at;
	struct wal_replay result;
	uint8_t byte, flipped;
	int fd, err;

	ck_assert_int_eq(finish_log(0, ends, &size), 0);
	fd = open_file();
	for (at = size; at-- > 0; at -= at > 1000 ? 501 : 0) {
		ck_assert_int_eq(pread(fd, &byte, 1, (off_t)at), 1);
		flipped = (uint8_t)~byte;
		ck_assert_int_eq(pwrite(fd, &flipped, 1, (off_t)at), 1);
		err = replay(size, &result);
		ck_assert(err == -ERR_wal_damaged ||
			  (!err && result.record_count == RECORD_COUNT));
		if (err)
			ck_assert_ptr_nonnull(strstr(err_detail(), "1.log"));
		/* Its promise covers it even if the manifest does not. */
		err = replay(0, &result);
		ck_assert(err == -ERR_wal_damaged ||
			  (!err && result.record_count == RECORD_COUNT));
		ck_assert_int_eq(pwrite(fd, &byte, 1, (off_t)at), 1);
	}
	close(fd);
}
END_TEST

static int count_loss(void *context, const char *problem)
{
	(void)problem;
	++*(unsigned int *)context;
	return 0;
}

struct salvaged {
	unsigned int lost; /* first: for count_loss */
	size_t count;
};

static int check_salvaged(void *context, struct bytes record)
{
	return check_record(&((struct salvaged *)context)->count, record);
}

static int salvage(uint64_t final_size, struct salvaged *s)
{
	struct wal_replay result;
	struct reader *reader;
	int err;

	ck_assert_int_eq(v->ops->open(v, "1.log", &reader), 0);
	err = wal_salvage(reader, LOG_ID, final_size, check_salvaged,
			  count_loss, s, &result);
	v->ops->reader_close(reader);
	return err;
}

/* Between two records nothing of the log itself says that it was cut. */
START_TEST(salvage_of_a_cut_log)
{
	uint64_t ends[RECORD_COUNT], size;
	struct salvaged s;
	size_t i;
	int fd;

	ck_assert_int_eq(finish_log(0, ends, &size), 0);
	fd = open_file();
	for (i = RECORD_COUNT; i-- > 0;) {
		ck_assert_int_eq(ftruncate(fd, (off_t)ends[i]), 0);
		s = (struct salvaged){ 0 };
		ck_assert_int_eq(salvage(size, &s), 0);
		ck_assert_uint_eq(s.count, i + 1);
		ck_assert_uint_eq(s.lost, 1);
		/* It was finished here, whatever comes after. */
		s = (struct salvaged){ 0 };
		ck_assert_int_eq(salvage(ends[i / 2], &s), 0);
		ck_assert_uint_eq(s.count, i / 2 + 1);
		ck_assert_uint_eq(s.lost, 0);
		/* Zeros are room that was held, but of a finished log. */
		ck_assert_int_eq(ftruncate(fd, (off_t)size), 0);
		s = (struct salvaged){ 0 };
		ck_assert_int_eq(salvage(size, &s), 0);
		ck_assert_uint_eq(s.count, i + 1);
		ck_assert_uint_eq(s.lost, 1);
		s = (struct salvaged){ 0 };
		ck_assert_int_eq(salvage(0, &s), 0);
		ck_assert_uint_eq(s.lost, 0);
	}
	close(fd);
}
END_TEST

/* Copies the bytes of 1.log from one place to another, in it or in 2.log. */
static void copy_bytes(int from, uint64_t at, size_t size, int to,
		       uint64_t there)
{
	uint8_t bytes[200];

	ck_assert_uint_le(size, sizeof(bytes));
	ck_assert_int_eq(pread(from, bytes, size, (off_t)at), size);
	ck_assert_int_eq(pwrite(to, bytes, size, (off_t)there), size);
}

/* A whole record of this log in another place of it is none, however much it
 * promises, nor is one of another log in the same place. */
START_TEST(a_record_has_its_place)
{
	const uint8_t data[100] = { 1, 2, 3 };
	struct bytes record = bytes_of(data, sizeof(data));
	struct wal_replay result;
	uint64_t ends[4], promised;
	struct wal *w;
	int fd, i;

	ck_assert_int_eq(wal_create(v, "1.log", LOG_ID, &w), 0);
	for (i = 0; i < 4; i++) {
		ck_assert_int_eq(wal_append(w, record), 0);
		ck_assert_int_eq(wal_sync(w), 0);
		ends[i] = wal_size(w);
	}
	wal_abandon(w);
	fd = open_file();
	/* The last where the third is: of the same size, and whole. */
	copy_bytes(fd, ends[2], ends[3] - ends[2], fd, ends[1]);
	ck_assert_int_eq(ftruncate(fd, (off_t)ends[2]), 0);
	ck_assert_int_eq(wal_replay(v, "1.log", LOG_ID, 0, pass, NULL, &result),
			 0);
	ck_assert_uint_eq(result.record_count, 2);
	ck_assert_uint_eq(result.cut_size, ends[2] - ends[1]);
	ck_assert_int_eq(wal_promised(v, "1.log", LOG_ID, 0, &promised), 0);
	ck_assert_uint_eq(promised, ends[0]);
	/* Of another log there is nothing in it. */
	ck_assert_int_eq(
		wal_replay(v, "1.log", LOG_ID + 1, 0, pass, NULL, &result), 0);
	ck_assert_uint_eq(result.record_count, 0);
	ck_assert_int_eq(wal_promised(v, "1.log", LOG_ID + 1, 0, &promised), 0);
	ck_assert_uint_eq(promised, 0);
	close(fd);
}
END_TEST

/* A whole chunk as format 1 has it, that promises what is not there. */
static size_t put_old(uint8_t *chunk)
{
	memset(chunk, 0, WAL_OLD_HEADER_SIZE);
	chunk[WAL_AT_TYPE] = CHUNK_OLD_PROMISE;
	put_u64le(chunk + WAL_OLD_AT_LOG_ID, LOG_ID);
	put_u64le(chunk + WAL_OLD_AT_SYNCED, 1000000);
	put_u32le(chunk,
		  crc32c(0, bytes_of(chunk + WAL_AT_SIZE,
				     WAL_OLD_HEADER_SIZE - WAL_AT_SIZE)));
	return WAL_OLD_HEADER_SIZE;
}

/* A value may hold a log of format 1 with the same id: in the tail that a crash
 * leaves, it promises nothing. */
START_TEST(chunks_of_format_1_are_none_in_a_log_of_today)
{
	struct wal_replay result;
	uint8_t value[100] = { 0 };
	uint64_t promised, whole;
	struct wal *w;
	int fd;

	put_old(value + 20);
	ck_assert_int_eq(wal_create(v, "1.log", LOG_ID, &w), 0);
	ck_assert_int_eq(wal_append(w, bytes_of(value, 5)), 0);
	whole = wal_size(w);
	ck_assert_int_eq(wal_append(w, bytes_of(value, sizeof(value))), 0);
	wal_abandon(w);
	fd = open_file();
	ck_assert_int_eq(ftruncate(fd, (off_t)whole + 90), 0);
	close(fd);
	ck_assert_int_eq(wal_replay(v, "1.log", LOG_ID, 0, pass, NULL, &result),
			 0);
	ck_assert_uint_eq(result.record_count, 1);
	ck_assert_uint_eq(result.cut_size, 90);
	ck_assert_int_eq(wal_promised(v, "1.log", LOG_ID, 0, &promised), 0);
	ck_assert_uint_eq(promised, 0);
}
END_TEST

/* Nothing but its head is more than a record has to say for itself. */
START_TEST(records_are_slim)
{
	const uint8_t byte = 1;
	struct wal *w;
	uint64_t size;

	ck_assert_int_eq(wal_create(v, "1.log", LOG_ID, &w), 0);
	ck_assert_int_eq(wal_append(w, bytes_of(&byte, 1)), 0);
	size = wal_size(w);
	ck_assert_uint_eq(size, HEAD + 12);
	ck_assert_int_eq(wal_append(w, bytes_of(&byte, 1)), 0);
	ck_assert_uint_eq(wal_size(w), size + 12);
	wal_abandon(w);
}
END_TEST

int main(void)
{
	const TTest *tests[] = {
		finished_log,
		empty_log,
		the_callers_error_ends_it,
		torn_tail,
		tail_that_is_no_log,
		flipped_bits,
		damage_in_a_finished_log,
		salvage_of_a_cut_log,
		a_record_has_its_place,
		chunks_of_format_1_are_none_in_a_log_of_today,
		records_are_slim,
	};

	return run_suite("wal", set_up, tear_down, tests, 11);
}
