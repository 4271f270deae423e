#include <stdio.h>

#include "store/base/coding.h"
#include "store/base/err.h"
#include "tests/unit/suite.h"
#include "tools/serve/proto/messages.h"

/* Protocol buffers: what is taken, skipped, merged and refused. Bytes are
 * written out, so that a wrong number in the table shows. */
static struct proto_arena arena;
static uint8_t wire[4096];

static void teardown(void)
{
	proto_arena_release(&arena);
}

/* Hexadecimal digits, and text in quotes, with blanks between. */
static struct bytes parse(const char *text)
{
	size_t size = 0;
	unsigned int byte;

	while (*text) {
		if (*text == ' ') {
			text++;
		} else if (*text == '\'') {
			for (text++; *text != '\''; text++)
				wire[size++] = (uint8_t)*text;
			text++;
		} else {
			ck_assert_int_eq(sscanf(text, "%2x", &byte), 1);
			wire[size++] = (uint8_t)byte;
			text += 2;
		}
		ck_assert(size < sizeof(wire) - 1);
	}
	return bytes_of(wire, size);
}

static void *decode(const struct proto_type *type, const char *text)
{
	void *out;

	err_clear();
	ck_assert_msg(proto_decode(type, parse(text), &arena, &out) == 0,
		      "%s: %s", text, err_detail());
	return out;
}

#define DECODE(message, text) \
	((struct proto_##message *)decode(&proto_##message##_type, text))

static void refuse(const struct proto_type *type, const char *text)
{
	void *out;

	err_clear();
	ck_assert_int_eq(proto_decode(type, parse(text), &arena, &out),
			 -EBADMSG);
	ck_assert_ptr_null(out);
	ck_assert(err_detail()[0]);
}

#define REFUSE(message, text) refuse(&proto_##message##_type, text)

static bool is(struct bytes b, const char *text)
{
	return bytes_equal(b, bytes_string(text));
}

/* Each kind of field, and messages in messages. */
START_TEST(fields_are_taken)
{
	struct proto_read_rows *r = DECODE(
		read_rows, "0a03'tab' 120c 0a01'k' 0a00 1205 0a01'a' 2200"
			   "2007 3002 3801 2a02'ap'"
			   "1a0c 0a0a 0a038801 01 0a03 220161");

	ck_assert(is(r->table_name, "tab"));
	ck_assert(is(r->app_profile_id, "ap"));
	ck_assert_int_eq(r->rows_limit, 7);
	ck_assert_int_eq(r->request_stats_view, 2);
	ck_assert(r->reversed);
	ck_assert_uint_eq(r->rows->row_keys.count, 2);
	ck_assert(is(r->rows->row_keys.at[0], "k"));
	ck_assert(is(r->rows->row_keys.at[1], ""));
	ck_assert_uint_eq(r->rows->row_ranges.count, 1);
	ck_assert_uint_eq(r->rows->row_ranges.at[0].start_key_case,
			  nr_row_range_start_key_closed);
	ck_assert(is(r->rows->row_ranges.at[0].start_key_closed, "a"));
	/* An empty bound is one that was given. */
	ck_assert_uint_eq(r->rows->row_ranges.at[0].end_key_case,
			  nr_row_range_end_key_closed);
	ck_assert_uint_eq(r->filter->filter_case, nr_row_filter_chain);
	ck_assert_uint_eq(r->filter->chain->filters.count, 2);
	ck_assert(r->filter->chain->filters.at[0].pass_all_filter);
	ck_assert(
		is(r->filter->chain->filters.at[1].row_key_regex_filter, "a"));
	ck_assert_ptr_null(DECODE(read_rows, "")->rows);
}
END_TEST

START_TEST(numbers_keep_their_sign)
{
	struct proto_set_cell *s =
		DECODE(set_cell, "18 ffffffffffffffffff01 0a01'f' 1200 2200");
	struct proto_row_filter *f;

	ck_assert_int_eq(s->timestamp_micros, -1);
	f = DECODE(row_filter, "58 ffffffffffffffffff01");
	ck_assert_int_eq(f->cells_per_row_limit_filter, -1);
	/* Of 32 bits the low ones count; a bool is true if any bit is. */
	f = DECODE(row_filter, "58 8580808010");
	ck_assert_int_eq(f->cells_per_row_limit_filter, 5);
	f = DECODE(row_filter, "880180808010");
	ck_assert(f->pass_all_filter);
	f = DECODE(row_filter, "71 000000000000e03f");
	ck_assert(f->row_sample_filter == 0.5);
}
END_TEST

/* The last scalar, the last member of a oneof; singular messages merge, but not
 * across another member. */
START_TEST(what_comes_twice)
{
	struct proto_mutation *m;
	struct proto_read_rows *r =
		DECODE(read_rows, "2001 2002 0a01'a' 0a01'b'"
				  "1203 0a01'x' 1203 0a01'y'");

	ck_assert_int_eq(r->rows_limit, 2);
	ck_assert(is(r->table_name, "b"));
	ck_assert_uint_eq(r->rows->row_keys.count, 2);
	ck_assert(is(r->rows->row_keys.at[1], "y"));

	m = DECODE(mutation, "0a03 0a01'f' 0a03 2201'v'");
	ck_assert_uint_eq(m->mutation_case, nr_mutation_set_cell);
	ck_assert(is(m->set_cell->family_name, "f"));
	ck_assert(is(m->set_cell->value, "v"));
	m = DECODE(mutation, "0a03 0a01'f' 2200 0a03 2201'v'");
	ck_assert_uint_eq(m->mutation_case, nr_mutation_set_cell);
	ck_assert(is(m->set_cell->family_name, ""));
	ck_assert(is(m->set_cell->value, "v"));
	m = DECODE(mutation, "0a03 0a01'f' 2200");
	ck_assert_uint_eq(m->mutation_case, nr_mutation_delete_from_row);
}
END_TEST

/* Of every wire type, groups in groups; a known number with another wire type
 * counts as unknown. */
START_TEST(unknown_is_skipped)
{
	struct proto_split *s =
		DECODE(split, "a006 05 a106 0000000000000001 a206 03'abc'"
			      "a506 00000001 a306 0801 ab06 0a00 ac06 a406"
			      "0801 0d00000000 0a01'k'");

	ck_assert(is(s->key, "k"));
	ck_assert(is(DECODE(split, "0a01'k' 0803")->key, "k"));
}
END_TEST

START_TEST(malformed_is_refused)
{
	REFUSE(split, "0a");      /* no length */
	REFUSE(split, "0a02'k'"); /* cut off */
	REFUSE(split, "0aff");    /* length cut off */
	REFUSE(split, "0a ffffffffffffffffff01");
	REFUSE(split, "0a ffffffffffffffffff02"); /* over 64 bits */
	REFUSE(split, "00 01");                   /* the number 0 */
	REFUSE(split, "80808080 10 01");          /* a tag of 33 bits */
	REFUSE(split, "0e");                      /* wire types 6 and 7 */
	REFUSE(split, "0f");
	REFUSE(split, "a406");      /* the end of no group */
	REFUSE(split, "a306");      /* no end */
	REFUSE(split, "a306 ac06"); /* another end */
	REFUSE(split, "a006");
	REFUSE(split, "a106 00");
	REFUSE(split, "a506 000000");
	REFUSE(read_rows, "0a01 ff"); /* no UTF-8 */
	REFUSE(read_rows, "0a02 c080");
	REFUSE(read_rows, "0a03 eda080");
	REFUSE(read_rows, "1202 0a05"); /* over the end of what it is in */
	REFUSE(read_rows, "20 ffff");
}
END_TEST

/* Every prefix of a message is a message or malformed, and nothing reads
 * beyond: the copy ends where the prefix does. */
START_TEST(every_prefix)
{
	struct bytes whole = parse("0a03'tab' 120c 0a01'k' 0a00 1205 0a01'a'"
				   "2200 2007 3002 3801 2a02'ap'"
				   "1a0c 0a0a 0a038801 01 0a03 220161"
				   "a306 0801 a406");
	size_t size, good = 0;

	for (size = 0; size <= whole.size; size++) {
		uint8_t *copy = malloc(size + (size == 0));
		void *out;
		int err;

		memcpy(copy, whole.data, size);
		err = proto_decode(&proto_read_rows_type, bytes_of(copy, size),
				   &arena, &out);
		ck_assert(err == 0 || err == -EBADMSG);
		good += err == 0;
		free(copy);
	}
	ck_assert_uint_eq(good, 9);
}
END_TEST

/* Filters in filters, and unknown groups. */
START_TEST(depth_is_bounded)
{
	struct buf b = BUF_INIT, outer = BUF_INIT;
	unsigned int depth;
	void *out;
	int err;

	for (depth = 0; depth < 200; depth++) {
		err = proto_decode(&proto_filter_chain_type, buf_bytes(&b),
				   &arena, &out);
		ck_assert_int_eq(err, depth <= 100 ? 0 : -ERR_bad_argument);
		buf_reset(&outer);
		/* A chain in a filter, or a filter in a chain: the same. */
		ck_assert_int_eq(buf_add_byte(&outer, 0x0a), 0);
		ck_assert_int_eq(buf_add_sized(&outer, buf_bytes(&b)), 0);
		ck_assert_int_eq(buf_set(&b, buf_bytes(&outer)), 0);
	}
	buf_reset(&b);
	for (depth = 0; depth < 101; depth++)
		buf_add(&b, "\xa3\x06", 2);
	for (depth = 0; depth < 101; depth++)
		buf_add(&b, "\xa4\x06", 2);
	err = proto_decode(&proto_split_type, buf_bytes(&b), &arena, &out);
	ck_assert_int_eq(err, -EBADMSG);
	/* One less: without the outermost begin and end. */
	err = proto_decode(&proto_split_type, bytes_of(b.data + 2, b.size - 4),
			   &arena, &out);
	ck_assert_int_eq(err, 0);
	buf_release(&b);
	buf_release(&outer);
}
END_TEST

/* Two bytes each, which become a struct each. */
START_TEST(memory_is_bounded)
{
	const size_t count = 1 << 20;
	uint8_t *many = malloc(2 * count);
	size_t i;
	void *out;

	for (i = 0; i < count; i++) {
		many[2 * i] = 0x1a;
		many[2 * i + 1] = 0;
	}
	arena.limit = 1 << 20;
	ck_assert_int_eq(proto_decode(&proto_mutate_row_type,
				      bytes_of(many, 2 * count), &arena, &out),
			 -E2BIG);
	ck_assert_uint_le(arena.total, 1 << 20);
	arena.limit = 0;
	proto_arena_reset(&arena);
	ck_assert_uint_le(arena.total, 4096);
	ck_assert_int_eq(proto_decode(&proto_mutate_row_type,
				      bytes_of(many, 200), &arena, &out),
			 0);
	ck_assert_uint_eq(((struct proto_mutate_row *)out)->mutations.count,
			  100);
	free(many);
}
END_TEST

/* What is encoded is these bytes, and what they decode to encodes to them
 * again. */
START_TEST(encoding)
{
	const char *texts[] = {
		"0a01'k' 1203 0a01'f' 1a00 20e807 2a01'l' 3201'v' 4801",
		"4001", /* a case, though false would be left out */
		"20 ffffffffffffffffff01",
		"",
	};
	struct buf b = BUF_INIT;
	size_t i;

	for (i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		void *chunk = decode(&proto_cell_chunk_type, texts[i]);

		buf_reset(&b);
		ck_assert_int_eq(
			proto_encode(&proto_cell_chunk_type, chunk, &b), 0);
		ck_assert_msg(bytes_equal(buf_bytes(&b), parse(texts[i])), "%s",
			      texts[i]);
	}
	buf_release(&b);
}
END_TEST

int main(void)
{
	const TTest *tests[] = {
		fields_are_taken,   numbers_keep_their_sign, what_comes_twice,
		unknown_is_skipped, malformed_is_refused,    every_prefix,
		depth_is_bounded,   memory_is_bounded,       encoding
	};

	return run_suite("proto", NULL, teardown, tests,
			 sizeof(tests) / sizeof(tests[0]));
}
