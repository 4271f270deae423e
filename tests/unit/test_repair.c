#include <stdio.h>

#include "store/base/err.h"
#include "store/engine/run/step.h"
#include "store/format/key.h"
#include "store/format/sst/sst.h"
#include "store/format/sst/sst_build.h"
#include "store/format/sst/sst_salvage.h"
#include "store/model/model.h"
#include "store/store.h"
#include "tests/sim/memory_file.h"
#include "tests/sim/volume_mem.h"
#include "tests/unit/suite.h"

/* What is lost with a part of a file is told, wherever the part ends. The sweep
 * main_repair flips bits of whole stores. */
#define ENTRIES 40

static uint8_t noise(void)
{
	static uint32_t state = 1;

	state = state * 1664525 + 1013904223;
	return (uint8_t)(state >> 24);
}

/* An sst of several blocks, with a tombstone. */
static void build_sst(struct buf *file)
{
	const struct sst_options options = { 0, 10, true, ROW_DIRECTORY_NEVER };
	const struct tombstone t = { BYTES_LITERAL("\0\0\0\x07row1"),
				     BYTES_LITERAL("\0\0\0\x07row2"), 9 };
	struct segment_writer *writer;
	struct sst_builder *builder;
	struct buf key = BUF_INIT;
	uint8_t value[600];
	char row[16];
	uint64_t digest;
	size_t i, j;

	ck_assert_int_eq(memory_file_writer(file, &writer), 0);
	ck_assert_int_eq(sst_build_new(writer, &options, &builder), 0);
	for (i = 0; i < ENTRIES; i++) {
		snprintf(row, sizeof(row), "row%02zu", i);
		for (j = 0; j < sizeof(value); j++)
			value[j] = noise();
		buf_reset(&key);
		key_add_table(&key, 7);
		key_add_part(&key, bytes_string(row));
		key_add_part(&key, bytes_string("f"));
		key_add_part(&key, bytes_string("q"));
		key_add_timestamp(&key, 1000);
		ck_assert_int_eq(key_add_trailer(&key, 5, KEY_PUT), 0);
		ck_assert_int_eq(sst_build_add(builder, buf_bytes(&key),
					       bytes_of(value, sizeof(value))),
				 0);
	}
	ck_assert_int_eq(sst_build_tombstone(builder, &t), 0);
	ck_assert_int_eq(sst_build_finish(builder, &digest), 0);
	buf_release(&key);
}

struct found {
	unsigned int entries, tombstones;
	unsigned int lost, undeleted; /* what was told */
};

static int take_entry(void *context, struct bytes key, struct bytes value)
{
	(void)key;
	(void)value;
	((struct found *)context)->entries++;
	return 0;
}

static int take_tombstone(void *context, const struct tombstone *t)
{
	(void)t;
	((struct found *)context)->tombstones++;
	return 0;
}

static int take_loss(void *context, const char *problem, struct bytes after,
		     struct bytes before)
{
	(void)problem;
	(void)after;
	(void)before;
	((struct found *)context)->lost++;
	return 0;
}

static int take_undeleted(void *context, const char *problem)
{
	(void)problem;
	((struct found *)context)->undeleted++;
	return 0;
}

static struct found salvage(struct reader *reader)
{
	struct found f = { 0 };
	const struct salvage to = { take_entry, take_tombstone, take_loss,
				    take_undeleted, &f };

	ck_assert_int_eq(sst_salvage(reader, &to), 0);
	return f;
}

START_TEST(a_cut_sst_is_told)
{
	struct buf file = BUF_INIT;
	struct reader *reader;
	struct found f;
	size_t whole;

	build_sst(&file);
	for (whole = file.size; file.size > 0;) {
		file.size--;
		ck_assert_int_eq(memory_file_reader(&file, &reader), 0);
		f = salvage(reader);
		reader->ops->reader_close(reader);
		ck_assert_msg(f.entries == ENTRIES || f.lost > 0,
			      "cut to %zu of %zu: %u entries, nothing told",
			      file.size, whole, f.entries);
		ck_assert_msg(f.tombstones == 1 || f.undeleted > 0,
			      "cut to %zu of %zu: no tombstone, nothing told",
			      file.size, whole);
	}
	buf_release(&file);
}
END_TEST

/*
 * A volume on a disk that does not give a sector of one file, or does not open
 * the file, and from which nothing can be linked.
 */
#define SECTOR 4096
#define CANNOT_OPEN UINT64_MAX

static const struct volume_ops *whole_ops;
static struct volume_ops bad_ops;
static const char *bad_name;
static uint64_t bad_offset;

static int bad_open(struct volume *v, const char *name, struct reader **out)
{
	int err;

	if (bad_offset == CANNOT_OPEN && strcmp(name, bad_name) == 0)
		return fail(EIO, "memory/%s: cannot open", name);
	err = whole_ops->open(v, name, out);
	if (err == 0 && strcmp(name, bad_name) == 0)
		(*out)->ops = &bad_ops;
	return err;
}

static int bad_pread(struct reader *r, uint64_t offset, void *data, size_t size)
{
	if (offset < bad_offset + SECTOR && offset + size > bad_offset)
		return fail(EIO, "%s: cannot read", r->path);
	return whole_ops->pread(r, offset, data, size);
}

static int bad_link(struct volume *v, const char *name, struct volume *to)
{
	(void)v;
	(void)name;
	(void)to;
	return fail(EXDEV, "another file system");
}

#define ROWS 60
#define VALUE_SIZE 900

/* Values that do not compress, of a row and a family. */
static struct bytes value_of(uint32_t row, char family, uint8_t *value)
{
	uint32_t state = row * 31 + (uint32_t)family, i;

	for (i = 0; i < VALUE_SIZE; i++) {
		state = state * 1664525 + 1013904223;
		value[i] = (uint8_t)(state >> 24);
	}
	return bytes_of(value, family == 'b' ? VALUE_SIZE : 300);
}

static void options(struct store_options *o)
{
	store_options_init(o);
	o->create = true;
	o->background = false;
	o->blob_threshold = 600;
	o->blob_chunk_size = 400;
}

static void set_rows(struct store *s, uint32_t from, uint32_t to)
{
	uint8_t value[VALUE_SIZE];
	struct write *w;
	char key[16], family;

	ck_assert_int_eq(write_new(s, &w), 0);
	for (; from < to; from++) {
		snprintf(key, sizeof(key), "row%03u", from);
		ck_assert_int_eq(
			write_row(w, bytes_string("t"), bytes_string(key)), 0);
		for (family = 'a'; family <= 'b'; family++)
			ck_assert_int_eq(
				write_set(w, bytes_of(&family, 1),
					  bytes_string("q"), 1000,
					  value_of(from, family, value)),
				0);
		ck_assert_int_eq(store_commit(s, w, false), 0);
	}
	write_free(w);
}

/* A third of the rows is in an sst, the rest in a log that was not ended unless
 * the store is closed. */
static struct volume *make_store_of(uint32_t rows, bool closed)
{
	const struct family_spec families[2] = {
		{ .name = BYTES_LITERAL("a") }, { .name = BYTES_LITERAL("b") }
	};
	struct store_options o;
	struct volume *v, *killed = NULL;
	struct store *s;

	options(&o);
	ck_assert_int_eq(volume_mem_new(&v), 0);
	ck_assert_int_eq(store_open_volume(v, &o, &s), 0);
	ck_assert_int_eq(
		store_create_table(s, bytes_string("t"), false, families, 2),
		0);
	set_rows(s, 0, rows / 3);
	ck_assert_int_eq(engine_flush(store_engine(s)), 0);
	set_rows(s, rows / 3, rows);
	if (closed)
		volume_mem_keep(v);
	else
		ck_assert_int_eq(volume_mem_kill_clone(v, &killed), 0);
	ck_assert_int_eq(store_close(s), 0);
	return closed ? v : killed;
}

static struct volume *make_store(void)
{
	return make_store_of(ROWS, false);
}

static void count_told(void *context, const char *text)
{
	(void)text;
	++*(unsigned int *)context;
}

/* How many cells are as they were; no other may be there. */
static unsigned int count_cells(struct store *s)
{
	struct schema *schema = store_schema(s);
	uint8_t value[VALUE_SIZE];
	struct scan_range range = { .table = BYTES_NONE };
	unsigned int count = 0, row;
	struct scan *scan;
	struct cell cell;

	ck_assert_uint_le(schema->table_count, 1);
	if (schema->table_count == 1) {
		range.table = schema->tables[0].name;
		ck_assert_int_eq(scan_open(s, NULL, &range, &scan), 0);
		while (scan_next(scan, CURSOR_VERSION, &cell) == 1) {
			ck_assert_int_eq(sscanf((const char *)cell.row.data,
						"row%3u", &row),
					 1);
			ck_assert(bytes_equal(
				cell.value,
				value_of(row, (char)cell.family.data[0],
					 value)));
			count++;
		}
		scan_close(scan);
	}
	schema_put(schema);
	return count;
}

/* Repairs with one sector bad: how many cells are missing. */
static unsigned int repair_bad(struct volume *v, const char *name,
			       uint64_t offset)
{
	struct repair_result result;
	struct store_options o;
	struct volume *from, *to;
	unsigned int told = 0, count;
	struct store *s;

	ck_assert_int_eq(volume_mem_kill_clone(v, &from), 0);
	ck_assert_int_eq(volume_mem_new(&to), 0);
	volume_mem_keep(to);
	whole_ops = from->ops;
	bad_ops = *whole_ops;
	bad_ops.open = bad_open;
	bad_ops.pread = bad_pread;
	bad_ops.link = bad_link;
	bad_name = name;
	bad_offset = offset;
	from->ops = &bad_ops;
	ck_assert_msg(
		store_repair_volume(from, to, count_told, &told, &result) == 0,
		"%s, offset %llu: %s", name, (unsigned long long)offset,
		err_detail());
	ck_assert_uint_eq(volume_mem_open_count(from), 0);
	from->ops->close(from);
	options(&o);
	ck_assert_int_eq(store_open_volume(to, &o, &s), 0);
	count = count_cells(s);
	ck_assert_int_eq(store_close(s), 0);
	ck_assert(count == 2 * ROWS || told > 0);
	return 2 * ROWS - count;
}

static int bad_file(void *context, const char *name)
{
	struct volume *v = context;
	uint64_t size = volume_mem_file(v, name).size, offset;
	unsigned int most = strstr(name, ".log") ? 24 : 40;

	repair_bad(v, name, CANNOT_OPEN);
	/* The rest of the file is read. */
	for (offset = 0; offset < size; offset += SECTOR)
		ck_assert_uint_le(repair_bad(v, name, offset), most);
	return 0;
}

START_TEST(a_bad_sector_costs_what_is_there)
{
	struct volume *v = make_store();

	ck_assert_uint_eq(repair_bad(v, "", 0), 0);
	ck_assert_int_eq(v->ops->list(v, bad_file, v), 0);
	v->ops->close(v);
}
END_TEST

static int read_only_lease(struct volume *v, const char *holder,
			   void (*lost)(void *context), void *context)
{
	(void)holder;
	(void)lost;
	(void)context;
	return fail(EROFS, "%s/lock: cannot open", v->path);
}

START_TEST(a_read_only_disk_is_read)
{
	struct volume *v = make_store(), *to;
	struct repair_result result;
	unsigned int told = 0;

	bad_ops = *v->ops;
	bad_ops.lease_take = read_only_lease;
	v->ops = &bad_ops;
	ck_assert_int_eq(volume_mem_new(&to), 0);
	ck_assert_int_eq(store_repair_volume(v, to, count_told, &told, &result),
			 0);
	ck_assert_uint_eq(told, 0);
	v->ops->close(v);
}
END_TEST

static int find_log_of_life_1(void *context, const char *name)
{
	if (strncmp(name, "00000001-", 9) == 0 && strstr(name, ".log"))
		snprintf(context, VOLUME_NAME_MAX + 1, "%s", name);
	return 0;
}

/* The log has a hole, behind which are records that were cut off when the store
 * was opened, and whose sequences were given again. It was removed then, and
 * is back after a power cut. */
START_TEST(a_log_of_an_earlier_life_is_left_out)
{
	struct volume *v = make_store(), *to, *cut;
	char log[VOLUME_NAME_MAX + 1] = "";
	struct repair_result result;
	unsigned int told = 0, count;
	struct store_options o;
	struct rng rng = { 1 };
	struct bytes content;
	struct store *s;

	volume_mem_keep(v);
	ck_assert_int_eq(v->ops->list(v, find_log_of_life_1, log), 0);
	content = volume_mem_file(v, log);
	((uint8_t *)(uintptr_t)content.data)[content.size / 2] ^= 1;
	options(&o);
	ck_assert_int_eq(store_open_volume(v, &o, &s), 0);
	count = count_cells(s);
	ck_assert_uint_lt(count, 2 * ROWS);
	ck_assert_int_eq(store_close(s), 0);
	for (log[0] = 0; !log[0];) {
		ck_assert_int_eq(volume_mem_crash_clone(v, &rng, &cut), 0);
		cut->ops->list(cut, find_log_of_life_1, log);
		if (!log[0])
			cut->ops->close(cut);
	}
	v->ops->close(v);
	ck_assert_int_eq(volume_mem_new(&to), 0);
	volume_mem_keep(to);
	ck_assert_int_eq(
		store_repair_volume(cut, to, count_told, &told, &result), 0);
	cut->ops->close(cut);
	ck_assert_uint_gt(result.left_count, 0);
	ck_assert_uint_eq(result.lost_count, 0);
	ck_assert_uint_eq(told, result.left_count);
	ck_assert_int_eq(store_open_volume(to, &o, &s), 0);
	ck_assert_uint_eq(count_cells(s), count);
	ck_assert_int_eq(store_close(s), 0);
}
END_TEST

#define BLOCK 32768u
#define MANY 600u

/* A block of a log that was written over another one, too: what was in that is
 * lost, and all else is there. */
static void check_misdirected(size_t from, size_t to)
{
	char log[VOLUME_NAME_MAX + 1] = "";
	struct volume *v = make_store_of(MANY, true), *repaired;
	struct repair_result result;
	unsigned int told = 0;
	struct store_options o;
	struct store *s;
	uint8_t *data;

	ck_assert_int_eq(v->ops->list(v, find_log_of_life_1, log), 0);
	ck_assert_uint_gt(volume_mem_file(v, log).size, 4 * BLOCK);
	data = (uint8_t *)(uintptr_t)volume_mem_file(v, log).data;
	memcpy(data + to * BLOCK, data + from * BLOCK, BLOCK);
	options(&o);
	o.read_only = true;
	volume_mem_keep(v);
	ck_assert_int_lt(store_open_volume(v, &o, &s), 0);
	ck_assert_msg(strstr(err_detail(), log), "%s", err_detail());
	ck_assert_int_eq(volume_mem_new(&repaired), 0);
	volume_mem_keep(repaired);
	ck_assert_int_eq(
		store_repair_volume(v, repaired, count_told, &told, &result),
		0);
	v->ops->close(v);
	ck_assert_uint_gt(told, 0);
	options(&o);
	ck_assert_int_eq(store_open_volume(repaired, &o, &s), 0);
	/* A row takes more than 300 bytes of the log. */
	ck_assert_uint_gt(count_cells(s), 2 * (MANY - BLOCK / 300 - 2));
	ck_assert_int_eq(store_check(s, count_told, &told), 0);
	ck_assert_int_eq(store_close(s), 0);
}

START_TEST(a_misdirected_block_costs_what_was_there)
{
	check_misdirected(1, 2);
	check_misdirected(2, 1);
	check_misdirected(0, 3);
}
END_TEST

static char schema_sst[VOLUME_NAME_MAX + 1];

static int find_sst(void *context, const char *name)
{
	(void)context;
	if (strstr(name, ".sst"))
		snprintf(schema_sst, sizeof(schema_sst), "%s", name);
	return 0;
}

START_TEST(a_cut_manifest_is_told)
{
	const char *name = "00000001-00000001.edits";
	struct volume *v = make_store();
	struct volume *to;
	struct repair_result result;
	unsigned int told = 0;

	/* In the second edit: the first, of a new store, names no file. */
	volume_mem_truncate(v, name, 40);
	ck_assert_int_eq(volume_mem_new(&to), 0);
	ck_assert_int_eq(store_repair_volume(v, to, count_told, &told, &result),
			 0);
	ck_assert_uint_gt(told, 0);
	v->ops->close(v);
}
END_TEST

static void add(struct store *s, const char *family, int64_t number)
{
	struct write *w;

	ck_assert_int_eq(write_new(s, &w), 0);
	ck_assert_int_eq(write_row(w, bytes_string("t"), bytes_string("r")), 0);
	ck_assert_int_eq(write_add(w, bytes_string(family), bytes_string("q"),
				   1000, number),
			 0);
	ck_assert_int_eq(store_commit(s, w, false), 0);
	write_free(w);
	ck_assert_int_eq(engine_flush(store_engine(s)), 0);
}

static int64_t number_of(struct store *s, const char *table, const char *family)
{
	struct buf memory = BUF_INIT;
	struct cell cell;
	int64_t number;

	ck_assert_int_eq(store_get(s, NULL, bytes_string(table),
				   bytes_string("r"), bytes_string(family),
				   bytes_string("q"), &cell, &memory),
			 1);
	number = aggregate_number(cell.aggregate, cell.value);
	buf_release(&memory);
	return number;
}

/* Who had the lease changes nothing until it is his again. */
static void lose(struct volume *v, const char *name)
{
	ck_assert_int_eq(v->ops->lease_take(v, "a test", NULL, NULL), 0);
	ck_assert_int_eq(v->ops->remove(v, name), 0);
	v->ops->lease_release(v);
}

static void note_sum(void *context, const char *text)
{
	if (strstr(text, "family sum of table recovered_1 "))
		++*(unsigned int *)context;
}

/* The first sst, which has only the schema, is lost. The type of a sketch can
 * be told by its bytes; numbers are kept apart until their type is given. */
START_TEST(aggregates_keep_their_parts)
{
	const struct family_spec families[2] = {
		{ .name = BYTES_LITERAL("hll"), .type = FAMILY_INTHLL },
		{ .name = BYTES_LITERAL("sum"), .type = FAMILY_INTSUM }
	};
	struct repair_result result;
	struct store_options o;
	struct volume *v, *to;
	unsigned int told = 0;
	struct store *s;

	options(&o);
	ck_assert_int_eq(volume_mem_new(&v), 0);
	volume_mem_keep(v);
	ck_assert_int_eq(store_open_volume(v, &o, &s), 0);
	ck_assert_int_eq(
		store_create_table(s, bytes_string("t"), false, families, 2),
		0);
	ck_assert_int_eq(engine_flush(store_engine(s)), 0);
	ck_assert_int_eq(v->ops->list(v, find_sst, &o), 0);
	add(s, "hll", 1);
	add(s, "sum", 2);
	add(s, "hll", 3);
	add(s, "sum", 40);
	ck_assert_int_eq(store_close(s), 0);
	lose(v, schema_sst);
	ck_assert_int_eq(volume_mem_new(&to), 0);
	volume_mem_keep(to);
	ck_assert_int_eq(store_repair_volume(v, to, note_sum, &told, &result),
			 0);
	v->ops->close(v);
	ck_assert_uint_eq(told, 1);
	ck_assert_int_eq(store_open_volume(to, &o, &s), 0);
	ck_assert_int_eq(store_compact(s, BYTES_NONE), 0);
	ck_assert_int_eq(number_of(s, "recovered_1", "hll"), 2);
	ck_assert_int_eq(store_set_type(s, bytes_string("recovered_1"),
					bytes_string("sum"), FAMILY_INTSUM),
			 0);
	ck_assert_int_eq(number_of(s, "recovered_1", "sum"), 42);
	ck_assert_int_eq(store_close(s), 0);
}
END_TEST

static int find_newest_sst(void *context, const char *name)
{
	char *newest = context;

	if (strstr(name, ".sst") && strcmp(name, newest) > 0)
		snprintf(newest, VOLUME_NAME_MAX + 1, "%s", name);
	return 0;
}

static void note_left(void *context, const char *text)
{
	if (strstr(text, "more than 1000 families"))
		++*(unsigned int *)context;
}

/* Cells of one family more than a table may have, of which one was dropped. */
START_TEST(too_many_families_are_told)
{
	struct family_spec family = { .gc = NULL };
	struct repair_result result;
	struct store_options o;
	struct volume *v, *to;
	unsigned int told = 0, i;
	struct store *s;
	struct write *w;
	char name[16], newest[VOLUME_NAME_MAX + 1] = "";

	options(&o);
	ck_assert_int_eq(volume_mem_new(&v), 0);
	volume_mem_keep(v);
	ck_assert_int_eq(store_open_volume(v, &o, &s), 0);
	ck_assert_int_eq(
		store_create_table(s, bytes_string("t"), false, NULL, 0), 0);
	ck_assert_int_eq(write_new(s, &w), 0);
	for (i = 0; i <= STORE_FAMILIES_MAX; i++) {
		snprintf(name, sizeof(name), "f%04u", i);
		family.name = bytes_string(name);
		if (i == STORE_FAMILIES_MAX) {
			ck_assert_int_eq(engine_flush(store_engine(s)), 0);
			ck_assert_int_eq(
				store_drop_family(s, bytes_string("t"),
						  bytes_string("f0000")),
				0);
		}
		ck_assert_int_eq(
			store_create_family(s, bytes_string("t"), &family), 0);
		ck_assert_int_eq(
			write_row(w, bytes_string("t"), bytes_string("r")), 0);
		ck_assert_int_eq(write_set(w, family.name, bytes_string("q"), 1,
					   family.name),
				 0);
		ck_assert_int_eq(store_commit(s, w, false), 0);
	}
	write_free(w);
	ck_assert_int_eq(engine_flush(store_engine(s)), 0);
	ck_assert_int_eq(store_drop_table(s, bytes_string("t"), false), 0);
	/* Tables are looked for where something is lost, as this is. */
	family.type = FAMILY_INTSUM;
	ck_assert_int_eq(
		store_create_table(s, bytes_string("t"), false, &family, 1), 0);
	ck_assert_int_eq(engine_flush(store_engine(s)), 0);
	add(s, name, 1);
	ck_assert_int_eq(v->ops->list(v, find_newest_sst, newest), 0);
	ck_assert_int_eq(store_close(s), 0);
	lose(v, newest);
	ck_assert_int_eq(volume_mem_new(&to), 0);
	volume_mem_keep(to);
	ck_assert_int_eq(store_repair_volume(v, to, note_left, &told, &result),
			 0);
	v->ops->close(v);
	ck_assert_uint_eq(told, 1);
	ck_assert_int_eq(store_open_volume(to, &o, &s), 0);
	ck_assert_int_eq(store_close(s), 0);
}
END_TEST

int main(void)
{
	const TTest *tests[] = { a_cut_sst_is_told,
				 a_bad_sector_costs_what_is_there,
				 a_read_only_disk_is_read,
				 a_log_of_an_earlier_life_is_left_out,
				 a_cut_manifest_is_told,
				 a_misdirected_block_costs_what_was_there,
				 too_many_families_are_told,
				 aggregates_keep_their_parts };

	return run_suite("repair", NULL, NULL, tests, 8);
}
