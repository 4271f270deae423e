#include <stdio.h>
#include <sys/mman.h>

#include "store/engine/files/batch.h"
#include "store/text/json/json_mutation.h"
#include "tests/unit/mem_store.h"
#include "tests/unit/suite.h"

/*
 * Each limit that README.md and store.h state, from both sides: the largest is
 * taken and read back, one more is refused and leaves nothing. Depth, parts and
 * labels of filters are in test_filters, patterns in test_regex, policies in
 * test_gcpolicy_text.
 */
static struct store *s;
static struct write *w;

static struct bytes str(const char *text)
{
	return bytes_string(text);
}

static void setup(void)
{
	const struct family_spec family = { .name = BYTES_LITERAL("f") };

	s = mem_store(NULL);
	ck_assert_int_eq(store_create_table(s, str("t"), false, &family, 1), 0);
	ck_assert_int_eq(write_new(s, &w), 0);
	ck_assert_int_eq(write_row(w, str("t"), str("r")), 0);
}

static void teardown(void)
{
	write_free(w);
	ck_assert_int_eq(store_close(s), 0);
}

static uint64_t cell_count(void)
{
	const struct scan_range range = { .table = BYTES_LITERAL("t"),
					  .keep_large = true };
	struct scan *scan;
	struct cell cell;
	uint64_t count = 0;
	int err;

	ck_assert_int_eq(scan_open(s, NULL, &range, &scan), 0);
	while ((err = scan_next(scan, CURSOR_VERSION, &cell)) == 1)
		count++;
	ck_assert_int_eq(err, 0);
	scan_close(scan);
	return count;
}

/* So many bytes, all alike. */
static struct bytes long_text(size_t size)
{
	static char text[STORE_QUALIFIER_MAX + 1];

	ck_assert_uint_le(size, sizeof(text));
	memset(text, 'x', sizeof(text));
	return bytes_of(text, size);
}

START_TEST(keys_and_qualifiers)
{
	struct bytes row = long_text(STORE_ROW_KEY_MAX);
	struct bytes qualifier = long_text(STORE_QUALIFIER_MAX);
	struct buf memory = BUF_INIT;
	struct cell cell;

	ck_assert_int_eq(write_row(w, str("t"), BYTES_NONE),
			 -ERR_row_key_empty);
	ck_assert_int_eq(
		write_row(w, str("t"), long_text(STORE_ROW_KEY_MAX + 1)),
		-ERR_row_key_too_long);
	ck_assert_int_eq(write_row(w, str("t"), row), 0);
	ck_assert_int_eq(write_set(w, str("f"),
				   long_text(STORE_QUALIFIER_MAX + 1), 1,
				   str("v")),
			 -ERR_qualifier_too_long);
	ck_assert_int_eq(
		write_delete_column(w, str("f"),
				    long_text(STORE_QUALIFIER_MAX + 1)),
		-ERR_qualifier_too_long);
	ck_assert_int_eq(write_set(w, str("f"), qualifier, 1, str("v")), 0);
	ck_assert_int_eq(write_set(w, str("f"), BYTES_NONE, 1, BYTES_NONE), 0);
	ck_assert_int_eq(store_commit(s, w, false), 0);
	ck_assert_int_eq(store_compact(s, BYTES_NONE), 0);
	ck_assert_int_eq(store_get(s, NULL, str("t"), row, str("f"), qualifier,
				   &cell, &memory),
			 1);
	ck_assert(bytes_equal(cell.value, str("v")));
	ck_assert_uint_eq(cell_count(), 2);
	buf_release(&memory);
}
END_TEST

START_TEST(timestamps)
{
	const uint64_t last = INT64_MAX;

	ck_assert_int_eq(write_set(w, str("f"), str("q"), last + 1, str("v")),
			 -ERR_bad_timestamp);
	ck_assert_int_eq(write_set(w, str("f"), str("q"), last, str("v")), 0);
	ck_assert_int_eq(write_set(w, str("f"), str("q"), 0, str("v")), 0);
	ck_assert_int_eq(store_commit(s, w, false), 0);
	ck_assert_uint_eq(cell_count(), 2);
}
END_TEST

START_TEST(values)
{
	size_t size = STORE_VALUE_MAX;
	uint8_t *zeros = mmap(NULL, size + 1, PROT_READ,
			      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct buf memory = BUF_INIT;
	struct cell cell;

	ck_assert_ptr_ne(zeros, MAP_FAILED);
	ck_assert_int_eq(
		write_set(w, str("f"), str("q"), 1, bytes_of(zeros, size + 1)),
		-ERR_value_too_large);
	ck_assert_uint_eq(write_count(w), 0);
	ck_assert_int_eq(
		write_set(w, str("f"), str("q"), 1, bytes_of(zeros, size)), 0);
	ck_assert_int_eq(store_commit(s, w, false), 0);
	ck_assert_int_eq(store_get(s, NULL, str("t"), str("r"), str("f"),
				   str("q"), &cell, &memory),
			 1);
	ck_assert(bytes_equal(cell.value, bytes_of(zeros, size)));
	buf_release(&memory);
	munmap(zeros, size + 1);
}
END_TEST

/* Of one request: 256 MiB, of which keys are a part. Large values
 * are not in it, but in files of their own. */
START_TEST(values_together)
{
	size_t size = store_large_size(s) - 1, count = 0;
	uint8_t *zeros = calloc(1, size);
	int err;

	ck_assert_ptr_nonnull(zeros);
	while ((err = write_set(w, str("f"), str("q"), count,
				bytes_of(zeros, size))) == 0)
		count++;
	ck_assert_int_eq(err, -ERR_batch_too_large);
	ck_assert_uint_le(count * size, BATCH_SIZE_MAX);
	ck_assert_uint_gt((count + 1) * (size + 100), BATCH_SIZE_MAX);
	ck_assert_uint_eq(write_count(w), count);
	free(zeros);
}
END_TEST

/* One more byte than fits into a value, by a change of what is there. */
START_TEST(values_that_grow)
{
	size_t size = STORE_VALUE_MAX - 1;
	uint8_t *zeros =
		mmap(NULL, size, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	const struct modify_rule two = { .family = BYTES_LITERAL("f"),
					 .qualifier = BYTES_LITERAL("q"),
					 .value = BYTES_LITERAL("xx") };
	static const char *const names[] = { "a", "b", "c" };
	struct modify_rule three[3];
	struct cell cells[3];
	size_t i;
	struct buf memory = BUF_INIT;
	struct cell cell;

	ck_assert_ptr_ne(zeros, MAP_FAILED);
	ck_assert_int_eq(
		write_set(w, str("f"), str("q"), 1, bytes_of(zeros, size)), 0);
	ck_assert_int_eq(store_commit(s, w, false), 0);
	ck_assert_int_eq(store_modify(s, str("t"), str("r"), &two, 1, false,
				      &cell, &memory),
			 -ERR_value_too_large);
	ck_assert_uint_eq(cell_count(), 1);
	/* Three together are more than a request may make. */
	for (i = 0; i < 3; i++) {
		three[i] = two;
		three[i].qualifier = str(names[i]);
		three[i].value = BYTES_NONE;
		ck_assert_int_eq(write_row(w, str("t"), str("r")), 0);
		ck_assert_int_eq(write_set(w, str("f"), three[i].qualifier, 1,
					   bytes_of(zeros, size)),
				 0);
		ck_assert_int_eq(store_commit(s, w, false), 0);
	}
	ck_assert_int_eq(store_modify(s, str("t"), str("r"), three, 3, false,
				      cells, &memory),
			 -ERR_batch_too_large);
	ck_assert_uint_eq(memory.capacity, 0);
	ck_assert_uint_eq(cell_count(), 4);
	buf_release(&memory);
	munmap(zeros, size);
}
END_TEST

static void add_cells(unsigned int count)
{
	char qualifier[16];
	unsigned int i;

	for (i = 0; i < count; i++) {
		snprintf(qualifier, sizeof(qualifier), "%u", i);
		ck_assert_int_eq(
			write_set(w, str("f"), str(qualifier), 1, str("v")), 0);
	}
}

START_TEST(mutations_of_a_request)
{
	add_cells(STORE_MUTATIONS_MAX);
	ck_assert_int_eq(write_set(w, str("f"), str("more"), 1, str("v")),
			 -ERR_batch_too_large);
	ck_assert_int_eq(write_delete_row(w), -ERR_batch_too_large);
	ck_assert_uint_eq(write_count(w), STORE_MUTATIONS_MAX);
	ck_assert_int_eq(store_commit(s, w, false), 0);
	ck_assert_uint_eq(cell_count(), STORE_MUTATIONS_MAX);
}
END_TEST

/* Deletions that would show what the policy hides are as many, too, although
 * the store has to delete that besides. */
START_TEST(mutations_that_bury)
{
	struct gc_policy *one = gc_policy_leaf(GC_MAX_VERSIONS, 1);
	char qualifier[16];
	unsigned int i;

	ck_assert_int_eq(store_set_gc(s, str("t"), str("f"), one), 0);
	ck_assert_int_eq(write_row(w, str("t"), str("r")), 0);
	for (i = 0; i < STORE_MUTATIONS_MAX; i++) {
		snprintf(qualifier, sizeof(qualifier), "%u", i / 2);
		ck_assert_int_eq(write_set(w, str("f"), str(qualifier),
					   i % 2 + 1, str("v")),
				 0);
	}
	ck_assert_int_eq(store_commit(s, w, false), 0);
	ck_assert_uint_eq(cell_count(), STORE_MUTATIONS_MAX / 2);
	ck_assert_int_eq(write_row(w, str("t"), str("r")), 0);
	for (i = 0; i < STORE_MUTATIONS_MAX; i++) {
		snprintf(qualifier, sizeof(qualifier), "%u", i);
		ck_assert_int_eq(
			write_delete_cells(w, str("f"), str(qualifier), 2, 3),
			0);
	}
	ck_assert_int_eq(store_commit(s, w, false), 0);
	ck_assert_int_eq(store_set_gc(s, str("t"), str("f"), NULL), 0);
	ck_assert_uint_eq(cell_count(), 0);
	gc_policy_free(one);
}
END_TEST

/* {"row": "r", "set": {"f": {"0": 1, "1": 1, ...}}} */
static int run_json(unsigned int count)
{
	struct buf line = BUF_INIT;
	unsigned int i;
	int err = buf_add_string(&line, "{\"row\": \"r\", \"set\": {\"f\": {");

	for (i = 0; !err && i < count; i++)
		err = buf_printf(&line, "%s\"%u\": 1", i ? ", " : "", i);
	if (!err)
		err = buf_add_string(&line, "}}}");
	ck_assert_int_eq(err, 0);
	err = mutation_run_json(s, str("t"), BYTES_NONE, buf_bytes(&line),
				false, NULL);
	buf_release(&line);
	return err;
}

START_TEST(mutations_of_a_line)
{
	ck_assert_int_eq(run_json(STORE_MUTATIONS_MAX + 1),
			 -ERR_batch_too_large);
	ck_assert_uint_eq(cell_count(), 0);
	ck_assert_int_eq(run_json(STORE_MUTATIONS_MAX), 0);
	ck_assert_uint_eq(cell_count(), STORE_MUTATIONS_MAX);
}
END_TEST

static int create(const char *format, unsigned int i)
{
	char name[32];

	snprintf(name, sizeof(name), format, i);
	return store_create_table(s, str(name), false, NULL, 0);
}

START_TEST(tables)
{
	unsigned int i;

	for (i = 1; i < STORE_TABLES_MAX; i++)
		ck_assert_int_eq(create("t%u", i), 0);
	ck_assert_int_eq(create("t%u", i), -ERR_too_many_tables);
	ck_assert_int_eq(store_drop_table(s, str("t7"), true), 0);
	ck_assert_int_eq(create("t%u", i), 0);
}
END_TEST

START_TEST(families)
{
	struct family_spec family = { .gc = NULL };
	char name[16];
	unsigned int i;

	for (i = 1; i <= STORE_FAMILIES_MAX; i++) {
		snprintf(name, sizeof(name), "f%u", i);
		family.name = str(name);
		ck_assert_int_eq(
			store_create_family(s, str("t"), &family),
			i < STORE_FAMILIES_MAX ? 0 : -ERR_too_many_families);
	}
	ck_assert_int_eq(write_row(w, str("t"), str("r")), 0);
	ck_assert_int_eq(write_set(w, str("f999"), str("q"), 1, str("v")), 0);
	ck_assert_int_eq(store_commit(s, w, false), 0);
	ck_assert_uint_eq(cell_count(), 1);
}
END_TEST

static bool is_allowed(int c, bool first)
{
	if ((c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
	    (c >= 'A' && c <= 'Z') || c == '_')
		return true;
	return !first && (c == '-' || c == '.');
}

/* What tables and families may be called. */
START_TEST(names)
{
	struct family_spec family = { .name = BYTES_NONE };
	uint8_t name[2] = { 'T', 0 };
	int i;

	for (i = 0; i < 256; i++) {
		struct bytes whole = bytes_of(name, 2);
		struct bytes last = bytes_of(name + 1, 1);

		name[1] = (uint8_t)i;
		ck_assert_int_eq(store_create_table(s, whole, false, NULL, 0),
				 is_allowed(i, false) ? 0 : -ERR_bad_name);
		family.name = last;
		if (i != 'f')
			ck_assert_int_eq(
				store_create_family(s, str("t"), &family),
				is_allowed(i, true) ? 0 : -ERR_bad_name);
	}
	ck_assert_int_eq(store_create_table(s, BYTES_NONE, false, NULL, 0),
			 -ERR_bad_name);
	ck_assert_int_eq(store_create_table(s,
					    long_text(STORE_TABLE_NAME_MAX + 1),
					    false, NULL, 0),
			 -ERR_name_too_long);
	ck_assert_int_eq(store_create_table(s, long_text(STORE_TABLE_NAME_MAX),
					    false, NULL, 0),
			 0);
	family.name = BYTES_NONE;
	ck_assert_int_eq(store_create_family(s, str("t"), &family),
			 -ERR_bad_name);
	family.name = long_text(STORE_FAMILY_NAME_MAX + 1);
	ck_assert_int_eq(store_create_family(s, str("t"), &family),
			 -ERR_name_too_long);
	family.name = long_text(STORE_FAMILY_NAME_MAX);
	ck_assert_int_eq(store_create_family(s, str("t"), &family), 0);
}
END_TEST

static int set_at(uint64_t timestamp_us)
{
	int err = write_row(w, str("t"), str("r"));

	if (err == 0)
		err = write_set(w, str("f"), str("q"), timestamp_us, str("v"));
	return err ? err : store_commit(s, w, false);
}

/* None where a cell is that it has no timestamp for, be it an older version. */
START_TEST(granularity)
{
	ck_assert_int_eq(set_at(2000), 0);
	ck_assert_int_eq(store_set_granularity(s, str("t"), true), 0);
	ck_assert_int_eq(set_at(2001), -ERR_bad_timestamp);
	ck_assert_int_eq(store_set_granularity(s, str("t"), false), 0);
	ck_assert_int_eq(set_at(1001), 0);
	ck_assert_int_eq(store_set_granularity(s, str("t"), true),
			 -ERR_bad_timestamp);
	ck_assert_ptr_nonnull(strstr(err_detail(), "timestamp 1001, "));
	ck_assert_int_eq(set_at(2001), 0);
	ck_assert_int_eq(store_drop_family(s, str("t"), str("f")), 0);
	ck_assert_int_eq(store_set_granularity(s, str("t"), true), 0);
}
END_TEST

int main(void)
{
	const TTest *tests[] = { keys_and_qualifiers,
				 timestamps,
				 values,
				 values_together,
				 values_that_grow,
				 mutations_of_a_request,
				 mutations_that_bury,
				 mutations_of_a_line,
				 tables,
				 families,
				 names,
				 granularity };

	return run_suite("limits", setup, teardown, tests, 12);
}
