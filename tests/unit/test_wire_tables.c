#include "tests/unit/wire_fixture.h"

/* What is wrong with requests about tables. */
/* A duration is seconds and a part of one, of one sign. */
START_TEST(durations_are_checked)
{
	static const struct {
		int64_t seconds;
		int32_t nanos;
		enum call_status status;
	} ages[] = {
		{ 1, 0, CALL_OK },
		{ 0, 999999999, CALL_OK },
		{ 0, 1000000000, CALL_INVALID_ARGUMENT },
		{ 5, INT32_MAX, CALL_INVALID_ARGUMENT },
		{ 5, -1, CALL_INVALID_ARGUMENT },
		{ -1, 5, CALL_INVALID_ARGUMENT },
		{ INT64_MAX, 0, CALL_INVALID_ARGUMENT },
		{ 315576000000, 999999999, CALL_OK },
		{ 315576000001, 0, CALL_INVALID_ARGUMENT },
	};
	struct proto_duration age = { .seconds = 0 };
	struct proto_gc_rule rule = { .rule_case = nr_gc_rule_max_age,
				      .max_age = &age };
	struct proto_column_family family = { .gc_rule = &rule };
	struct proto_modification change = { .id = str("f"),
					     .mod_case = nr_modification_update,
					     .update = &family };
	struct proto_modify_families modify = {
		.name = TABLE_NAME, .modifications = { &change, 1 }
	};
	size_t i;

	for (i = 0; i < COUNT(ages); i++) {
		age.seconds = ages[i].seconds;
		age.nanos = ages[i].nanos;
		ck_assert_int_eq(
			RUN("ModifyColumnFamilies", modify_families, &modify),
			ages[i].status);
	}
}
END_TEST

/* The age of a policy that a mount set may be more than a duration says. */
START_TEST(a_longer_age_is_told_as_the_longest)
{
	struct gc_policy *old = gc_policy_leaf(GC_MAX_AGE, INT64_MAX);
	struct proto_get_table get = { .name = TABLE_NAME };
	const struct proto_duration *age;

	ck_assert_int_eq(store_set_gc(service.store, str("t"), str("f"), old),
			 0);
	gc_policy_free(old);
	ck_assert_int_eq(RUN("GetTable", get_table, &get), CALL_OK);
	age = ANSWER(table)->column_families.at->value->gc_rule->max_age;
	ck_assert_int_eq(age->seconds, 315576000000);
	ck_assert_int_eq(age->nanos, 0);
}
END_TEST

/* Too many rules are counted as they were written, whatever pairs they are kept
 * as. */
START_TEST(too_many_rules_are_counted)
{
	static struct proto_gc_rule many[100000];
	struct proto_gc_rules all = { .rules = { many, 64 } };
	struct proto_gc_rules half = { .rules = { many + 1, 40 } };
	struct proto_gc_rule rule = { .rule_case = nr_gc_rule_union_,
				      .union_ = (void *)&all };
	struct proto_column_family family = { .gc_rule = &rule };
	struct proto_modification change = { .id = str("f"),
					     .mod_case = nr_modification_update,
					     .update = &family };
	struct proto_modify_families modify = {
		.name = TABLE_NAME, .modifications = { &change, 1 }
	};
	static const size_t counts[] = { 65, 400, 100000 };
	char want[64];
	size_t i;

	for (i = 0; i < COUNT(many); i++)
		many[i] = (struct proto_gc_rule){
			.rule_case = nr_gc_rule_max_num_versions,
			.max_num_versions = 2,
		};
	ck_assert_int_eq(RUN("ModifyColumnFamilies", modify_families, &modify),
			 CALL_OK);
	for (i = 0; i < COUNT(counts); i++) {
		all.rules.count = counts[i];
		ck_assert_int_eq(
			RUN("ModifyColumnFamilies", modify_families, &modify),
			CALL_INVALID_ARGUMENT);
		snprintf(want, sizeof(want), "of %zu rules, which may have 64",
			 counts[i]);
		ck_assert_ptr_nonnull(strstr(last.text, want));
	}
	/* Two of which each alone would do. */
	many[0].rule_case = nr_gc_rule_intersection;
	many[0].intersection = (void *)&half;
	all.rules.count = 41;
	ck_assert_int_eq(RUN("ModifyColumnFamilies", modify_families, &modify),
			 CALL_INVALID_ARGUMENT);
	ck_assert_ptr_nonnull(strstr(last.text, "of 80 rules"));
}
END_TEST

/* Not what a page ended with, though it is a table's name. */
START_TEST(page_tokens_are_checked)
{
	struct proto_list_tables list = { .parent = INSTANCE,
					  .page_token = str("t") };
	struct proto_list_profiles profiles = { .parent = INSTANCE,
						.page_token = str("t") };

	ck_assert_int_eq(RUN("ListTables", list_tables, &list),
			 CALL_INVALID_ARGUMENT);
	ck_assert_int_eq(RUN("ListAppProfiles", list_profiles, &profiles),
			 CALL_INVALID_ARGUMENT);
}
END_TEST

int main(void)
{
	const TTest *tests[] = { durations_are_checked,
				 a_longer_age_is_told_as_the_longest,
				 too_many_rules_are_counted,
				 page_tokens_are_checked };

	return run_suite("wire_tables", setup, teardown, tests, COUNT(tests));
}
