#include <stdio.h>

#include "store/base/err.h"
#include "store/base/hash.h"
#include "store/format/key.h"
#include "store/format/sst/rowdir.h"
#include "store/format/sst/sst.h"
#include "store/format/sst/sst_build.h"
#include "store/format/sst/sst_iter.h"
#include "store/format/sst/sst_read_back.h"
#include "store/format/sst/sst_verify.h"
#include "tests/sim/memory_file.h"
#include "tests/unit/suite.h"
#include "tests/unit/tombstones_of.h"

#define ENTRIES_MAX 4000

static uint32_t state;
static uint64_t digest; /* of what was built last */

static uint32_t draw(uint32_t n)
{
	state = state * 1664525 + 1013904223;
	return (state >> 8) % n;
}

struct model {
	struct buf keys[ENTRIES_MAX];
	struct buf values[ENTRIES_MAX];
	size_t count;
	struct tombstone tombstones[8];
	size_t tombstone_count;
	struct buf file;
	struct cache *cache;
	struct sst *sst;
};

static struct model model;
static uint32_t large_value = 40000;

static void add_entry(struct model *m, uint32_t row, uint32_t family,
		      uint32_t qualifier, uint64_t timestamp, uint64_t seq)
{
	struct buf *key = &m->keys[m->count];
	struct buf *value = &m->values[m->count];
	char name[32];
	uint32_t size, i;

	snprintf(name, sizeof(name), "row%05u", row);
	key_add_table(key, 7);
	key_add_part(key, bytes_string(name));
	snprintf(name, sizeof(name), "%cfamily", 'a' + (char)family);
	key_add_part(key, bytes_string(name));
	snprintf(name, sizeof(name), "q%u", qualifier);
	key_add_part(key, bytes_of(name, family == 0 ? 0 : strlen(name)));
	key_add_timestamp(key, timestamp);
	ck_assert_int_eq(
		key_add_trailer(key, seq, draw(5) ? KEY_PUT : KEY_DELETE), 0);
	size = draw(200) == 0 ? draw(large_value) : draw(60);
	for (i = 0; i < size; i++)
		ck_assert_int_eq(
			buf_add_byte(value,
				     (uint8_t)(draw(3) ? 'x' : draw(99))),
			0);
	m->count++;
}

/* Rows of one to many cells; now and then one of several blocks. */
static void draw_entries(struct model *m, size_t limit)
{
	uint32_t row = 0;

	while (m->count < limit) {
		uint32_t cells = draw(30) == 0 ? 600 : 1 + draw(12);
		uint32_t family = 0, qualifier = 10, i;
		uint64_t timestamp = 1000000;

		row += 1 + draw(3);
		for (i = 0; i < cells && m->count < limit; i++) {
			add_entry(m, row, family, qualifier, timestamp,
				  100 + draw(900));
			if (draw(3)) {
				timestamp -= 1 + draw(100);
				continue;
			}
			timestamp = 1000000 + draw(100);
			if (draw(4) || qualifier >= 99 || family == 0) {
				family += family == 0 || qualifier >= 99;
				qualifier =
					qualifier >= 99 ? 10 : qualifier + 1;
			} else {
				family++;
				qualifier = 10;
			}
		}
	}
}

static void draw_tombstones(struct model *m)
{
	static const char *const names[] = { "\0\0\0\x07row00010",
					     "\0\0\0\x07row00020",
					     "\0\0\0\x07row00020x",
					     "\0\0\0\x07row00500" };
	size_t i;

	for (i = 0; i + 1 < 4; i++) {
		m->tombstones[m->tombstone_count++] = (struct tombstone){
			bytes_of(names[i], 4 + strlen(names[i] + 4)),
			bytes_of(names[i + 1], 4 + strlen(names[i + 1] + 4)),
			5 + draw(2000),
		};
	}
}

static void build(struct model *m, uint32_t level, uint32_t bits,
		  enum row_directory_rule rows)
{
	struct sst_options options = { level, bits, true, rows };
	struct segment_writer *writer;
	struct sst_builder *builder;
	struct reader *reader;
	size_t i;

	buf_reset(&m->file);
	ck_assert_int_eq(memory_file_writer(&m->file, &writer), 0);
	ck_assert_int_eq(sst_build_new(writer, &options, &builder), 0);
	for (i = 0; i < m->count; i++) {
		ck_assert_int_eq(sst_build_add(builder, buf_bytes(&m->keys[i]),
					       buf_bytes(&m->values[i])),
				 0);
		ck_assert_uint_ge(sst_build_size(builder), m->file.size);
	}
	for (i = 0; i < m->tombstone_count; i++)
		ck_assert_int_eq(
			sst_build_tombstone(builder, &m->tombstones[i]), 0);
	ck_assert_int_eq(sst_build_finish(builder, &digest), 0);
	ck_assert_int_eq(cache_new(draw(2) ? 1 << 20 : 30000, &m->cache), 0);
	ck_assert_int_eq(memory_file_reader(&m->file, &reader), 0);
	ck_assert_int_eq(sst_open(reader, m->cache, 1, &m->sst), 0);
}

static void teardown(struct model *m)
{
	size_t i;

	sst_close(m->sst);
	cache_free(m->cache);
	buf_release(&m->file);
	for (i = 0; i < m->count; i++) {
		buf_release(&m->keys[i]);
		buf_release(&m->values[i]);
	}
	memset(m, 0, sizeof(*m));
}

static size_t find(const struct model *m, struct bytes key)
{
	size_t low = 0, high = m->count;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (bytes_compare(buf_bytes(&m->keys[middle]), key) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static void expect(const struct model *m, const struct iter *it, int result,
		   size_t position)
{
	ck_assert_int_eq(result, position < m->count);
	if (result) {
		ck_assert(bytes_equal(it->key, buf_bytes(&m->keys[position])));
		ck_assert(bytes_equal(it->value,
				      buf_bytes(&m->values[position])));
	}
}

/* A key of the file, or near it, or the end of one of its prefixes. */
static void draw_target(const struct model *m, size_t near, struct buf *b)
{
	size_t at = draw((uint32_t)m->count);
	struct key_parts parts;
	struct bytes key;

	if (draw(2) && near < m->count)
		at = near + 40 < m->count ? near + draw(40) : near;
	key = buf_bytes(&m->keys[at]);
	ck_assert_int_eq(key_split(key, &parts), 0);
	switch (draw(5)) {
	case 0:
		ck_assert_int_eq(buf_set(b, key), 0);
		return;
	case 1:
		ck_assert_int_eq(buf_set(b, key), 0);
		b->data[draw((uint32_t)b->size)] = (uint8_t)draw(256);
		return;
	case 2:
		key.size = parts.row_end;
		break;
	case 3:
		key.size = parts.family_end;
		break;
	default:
		key.size = parts.column_end;
	}
	ck_assert_int_eq(draw(2) ? key_successor(key, b) : buf_set(b, key), 0);
}

static int step(const struct model *m, struct iter *it, struct buf *target,
		size_t *at)
{
	struct bytes key = buf_bytes(target);
	struct bytes row;
	uint32_t way = draw(10);
	int result;

	if (*at >= m->count || way == 0) {
		result = iter_seek(it, key);
		*at = find(m, key);
		return result;
	}
	row = bytes_of(it->key.data, key_row_end(it->key));
	if (way < 4) {
		/* Mostly to the next row, else anywhere beyond this one. */
		if (way < 3 || bytes_compare(key, it->key) < 0 ||
		    bytes_starts_with(key, row)) {
			ck_assert_int_eq(key_successor(row, target), 0);
			key = buf_bytes(target);
		}
		result = iter_skip(it, key);
		*at = find(m, key);
		return result;
	}
	if (way < 6 && bytes_compare(key, it->key) > 0) {
		result = iter_seek(it, key);
		*at = find(m, key);
		return result;
	}
	*at += 1;
	return iter_next(it);
}

static void walk(const struct model *m, bool fill, int steps)
{
	struct buf target = BUF_INIT;
	struct iter *it;
	size_t at = SIZE_MAX;
	int i;

	ck_assert_int_eq(sst_iter_new(m->sst, fill, &it), 0);
	for (i = 0; i < steps; i++) {
		int result;

		draw_target(m, at, &target);
		if (draw(20) == 0) {
			result = iter_before(it, buf_bytes(&target));
			at = find(m, buf_bytes(&target));
			expect(m, it, result, at ? at - 1 : SIZE_MAX);
			at = SIZE_MAX;
			continue;
		}
		result = step(m, it, &target, &at);
		expect(m, it, result, at);
	}
	iter_close(it);
	buf_release(&target);
}

static void scan(const struct model *m)
{
	struct iter *it;
	size_t i;
	int result;

	ck_assert_int_eq(sst_iter_new(m->sst, true, &it), 0);
	result = iter_seek(it, BYTES_NONE);
	for (i = 0; i < m->count; i++) {
		expect(m, it, result, i);
		result = iter_next(it);
	}
	ck_assert_int_eq(result, 0);
	iter_close(it);
}

static void check_properties(const struct model *m)
{
	const struct sst_properties *p = sst_properties(m->sst);
	struct tombstone_pile pile = { 0 };
	size_t count;
	const struct tombstone *items = tombstones_of(m->sst, &pile, &count);
	struct bytes smallest = BYTES_NONE;
	uint64_t puts = 0, max_timestamp = 0;
	size_t i;

	for (i = 0; i < m->count; i++) {
		struct bytes key = buf_bytes(&m->keys[i]);

		puts += key_kind(key) == KEY_PUT;
		if (key_timestamp(key) > max_timestamp)
			max_timestamp = key_timestamp(key);
		ck_assert_uint_le(p->smallest_seq, key_seq(key));
		ck_assert_uint_ge(p->largest_seq, key_seq(key));
	}
	ck_assert_uint_eq(p->put_count, puts);
	ck_assert_uint_eq(p->put_count + p->delete_count, m->count);
	ck_assert_uint_eq(p->max_timestamp, max_timestamp);
	ck_assert_uint_eq(count, m->tombstone_count);
	if (m->count > 0)
		smallest = buf_bytes(&m->keys[0]);
	for (i = 0; i < count; i++) {
		ck_assert(bytes_equal(items[i].start, m->tombstones[i].start));
		ck_assert(bytes_equal(items[i].end, m->tombstones[i].end));
		ck_assert_uint_eq(items[i].seq, m->tombstones[i].seq);
		if (!smallest.size ||
		    bytes_compare(items[i].start, smallest) < 0)
			smallest = items[i].start;
	}
	ck_assert(bytes_equal(p->smallest, smallest));
	tombstone_pile_release(&pile);
}

/* Every prefix of the file passes; of others few do. */
static void check_filter(const struct model *m, uint32_t bits)
{
	struct buf b = BUF_INIT;
	struct key_parts parts;
	uint32_t passed = 0, tries = 20000, i;

	for (i = 0; i < m->count; i++) {
		struct bytes key = buf_bytes(&m->keys[i]);

		ck_assert_int_eq(key_split(key, &parts), 0);
		key.size = parts.row_end;
		ck_assert_int_eq(sst_may_contain(m->sst, hash64(key)), 1);
		key.size = parts.family_end;
		ck_assert_int_eq(sst_may_contain(m->sst, hash64(key)), 1);
		key.size = parts.column_end;
		ck_assert_int_eq(sst_may_contain(m->sst, hash64(key)), 1);
	}
	for (i = 0; i < tries; i++) {
		uint8_t row[8];

		memcpy(row, "no", 2);
		memcpy(row + 2, &i, 4);
		buf_reset(&b);
		key_add_table(&b, 7);
		ck_assert_int_eq(key_add_part(&b, bytes_of(row, 6)), 0);
		passed += sst_may_contain(m->sst, hash64(buf_bytes(&b))) != 0;
	}
	/* 1 % with 10 bits and 0.1 % with 20 is what the theory gives. */
	if (m->count > 1000)
		ck_assert_uint_le(passed,
				  bits == 10 ? tries / 60 : tries / 600);
	buf_release(&b);
}

/* What the directory has to say of the row that starts at entry i; returns the
 * entry after it. */
static size_t sum_up(const struct model *m, size_t i, struct row_summary *s,
		     struct bytes *row)
{
	struct key_parts parts;

	*s = (struct row_summary){ 0 };
	*row = BYTES_NONE;
	for (; i < m->count; i++) {
		struct bytes key = buf_bytes(&m->keys[i]);

		ck_assert_int_eq(key_split(key, &parts), 0);
		if (row->size > 0 && !bytes_starts_with(key, *row))
			break;
		*row = bytes_of(key.data, parts.row_end);
		if (key_kind(key) == KEY_DELETE) {
			s->flags |= ROW_HAS_DELETE;
		} else if (!(s->flags & ROW_HAS_PUT) ||
			   key_timestamp(key) > s->timestamp) {
			s->flags |= ROW_HAS_PUT;
			s->timestamp = key_timestamp(key);
			s->seq = key_seq(key);
			s->family =
				bytes_of(key.data + parts.row_end,
					 parts.family_end - parts.row_end - 2);
		}
	}
	return i;
}

/* The directory, from its start and from a row in the middle. */
static void check_rows(const struct model *m)
{
	struct row_summary wanted, found;
	struct bytes row;
	struct iter *it;
	size_t i = 0;
	int result;

	if (!sst_has_rows(m->sst))
		return;
	ck_assert_int_eq(sst_rows_new(m->sst, &it), 0);
	result = iter_seek(it, BYTES_NONE);
	while (i < m->count) {
		i = sum_up(m, i, &wanted, &row);
		ck_assert_int_eq(result, 1);
		ck_assert(bytes_equal(it->key, row));
		ck_assert_int_eq(row_summary_decode(it->value, &found), 0);
		ck_assert_uint_eq(found.flags, wanted.flags);
		if (found.flags & ROW_HAS_PUT) {
			ck_assert_uint_eq(found.seq, wanted.seq);
			ck_assert_uint_eq(found.timestamp, wanted.timestamp);
			ck_assert(bytes_equal(found.family, wanted.family));
		}
		/* A row is found by its own prefix as well. */
		result = draw(4) ? 1 : iter_seek(it, row);
		ck_assert_int_eq(result, 1);
		ck_assert(bytes_equal(it->key, row));
		result = iter_next(it);
	}
	ck_assert_int_eq(result, 0);
	iter_close(it);
}

START_TEST(reads_like_a_sorted_array)
{
	uint32_t bits;
	int round;

	for (round = 0; round < 16; round++) {
		state = (uint32_t)round;
		bits = draw(2) ? 10 : 20;
		draw_entries(&model,
			     round < 4 ? (size_t)round : draw(ENTRIES_MAX));
		if (draw(3) == 0)
			draw_tombstones(&model);
		build(&model, draw(2), bits, draw(3));
		ck_assert_int_eq(sst_verify(model.sst), 0);
		ck_assert_int_eq(sst_read_back(model.sst, digest), 0);
		ck_assert_int_eq(sst_read_back(model.sst, digest + 1),
				 -ERR_sst_malformed);
		scan(&model);
		check_properties(&model);
		check_filter(&model, bits);
		check_rows(&model);
		if (model.count > 0) {
			walk(&model, true, 3000);
			walk(&model, false, 1000);
		}
		teardown(&model);
	}
}
END_TEST

/* What is soon merged has no filter, and is no worse for that. */
START_TEST(a_file_without_a_filter_is_whole)
{
	state = 3;
	draw_entries(&model, 200);
	build(&model, 6, 0, ROW_DIRECTORY_NEVER);
	ck_assert(!sst_has_filter(model.sst));
	ck_assert_int_eq(sst_verify(model.sst), 0);
	ck_assert_int_eq(sst_read_back(model.sst, digest), 0);
	teardown(&model);
}
END_TEST

/* Reads what can be read; whatever comes, it is orderly. */
static int read_all(struct sst *t)
{
	struct iter *it;
	int result = sst_iter_new(t, true, &it);

	if (result < 0)
		return result;
	result = iter_seek(it, BYTES_NONE);
	while (result > 0)
		result = iter_next(it);
	iter_close(it);
	return result;
}

static int open_and_verify(const struct model *m)
{
	static uint64_t file_id = 1;
	struct reader *reader;
	struct sst *t;
	int err, verified;

	ck_assert_int_eq(memory_file_reader(&m->file, &reader), 0);
	err = sst_open(reader, m->cache, ++file_id, &t);
	if (err < 0) {
		ck_assert_ptr_null(t);
		reader->ops->reader_close(reader);
		return err;
	}
	err = read_all(t);
	verified = sst_verify(t);
	ck_assert(!err || verified < 0);
	ck_assert_int_eq(sst_read_back(t, digest) < 0, verified < 0);
	sst_close(t);
	return verified;
}

static bool is_damage(int err)
{
	return err == -ERR_block_checksum || err == -ERR_block_malformed ||
	       err == -ERR_sst_malformed || err == -ERR_format_newer;
}

START_TEST(every_flip_is_found)
{
	size_t i;

	state = 5;
	large_value = 100;
	draw_entries(&model, 40);
	draw_tombstones(&model);
	build(&model, 1, 10, ROW_DIRECTORY_ALWAYS);
	ck_assert(sst_has_rows(model.sst));
	ck_assert_int_eq(open_and_verify(&model), 0);
	for (i = 0; i < model.file.size; i++) {
		uint8_t flip = (uint8_t)(1 << draw(8));

		model.file.data[i] ^= flip;
		ck_assert(is_damage(open_and_verify(&model)));
		model.file.data[i] ^= flip;
	}
	/* Nor does any cut go unnoticed. */
	while (model.file.size > 5) {
		model.file.size -= model.file.size % 5 + 1;
		ck_assert(is_damage(open_and_verify(&model)));
	}
	teardown(&model);
}
END_TEST

START_TEST(order_is_held)
{
	struct sst_options options = { 1, 10, true, 0 };
	struct segment_writer *writer;
	struct sst_builder *b;
	struct bytes keys[2];

	state = 6;
	draw_entries(&model, 2);
	keys[0] = buf_bytes(&model.keys[0]);
	keys[1] = buf_bytes(&model.keys[1]);
	ck_assert_int_eq(memory_file_writer(&model.file, &writer), 0);
	ck_assert_int_eq(sst_build_new(writer, &options, &b), 0);
	ck_assert_int_eq(sst_build_add(b, keys[1], BYTES_NONE), 0);
	ck_assert_int_eq(sst_build_add(b, keys[0], BYTES_NONE),
			 -ERR_key_malformed);
	ck_assert_int_eq(sst_build_add(b, keys[1], BYTES_NONE),
			 -ERR_key_malformed);
	ck_assert_int_eq(sst_build_add(b, BYTES_LITERAL("\xff"), BYTES_NONE),
			 -ERR_key_malformed);
	sst_build_abandon(b);
	teardown(&model);
}
END_TEST

int main(void)
{
	const TTest *tests[] = { reads_like_a_sorted_array,
				 a_file_without_a_filter_is_whole,
				 every_flip_is_found, order_is_held };

	return run_suite("sst", NULL, NULL, tests, 4);
}
