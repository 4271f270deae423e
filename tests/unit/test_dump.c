#include <stdio.h>

#include "store/base/hash.h"
#include "store/text/dump/dump_text.h"
#include "store/text/dump/load.h"
#include "store/text/value/gcpolicy.h"
#include "tests/sim/rng.h"
#include "tests/sim/volume_mem.h"
#include "tests/unit/small_store.h"
#include "tests/unit/suite.h"

/* Dumps of stores in memory: what is loaded shows what was dumped, for random
 * tables and odd keys, and of a text that is not whole nothing is taken. */

#define SEEDS 300

static uint64_t fixed_now(void *context)
{
	(void)context;
	return UINT64_C(1700000000000000);
}

static struct store *open_store(void)
{
	static const struct clock clock = { fixed_now, NULL };
	struct store_options options;
	struct store *s;

	small_store_options(&options);
	options.clock = &clock;
	s = mem_store(&options);
	return s;
}

static void add(XXH64_state_t *hash, struct bytes b)
{
	XXH64_update(hash, &b.size, sizeof(b.size));
	if (b.size > 0)
		XXH64_update(hash, b.data, b.size);
}

static void add_cells(struct store *s, struct bytes table, XXH64_state_t *hash)
{
	struct scan_range range = { .table = table };
	struct buf value = BUF_INIT;
	struct scan *scan;
	struct cell c;
	int more;

	ck_assert_int_eq(scan_open(s, NULL, &range, &scan), 0);
	while ((more = scan_next(scan, CURSOR_VERSION, &c)) > 0) {
		add(hash, c.row);
		add(hash, c.family);
		add(hash, c.qualifier);
		XXH64_update(hash, &c.timestamp_us, sizeof(c.timestamp_us));
		buf_reset(&value);
		ck_assert_int_eq(scan_load(scan, &c, &value), 0);
		add(hash, buf_bytes(&value));
	}
	ck_assert_int_eq(more, 0);
	scan_close(scan);
	buf_release(&value);
}

static void add_attributes(const struct attributes *a, XXH64_state_t *hash)
{
	size_t i;

	XXH64_update(hash, &a->count, sizeof(a->count));
	for (i = 0; i < a->count; i++) {
		add(hash, a->items[i].name);
		add(hash, a->items[i].value);
	}
}

/* Of all that s shows, its schema included. */
static uint64_t content_hash(struct store *s)
{
	struct schema *schema = store_schema(s);
	XXH64_state_t *hash = XXH64_createState();
	struct buf gc = BUF_INIT;
	uint64_t result;
	size_t i, j;

	XXH64_reset(hash, 1);
	add_attributes(&schema->attributes, hash);
	for (i = 0; i < schema->table_count; i++) {
		const struct table *t = &schema->tables[i];

		add(hash, t->name);
		XXH64_update(hash, &t->millis, sizeof(t->millis));
		XXH64_update(hash, &t->access, sizeof(t->access));
		add_attributes(&t->attributes, hash);
		for (j = 0; j < t->family_count; j++) {
			const struct family *f = &t->families[j];

			add(hash, f->name);
			XXH64_update(hash, &f->type, sizeof(f->type));
			buf_reset(&gc);
			ck_assert_int_eq(gc_policy_encode(f->gc, &gc), 0);
			add(hash, buf_bytes(&gc));
		}
		add_cells(s, t->name, hash);
	}
	result = XXH64_digest(hash);
	XXH64_freeState(hash);
	buf_release(&gc);
	schema_put(schema);
	return result;
}

/* 0 or the error that ended it. */
static int dump_text(struct store *s, struct buf *out)
{
	struct text_stream *t;
	int err;

	ck_assert_int_eq(dump_open(s, NULL, NULL, &t), 0);
	while ((err = t->next(t, out)) > 0)
		;
	t->close(t);
	return err;
}

/* Loads text, in pieces, into a new store: its hash, or an error, which is to
 * have a reason, and 0 as hash. */
static int load_text(struct bytes text, size_t piece, uint64_t *hash)
{
	struct store *s = open_store();
	struct loader *l;
	int err = 0;

	*hash = 0;
	ck_assert_int_eq(loader_new(s, &l), 0);
	while (!err && text.size > 0) {
		size_t n = text.size < piece ? text.size : piece;

		err = loader_feed(l, bytes_of(text.data, n));
		text = bytes_after(text, n);
	}
	if (!err)
		err = loader_finish(l);
	if (!err)
		*hash = content_hash(s);
	else
		ck_assert(err_detail()[0]);
	loader_free(l);
	ck_assert_int_eq(store_close(s), 0);
	return err;
}

/* Bytes of the kinds that a text might trip over. */
static struct bytes random_bytes(struct rng *r, uint8_t *room, uint32_t max)
{
	static const char *const odd[] = { "a",    "\n",   "\\",       "'",
					   "=",    "\r\n", "\"",       " ",
					   ",",    "\t",   "\xc3\xa9", "\xff",
					   "end ", "\x7f", "\xf0\x9f" };
	size_t size = 0, i;

	if (rng_below(r, 20) == 0) {
		size = rng_below(r, max + 1);
		for (i = 0; i < size; i++)
			room[i] = (uint8_t)rng_next(r);
		return bytes_of(room, size);
	}
	for (i = rng_below(r, 6); i > 0; i--) {
		struct bytes next = bytes_string(
			odd[rng_below(r, sizeof(odd) / sizeof(*odd))]);

		if (rng_below(r, 8) == 0)
			next = bytes_of("", 1);
		if (size + next.size > max)
			break;
		memcpy(room + size, next.data, next.size);
		size += next.size;
	}
	return bytes_of(room, size);
}

#define ROOM (400 << 10)

/* Some of the table of this name, or of the store; one of bytes that take most
 * when they are told. */
static void set_attributes(struct store *s, const char *table, struct rng *r)
{
	static uint8_t room[STORE_ATTRIBUTE_VALUE_MAX];
	char name[STORE_ATTRIBUTE_NAME_MAX + 1];
	uint32_t i;

	for (i = rng_below(r, 4); i > 0; i--) {
		struct bytes value = random_bytes(r, room, 400);

		memset(name, '~', sizeof(name));
		name[rng_below(r, 2) ? 1 + rng_below(r, 3)
				     : STORE_ATTRIBUTE_NAME_MAX] = '\0';
		if (rng_below(r, 10) == 0) {
			memset(room, 1, sizeof(room));
			value = bytes_of(room, sizeof(room));
		}
		ck_assert_int_eq(store_set_attribute(s, bytes_string(table),
						     bytes_string(name), value),
				 0);
	}
}

static void fill_table(struct store *s, struct rng *r, const struct table *t,
		       uint8_t *room)
{
	struct write *w;
	int i;

	ck_assert_int_eq(write_new(s, &w), 0);
	for (i = (int)rng_below(r, 40); i > 0; i--) {
		const struct family *f =
			&t->families[rng_below(r, (uint32_t)t->family_count)];
		struct bytes row = random_bytes(r, room, STORE_ROW_KEY_MAX - 1);
		uint8_t *behind = room + row.size + 1;
		struct bytes qualifier;
		uint64_t us = rng_below(r, 5) * 1000;

		if (row.size == 0)
			row = BYTES_LITERAL("r");
		if (!t->millis && rng_below(r, 2))
			us += rng_below(r, 1000);
		if (rng_below(r, 30) == 0)
			us = INT64_MAX / 1000 * 1000;
		ck_assert_int_eq(write_row(w, t->name, row), 0);
		qualifier = random_bytes(r, behind, STORE_QUALIFIER_MAX);
		if (family_is_aggregate(f))
			ck_assert_int_eq(write_add(w, f->name, qualifier, us,
						   (int64_t)rng_next(r)),
					 0);
		else
			ck_assert_int_eq(
				write_set(w, f->name, qualifier, us,
					  random_bytes(
						  r, behind + qualifier.size,
						  rng_below(r, 10) ? 3000
								   : 300000)),
				0);
		if (rng_below(r, 4) == 0)
			ck_assert_int_eq(store_commit(s, w, false), 0);
	}
	ck_assert_int_eq(store_commit(s, w, false), 0);
	write_free(w);
}

static void fill(struct store *s, uint64_t seed)
{
	static const char *const policies[] = { "never", "maxversions=2",
						"maxage=1h||maxversions=1",
						"maxversions=3&&maxage=600d" };
	uint8_t *room = malloc(ROOM);
	struct rng r = { seed };
	struct schema *schema;
	size_t i, j;

	for (i = rng_below(&r, 4); i > 0; i--) {
		struct family_spec families[6];
		char name[8] = "table0", names[6][4];

		name[5] = (char)('0' + i);
		for (j = 0; j < 6; j++) {
			struct gc_policy *gc;

			snprintf(names[j], sizeof(names[j]), "f%zu", j);
			ck_assert_int_eq(
				gc_policy_parse(
					bytes_string(
						policies[rng_below(&r, 4)]),
					&gc),
				0);
			families[j] =
				(struct family_spec){ bytes_string(names[j]),
						      gc, (enum family_type)j };
		}
		ck_assert_int_eq(store_create_table(s, bytes_string(name),
						    rng_below(&r, 2), families,
						    6),
				 0);
		for (j = 0; j < 6; j++)
			gc_policy_free(
				(struct gc_policy *)(uintptr_t)families[j].gc);
		if (rng_below(&r, 2)) {
			struct table_access a = { 01777, TABLE_ACCESS_UNSET,
						  (uint32_t)rng_below(&r, 9) };

			ck_assert_int_eq(
				store_set_access(s, bytes_string(name), &a), 0);
		}
		set_attributes(s, name, &r);
	}
	set_attributes(s, "", &r);
	schema = store_schema(s);
	for (i = 0; i < schema->table_count; i++)
		fill_table(s, &r, &schema->tables[i], room);
	schema_put(schema);
	free(room);
}

START_TEST(random_tables)
{
	const char *given = getenv("SEED");
	uint64_t first = given ? strtoull(given, NULL, 10) : 1, seed;

	for (seed = first; seed < first + (given ? 1 : SEEDS); seed++) {
		struct store *s = open_store();
		struct buf text = BUF_INIT;
		uint64_t hash;
		int err;

		fill(s, seed);
		ck_assert_int_eq(dump_text(s, &text), 0);
		err = load_text(buf_bytes(&text), seed % 3 ? 65536 : 7, &hash);
		ck_assert_msg(!err, "SEED=%llu: %s", (unsigned long long)seed,
			      err_detail());
		ck_assert_msg(hash == content_hash(s),
			      "SEED=%llu: another "
			      "content",
			      (unsigned long long)seed);
		buf_release(&text);
		ck_assert_int_eq(store_close(s), 0);
	}
}
END_TEST

/* Brings a table into to, piece by piece, as "n". */
static void bring_pieces(struct store *s, struct bytes table, struct store *to)
{
	struct buf text = BUF_INIT;
	struct dump *pieces;
	struct loader *l;
	uint32_t id = 0;
	int more;

	ck_assert_int_eq(dump_table_open(s, table, BYTES_LITERAL("n"), &pieces),
			 0);
	while ((more = dump_piece(pieces, &text)) > 0) {
		ck_assert_int_eq(loader_new(to, &l), 0);
		loader_take_pieces(l, &id, NULL);
		ck_assert_msg(loader_feed(l, buf_bytes(&text)) == 0, "%s",
			      err_detail());
		ck_assert_int_eq(loader_finish(l), 0);
		loader_free(l);
		buf_reset(&text);
		ck_assert_uint_eq(id,
				  store_table_id(to, NULL, BYTES_LITERAL("n")));
	}
	ck_assert_int_eq(more, 0);
	ck_assert_uint_ne(id, 0);
	dump_table_close(pieces);
	buf_release(&text);
}

static uint64_t cells_hash(struct store *s, struct bytes table)
{
	XXH64_state_t *hash = XXH64_createState();
	uint64_t sum;

	XXH64_reset(hash, 0);
	add_cells(s, table, hash);
	sum = XXH64_digest(hash);
	XXH64_freeState(hash);
	return sum;
}

/* One table, into a store that has others: aggregates twice, if a piece came
 * twice, and a value that two pieces share is none. */
START_TEST(tables_in_pieces)
{
	uint64_t seed;
	size_t i;

	for (seed = 1; seed < 40; seed++) {
		struct store *s = open_store();
		struct schema *schema;

		fill(s, seed);
		schema = store_schema(s);
		for (i = 0; i < schema->table_count; i++) {
			struct store *to = open_store();

			fill(to, seed + 1);
			bring_pieces(s, schema->tables[i].name, to);
			ck_assert_msg(
				cells_hash(s, schema->tables[i].name) ==
					cells_hash(to, BYTES_LITERAL("n")),
				"seed %llu: another content",
				(unsigned long long)seed);
			ck_assert_int_eq(store_close(to), 0);
		}
		schema_put(schema);
		ck_assert_int_eq(store_close(s), 0);
	}
}
END_TEST

/* Of every beginning, and of every byte that is another, nothing is taken. */
START_TEST(damaged)
{
	struct store *s = open_store();
	struct family_spec f[] = { { BYTES_LITERAL("f"), NULL, FAMILY_BYTES },
				   { BYTES_LITERAL("n"), NULL,
				     FAMILY_INTSUM } };
	struct buf text = BUF_INIT;
	struct write *w;
	uint64_t hash;
	size_t i;

	ck_assert_int_eq(store_create_table(s, BYTES_LITERAL("t"), true, f, 2),
			 0);
	ck_assert_int_eq(write_new(s, &w), 0);
	ck_assert_int_eq(write_row(w, BYTES_LITERAL("t"), BYTES_LITERAL("r")),
			 0);
	ck_assert_int_eq(write_set(w, f[0].name, BYTES_LITERAL("q"), 2000,
				   BYTES_LITERAL("v\xff")),
			 0);
	ck_assert_int_eq(write_add(w, f[1].name, BYTES_LITERAL("q"), 0, 5), 0);
	ck_assert_int_eq(store_commit(s, w, false), 0);
	write_free(w);
	ck_assert_int_eq(dump_text(s, &text), 0);
	ck_assert_int_eq(load_text(buf_bytes(&text), SIZE_MAX, &hash), 0);
	ck_assert_uint_eq(hash, content_hash(s));
	for (i = 0; i < text.size; i++)
		ck_assert_int_lt(
			load_text(bytes_of(text.data, i), SIZE_MAX, &hash), 0);
	for (i = 0; i < text.size; i++) {
		text.data[i] ^= 1;
		ck_assert_msg(load_text(buf_bytes(&text), SIZE_MAX, &hash) < 0,
			      "byte %zu", i);
		text.data[i] ^= 1;
	}
	ck_assert_int_eq(buf_add_byte(&text, '\n'), 0);
	ck_assert_int_lt(load_text(buf_bytes(&text), SIZE_MAX, &hash), 0);
	buf_release(&text);
	ck_assert_int_eq(store_close(s), 0);
}
END_TEST

/* Lines that a dump never has, with what is said of them. */
START_TEST(refused)
{
	static const char head[] = DUMP_HEAD "\ntable micros 't\n"
					     "family bytes never 'f\n";
	static const struct {
		const char *lines, *said;
	} wrong[] = {
		{ "row 'b\nf 'f\nq '\nv 1 '\nrow 'a\n", "line 8: rows ascend" },
		{ "row 'b\nrow 'c\n", "line 5: the row before it has no cell" },
		{ "row '\nf 'f\nq '\nv 1 '\n", "line 7: " },
		{ "row 'b\nf 'g\n", "line 5: its table has no family" },
		{ "row 'b\nf 'f\nq '\nv 1 '\nv 1 '\n", "line 8: versions" },
		{ "row 'b\nf 'f\nq '\nV 1 0\n", "line 7: a parted value" },
		{ "row 'b\nf 'f\nq '\nV 1 2\nv 0 'x\n", "line 8: parts of" },
		{ "row 'b\nf 'f\nq '\nV 1 2\n+ 'abc\n", "line 8: a part of 3" },
		{ "row 'b\nf 'f\nq '\nv 01 'x\n", "line 7: a version begins" },
		{ "row 'b\\q\n", "line 4: what follows a backslash" },
		{ "row 'b\t\n", "line 4: a byte \\x09" },
		{ "row b\n", "line 4: bytes begin with" },
		{ "family bytes never 'a\n", "line 4: families ascend" },
		{ "family what never 'g\n", "line 4: " },
		{ "family bytes maxage=x 'g\n", "line 4: " },
		{ "hello\n", "line 4: no line of a dump begins so" },
		{ "table micros 't\n", "line 4: " },
	};
	size_t i;

	for (i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		struct buf text = BUF_INIT;
		uint64_t hash;

		ck_assert_int_eq(buf_printf(&text, "%s%send 1 0 0 x\n", head,
					    wrong[i].lines),
				 0);
		ck_assert_int_lt(load_text(buf_bytes(&text), 5, &hash), 0);
		ck_assert_msg(strstr(err_detail(), wrong[i].said) ||
				      strstr(err_detail(), "line 5"),
			      "%zu: %s", i, err_detail());
		buf_release(&text);
	}
}
END_TEST

static const struct family_spec plain = { .name = { (const uint8_t *)"f", 1 },
					  .type = FAMILY_BYTES };

/* One cell of the table, with a value of so many bytes. */
static void set(struct store *s, const char *table, const char *row,
		size_t size)
{
	struct buf value = BUF_INIT;
	struct write *w;

	ck_assert_int_eq(buf_reserve(&value, size + 1), 0);
	memset(value.data, 'v', value.size = size);
	ck_assert_int_eq(write_new(s, &w), 0);
	ck_assert_int_eq(write_row(w, bytes_string(table), bytes_string(row)),
			 0);
	ck_assert_int_eq(
		write_set(w, plain.name, BYTES_NONE, 5, buf_bytes(&value)), 0);
	ck_assert_int_eq(store_commit(s, w, false), 0);
	write_free(w);
	buf_release(&value);
}

/* Two tables, of which a dump comes to the second only later. */
static struct store *two_tables(void)
{
	struct store *s = open_store();
	int i;

	ck_assert_int_eq(
		store_create_table(s, BYTES_LITERAL("t"), false, &plain, 1), 0);
	ck_assert_int_eq(
		store_create_table(s, BYTES_LITERAL("u"), false, &plain, 1), 0);
	for (i = 0; i < 100; i++) {
		char row[8];

		snprintf(row, sizeof(row), "%d", i);
		set(s, "t", row, 3000);
	}
	return s;
}

/* Rows that are written and deleted meanwhile. */
START_TEST(meanwhile)
{
	struct store *s = two_tables();
	struct text_stream *t;
	struct buf text = BUF_INIT;
	struct write *w;
	uint64_t before = content_hash(s), hash;
	int err;

	ck_assert_int_eq(dump_open(s, NULL, NULL, &t), 0);
	ck_assert_int_eq(t->next(t, &text), 1);
	ck_assert_int_eq(write_new(s, &w), 0);
	ck_assert_int_eq(write_delete_range(w, BYTES_LITERAL("t"), BYTES_NONE,
					    BYTES_NONE),
			 0);
	ck_assert_int_eq(store_commit(s, w, false), 0);
	write_free(w);
	set(s, "t", "9z", 1);
	set(s, "u", "9z", 1);
	ck_assert_int_eq(store_compact(s, BYTES_NONE), 0);
	while ((err = t->next(t, &text)) > 0)
		;
	ck_assert_int_eq(err, 0);
	t->close(t);
	ck_assert_int_eq(load_text(buf_bytes(&text), 100, &hash), 0);
	ck_assert_uint_eq(hash, before);
	buf_release(&text);
	ck_assert_int_eq(store_close(s), 0);
}
END_TEST

/* So is a table that is dropped, and made again. */
START_TEST(dropped)
{
	struct store *s = two_tables();
	struct text_stream *t;
	struct buf text = BUF_INIT;
	uint64_t before = content_hash(s), hash;
	int err;

	ck_assert_int_eq(dump_open(s, NULL, NULL, &t), 0);
	ck_assert_int_eq(t->next(t, &text), 1);
	ck_assert_int_eq(store_drop_table(s, BYTES_LITERAL("t"), false), 0);
	ck_assert_int_eq(
		store_create_table(s, BYTES_LITERAL("t"), false, &plain, 1), 0);
	while ((err = t->next(t, &text)) > 0)
		;
	ck_assert_int_eq(err, 0);
	t->close(t);
	ck_assert_int_eq(load_text(buf_bytes(&text), 100, &hash), 0);
	ck_assert_uint_eq(hash, before);
	buf_release(&text);
	ck_assert_int_eq(store_close(s), 0);
}
END_TEST

int main(void)
{
	const TTest *tests[] = { random_tables, tables_in_pieces, damaged,
				 refused,       meanwhile,        dropped };

	return run_suite("dump", NULL, NULL, tests, 6);
}
