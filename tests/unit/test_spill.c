#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "store/text/json/json_mutation.h"
#include "store/text/spill/spill.h"
#include "tests/unit/mem_store.h"
#include "tests/unit/suite.h"

#define MAX ((size_t)16 << 20)

static struct store *s;
static struct spill spill;

static void setup(void)
{
	s = mem_store(NULL);
	spill_init(&spill, s, MEMORY_REQUESTS, MAX);
}

/* All must have been given back, or the close would not go on. */
static void teardown(void)
{
	spill_release(&spill);
	ck_assert_int_eq(store_close(s), 0);
}

static uint64_t used(void)
{
	return memory_used(store_memory(s), MEMORY_REQUESTS);
}

/* The byte at a place, so that none is taken for another's. */
static uint8_t byte_at(size_t at)
{
	return (uint8_t)(at * 2654435761U >> 16);
}

/* Appends size bytes in pieces. */
static void add(size_t size, size_t piece)
{
	uint8_t *data = malloc(piece);
	size_t i, n;

	ck_assert_ptr_nonnull(data);
	for (; size > 0; size -= n) {
		n = size < piece ? size : piece;
		for (i = 0; i < n; i++)
			data[i] = byte_at(spill.size + i);
		ck_assert_int_eq(spill_add(&spill, bytes_of(data, n)), 0);
	}
	free(data);
}

static void check(size_t size)
{
	struct bytes all = spill_bytes(&spill);
	size_t i = 0;

	ck_assert_uint_eq(all.size, size);
	while (i < size && all.data[i] == byte_at(i))
		i++;
	ck_assert_uint_eq(i, size);
}

START_TEST(small)
{
	add(1000, 7);
	ck_assert_int_eq(spill.fd, -1);
	ck_assert_uint_ge(used(), 1000);
	check(1000);
	spill_cut(&spill, 500);
	check(500);
	add(700000, 4096);
	check(700500);
	spill_cut(&spill, 0);
	ck_assert_uint_le(used(), 4096);
}
END_TEST

/* What is large is in a file, and costs no memory; it can be cut there, go on,
 * and end. */
START_TEST(large)
{
	add(5000000, 99999);
	ck_assert_int_ge(spill.fd, 0);
	ck_assert_uint_eq(used(), 0);
	check(5000000);
	spill_cut(&spill, 3000001);
	check(3000001);
	add(MAX - 3000001, 1 << 20);
	check(MAX);
	spill_cut(&spill, 0);
	ck_assert_int_eq(spill.fd, -1);
	add(10, 10);
	check(10);
}
END_TEST

/* Where memory has no room, a small text is in a file, too; it is never
 * refused. */
START_TEST(without_memory)
{
	uint64_t half = memory_limit(store_memory(s)) / 2;

	ck_assert(memory_take(store_memory(s), MEMORY_REQUESTS, half, 0));
	add(1000, 100);
	ck_assert_int_ge(spill.fd, 0);
	check(1000);
	memory_give(store_memory(s), MEMORY_REQUESTS, half);
	ck_assert_uint_eq(used(), 0);
}
END_TEST

/* What is added to a file leaves alone what is there, also while it is swept
 * and changed in place. */
START_TEST(in_place)
{
	struct bytes before;
	int round;

	ck_assert_int_eq(spill_start(&spill), 0);
	add(2 << 20, 1 << 20);
	before = spill_bytes(&spill);
	spill_sweep(&spill, true);
	for (round = 0; round < 10; round++) {
		uint8_t *last =
			(uint8_t *)(uintptr_t)before.data + before.size - 1;

		*last = (uint8_t) ~*last;
		add(100000, 100000);
		*last = (uint8_t) ~*last;
		check((2 << 20) + ((size_t)round + 1) * 100000);
	}
	spill_sweep(&spill, false);
	ck_assert_ptr_eq(spill_bytes(&spill).data, before.data);
	check((2 << 20) + 10 * 100000);
}
END_TEST

/* What the disk does not give is told to who read it, once, and ends nothing;
 * what comes of it is not committed. */
START_TEST(disk_error)
{
	const struct family_spec f = { BYTES_LITERAL("f"), NULL, FAMILY_BYTES };
	const struct bytes line =
		BYTES_LITERAL("{\"set\":{\"f\":{\"q\":\"v\"}}}");
	struct bytes all;
	int round;

	ck_assert_int_eq(
		store_create_table(s, BYTES_LITERAL("t"), false, &f, 1), 0);
	add(4 << 20, 1 << 20);
	all = spill_bytes(&spill);
	ck_assert_int_eq(ftruncate(spill.fd, 1 << 20), 0);
	ck_assert_uint_eq(all.data[(1 << 20) - 1], byte_at((1 << 20) - 1));
	ck_assert_int_eq(mapped_error(), 0);
	for (round = 1; round < 3; round++) {
		ck_assert_uint_eq(all.data[round << 20], 0);
		ck_assert_int_eq(mapped_error(), -EIO);
		ck_assert_int_eq(mapped_error(), 0);
	}
	ck_assert_uint_eq(all.data[3 << 20], 0);
	ck_assert_int_eq(mutation_run_json(s, BYTES_LITERAL("t"),
					   BYTES_LITERAL("r"), line, false,
					   NULL),
			 -EIO);
	ck_assert_int_eq(mutation_run_json(s, BYTES_LITERAL("t"),
					   BYTES_LITERAL("r"), line, false,
					   NULL),
			 0);
}
END_TEST

/* How many texts this user may have in files, of a process that may have 64
 * descriptors. */
static size_t fill(struct spill *texts, uint32_t user)
{
	size_t count = 0;

	store_scratch_for(user);
	while (!spill_start(&texts[count]))
		count++;
	ck_assert_int_eq(spill_start(&texts[count]), -ERR_scratch_full);
	return count;
}

START_TEST(one_user_leaves_descriptors)
{
	struct rlimit was, few;
	struct spill texts[40];
	size_t i;

	ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &was), 0);
	few = (struct rlimit){ 64, was.rlim_max };
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &few), 0);
	for (i = 0; i < 40; i++)
		spill_init(&texts[i], s, MEMORY_REQUESTS, MAX);
	ck_assert_uint_eq(fill(texts, 1000), 16);
	ck_assert_ptr_nonnull(
		strstr(err_detail(), "user 1000 has 16 files open"));
	ck_assert_uint_eq(fill(texts + 16, 1001), 16);
	ck_assert_uint_eq(fill(texts + 32, 1002), 0);
	ck_assert_ptr_nonnull(strstr(err_detail(), "half of what"));
	/* What is too much of one user does not stay in memory instead. */
	add(1 << 20, 1 << 20);
	ck_assert_int_eq(spill_add(&spill, BYTES_LITERAL("x")),
			 -ERR_scratch_full);
	check(1 << 20);
	spill_release(&texts[0]);
	ck_assert_int_eq(spill_add(&spill, BYTES_LITERAL("x")), 0);
	for (i = 0; i < 40; i++)
		spill_release(&texts[i]);
	ck_assert_uint_eq(fill(texts, 1000), 16);
	for (i = 0; i < 16; i++)
		spill_release(&texts[i]);
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &was), 0);
}
END_TEST

int main(void)
{
	const TTest *tests[] = { small,          large,
				 without_memory, in_place,
				 disk_error,     one_user_leaves_descriptors };

	return run_suite("spill", setup, teardown, tests,
			 sizeof(tests) / sizeof(*tests));
}
