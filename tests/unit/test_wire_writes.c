#include "tests/unit/wire_fixture.h"

/* Writes over the wire, and tables: what is answered, and what is in the store
 * afterwards. */
START_TEST(mutations_of_each_kind)
{
	struct proto_set_cell set = { str("f"), str("q"), 1000, str("v"), 0 };
	struct proto_set_cell later = { str("f"), str("q"), 2000, str("w"), 0 };
	struct proto_value column = { .kind_case = nr_value_raw_value,
				      .raw_value = str("n") };
	struct proto_value time = {
		.kind_case = nr_value_raw_timestamp_micros,
		.raw_timestamp_micros = 3000,
	};
	struct proto_value five = { .kind_case = nr_value_int_value,
				    .int_value = 5 };
	struct proto_value state = {
		.kind_case = nr_value_bytes_value,
		.bytes_value = bytes_of("\0\0\0\0\0\0\0\2", 8),
	};
	struct proto_add_to_cell add = { str("sum"), &column, &time, &five, 0 };
	struct proto_merge_to_cell merge = { str("sum"), &column, &time, &state,
					     0 };
	struct proto_timestamp_range old = { 0, 2000, 0 };
	struct proto_delete_from_column column_of = { str("f"), str("q"), &old,
						      0 };
	struct proto_delete_from_family family_of = { str("sum"), 0 };
	struct proto_mutation all[] = {
		set_of(&set),
		set_of(&later),
		{ .mutation_case = nr_mutation_add_to_cell,
		  .add_to_cell = &add },
		{ .mutation_case = nr_mutation_merge_to_cell,
		  .merge_to_cell = &merge },
	};
	struct proto_mutation dropped = {
		.mutation_case = nr_mutation_delete_from_column,
		.delete_from_column = &column_of,
	};
	struct proto_mutate_row q = { .table_name = TABLE_NAME,
				      .row_key = str("r"),
				      .mutations = { all, COUNT(all) } };

	ck_assert_int_eq(RUN("MutateRow", mutate_row, &q), CALL_OK);
	ck_assert_uint_eq(last.count, 1);
	ck_assert_str_eq(dump(), "r:f:q:w@2000;r:f:q:v@1000;r:sum:n:7@3000;");
	q.mutations.at = &dropped;
	q.mutations.count = 1;
	ck_assert_int_eq(RUN("MutateRow", mutate_row, &q), CALL_OK);
	ck_assert_str_eq(dump(), "r:f:q:w@2000;r:sum:n:7@3000;");
	column_of.time_range = NULL;
	ck_assert_int_eq(RUN("MutateRow", mutate_row, &q), CALL_OK);
	ck_assert_str_eq(dump(), "r:sum:n:7@3000;");
	dropped.mutation_case = nr_mutation_delete_from_family;
	dropped.delete_from_family = &family_of;
	ck_assert_int_eq(RUN("MutateRow", mutate_row, &q), CALL_OK);
	ck_assert_str_eq(dump(), "");
	q.mutations.at = all;
	q.mutations.count = COUNT(all);
	ck_assert_int_eq(RUN("MutateRow", mutate_row, &q), CALL_OK);
	q.mutations.at = &dropped;
	q.mutations.count = 1;
	dropped.mutation_case = nr_mutation_delete_from_row;
	ck_assert_int_eq(RUN("MutateRow", mutate_row, &q), CALL_OK);
	ck_assert_str_eq(dump(), "");
}
END_TEST

/* A row is changed as a whole or not at all, however the request is wrong. */
START_TEST(nothing_of_what_fails)
{
	struct proto_set_cell good = { str("f"), str("q"), 1000, str("v"), 0 };
	struct proto_set_cell bad = { str("f"), str("q"), 1001, str("v"), 0 };
	struct proto_mutation both[] = { set_of(&good), set_of(&bad) };
	struct proto_mutate_row q = { .table_name = TABLE_NAME,
				      .row_key = str("r"),
				      .mutations = { both, 2 } };
	struct buf request = BUF_INIT;
	size_t size, parts = 0;

	ck_assert_int_eq(RUN("MutateRow", mutate_row, &q),
			 CALL_INVALID_ARGUMENT);
	bad = (struct proto_set_cell){ str("none"), str("q"), 0, str(""), 0 };
	ck_assert_int_eq(RUN("MutateRow", mutate_row, &q), CALL_NOT_FOUND);
	bad.family_name = str("f");
	bad.timestamp_micros = -2;
	ck_assert_int_eq(RUN("MutateRow", mutate_row, &q),
			 CALL_INVALID_ARGUMENT);
	both[1].mutation_case = 0;
	ck_assert_int_eq(RUN("MutateRow", mutate_row, &q),
			 CALL_INVALID_ARGUMENT);
	q.mutations.count = 0;
	ck_assert_int_eq(RUN("MutateRow", mutate_row, &q),
			 CALL_INVALID_ARGUMENT);
	ck_assert_str_eq(dump(), "");
	/* Cut off anywhere; between two mutations it is a shorter one. */
	q.mutations.count = 2;
	both[1] = set_of(&good);
	ck_assert_int_eq(proto_encode(&proto_mutate_row_type, &q, &request), 0);
	for (size = 0; size < request.size; size++) {
		if (run_bytes("MutateRow", bytes_of(request.data, size)) ==
		    CALL_OK)
			parts++;
		else
			ck_assert(parts > 0 || !dump()[0]);
	}
	ck_assert_uint_eq(parts, 1);
	buf_release(&request);
}
END_TEST

/* The time of a cell of column q in a row of a table, or 0. */
static uint64_t time_of(const char *table, const char *row, const char *value)
{
	struct scan_range range = { .table = str(table), .row = str(row) };
	uint64_t us = 0;
	struct scan *scan;
	struct cell c;

	ck_assert_int_eq(scan_open(service.store, NULL, &range, &scan), 0);
	while (scan_next(scan, CURSOR_VERSION, &c) == 1)
		if (bytes_equal(c.value, str(value)))
			us = c.timestamp_us;
	scan_close(scan);
	return us;
}

/* -1 is a millisecond on every table, never one ahead of the clock, and rises
 * from entry to entry that sets a column again; what a client says itself has
 * the table's granularity. */
START_TEST(the_time_of_the_server)
{
	struct family_spec family = { .name = str("f") };
	struct proto_set_cell sets[5] = { 0 };
	struct proto_mutation all[5];
	struct proto_mutate_entry entries[5] = { 0 };
	static const char *const rows[] = { "b", "a", "b", "b", "b" };
	static const char *const columns[] = { "q", "q", "q", "p", "q" };
	static const char *const values[] = { "0", "1", "2", "3", "4" };
	const char *tables[] = { "t", "fine" };
	struct bytes names[] = {
		TABLE_NAME, BYTES_LITERAL("projects/p/instances/i/tables/fine")
	};
	struct proto_mutate_rows q = { .entries = { entries, 5 } };
	struct proto_mutate_row own = { .table_name = names[1],
					.row_key = str("own"),
					.mutations = { all, 1 } };
	size_t i, j;

	ck_assert_int_eq(store_create_table(service.store, str("fine"), false,
					    &family, 1),
			 0);
	for (i = 0; i < 5; i++) {
		sets[i] = (struct proto_set_cell){ str("f"), str(columns[i]),
						   -1, str(values[i]), 0 };
		all[i] = set_of(&sets[i]);
		entries[i] = (struct proto_mutate_entry){
			.row_key = str(rows[i]), .mutations = { &all[i], 1 }
		};
	}
	for (j = 0; j < 2; j++) {
		uint64_t now;

		q.table_name = names[j];
		ck_assert_int_eq(RUN("MutateRows", mutate_rows, &q), CALL_OK);
		now = time_of(tables[j], "a", "1");
		ck_assert_uint_gt(now, 1000000000000000);
		ck_assert_uint_le(now, clock_now(&clock_real));
		ck_assert_uint_eq(now % 1000, 0);
		ck_assert_uint_eq(time_of(tables[j], "b", "0"), now - 2000);
		ck_assert_uint_eq(time_of(tables[j], "b", "2"), now - 1000);
		ck_assert_uint_eq(time_of(tables[j], "b", "3"), now);
		ck_assert_uint_eq(time_of(tables[j], "b", "4"), now);
	}
	sets[0].value = str("own");
	ck_assert_int_eq(RUN("MutateRow", mutate_row, &own), CALL_OK);
	ck_assert_uint_gt(time_of("fine", "own", "own"), 0);
	ck_assert_uint_eq(time_of("fine", "own", "own") % 1000, 0);
	sets[0].timestamp_micros = 1001;
	ck_assert_int_eq(RUN("MutateRow", mutate_row, &own), CALL_OK);
	own.table_name = TABLE_NAME;
	ck_assert_int_eq(RUN("MutateRow", mutate_row, &own),
			 CALL_INVALID_ARGUMENT);
}
END_TEST

START_TEST(each_entry_has_a_status)
{
	struct proto_set_cell good = { str("f"), str("q"), 1000, str("v"), 0 };
	struct proto_set_cell bad = { str("none"), str("q"), 0, str(""), 0 };
	struct proto_mutation set = set_of(&good);
	struct proto_mutation half[] = { set_of(&good), set_of(&bad) };
	struct proto_mutate_entry entries[] = {
		{ str("a"), { &set, 1 }, 0 }, { str("b"), { half, 2 }, 0 },
		{ str(""), { &set, 1 }, 0 },  { str("c"), { NULL, 0 }, 0 },
		{ str("d"), { &set, 1 }, 0 },
	};
	const int want[] = { CALL_OK, CALL_NOT_FOUND, CALL_INVALID_ARGUMENT,
			     CALL_INVALID_ARGUMENT, CALL_OK };
	struct proto_mutate_rows q = { .table_name = TABLE_NAME,
				       .entries = { entries, COUNT(want) } };
	struct proto_mutate_rows_answer *a;
	size_t i;

	ck_assert_int_eq(RUN("MutateRows", mutate_rows, &q), CALL_OK);
	a = ANSWER(mutate_rows_answer);
	ck_assert_uint_eq(a->entries.count, COUNT(want));
	for (i = 0; i < COUNT(want); i++) {
		ck_assert_int_eq(a->entries.at[i].index, (int64_t)i);
		ck_assert_int_eq(a->entries.at[i].status->code, want[i]);
		ck_assert((a->entries.at[i].status->message.size > 0) ==
			  (want[i] != CALL_OK));
	}
	ck_assert_str_eq(dump(), "a:f:q:v@1000;d:f:q:v@1000;");
	q.table_name = str("projects/p/instances/i/tables/none");
	ck_assert_int_eq(RUN("MutateRows", mutate_rows, &q), CALL_NOT_FOUND);
	q.entries.count = 0;
	ck_assert_int_eq(RUN("MutateRows", mutate_rows, &q),
			 CALL_INVALID_ARGUMENT);
}
END_TEST

START_TEST(checks_and_modifies)
{
	struct proto_set_cell yes = { str("f"), str("yes"), 1000, str("y"), 0 };
	struct proto_set_cell no = { str("f"), str("no"), 1000, str("n"), 0 };
	struct proto_mutation if_true = set_of(&yes), if_false = set_of(&no);
	struct proto_row_filter filter = {
		.filter_case = nr_row_filter_value_regex_filter,
		.value_regex_filter = str("n"),
	};
	struct proto_check_and_mutate_row q = {
		.table_name = TABLE_NAME,
		.row_key = str("r"),
		.predicate_filter = &filter,
		.true_mutations = { &if_true, 1 },
		.false_mutations = { &if_false, 1 },
	};
	struct proto_read_modify_write_rule rules[] = {
		{ .family_name = str("f"),
		  .column_qualifier = str("yes"),
		  .rule_case = nr_read_modify_write_rule_append_value,
		  .append_value = str("!") },
		{ .family_name = str("f"),
		  .column_qualifier = str("count"),
		  .rule_case = nr_read_modify_write_rule_increment_amount,
		  .increment_amount = 3 },
	};
	struct proto_read_modify_write_row modify = {
		.table_name = TABLE_NAME,
		.row_key = str("r"),
		.rules = { rules, 2 },
	};
	struct proto_row *row;

	ck_assert_int_eq(RUN("CheckAndMutateRow", check_and_mutate_row, &q),
			 CALL_OK);
	ck_assert(!ANSWER(check_and_mutate_row_answer)->predicate_matched);
	ck_assert_int_eq(RUN("CheckAndMutateRow", check_and_mutate_row, &q),
			 CALL_OK);
	ck_assert(ANSWER(check_and_mutate_row_answer)->predicate_matched);
	ck_assert_str_eq(dump(), "r:f:no:n@1000;r:f:yes:y@1000;");
	ck_assert_int_eq(
		RUN("ReadModifyWriteRow", read_modify_write_row, &modify),
		CALL_OK);
	row = ANSWER(read_modify_write_row_answer)->row;
	ck_assert_uint_eq(row->families.count, 1);
	ck_assert_uint_eq(row->families.at->columns.count, 2);
	ck_assert(bytes_equal(row->families.at->columns.at[0].cells.at->value,
			      bytes_of("\0\0\0\0\0\0\0\3", 8)));
	ck_assert(bytes_equal(row->families.at->columns.at[1].cells.at->value,
			      str("y!")));
	rules[1].rule_case = 0;
	ck_assert_int_eq(
		RUN("ReadModifyWriteRow", read_modify_write_row, &modify),
		CALL_INVALID_ARGUMENT);
	rules[1].rule_case = nr_read_modify_write_rule_increment_amount;
	rules[1].column_qualifier = str("no");
	ck_assert_int_eq(
		RUN("ReadModifyWriteRow", read_modify_write_row, &modify),
		CALL_FAILED_PRECONDITION);
}
END_TEST

/* A filter in which nothing is set, as in one of a kind that is not known here,
 * decides nothing, wherever it stands. */
START_TEST(an_unknown_condition_writes_nothing)
{
	struct proto_set_cell yes = { str("f"), str("yes"), 1000, str("y"), 0 };
	struct proto_mutation if_true = set_of(&yes);
	struct proto_row_filter parts[] = {
		{ .filter_case = nr_row_filter_pass_all_filter,
		  .pass_all_filter = true },
		{ .filter_case = 0 },
	};
	struct proto_filter_chain chain = { .filters = { parts, 2 } };
	struct proto_row_filter filter = { .filter_case = nr_row_filter_chain,
					   .chain = &chain };
	struct proto_check_and_mutate_row q = {
		.table_name = TABLE_NAME,
		.row_key = str("r"),
		.predicate_filter = &filter,
		.true_mutations = { &if_true, 1 },
		.false_mutations = { &if_true, 1 },
	};

	ck_assert_int_eq(RUN("CheckAndMutateRow", check_and_mutate_row, &q),
			 CALL_INVALID_ARGUMENT);
	q.predicate_filter = &parts[1];
	ck_assert_int_eq(RUN("CheckAndMutateRow", check_and_mutate_row, &q),
			 CALL_INVALID_ARGUMENT);
	ck_assert_str_eq(dump(), "");
	q.predicate_filter = &parts[0];
	ck_assert_int_eq(RUN("CheckAndMutateRow", check_and_mutate_row, &q),
			 CALL_OK);
	ck_assert_str_eq(dump(), "r:f:yes:y@1000;");
}
END_TEST

/* Both lists are looked at, whichever is taken, so that a client does not learn
 * of a mistake when the other is for the first time. */
static void check_untaken(struct proto_check_and_mutate_row *q,
			  struct proto_mutation *mutations, size_t count,
			  enum call_status status)
{
	static struct proto_row_filter filters[] = {
		{ .filter_case = nr_row_filter_pass_all_filter,
		  .pass_all_filter = true },
		{ .filter_case = nr_row_filter_block_all_filter,
		  .block_all_filter = true },
	};
	struct proto_set_cell set = { str("f"), str("set"), 1000, str("s"), 0 };
	struct proto_mutation good = set_of(&set);
	size_t i;

	for (i = 0; i < 2; i++) {
		q->predicate_filter = &filters[i];
		q->true_mutations.at = i == 0 ? &good : mutations;
		q->true_mutations.count = i == 0 ? 1 : count;
		q->false_mutations.at = i == 0 ? mutations : &good;
		q->false_mutations.count = i == 0 ? count : 1;
		ck_assert_int_eq(
			RUN("CheckAndMutateRow", check_and_mutate_row, q),
			status);
	}
}

START_TEST(the_branch_that_is_not_taken_is_checked)
{
	static struct proto_mutation many[100001];
	static uint8_t value[(100 << 20) + 1];
	struct proto_set_cell set = { str("f"), str("q"), 1000, str("v"), 0 };
	struct proto_set_cell early = { str("f"), str("q"), -5, str("v"), 0 };
	struct proto_set_cell none = { str("g"), str("q"), 1000, str("v"), 0 };
	struct proto_set_cell large = { str("f"), str("q"), 1000,
					bytes_of(value, sizeof(value)), 0 };
	struct proto_mutation two[2] = { set_of(&set), { .mutation_case = 0 } };
	struct proto_check_and_mutate_row q = { .table_name = TABLE_NAME,
						.row_key = str("r") };
	size_t i;

	check_untaken(&q, two, 2, CALL_INVALID_ARGUMENT);
	two[1] = set_of(&early);
	check_untaken(&q, two, 2, CALL_INVALID_ARGUMENT);
	two[1] = set_of(&none);
	two[1] = set_of(&large);
	check_untaken(&q, two, 2, CALL_INVALID_ARGUMENT);
	for (i = 0; i < 100001; i++)
		many[i] = set_of(&set);
	check_untaken(&q, many, 100001, CALL_INVALID_ARGUMENT);
	ck_assert_str_eq(dump(), "");
	/* What is allowed stays so: as many, or as large. */
	large.value.size--;
	check_untaken(&q, two, 2, CALL_OK);
	check_untaken(&q, many, 100000, CALL_OK);
	check_untaken(&q, NULL, 0, CALL_OK);
	/* By now the row has something that matches. */
	two[1] = set_of(&none);
	check_untaken(&q, two, 2, CALL_OK);
}
END_TEST

/* Whoever is gone changes nothing by a condition that holds, or does not. */
START_TEST(a_condition_of_nobody)
{
	struct proto_set_cell set = { str("f"), str("q"), 1000, str("v"), 0 };
	struct proto_mutation mutation = set_of(&set);
	struct proto_check_and_mutate_row q = {
		.table_name = TABLE_NAME,
		.row_key = str("r"),
		.true_mutations = { &mutation, 1 },
		.false_mutations = { &mutation, 1 },
	};
	struct buf request = BUF_INIT;

	ck_assert_int_eq(
		proto_encode(&proto_check_and_mutate_row_type, &q, &request),
		0);
	fake_release(&last);
	last = (struct call){ .route = fake_route("CheckAndMutateRow"),
			      .request = buf_bytes(&request),
			      .cancelled = true };
	fake_run(&last, &service);
	ck_assert_int_eq(last.status, CALL_CANCELLED);
	ck_assert_str_eq(dump(), "");
	buf_release(&request);
	ck_assert_int_eq(RUN("CheckAndMutateRow", check_and_mutate_row, &q),
			 CALL_OK);
	ck_assert_str_eq(dump(), "r:f:q:v@1000;");
}
END_TEST

/* A large value that a condition looks at is the call's before it is there,
 * however often the condition is asked. */
START_TEST(a_condition_asks_for_memory)
{
	static uint8_t value[1 << 20];
	struct proto_set_cell set = { str("f"), str("q"), 1000,
				      bytes_of(value, sizeof(value)), 0 };
	struct proto_mutation mutation = set_of(&set);
	struct proto_row_filter filter = {
		.filter_case = nr_row_filter_value_regex_filter,
		.value_regex_filter = str("\\C*\\x00"),
	};
	struct proto_mutate_row first = { .table_name = TABLE_NAME,
					  .row_key = str("r"),
					  .mutations = { &mutation, 1 } };
	struct proto_check_and_mutate_row q = {
		.table_name = TABLE_NAME,
		.row_key = str("r"),
		.predicate_filter = &filter,
		.false_mutations = { &mutation, 1 },
	};
	struct buf request = BUF_INIT;

	ck_assert_int_eq(RUN("MutateRow", mutate_row, &first), CALL_OK);
	ck_assert_int_eq(
		proto_encode(&proto_check_and_mutate_row_type, &q, &request),
		0);
	fake_release(&last);
	last = (struct call){ .route = fake_route("CheckAndMutateRow"),
			      .request = buf_bytes(&request),
			      .is_short = true };
	fake_run(&last, &service);
	ck_assert_int_eq(last.status, CALL_OK);
	ck_assert_uint_ge(last.granted, sizeof(value));
	ck_assert_uint_le(last.granted, sizeof(value) + 65536);
	buf_release(&request);
}
END_TEST

/* The rules of one column make one value, for which the call asks before there
 * is one; who is not waited for writes nothing; and there are not too many. */
START_TEST(a_modification_has_one_value)
{
	static uint8_t value[1 << 20];
	static struct proto_read_modify_write_rule rules[100001];
	struct proto_set_cell set = { str("f"), str("q"), 1000,
				      bytes_of(value, sizeof(value)), 0 };
	struct proto_mutation mutation = set_of(&set);
	struct proto_mutate_row first = { .table_name = TABLE_NAME,
					  .row_key = str("r"),
					  .mutations = { &mutation, 1 } };
	struct proto_read_modify_write_row q = { .table_name = TABLE_NAME,
						 .row_key = str("r"),
						 .rules = { rules, 1000 } };
	struct buf request = BUF_INIT;
	uint64_t before;
	size_t i;

	for (i = 0; i < COUNT(rules); i++)
		rules[i] = (struct proto_read_modify_write_rule){
			.family_name = str("f"),
			.column_qualifier = str("q"),
			.rule_case = nr_read_modify_write_rule_append_value,
			.append_value = str("."),
		};
	ck_assert_int_eq(RUN("MutateRow", mutate_row, &first), CALL_OK);
	ck_assert_int_eq(
		proto_encode(&proto_read_modify_write_row_type, &q, &request),
		0);
	fake_release(&last);
	before = count_commits();
	last = (struct call){ .route = fake_route("ReadModifyWriteRow"),
			      .request = buf_bytes(&request),
			      .cancelled = true };
	fake_run(&last, &service);
	ck_assert_int_eq(last.status, CALL_CANCELLED);
	ck_assert_uint_eq(count_commits(), before);
	last = (struct call){ .route = fake_route("ReadModifyWriteRow"),
			      .request = buf_bytes(&request),
			      .is_short = true };
	fake_run(&last, &service);
	ck_assert_int_eq(last.status, CALL_OK);
	ck_assert_uint_ge(last.granted, sizeof(value));
	ck_assert_uint_le(last.granted, sizeof(value) + (600 << 10));
	/* The answer is in the same memory. */
	ck_assert_uint_le(last.messages[0].capacity, sizeof(value) + 1500);
	ck_assert_uint_eq(count_commits(), before + 1);
	ck_assert_uint_eq(
		ANSWER(read_modify_write_row_answer)
			->row->families.at->columns.at->cells.at->value.size,
		sizeof(value) + 1000);
	buf_release(&request);
	q.rules.count = COUNT(rules);
	ck_assert_int_eq(RUN("ReadModifyWriteRow", read_modify_write_row, &q),
			 CALL_INVALID_ARGUMENT);
	ck_assert_ptr_nonnull(strstr(last.text, "100001 are more than"));
}
END_TEST

START_TEST(tables_are_made_and_changed)
{
	struct proto_gc_rule two = { .rule_case = nr_gc_rule_max_num_versions,
				     .max_num_versions = 2 };
	struct proto_column_family family = { .gc_rule = &two };
	struct proto_column_family_entry entry = { str("g"), &family, 0 };
	struct proto_table table = { .column_families = { &entry, 1 } };
	struct proto_create_table create = { .parent = INSTANCE,
					     .table_id = str("u"),
					     .table = &table };
	struct proto_get_table get = {
		.name = str("projects/p/instances/i/tables/u"),
	};
	struct proto_modification changes[] = {
		{ .id = str("h"),
		  .mod_case = nr_modification_create,
		  .create = &(struct proto_column_family){ .gc_rule = NULL } },
		{ .id = str("g"),
		  .mod_case = nr_modification_drop,
		  .drop = true },
	};
	struct proto_modify_families modify = {
		.name = get.name, .modifications = { changes, 2 }
	};
	struct proto_list_tables list = { .parent = INSTANCE, .page_size = 1 };
	struct proto_delete_table drop = { .name = get.name };
	struct proto_list_tables_answer *page;
	struct proto_table *t;

	ck_assert_int_eq(RUN("CreateTable", create_table, &create), CALL_OK);
	ck_assert_int_eq(RUN("CreateTable", create_table, &create),
			 CALL_ALREADY_EXISTS);
	ck_assert_int_eq(RUN("GetTable", get_table, &get), CALL_OK);
	t = ANSWER(table);
	ck_assert(bytes_equal(t->name, get.name));
	ck_assert_int_eq(t->granularity, 1);
	ck_assert_uint_eq(t->column_families.count, 1);
	ck_assert_int_eq(
		t->column_families.at->value->gc_rule->max_num_versions, 2);
	ck_assert_int_eq(RUN("ModifyColumnFamilies", modify_families, &modify),
			 CALL_OK);
	t = ANSWER(table);
	ck_assert_uint_eq(t->column_families.count, 1);
	ck_assert(bytes_equal(t->column_families.at->key, str("h")));
	/* The second fails now, and so does the first. */
	changes[0].id = str("k");
	ck_assert_int_eq(RUN("ModifyColumnFamilies", modify_families, &modify),
			 CALL_NOT_FOUND);
	ck_assert_int_eq(RUN("GetTable", get_table, &get), CALL_OK);
	ck_assert_uint_eq(ANSWER(table)->column_families.count, 1);
	ck_assert_int_eq(RUN("ListTables", list_tables, &list), CALL_OK);
	page = ANSWER(list_tables_answer);
	ck_assert_uint_eq(page->tables.count, 1);
	ck_assert(bytes_equal(page->tables.at->name, TABLE_NAME));
	list.page_token = page->next_page_token;
	ck_assert_int_eq(RUN("ListTables", list_tables, &list), CALL_OK);
	page = ANSWER(list_tables_answer);
	ck_assert(bytes_equal(page->tables.at->name, get.name));
	ck_assert_uint_eq(page->next_page_token.size, 0);
	ck_assert_int_eq(RUN("DeleteTable", delete_table, &drop), CALL_OK);
	ck_assert_int_eq(RUN("DeleteTable", delete_table, &drop),
			 CALL_NOT_FOUND);
}
END_TEST

/* What would be passed over is refused. */
START_TEST(what_is_not_known_is_told)
{
	struct proto_gc_rule leaf = { .rule_case = nr_gc_rule_max_num_versions,
				      .max_num_versions = 2 };
	struct proto_column_family family = { .gc_rule = &leaf };
	struct bytes path = str("gc_rule.max_num_versions");
	struct proto_field_mask mask = { .paths = { &path, 1 } };
	struct proto_modification change = { .id = str("f"),
					     .mod_case = nr_modification_update,
					     .update = &family,
					     .update_mask = &mask };
	struct proto_modify_families modify = {
		.name = TABLE_NAME, .modifications = { &change, 1 }
	};
	struct proto_table table = { .granularity = 1 };
	struct proto_create_table create = { .parent = INSTANCE,
					     .table_id = str("u"),
					     .table = &table };

	ck_assert_int_eq(RUN("ModifyColumnFamilies", modify_families, &modify),
			 CALL_OK);
	path = str("gc_rules");
	ck_assert_int_eq(RUN("ModifyColumnFamilies", modify_families, &modify),
			 CALL_INVALID_ARGUMENT);
	ck_assert_ptr_nonnull(strstr(last.text, "gc_rules"));
	ck_assert_int_eq(RUN("CreateTable", create_table, &create), CALL_OK);
	create.table_id = str("v");
	table.granularity = 2;
	ck_assert_int_eq(RUN("CreateTable", create_table, &create),
			 CALL_INVALID_ARGUMENT);
	table.granularity = -1;
	ck_assert_int_eq(RUN("CreateTable", create_table, &create),
			 CALL_INVALID_ARGUMENT);
	table.granularity = 0;
	ck_assert_int_eq(RUN("CreateTable", create_table, &create), CALL_OK);
}
END_TEST

/* Every method, of nothing, and of bytes that are no message. */
START_TEST(every_method_of_nothing)
{
	const struct route *r;

	for (r = routes; r->path; r++) {
		const char *method = strrchr(r->path, '/') + 1;

		ck_assert_msg(run_bytes(method, BYTES_NONE) != CALL_OK, "%s",
			      method);
		ck_assert_msg(run_bytes(method, str("\x0a\x05")) ==
				      CALL_INTERNAL,
			      "%s", method);
	}
	ck_assert_str_eq(dump(), "");
}
END_TEST

int main(void)
{
	const TTest *tests[] = { mutations_of_each_kind,
				 nothing_of_what_fails,
				 the_time_of_the_server,
				 each_entry_has_a_status,
				 checks_and_modifies,
				 the_branch_that_is_not_taken_is_checked,
				 an_unknown_condition_writes_nothing,
				 a_condition_of_nobody,
				 a_condition_asks_for_memory,
				 a_modification_has_one_value,
				 tables_are_made_and_changed,
				 what_is_not_known_is_told,
				 every_method_of_nothing };

	return run_suite("wire_writes", setup, teardown, tests, COUNT(tests));
}
