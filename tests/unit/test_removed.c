#include "store/store.h"
#include "tests/unit/mem_store.h"
#include "tests/unit/suite.h"

/* That what is removed from a row is counted for it, and for no other. */
static struct store *s;
static uint32_t id;

static const char *const names[] = { "a", "a\0b", "ab", "b" };
static const size_t sizes[] = { 1, 3, 2, 1 };
#define ROWS (sizeof(sizes) / sizeof(*sizes))

static struct bytes str(const char *text)
{
	return bytes_string(text);
}

static struct bytes row(size_t i)
{
	return bytes_of(names[i], sizes[i]);
}

static void setup(void)
{
	struct family_spec families[] = { { .name = str("f") },
					  { .name = str("g") } };
	struct schema *schema;
	struct store_options options;

	mem_store_options(&options);
	s = mem_store(&options);
	ck_assert_int_eq(store_create_table(s, str("t"), false, families, 2),
			 0);
	schema = store_schema(s);
	id = schema_table(schema, str("t"))->id;
	schema_put(schema);
}

static void teardown(void)
{
	ck_assert_int_eq(store_close(s), 0);
}

/* One change: of the row a, or of several. */
static int change(char what, struct write *w)
{
	int err = write_row(w, str("t"), row(0));

	ck_assert_int_eq(err, 0);
	switch (what) {
	case 'r':
		return write_delete_row(w);
	case 'f':
		return write_delete_family(w, str("f"));
	case 'c':
		return write_delete_column(w, str("f"), str("q"));
	case 'v':
		return write_delete_cells(w, str("f"), str("q"), 7, 8);
	case 'V':
		return write_delete_cells(w, str("f"), str("q"), 0, 8);
	case 'p':
		return write_delete_prefix(w, str("t"), row(0));
	case 'R':
		return write_delete_range(w, str("t"), row(0), row(3));
	case 'u':
		write_uncounted(w);
		return write_delete_row(w);
	default:
		return write_set(w, str("f"), str("q"), 7, str("1"));
	}
}

static void counts(char what, bool one, bool others)
{
	uint32_t before[ROWS];
	struct write *w;
	size_t i;

	for (i = 0; i < ROWS; i++)
		before[i] = store_removals(s, id, row(i));
	ck_assert_int_eq(write_new(s, &w), 0);
	ck_assert_int_eq(change(what, w), 0);
	ck_assert_int_eq(store_commit(s, w, false), 0);
	write_free(w);
	for (i = 0; i < ROWS; i++)
		ck_assert_msg((store_removals(s, id, row(i)) != before[i]) ==
				      (i == 0 ? one : others),
			      "%c of row %zu", what, i);
}

START_TEST(a_row_counts_what_it_loses)
{
	const char *of_one;

	for (of_one = "rfcvV"; *of_one; of_one++)
		counts(*of_one, true, false);
	counts('p', true, true);
	counts('R', true, true);
	counts('s', false, false);
	counts('u', false, false);
	counts('r', true, false);
}
END_TEST

START_TEST(a_family_that_is_dropped_counts_for_all_rows)
{
	uint32_t before = store_removals(s, id, row(0));

	ck_assert_int_eq(store_drop_family(s, str("t"), str("g")), 0);
	ck_assert_uint_ne(store_removals(s, id, row(0)), before);
}
END_TEST

int main(void)
{
	const TTest *tests[] = {
		a_row_counts_what_it_loses,
		a_family_that_is_dropped_counts_for_all_rows,
	};

	return run_suite("removed", setup, teardown, tests, 2);
}
