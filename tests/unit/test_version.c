#include "store/base/err.h"
#include "store/engine/core/trouble.h"
#include "store/engine/files/edit.h"
#include "store/engine/large/blobs.h"
#include "store/engine/read/cursor.h"
#include "store/engine/repair/repair.h"
#include "store/engine/run/open.h"
#include "store/engine/run/write.h"
#include "store/format/sst/sst_build.h"
#include "tests/sim/volume_mem.h"
#include "tests/unit/suite.h"

/*
 * What a mistake of the program would do to a store: each test breaks one
 * invariant on purpose. The store says so, writes nothing and stays readable.
 */
static struct volume *volume;
static struct engine *engine;

static void check(int err)
{
	ck_assert_msg(err == 0, "%s: %s", err_text(err), err_detail());
}

static void open_engine(void)
{
	struct engine_options o;

	engine_options_init(&o);
	o.create = true;
	o.memtable_size = 1 << 20;
	check(engine_open(volume, &o, &engine));
}

static void set_up(void)
{
	check(volume_mem_new(&volume));
	open_engine();
}

static void tear_down(void)
{
	engine_abandon(engine);
	volume->ops->close(volume);
}

/* A version key of the one column of this row. */
static void make_key(const char *row, struct buf *key)
{
	buf_reset(key);
	check(key_add_table(key, 1));
	check(key_add_part(key, bytes_string(row)));
	check(key_add_part(key, BYTES_LITERAL("f")));
	check(key_add_part(key, BYTES_LITERAL("q")));
	check(key_add_timestamp(key, 1000));
}

/* Writes an sst that holds these two rows, with this sequence, and adds it to
 * e, as if they had been written and flushed. */
static void add_sst(struct edit *e, unsigned int level, const char *first,
		    const char *last, uint64_t seq)
{
	struct sst_options options = { .level = level };
	uint64_t id = engine_new_id(engine);
	const char *rows[] = { first, last };
	struct segment_writer *writer;
	struct sst_builder *builder;
	char name[VOLUME_NAME_MAX + 1];
	struct buf key = BUF_INIT;
	unsigned int i;

	manifest_name(id, "sst", name);
	check(volume->ops->segment_create(volume, name, &writer));
	check(sst_build_new(writer, &options, &builder));
	for (i = 0; i < 2; i++) {
		make_key(rows[i], &key);
		check(key_add_trailer(&key, seq, KEY_PUT));
		check(sst_build_add(builder, buf_bytes(&key),
				    BYTES_LITERAL("v")));
	}
	check(sst_build_finish(builder, NULL));
	buf_release(&key);
	check(edit_add_file(e, level, id, volume_mem_file(volume, name).size));
	e->last_seq = seq;
	if (atomic_load(&engine->visible_seq) < seq)
		atomic_store(&engine->visible_seq, seq);
}

static int put(const char *row)
{
	struct batch batch = BATCH_INIT;
	struct buf key = BUF_INIT;
	int err;

	make_key(row, &key);
	check(batch_put(&batch, buf_bytes(&key), BYTES_LITERAL("v")));
	err = engine_write(engine, &batch, false, NULL);
	batch_release(&batch);
	buf_release(&key);
	return err;
}

static size_t cell_count(void)
{
	struct cursor *c;
	struct cell cell;
	size_t count = 0;

	check(cursor_open(engine, NULL, BYTES_NONE, BYTES_NONE, BYTES_NONE,
			  &c));
	while (cursor_next(c, CURSOR_VERSION, &cell) == 1)
		count++;
	cursor_close(c);
	return count;
}

/* The store takes nothing any more and says why, what it has can be read, and a
 * new opening finds all of it. */
static void is_read_only(int err, const char *why)
{
	size_t count = cell_count();

	ck_assert_int_eq(err, -ERR_invariant);
	ck_assert_int_eq(err_errno(err), EIO);
	ck_assert_ptr_nonnull(strstr(err_detail(), why));
	ck_assert_ptr_nonnull(strstr(err_detail(), "mistake of the program"));
	ck_assert_int_eq(put("more"), -ERR_store_readonly);
	ck_assert_ptr_nonnull(strstr(err_detail(), why));
	ck_assert_ptr_nonnull(strstr(err_detail(), "mistake of the program"));
	ck_assert_uint_eq(cell_count(), count);
	engine_abandon(engine);
	open_engine();
	ck_assert_uint_eq(cell_count(), count);
	check(put("more"));
}

START_TEST(files_of_a_level_are_disjoint)
{
	struct edit e = EDIT_INIT;
	uint64_t size;
	int err;

	add_sst(&e, 1, "a", "k", 1);
	add_sst(&e, 1, "l", "z", 1);
	add_sst(&e, 0, "a", "z", 1);
	add_sst(&e, 0, "k", "l", 1);
	check(engine_apply(engine, &e));
	edit_release(&e);
	add_sst(&e, 1, "k", "kk", 1);
	size = wal_size(engine->manifest->edits);
	err = engine_apply(engine, &e);
	ck_assert_uint_eq(wal_size(engine->manifest->edits), size);
	ck_assert_uint_eq(engine->version->levels[1].count, 2);
	is_read_only(err, "level 1: 00000001-");
	ck_assert_uint_eq(engine->version->levels[1].count, 2);
	edit_release(&e);
}
END_TEST

/* Takes the files that e adds to another volume and makes them a store. */
static struct volume *other_store(const struct edit *e)
{
	const struct manifest_root root = { 9,
					    (UINT64_C(9) << 32) + 1,
					    { .parent_sequence = 0 } };
	char name[VOLUME_NAME_MAX + 1];
	struct volume *other;
	size_t i;

	check(volume_mem_new(&other));
	for (i = 0; i < e->added_count; i++) {
		manifest_name(e->added[i].id, "sst", name);
		check(volume->ops->link(volume, name, other));
	}
	check(manifest_write(other, &root, e));
	return other;
}

static int tell(void *context, const char *problem, struct bytes after,
		struct bytes before)
{
	(void)problem;
	(void)after;
	(void)before;
	++*(unsigned int *)context;
	return 0;
}

/* As an earlier mistake of the program would have left it. */
START_TEST(files_that_overlap_are_not_opened)
{
	struct edit e = EDIT_INIT;
	struct engine_options o;
	struct repair_result result;
	unsigned int told = 0;
	const struct repair_report report = { tell, &told };
	struct volume *other, *whole;
	char name[VOLUME_NAME_MAX + 1];
	size_t i;

	add_sst(&e, 1, "a", "k", 1);
	add_sst(&e, 1, "c", "z", 2);
	other = other_store(&e);
	engine_abandon(engine);
	engine_options_init(&o);
	ck_assert_int_eq(engine_open(other, &o, &engine),
			 -ERR_manifest_damaged);
	for (i = 0; i < 2; i++) {
		manifest_name(e.added[i].id, "sst", name);
		ck_assert_ptr_nonnull(strstr(err_detail(), name));
	}
	ck_assert_ptr_nonnull(strstr(err_detail(), "level 1"));
	/* A repair makes a store of it that is in order. */
	check(volume_mem_new(&whole));
	check(engine_repair(other, whole, &o, &report, &result));
	ck_assert_uint_eq(told, 1);
	other->ops->close(other);
	volume->ops->close(volume);
	volume = whole;
	open_engine();
	ck_assert_uint_eq(cell_count(), 4);
	edit_release(&e);
}
END_TEST

START_TEST(bounds_of_a_file_are_in_order)
{
	struct edit e = EDIT_INIT;
	char why[VERSION_WHY_SIZE];
	struct sst_file *f;
	struct bytes smallest;

	add_sst(&e, 2, "a", "k", 1);
	check(engine_apply(engine, &e));
	edit_release(&e);
	ck_assert(version_in_order(engine->version, why));
	f = engine->version->levels[2].files[0];
	smallest = f->smallest;
	f->smallest = f->largest;
	ck_assert(version_in_order(engine->version, why));
	f->largest_exclusive = true;
	ck_assert(!version_in_order(engine->version, why));
	f->largest_exclusive = false;
	f->largest = smallest;
	ck_assert(!version_in_order(engine->version, why));
	ck_assert_ptr_nonnull(strstr(why, "before it begins"));
}
END_TEST

START_TEST(an_sst_has_no_sequence_to_come)
{
	struct edit e = EDIT_INIT;
	int err;

	add_sst(&e, 0, "a", "k", 50);
	check(engine_apply(engine, &e));
	edit_release(&e);
	/* What is made of an sst keeps the sequences that it has. */
	add_sst(&e, 1, "a", "k", 50);
	e.last_seq = 0;
	check(engine_apply(engine, &e));
	edit_release(&e);
	/* A bulk load is ahead of what is flushed. */
	add_sst(&e, 0, "b", "l", 0);
	e.added[0].seq = 60;
	check(engine_apply(engine, &e));
	edit_release(&e);
	add_sst(&e, 0, "c", "m", 61);
	e.last_seq = 0;
	err = engine_apply(engine, &e);
	is_read_only(err, "has sequence 61, and all before it end at 60");
	edit_release(&e);
}
END_TEST

START_TEST(commits_follow_one_another)
{
	check(put("row"));
	check(put("row"));
	engine->memtable->last_seq++;
	is_read_only(put("row"), "a commit of sequence 3 follows one of 3");
}
END_TEST

START_TEST(a_blob_file_is_released_once)
{
	struct buf scratch = BUF_INIT;
	struct blob_holds holds = { NULL, 0 };
	struct blob_chunk c;

	check(put("row"));
	check(blob_append(engine, BYTES_LITERAL("chunk"), &scratch, &holds,
			  &c));
	holds.files[0]->holders = 0;
	blob_release(engine, &holds);
	ck_assert_int_eq(atomic_load(&engine->error), -ERR_invariant);
	is_read_only(-ERR_invariant, "released more often");
	buf_release(&scratch);
}
END_TEST

int main(void)
{
	const TTest *tests[] = {
		files_of_a_level_are_disjoint,
		files_that_overlap_are_not_opened,
		bounds_of_a_file_are_in_order,
		an_sst_has_no_sequence_to_come,
		commits_follow_one_another,
		a_blob_file_is_released_once,
	};

	return run_suite("version", set_up, tear_down, tests,
			 sizeof(tests) / sizeof(*tests));
}
