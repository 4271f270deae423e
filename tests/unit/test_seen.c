#include "fs/cells/seen.h"
#include "tests/unit/suite.h"

#define KEY(s) BYTES_LITERAL(s)

static struct seen *seen;

static void open_seen(void)
{
	ck_assert_int_eq(seen_new(&seen), 0);
}

static void close_seen(void)
{
	seen_free(seen);
}

static struct path path_of(const char *row, const char *family,
			   const char *qualifier)
{
	return (struct path){ .table = KEY("t"),
			      .row = bytes_string(row),
			      .family = bytes_string(family),
			      .qualifier = bytes_string(qualifier) };
}

static void add(const char *family, const char *qualifier,
		uint64_t timestamp_us)
{
	const struct cell cell = { .family = bytes_string(family),
				   .qualifier = bytes_string(qualifier) };
	const struct cell_info info = { .timestamp_us = timestamp_us,
					.seq = timestamp_us + 1,
					.size = timestamp_us + 2 };

	seen_add(seen, &cell, &info);
}

/* Row r as of seq 9: f:a at 10, f:b at 30, g: (without qualifier) at 20. */
static void see_row(void)
{
	const struct path path = path_of("r", "", "");

	ck_assert(seen_begin(seen, &path));
	add("f", "a", 10);
	add("f", "b", 30);
	add("g", "", 20);
	seen_end(seen, 9);
}

static int find(const char *row, const char *family, const char *qualifier,
		uint64_t seq, struct cell_info *info)
{
	const struct path path =
		path_of(row, family, qualifier ? qualifier : "");

	return seen_find(seen, &path,
			 qualifier   ? NODE_CELL
			 : family[0] ? NODE_FAMILY
				     : NODE_ROW,
			 seq, info);
}

START_TEST(families_and_cells_of_the_row_are_known)
{
	struct cell_info info;

	see_row();
	ck_assert_int_eq(find("r", "f", "b", 9, &info), 1);
	ck_assert_uint_eq(info.timestamp_us, 30);
	ck_assert_uint_eq(info.seq, 31);
	ck_assert_uint_eq(info.size, 32);
	ck_assert_int_eq(find("r", "g", "", 9, &info), 1);
	ck_assert_uint_eq(info.timestamp_us, 20);
	/* A family is its first cell, but as new as its newest. */
	ck_assert_int_eq(find("r", "f", NULL, 9, &info), 1);
	ck_assert_uint_eq(info.timestamp_us, 30);
	ck_assert_uint_eq(info.size, 12);
	ck_assert_int_eq(find("r", "f", "", 9, &info), 0);
	ck_assert_int_eq(find("r", "g", "a", 9, &info), 0);
	ck_assert_int_eq(find("r", "h", NULL, 9, &info), 0);
}
END_TEST

START_TEST(a_missing_row_is_known_until_a_write)
{
	const struct path path = path_of("s", "", "");
	struct cell_info info;

	see_row();
	ck_assert_int_eq(find("r", "", NULL, 9, &info), -1);
	ck_assert(seen_begin(seen, &path));
	seen_end(seen, 9);
	ck_assert_int_eq(find("s", "", NULL, 9, &info), 0);
	ck_assert_int_eq(find("s", "", NULL, 10, &info), -1);
	ck_assert_int_eq(find("r", "", NULL, 9, &info), -1);
	ck_assert(seen_begin(seen, &path));
	seen_end(seen, 0);
	ck_assert_int_eq(find("s", "", NULL, 9, &info), -1);
}
END_TEST

START_TEST(a_missing_cell_is_known_until_a_write)
{
	const struct path path = path_of("r", "f", "c");
	struct cell_info info;

	ck_assert_int_eq(find("r", "f", "c", 9, &info), -1);
	seen_none(seen, &path, 9);
	ck_assert_int_eq(find("r", "f", "c", 9, &info), 0);
	ck_assert_int_eq(find("r", "f", "c", 10, &info), -1);
	ck_assert_int_eq(find("r", "f", "b", 9, &info), -1);
	/* The parts of a path do not run together. */
	ck_assert_int_eq(find("r", "", "fc", 9, &info), -1);
	ck_assert_int_eq(find("rf", "c", "", 9, &info), -1);
	ck_assert_int_eq(find("r", "f", NULL, 9, &info), -1);
	/* What is known of the row is known beside it. */
	see_row();
	ck_assert_int_eq(find("r", "f", "a", 9, &info), 1);
}
END_TEST

START_TEST(nothing_is_known_after_a_write_or_of_another_row)
{
	struct cell_info info;

	ck_assert_int_eq(find("r", "f", "a", 9, &info), -1);
	see_row();
	ck_assert_int_eq(find("r", "f", "a", 10, &info), -1);
	ck_assert_int_eq(find("r", "f", "a", 8, &info), -1);
	ck_assert_int_eq(find("s", "f", "a", 9, &info), -1);
	ck_assert_int_eq(find("", "f", "a", 9, &info), -1);
	ck_assert_int_eq(find("r", "f", "a", 9, &info), 1);
}
END_TEST

START_TEST(a_row_of_which_not_all_was_added_is_not_known)
{
	const struct path path = path_of("r", "", "");
	struct cell_info info;
	char name[8];
	int i;

	ck_assert(seen_begin(seen, &path));
	add("f", "a", 10);
	seen_end(seen, 0);
	ck_assert_int_eq(find("r", "f", "a", 9, &info), -1);
	ck_assert_int_eq(find("r", "f", "a", 0, &info), -1);
	ck_assert(seen_begin(seen, &path));
	for (i = 0; i < 1000; i++) {
		snprintf(name, sizeof(name), "%d", i);
		add("f", name, 10);
	}
	seen_end(seen, 9);
	ck_assert_int_eq(find("r", "f", "1", 9, &info), -1);
}
END_TEST

START_TEST(who_meets_another_at_it_knows_nothing)
{
	const struct path path = path_of("r", "", "");
	struct names names = { .names = NULL };
	struct cell_info info;

	see_row();
	ck_assert(seen_begin(seen, &path));
	ck_assert(!seen_begin(seen, &path));
	ck_assert_int_eq(find("r", "f", "a", 9, &info), -1);
	ck_assert_int_eq(seen_add_names(seen, &path, NODE_ROW, 9, &names), 0);
	ck_assert_uint_eq(names.count, 0);
	seen_end(seen, 9);
}
END_TEST

START_TEST(names_are_listed_once_each)
{
	struct path path = path_of("r", "", "");
	struct names names = { .names = NULL };

	see_row();
	ck_assert_int_eq(names_add(&names, KEY("local")), 0);
	ck_assert_int_eq(names_add(&names, KEY("f")), 0);
	ck_assert_int_eq(seen_add_names(seen, &path, NODE_ROW, 9, &names), 1);
	names_sort(&names);
	ck_assert_uint_eq(names.count, 3);
	ck_assert(bytes_equal(names.names[0], KEY("f")));
	ck_assert(bytes_equal(names.names[1], KEY("g")));
	ck_assert(bytes_equal(names.names[2], KEY("local")));
	names_release(&names);
	path = path_of("r", "f", "");
	ck_assert_int_eq(seen_add_names(seen, &path, NODE_FAMILY, 9, &names),
			 1);
	names_sort(&names);
	ck_assert_uint_eq(names.count, 2);
	ck_assert(bytes_equal(names.names[1], KEY("b")));
	ck_assert_int_eq(seen_add_names(seen, &path, NODE_FAMILY, 10, &names),
			 0);
	names_release(&names);
}
END_TEST

int main(void)
{
	const TTest *tests[] = {
		families_and_cells_of_the_row_are_known,
		a_missing_row_is_known_until_a_write,
		a_missing_cell_is_known_until_a_write,
		nothing_is_known_after_a_write_or_of_another_row,
		a_row_of_which_not_all_was_added_is_not_known,
		who_meets_another_at_it_knows_nothing,
		names_are_listed_once_each
	};

	return run_suite("seen", open_seen, close_seen, tests, 7);
}
