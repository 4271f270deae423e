#include "store/model/attributes.h"
#include "store/model/model.h"
#include "store/model/schema.h"
#include "store/model/schema_record.h"
#include "tests/unit/suite.h"

static struct schema *schema;

static void setup(void)
{
	struct gc_policy *gc = gc_policy_leaf(GC_MAX_VERSIONS, 3);
	struct family_spec f = { .name = BYTES_LITERAL("f"), .gc = gc };
	struct family_spec g = { .name = BYTES_LITERAL("g"),
				 .type = FAMILY_INTSUM };
	struct family *family;
	struct table *table;

	ck_assert_int_eq(schema_new(&schema), 0);
	ck_assert_int_eq(schema_add_table(schema, BYTES_LITERAL("t2"), &table),
			 0);
	table->id = 2;
	ck_assert_int_eq(schema_add_table(schema, BYTES_LITERAL("t1"), &table),
			 0);
	table->id = 7;
	table->millis = true;
	table->birth_seq = 5;
	ck_assert_int_eq(table_add_family(table, &g, &family), 0);
	ck_assert_int_eq(table_add_family(table, &f, &family), 0);
	family->birth_seq = 9;
	gc_policy_free(gc);
}

static void teardown(void)
{
	schema_put(schema);
}

START_TEST(names_are_sorted)
{
	struct table *t1 = schema_find(schema, BYTES_LITERAL("t1"));

	ck_assert_ptr_eq(t1, &schema->tables[0]);
	ck_assert_ptr_null(schema_find(schema, BYTES_LITERAL("t")));
	ck_assert(bytes_equal(t1->families[0].name, BYTES_LITERAL("f")));
	ck_assert(bytes_equal(t1->families[1].name, BYTES_LITERAL("g")));
	table_remove_family(t1, &t1->families[0]);
	ck_assert_ptr_null(table_family(t1, BYTES_LITERAL("f")));
	ck_assert_ptr_nonnull(table_family(t1, BYTES_LITERAL("g")));
	schema_remove_table(schema, t1);
	ck_assert_uint_eq(schema->table_count, 1);
	ck_assert_ptr_nonnull(schema_find(schema, BYTES_LITERAL("t2")));
}
END_TEST

/* Every record that is cut short is refused; the whole one comes back. */
START_TEST(record_round_trip)
{
	struct table *t1 = schema_find(schema, BYTES_LITERAL("t1"));
	const struct family *f;
	struct schema *other;
	struct buf record = BUF_INIT;
	size_t size;

	ck_assert_int_eq(table_encode(t1, &record), 0);
	for (size = 0; size < record.size; size++) {
		ck_assert_int_eq(schema_new(&other), 0);
		ck_assert_int_lt(table_decode(other, t1->name, 44,
					      bytes_of(record.data, size)),
				 0);
		schema_put(other);
	}
	ck_assert_int_eq(schema_new(&other), 0);
	ck_assert_int_eq(table_decode(other, t1->name, 44, buf_bytes(&record)),
			 0);
	ck_assert_uint_eq(other->tables[0].id, 7);
	ck_assert(other->tables[0].millis);
	ck_assert_uint_eq(other->tables[0].birth_seq, 5);
	f = table_family(&other->tables[0], BYTES_LITERAL("f"));
	ck_assert_uint_eq(f->birth_seq, 9);
	ck_assert_uint_eq(f->rules_seq, 44);
	ck_assert_uint_eq(family_gc(f)->limit, 3);
	f = table_family(&other->tables[0], BYTES_LITERAL("g"));
	ck_assert_uint_eq(f->birth_seq, 44); /* 0 is the record's own */
	ck_assert(family_is_aggregate(f));
	ck_assert_ptr_null(family_gc(f));
	schema_put(other);
	record.data[0] = 5;
	ck_assert_int_eq(schema_new(&other), 0);
	ck_assert_int_eq(table_decode(other, t1->name, 44, buf_bytes(&record)),
			 -ERR_format_newer);
	schema_put(other);
	buf_release(&record);
}
END_TEST

/* Of a record with all that one can have each beginning is refused, and names
 * that do not ascend. */
START_TEST(record_with_attributes)
{
	struct table *t1 = schema_find(schema, BYTES_LITERAL("t1"));
	const struct attribute changes[] = {
		{ BYTES_LITERAL("a"), BYTES_LITERAL("1") },
		{ BYTES_LITERAL("b"), BYTES_LITERAL("") },
		{ BYTES_LITERAL("c"), BYTES_LITERAL("3") }
	};
	struct buf record = BUF_INIT, plain = BUF_INIT;
	struct schema *other;
	struct bytes value;
	size_t size;

	ck_assert_int_eq(table_encode(t1, &plain), 0);
	ck_assert_int_eq(attributes_change(&t1->attributes, changes, 3), 0);
	ck_assert_int_eq(table_encode(t1, &record), 0);
	ck_assert_uint_eq(record.data[0], 4);
	for (size = 0; size <= record.size; size++) {
		ck_assert_int_eq(schema_new(&other), 0);
		ck_assert_int_eq(table_decode(other, t1->name, 44,
					      bytes_of(record.data, size)),
				 size < record.size ? -ERR_schema_malformed
						    : 0);
		if (size < record.size)
			schema_put(other);
	}
	ck_assert_uint_eq(other->tables[0].access.uid, TABLE_ACCESS_UNSET);
	ck_assert(
		schema_attribute(other, t1->name, BYTES_LITERAL("c"), &value));
	ck_assert(bytes_equal(value, BYTES_LITERAL("3")));
	schema_put(other);
	ck_assert_int_eq(schema_new(&other), 0);
	record.data[record.size - 3] = 'b';
	ck_assert_int_eq(table_decode(other, t1->name, 44, buf_bytes(&record)),
			 -ERR_schema_malformed);
	schema_put(other);
	/* Without them it is as before. */
	attributes_release(&t1->attributes);
	buf_reset(&record);
	ck_assert_int_eq(table_encode(t1, &record), 0);
	ck_assert(bytes_equal(buf_bytes(&record), buf_bytes(&plain)));
	buf_release(&record);
	buf_release(&plain);
}
END_TEST

/* A program that takes it for a table's record has to find it newer. */
START_TEST(record_of_an_attribute)
{
	struct buf record = BUF_INIT;
	struct bytes value;

	ck_assert_int_eq(attribute_encode(BYTES_LITERAL("v"), &record), 0);
	ck_assert_uint_ge(record.data[0], 3);
	ck_assert_int_eq(attribute_decode(BYTES_LITERAL("n"),
					  buf_bytes(&record), &value),
			 0);
	ck_assert(bytes_equal(value, BYTES_LITERAL("v")));
	ck_assert_int_eq(
		attribute_decode(BYTES_LITERAL("n"), BYTES_NONE, &value),
		-ERR_schema_malformed);
	record.data[0]++;
	ck_assert_int_eq(attribute_decode(BYTES_LITERAL("n"),
					  buf_bytes(&record), &value),
			 -ERR_format_newer);
	buf_release(&record);
}
END_TEST

START_TEST(rules_hold_the_schema_and_its_own_table)
{
	const struct gc_table *table;
	struct gc_rules *rules;
	struct schema *copy;

	ck_assert_int_eq(schema_copy(schema, &copy), 0);
	ck_assert_int_eq(schema_rules(copy, &rules), 0);
	schema_put(copy);
	table = gc_rules_table(rules, SCHEMA_TABLE_ID);
	ck_assert_ptr_nonnull(gc_table_family(table, SCHEMA_FAMILY));
	ck_assert_ptr_nonnull(gc_table_family(table, SCHEMA_IDS_FAMILY));
	ck_assert_ptr_nonnull(gc_table_family(table, SCHEMA_ATTRIBUTES_FAMILY));
	table = gc_rules_table(rules, 7);
	ck_assert_uint_eq(table->family_count, 2);
	ck_assert_uint_eq(gc_table_family(table, BYTES_LITERAL("f"))->birth_seq,
			  9);
	ck_assert_ptr_null(gc_rules_table(rules, 3));
	gc_rules_put(rules);
}
END_TEST

int main(void)
{
	const TTest *tests[] = { names_are_sorted, record_round_trip,
				 record_with_attributes, record_of_an_attribute,
				 rules_hold_the_schema_and_its_own_table };

	return run_suite("schema", setup, teardown, tests, 5);
}
