#include "store/base/err.h"
#include "store/engine/run/open.h"
#include "store/engine/run/rotate.h"
#include "store/engine/run/step.h"
#include "store/engine/run/write.h"
#include "tests/sim/volume_mem.h"
#include "tests/unit/suite.h"

/* A log that is made ahead of its rotation. */
static struct volume *volume;
static struct engine *engine;

static void check(int err)
{
	ck_assert_msg(err >= 0, "%s: %s", err_text(err), err_detail());
}

static void set_up(void)
{
	struct engine_options o;

	engine_options_init(&o);
	o.create = true;
	o.memtable_size = 1 << 20;
	check(volume_mem_new(&volume));
	check(engine_open(volume, &o, &engine));
}

static void tear_down(void)
{
	if (engine)
		engine_abandon(engine);
	volume->ops->close(volume);
}

static void put(size_t size)
{
	struct buf key = BUF_INIT, value = BUF_INIT;
	struct batch batch = BATCH_INIT;

	check(key_add_table(&key, 1));
	check(key_add_part(&key, BYTES_LITERAL("row")));
	check(key_add_part(&key, BYTES_LITERAL("f")));
	check(key_add_part(&key, BYTES_LITERAL("q")));
	check(key_add_timestamp(&key, 1));
	check(buf_reserve(&value, size));
	memset(value.data, 'v', size);
	value.size = size;
	check(batch_put(&batch, buf_bytes(&key), buf_bytes(&value)));
	check(engine_write(engine, &batch, false, NULL));
	batch_release(&batch);
	buf_release(&key);
	buf_release(&value);
}

static int count_log(void *context, const char *name)
{
	*(unsigned int *)context += strstr(name, ".log") != NULL;
	return 0;
}

static unsigned int log_count(void)
{
	unsigned int count = 0;

	check(volume->ops->list(volume, count_log, &count));
	return count;
}

START_TEST(a_full_memtable_goes_on_with_the_log_made_ahead)
{
	uint64_t id = engine->log_id, next;

	put(700 << 10);
	put(100 << 10);
	check(engine_step(engine));
	ck_assert_ptr_null(engine->next_wal);
	put(1);
	check(engine_step(engine));
	ck_assert_ptr_nonnull(engine->next_wal);
	ck_assert_uint_eq(atomic_load(&engine->synced_seq), 3);
	ck_assert_uint_eq(log_count(), 2);
	next = engine->next_log_id;
	put(180 << 10);
	put(1);
	ck_assert_uint_eq(engine->log_id, id);
	/* Nearly full: once more, and there is one already. */
	check(engine_step(engine));
	ck_assert_uint_eq(atomic_load(&engine->synced_seq), 5);
	ck_assert_uint_eq(engine->next_log_id, next);
	put(300 << 10);
	ck_assert_uint_eq(engine->log_id, next);
	ck_assert_ptr_null(engine->next_wal);
	ck_assert_uint_eq(log_count(), 2);
}
END_TEST

static void make_ahead(void)
{
	atomic_store(&engine->pace.sync_wanted, true);
	check(engine_rotate_ahead(engine));
	ck_assert_ptr_nonnull(engine->next_wal);
}

/* A rotation comes while the background makes it. */
START_TEST(a_log_made_too_late_goes)
{
	struct wal *late;
	uint64_t id, last;

	make_ahead();
	late = engine->next_wal;
	id = engine->next_log_id;
	engine->next_wal = NULL;
	put(1);
	check(engine_rotate(engine, 0));
	last = engine->log_id;
	ck_assert_uint_gt(last, id);
	engine->next_wal = late;
	engine->next_log_id = id;
	put(1);
	check(engine_rotate(engine, 0));
	ck_assert_uint_gt(engine->log_id, last);
	ck_assert_uint_eq(log_count(), 3);
}
END_TEST

START_TEST(a_closed_store_has_none)
{
	put(1);
	make_ahead();
	ck_assert_uint_eq(log_count(), 2);
	check(engine_close(engine));
	engine = NULL;
	ck_assert_uint_eq(log_count(), 1);
}
END_TEST

/* Without room there is none, and nothing is wrong. */
START_TEST(a_full_disk_has_none)
{
	put(1);
	volume_mem_available(volume, 0);
	volume_mem_fill(volume, 1, 1);
	atomic_store(&engine->pace.sync_wanted, true);
	check(engine_rotate_ahead(engine));
	ck_assert_ptr_null(engine->next_wal);
	ck_assert_uint_eq(log_count(), 1);
	volume_mem_fill(volume, 0, 0);
	put(1);
}
END_TEST

int main(void)
{
	const TTest *tests[] = {
		a_full_memtable_goes_on_with_the_log_made_ahead,
		a_log_made_too_late_goes,
		a_closed_store_has_none,
		a_full_disk_has_none,
	};

	return run_suite("rotate", set_up, tear_down, tests,
			 sizeof(tests) / sizeof(*tests));
}
