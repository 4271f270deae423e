#include "store/base/coding.h"
#include "store/base/err.h"
#include "store/engine/compact/gc.h"
#include "tests/unit/suite.h"

static struct gc_policy *leaf(enum gc_type type, uint64_t limit)
{
	struct gc_policy *p = gc_policy_leaf(type, limit);

	ck_assert_ptr_nonnull(p);
	return p;
}

START_TEST(versions_and_age)
{
	struct gc_policy *two = leaf(GC_MAX_VERSIONS, 2);
	struct gc_policy *age = leaf(GC_MAX_AGE, 100);

	ck_assert(gc_keep(NULL, 1000, 0, 1000));
	ck_assert(gc_keep(two, 1, 0, 1000));
	ck_assert(!gc_keep(two, 2, 999, 1000));
	ck_assert(gc_keep(age, 9, 900, 1000));
	ck_assert(!gc_keep(age, 0, 899, 1000));
	ck_assert(gc_keep(age, 0, 5000, 1000)); /* the future stays */
	ck_assert(gc_keep(age, 0, 0, 50));
	ck_assert_uint_eq(gc_expiry(age, 0, 900), 1000);
	ck_assert_uint_eq(gc_expiry(two, 0, 900), UINT64_MAX);
	ck_assert_uint_eq(gc_rank_limit(two), 2);
	ck_assert_uint_eq(gc_rank_limit(age), UINT64_MAX);
	gc_policy_free(two);
	gc_policy_free(age);
}
END_TEST

START_TEST(pairs)
{
	struct gc_policy *any = gc_policy_pair(
		GC_UNION, leaf(GC_MAX_VERSIONS, 2), leaf(GC_MAX_AGE, 100));
	struct gc_policy *all =
		gc_policy_pair(GC_INTERSECTION, leaf(GC_MAX_VERSIONS, 2),
			       leaf(GC_MAX_AGE, 100));
	struct gc_policy *copy;
	struct buf raw = BUF_INIT;
	struct bytes in;

	ck_assert(!gc_keep(any, 0, 0, 1000));
	ck_assert(!gc_keep(any, 2, 1000, 1000));
	ck_assert(gc_keep(any, 1, 950, 1000));
	ck_assert(gc_keep(all, 0, 0, 1000));
	ck_assert(gc_keep(all, 2, 1000, 1000));
	ck_assert(!gc_keep(all, 2, 0, 1000));

	ck_assert_int_eq(gc_policy_encode(all, &raw), 0);
	in = buf_bytes(&raw);
	ck_assert_int_eq(gc_policy_decode(&in, &copy), 0);
	ck_assert_uint_eq(in.size, 0);
	ck_assert(gc_policy_equal(all, copy));
	ck_assert(!gc_policy_equal(any, copy));
	gc_policy_free(copy);
	while (raw.size-- > 1) {
		in = buf_bytes(&raw);
		ck_assert_int_lt(gc_policy_decode(&in, &copy), 0);
		ck_assert_ptr_null(copy);
	}
	buf_release(&raw);
	gc_policy_free(any);
	gc_policy_free(all);
}
END_TEST

/* What is hidden does not count: compaction may have dropped it. */
START_TEST(columns)
{
	struct gc_family family = { .policy = leaf(GC_MAX_VERSIONS, 2) };
	struct gc_column column;

	gc_column_start(&column, &family, 0, 0);
	ck_assert(gc_column_keep(&column, 50));
	ck_assert(gc_column_keep(&column, 40));
	ck_assert(!gc_column_keep(&column, 30));
	ck_assert_uint_eq(column.rank, 2);
	gc_column_start(&column, &family, 0, 0);
	ck_assert(gc_column_keep(&column, 30));
	gc_policy_free(family.policy);
}
END_TEST

/* So many leaves in pairs of pairs, which is not deep. */
static struct gc_policy *tree(unsigned int leaves)
{
	if (leaves == 1)
		return leaf(GC_MAX_VERSIONS, 1);
	return gc_policy_pair(GC_UNION, tree(leaves / 2),
			      tree(leaves - leaves / 2));
}

static void add_tree(struct buf *out, unsigned int leaves)
{
	ck_assert_int_eq(
		buf_add_byte(out, leaves > 1 ? GC_UNION : GC_MAX_VERSIONS), 0);
	if (leaves == 1) {
		ck_assert_int_eq(buf_add_varint(out, 1), 0);
		return;
	}
	add_tree(out, leaves / 2);
	add_tree(out, leaves - leaves / 2);
}

/* What is written is read; what is too large is neither. */
START_TEST(number_of_rules)
{
	struct gc_policy *most = tree(GC_NODES_MAX), *over = tree(1000), *p;
	struct buf raw = BUF_INIT;
	struct bytes in;

	ck_assert_int_eq(gc_policy_encode(most, &raw), 0);
	in = buf_bytes(&raw);
	ck_assert_int_eq(gc_policy_decode(&in, &p), 0);
	ck_assert(gc_policy_equal(most, p));
	gc_policy_free(p);
	buf_reset(&raw);
	ck_assert_int_eq(gc_policy_encode(over, &raw), -ERR_bad_argument);
	ck_assert_uint_eq(raw.size, 0);
	add_tree(&raw, 1000);
	in = buf_bytes(&raw);
	ck_assert_int_eq(gc_policy_decode(&in, &p), -ERR_schema_malformed);
	ck_assert_ptr_null(p);
	gc_policy_free(most);
	gc_policy_free(over);
	buf_release(&raw);
}
END_TEST

int main(void)
{
	const TTest *tests[] = {
		versions_and_age,
		pairs,
		columns,
		number_of_rules,
	};

	return run_suite("gc", NULL, NULL, tests, 4);
}
