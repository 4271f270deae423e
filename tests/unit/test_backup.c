#include <stdio.h>

#include "store/base/err.h"
#include "store/engine/files/manifest_root.h"
#include "store/engine/run/backup.h"
#include "store/engine/run/step.h"
#include "store/model/model.h"
#include "store/store.h"
#include "tests/sim/volume_mem.h"
#include "tests/unit/small_store.h"
#include "tests/unit/suite.h"

/*
 * Pins, and the backups made of them: what is pinned stays as it is until the
 * pin ends, whatever becomes of the store, and goes then.
 */
#define ROWS 400

static struct store *store;
static struct store_options options;

static void set_up(void)
{
	struct family_spec family = { .name = BYTES_LITERAL("f") };

	small_store_options(&options);
	store = mem_store(&options);
	ck_assert_int_eq(
		store_create_table(store, bytes_string("t"), false, &family, 1),
		0);
	options.create = false;
}

static void tear_down(void)
{
	ck_assert_int_eq(store_close(store), 0);
}

/* Sets all rows to values of this byte, of which one in ten is large. */
static void fill(uint8_t byte)
{
	uint8_t value[2000];
	struct write *w;
	char row[16];
	unsigned int i;

	memset(value, byte, sizeof(value));
	ck_assert_int_eq(write_new(store, &w), 0);
	for (i = 0; i < ROWS; i++) {
		snprintf(row, sizeof(row), "row%06u", i);
		ck_assert_int_eq(
			write_row(w, bytes_string("t"), bytes_string(row)), 0);
		ck_assert_int_eq(write_set(w, bytes_string("f"),
					   bytes_string("q"), 1,
					   bytes_of(value, i % 10 ? 50 : 2000)),
				 0);
	}
	ck_assert_int_eq(store_commit(store, w, false), 0);
	write_free(w);
}

/* Bytes of files that are kept for a pin alone, once work is done. */
static uint64_t kept(void)
{
	struct store_stats s;

	while (engine_step(store_engine(store)) > 0)
		;
	store_stats(store, &s);
	return s.obsolete_size;
}

/* Makes all files anew. */
static void change(uint8_t byte)
{
	fill(byte);
	ck_assert_int_eq(store_compact(store, BYTES_NONE), 0);
}

static void refuse(void *context, const char *problem)
{
	(void)context;
	ck_abort_msg("%s", problem);
}

/* The volume, which ends here, is a store of all rows with values of this byte.
 */
static void look(struct volume *v, uint8_t byte)
{
	struct scan_range range = { .table = BYTES_LITERAL("t") };
	unsigned int rows = 0;
	struct store *copy;
	struct scan *scan;
	struct cell cell;

	ck_assert_int_eq(store_open_volume(v, &options, &copy), 0);
	ck_assert_int_eq(store_check(copy, refuse, NULL), 0);
	ck_assert_int_eq(scan_open(copy, NULL, &range, &scan), 0);
	while (scan_next(scan, CURSOR_ROW, &cell) == 1) {
		if (cell.value.size > 0)
			ck_assert_uint_eq(cell.value.data[0], byte);
		rows++;
	}
	scan_close(scan);
	ck_assert_uint_eq(rows, ROWS);
	ck_assert_int_eq(store_close(copy), 0);
}

/* As those of backup_source: contents are there already, and the pin is not
 * this source's. */
static int hand_over(void *context, struct buf *contents)
{
	return buf_add_bytes(contents, buf_bytes(context));
}

static int let_be(void *context)
{
	(void)context;
	return 0;
}

static int lose(void *context)
{
	(void)context;
	return fail(ENOTCONN, "lost");
}

/* A backup of what contents tell of. */
static int bring(struct buf *contents, int (*unpin)(void *context),
		 struct volume **to)
{
	struct backup_source from = { store_volume(store), hand_over, unpin,
				      contents };
	struct backup_result result;
	int err;

	ck_assert_int_eq(volume_mem_new(to), 0);
	err = backup_bring(&from, NULL, *to, &result);
	ck_assert(err < 0 || result.linked_count + result.copied_count > 0);
	return err;
}

START_TEST(what_is_pinned_stays)
{
	struct buf contents[2] = { BUF_INIT, BUF_INIT };
	struct backup_pin *pins[2];
	struct volume *to;
	uint64_t of_one, of_both;

	fill(1);
	ck_assert_int_eq(store_pin(store, &contents[0], &pins[0]), 0);
	change(2);
	of_one = kept();
	ck_assert_uint_gt(of_one, 0);
	ck_assert_int_eq(store_pin(store, &contents[1], &pins[1]), 0);
	ck_assert_int_eq(store_drop_table(store, bytes_string("t"), false), 0);
	ck_assert_int_eq(store_compact(store, BYTES_NONE), 0);
	of_both = kept();
	ck_assert_uint_gt(of_both, of_one);
	ck_assert_int_eq(bring(&contents[0], let_be, &to), 0);
	look(to, 1);
	store_unpin(store, pins[0]);
	ck_assert_uint_eq(kept(), of_both - of_one);
	ck_assert_int_eq(bring(&contents[1], let_be, &to), 0);
	look(to, 2);
	store_unpin(store, pins[1]);
	ck_assert_uint_eq(kept(), 0);
	/* What is gone is no backup. */
	ck_assert_int_eq(bring(&contents[0], let_be, &to), -ENOENT);
	to->ops->close(to);
	buf_release(&contents[0]);
	buf_release(&contents[1]);
}
END_TEST

START_TEST(a_lost_pin_makes_no_backup)
{
	struct buf contents = BUF_INIT;
	struct backup_pin *pin;
	struct store *copy;
	struct volume *to;

	fill(1);
	ck_assert_int_eq(store_pin(store, &contents, &pin), 0);
	ck_assert_int_eq(bring(&contents, lose, &to), -ENOTCONN);
	ck_assert_int_eq(store_open_volume(to, &options, &copy),
			 -ERR_manifest_damaged);
	store_unpin(store, pin);
	buf_release(&contents);
}
END_TEST

START_TEST(contents_are_not_trusted)
{
	struct buf contents = BUF_INIT, wrong = BUF_INIT;
	struct backup_pin *pin;
	struct volume *to;
	size_t i;

	fill(1);
	ck_assert_int_eq(store_pin(store, &contents, &pin), 0);
	store_unpin(store, pin);
	for (i = 0; i < MANIFEST_ROOT_SIZE; i++) {
		ck_assert_int_eq(buf_set(&wrong, bytes_of(contents.data, i)),
				 0);
		ck_assert_int_eq(bring(&wrong, let_be, &to),
				 -ERR_manifest_damaged);
		to->ops->close(to);
		ck_assert_int_eq(buf_set(&wrong, buf_bytes(&contents)), 0);
		wrong.data[i] ^= 1;
		ck_assert_int_eq(bring(&wrong, let_be, &to),
				 -ERR_manifest_damaged);
		to->ops->close(to);
	}
	/* An edit that is none. */
	ck_assert_int_eq(buf_set(&wrong, bytes_of(contents.data, i)), 0);
	ck_assert_int_eq(buf_add_byte(&wrong, 99), 0);
	ck_assert_int_eq(bring(&wrong, let_be, &to), -ERR_manifest_damaged);
	to->ops->close(to);
	buf_release(&wrong);
	buf_release(&contents);
}
END_TEST

int main(void)
{
	const TTest *tests[] = { what_is_pinned_stays,
				 a_lost_pin_makes_no_backup,
				 contents_are_not_trusted };

	return run_suite("backup", set_up, tear_down, tests, 3);
}
