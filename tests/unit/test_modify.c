#include <stdio.h>
#include <stdlib.h>

#include "store/base/coding.h"
#include "tests/sim/rng.h"
#include "tests/unit/small_store.h"

/* Rules for columns of a row, of which each gets one new version: what they
 * come to, what is asked before, and who waits meanwhile. */
#define COLUMNS 4
#define RULES_MAX 12
#define LARGE (200 << 10)

static struct store *s;
static struct buf memory;
static struct cell cells[RULES_MAX];
static uint64_t now_us;

static uint64_t test_now(void *context)
{
	(void)context;
	return now_us;
}

static const struct clock test_clock = { test_now, NULL };

static struct bytes str(const char *text)
{
	return bytes_string(text);
}

/* Appends a dot to f:a. */
static struct modify_rule dot;

/* Chunks of 1,000 bytes, and what has 500 is large. */
static void setup(void)
{
	struct family_spec families[] = { { .name = str("f") },
					  { .name = str("g") },
					  { .name = str("sum"),
					    .type = FAMILY_INTSUM } };
	struct store_options options;

	dot = (struct modify_rule){ .family = str("f"),
				    .qualifier = str("a"),
				    .value = str(".") };
	now_us = 1000000;
	small_store_options(&options);
	options.clock = &test_clock;
	s = mem_store(&options);
	ck_assert_int_eq(store_create_table(s, str("t"), false, families, 3),
			 0);
}

static void teardown(void)
{
	buf_release(&memory);
	ck_assert_int_eq(store_close(s), 0);
}

static const char *const names[COLUMNS][2] = {
	{ "f", "a" }, { "f", "b" }, { "g", "" }, { "g", "a" }
};

static uint64_t mutations(void)
{
	return store_seq(s);
}

/* What a column is to hold. */
struct naive {
	bool exists;
	struct buf value;
};

static void copy_naive(struct naive *to, const struct naive *from)
{
	to->exists = from->exists;
	ck_assert_int_eq(buf_set(&to->value, buf_bytes(&from->value)), 0);
}

/* Whether the rule can be followed. */
static bool follow(struct naive *n, const struct modify_rule *r)
{
	uint8_t bytes[8];

	if (r->is_increment && n->exists && n->value.size != 8)
		return false;
	if (r->is_increment) {
		uint64_t number = n->exists ? get_u64be(n->value.data) : 0;

		put_u64be(bytes, number + (uint64_t)r->amount);
		buf_reset(&n->value);
	}
	n->exists = true;
	return !buf_add_bytes(&n->value,
			      r->is_increment ? bytes_of(bytes, 8) : r->value);
}

static void expect(size_t column, const struct naive *n)
{
	struct buf value = BUF_INIT;
	struct cell cell;

	ck_assert_int_eq(store_get(s, NULL, str("t"), str("r"),
				   str(names[column][0]), str(names[column][1]),
				   &cell, &value),
			 n->exists);
	ck_assert(!n->exists || bytes_equal(cell.value, buf_bytes(&n->value)));
	buf_release(&value);
}

static void random_rule(struct rng *rng, const uint8_t *text, size_t column,
			struct modify_rule *r)
{
	static const size_t sizes[] = { 0, 1, 8, 7, 400, 3000, 30000 };
	size_t size = sizes[rng_below(rng, 7)];

	*r = (struct modify_rule){ .family = str(names[column][0]),
				   .qualifier = str(names[column][1]),
				   .is_increment = rng_below(rng, 3) == 0,
				   .amount = (int64_t)rng_next(rng),
				   .value = bytes_of(text + rng_below(rng, 99),
						     size) };
}

/* The answer of a request that came to these columns. */
static void check_cells(const struct naive *wants, const bool *touched,
			int count)
{
	int i, at = 0;

	for (i = 0; i < COLUMNS; i++) {
		if (!touched[i])
			continue;
		ck_assert_int_lt(at, count);
		ck_assert(bytes_equal(cells[at].family, str(names[i][0])));
		ck_assert(bytes_equal(cells[at].qualifier, str(names[i][1])));
		ck_assert(bytes_equal(cells[at].value,
				      buf_bytes(&wants[i].value)));
		ck_assert_uint_eq(cells[at].timestamp_us, now_us);
		at++;
	}
	ck_assert_int_eq(at, count);
}

/* A request of random rules; then the columns are as a naive store has them,
 * and each was written once. */
static void random_request(struct rng *rng, const uint8_t *text,
			   struct naive *columns)
{
	struct modify_rule rules[RULES_MAX];
	struct naive after[COLUMNS] = { { .exists = false } };
	bool touched[COLUMNS] = { false }, possible = true;
	size_t i, count = 1 + rng_below(rng, RULES_MAX);
	uint64_t before = mutations();
	int made;

	for (i = 0; i < COLUMNS; i++)
		copy_naive(&after[i], &columns[i]);
	for (i = 0; i < count; i++) {
		size_t column = rng_below(rng, COLUMNS);

		random_rule(rng, text, column, &rules[i]);
		possible = possible && follow(&after[column], &rules[i]);
		touched[column] = true;
	}
	now_us += 1000;
	made = store_modify(s, str("t"), str("r"), rules, count, false, cells,
			    &memory);
	if (possible)
		check_cells(after, touched, made);
	else
		ck_assert_int_eq(made, -ERR_not_a_number);
	ck_assert_uint_eq(mutations() - before, possible ? made : 0);
	for (i = 0; i < COLUMNS; i++) {
		if (possible)
			copy_naive(&columns[i], &after[i]);
		buf_release(&after[i].value);
		expect(i, &columns[i]);
	}
}

/* Now and then the row begins anew, so that increments are possible. */
START_TEST(as_if_one_by_one)
{
	struct naive columns[COLUMNS] = { { .exists = false } };
	static uint8_t text[40000];
	struct rng rng = { 7 };
	size_t i, round, grown = 0;
	struct write *w;

	for (i = 0; i < sizeof(text); i++)
		text[i] = (uint8_t)rng_next(&rng);
	for (round = 0; round < 1500; round++) {
		random_request(&rng, text, columns);
		for (i = 0; i < COLUMNS; i++)
			grown += columns[i].value.size > 64 << 10;
		if (round % 50 < 49)
			continue;
		ck_assert_int_eq(write_new(s, &w), 0);
		ck_assert_int_eq(write_row(w, str("t"), str("r")), 0);
		ck_assert_int_eq(write_delete_row(w), 0);
		ck_assert_int_eq(store_commit(s, w, false), 0);
		write_free(w);
		small_store_flush(s);
		for (i = 0; i < COLUMNS; i++) {
			columns[i].exists = false;
			buf_reset(&columns[i].value);
		}
	}
	ck_assert_uint_gt(grown, 100);
	for (i = 0; i < COLUMNS; i++)
		buf_release(&columns[i].value);
}
END_TEST

static void set(const char *qualifier, uint64_t us, struct bytes value)
{
	struct write *w;

	ck_assert_int_eq(write_new(s, &w), 0);
	ck_assert_int_eq(write_row(w, str("t"), str("r")), 0);
	ck_assert_int_eq(write_set(w, str("f"), str(qualifier), us, value), 0);
	ck_assert_int_eq(store_commit(s, w, false), 0);
	write_free(w);
}

/* A version that lies ahead is replaced, as of one rule. */
START_TEST(what_lies_ahead_is_replaced)
{
	const struct modify_rule rules[] = { dot, dot };

	set("a", 5000000, str("x"));
	ck_assert_int_eq(store_modify(s, str("t"), str("r"), rules, 2, false,
				      cells, &memory),
			 1);
	ck_assert_uint_eq(cells[0].timestamp_us, 5000000);
	ck_assert(bytes_equal(cells[0].value, str("x..")));
}
END_TEST

static uint64_t taken;
static unsigned int takes, stops;
static bool refuses, over;
static void (*meanwhile)(void);

static bool take(void *context, uint64_t size)
{
	ck_assert_ptr_eq(context, &taken);
	takes++;
	taken = size;
	return !refuses;
}

static bool stop(void *context)
{
	ck_assert_ptr_eq(context, &taken);
	stops++;
	if (meanwhile)
		meanwhile();
	return over;
}

static int modify(const struct modify_rule *rules, size_t count)
{
	const struct modify m = { .table = str("t"),
				  .row = str("r"),
				  .rules = rules,
				  .count = count,
				  .take = take,
				  .stop = stop,
				  .context = &taken };

	takes = stops = 0;
	taken = 0;
	return store_modify_row(s, &m, false, cells, &memory);
}

static uint8_t large[LARGE];

/* Many rules of a large value take the memory of one, which is asked for before
 * there is any, and disk for what is new. */
START_TEST(many_rules_take_one_value)
{
	struct modify_rule rules[1000];
	uint64_t before;
	size_t i;

	memset(large, 'x', sizeof(large));
	for (i = 0; i < sizeof(large); i += 50)
		put_u32be(large + i, (uint32_t)(i * 2654435761));
	set("a", 1, bytes_of(large, sizeof(large)));
	for (i = 0; i < 1000; i++)
		rules[i] = dot;
	before = small_store_stats(s).blob_size;
	refuses = true;
	ck_assert_int_eq(modify(rules, 1000), -EAGAIN);
	refuses = false;
	ck_assert_uint_eq(memory.capacity, 0);
	ck_assert_uint_ge(taken, LARGE + 1000);
	ck_assert_uint_le(taken, LARGE + 1000 + 100);
	ck_assert_uint_eq(small_store_stats(s).blob_size, before);
	ck_assert_int_eq(modify(rules, 1000), 1);
	ck_assert_uint_le(memory.capacity, LARGE + 1001);
	ck_assert_uint_eq(cells[0].value.size, LARGE + 1000);
	ck_assert_mem_eq(cells[0].value.data, large, LARGE);
	ck_assert_int_eq(cells[0].value.data[LARGE + 999], '.');
	ck_assert_uint_le(small_store_stats(s).blob_size, before + 5000);
	ck_assert_uint_eq(memory_used(store_memory(s), MEMORY_REQUESTS), 0);
}
END_TEST

/* Whoever is not waited for any more writes nothing. */
START_TEST(who_is_gone_writes_nothing)
{
	uint64_t before;

	set("a", 1, bytes_of(large, sizeof(large)));
	before = mutations();
	over = true;
	ck_assert_int_eq(modify(&dot, 1), -EINTR);
	set("a", 2, str("small"));
	ck_assert_uint_eq(mutations(), before + 1);
	ck_assert_int_eq(modify(&dot, 1), -EINTR);
	ck_assert_uint_eq(mutations(), before + 1);
	over = false;
	ck_assert_int_eq(modify(&dot, 1), 1);
}
END_TEST

static unsigned int changes;

static void change(void)
{
	struct cell cell;
	struct buf made = BUF_INIT;

	if (changes == 0)
		return;
	changes--;
	ck_assert_int_eq(pthread_mutex_trylock(&s->writing), 0);
	pthread_mutex_unlock(&s->writing);
	ck_assert_int_eq(store_modify(s, str("t"), str("r"), &dot, 1, false,
				      &cell, &made),
			 1);
	buf_release(&made);
}

/* While a large value is made others commit, and what they change is in it. */
START_TEST(others_go_on)
{
	const struct modify_rule mine = { .family = str("f"),
					  .qualifier = str("a"),
					  .value = str("mine") };

	set("a", 1, bytes_of(large, sizeof(large)));
	changes = 1;
	meanwhile = change;
	ck_assert_int_eq(modify(&mine, 1), 1);
	meanwhile = NULL;
	ck_assert_uint_eq(changes, 0);
	ck_assert_uint_eq(takes, 2);
	ck_assert(
		bytes_equal(bytes_after(cells[0].value, LARGE), str(".mine")));
}
END_TEST

/* The first rule that cannot be followed is the one that is told. */
START_TEST(what_is_wrong_is_told)
{
	struct modify_rule rules[] = { dot, dot, dot };

	rules[1].family = str("sum");
	rules[2].family = str("none");
	ck_assert_int_eq(modify(rules, 3), -ERR_type_mismatch);
	rules[1].family = str("none");
	rules[2].family = str("sum");
	ck_assert_int_eq(modify(rules, 3), -ERR_no_family);
	rules[1] = rules[2] = dot;
	rules[2].is_increment = true;
	ck_assert_int_eq(modify(rules, 3), -ERR_not_a_number);
	ck_assert_ptr_nonnull(strstr(err_detail(), "2 bytes"));
	ck_assert_int_eq(modify(rules, 0), -ERR_bad_argument);
	ck_assert_uint_eq(takes, 0);
	ck_assert_int_eq(modify(rules, 2), 1);
}
END_TEST

int main(void)
{
	const TTest *tests[] = { as_if_one_by_one,
				 what_lies_ahead_is_replaced,
				 many_rules_take_one_value,
				 who_is_gone_writes_nothing,
				 others_go_on,
				 what_is_wrong_is_told };

	return run_suite("modify", setup, teardown, tests, 6);
}
