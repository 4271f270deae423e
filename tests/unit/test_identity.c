#include "store/base/err.h"
#include "store/engine/core/identity.h"
#include "store/engine/core/state.h"
#include "store/engine/run/backup.h"
#include "store/model/model.h"
#include "tests/unit/mem_store.h"

/*
 * Which store one is: its head as text, ids, and positions that are told apart.
 */

static struct head example(void)
{
	struct head head = { .format = HEAD_FORMAT,
			     .parent_sequence = UINT64_MAX,
			     .features = { 0, 0, UINT64_C(1) << 63 } };

	memset(&head.id, 0xa5, sizeof(head.id));
	memset(&head.parent, 0x1f, sizeof(head.parent));
	return head;
}

START_TEST(a_head_is_read_as_it_was_written)
{
	struct head head = example(), again;
	struct buf text = BUF_INIT;

	ck_assert_int_eq(head_encode(&head, &text), 0);
	ck_assert_int_eq(head_decode("x", buf_bytes(&text), &again), 0);
	ck_assert(store_id_equal(&head.id, &again.id));
	ck_assert(store_id_equal(&head.parent, &again.parent));
	ck_assert_uint_eq(again.parent_sequence, UINT64_MAX);
	ck_assert_uint_eq(again.features.optional, UINT64_C(1) << 63);
	ck_assert_int_eq(head_check("x", &again), 0);
	ck_assert_int_eq(head_check_writable("x", &again), 0);
	buf_release(&text);
}
END_TEST

START_TEST(a_head_of_format_1_has_no_id)
{
	struct head head;

	ck_assert_int_eq(
		head_decode("x", BYTES_LITERAL("TabletFS store, format 1\n"),
			    &head),
		0);
	ck_assert_uint_eq(head.format, 1);
	ck_assert(store_id_is_none(&head.id));
}
END_TEST

/* Each changed bit and each cut is told; sanitizers see any read outside. */
START_TEST(damaged_heads)
{
	struct head head = example(), again;
	struct buf text = BUF_INIT;
	size_t i;
	int err;

	ck_assert_int_eq(head_encode(&head, &text), 0);
	for (i = 0; i < text.size * 8; i++) {
		text.data[i / 8] ^= (uint8_t)(1 << i % 8);
		err = head_decode("x", buf_bytes(&text), &again);
		ck_assert(err == -ERR_not_a_store || err == -ERR_format_newer ||
			  err == -ERR_manifest_damaged);
		text.data[i / 8] ^= (uint8_t)(1 << i % 8);
	}
	for (i = 0; i < text.size; i++)
		ck_assert_int_lt(
			head_decode("x", bytes_of(text.data, i), &again), 0);
	buf_release(&text);
}
END_TEST

static int open_mem(struct volume *v, bool read_only, struct store **s)
{
	struct store_options options;

	mem_store_options(&options);
	options.read_only = read_only;
	return store_open_volume(v, &options, s);
}

/* Opens a copy of v, which is as a kill would leave it. */
static int open_clone(struct volume *v, bool read_only, struct store **s)
{
	struct volume *clone;

	ck_assert_int_eq(volume_mem_kill_clone(v, &clone), 0);
	return open_mem(clone, read_only, s);
}

/* A feature that is not known is named; of what only writers must know, readers
 * need not. */
START_TEST(features_that_are_not_known)
{
	struct store *s = mem_store(NULL), *other;
	struct volume *v = s->volume;
	struct head head;

	ck_assert_int_eq(v->ops->head_get(v, &head), 0);
	head.features.optional = 5;
	ck_assert_int_eq(v->ops->head_set(v, &head), 0);
	ck_assert_int_eq(open_clone(v, false, &other), 0);
	ck_assert_uint_eq(store_engine(other)->head.features.optional, 5);
	ck_assert_int_eq(store_close(other), 0);
	head.features.read_only = 8;
	ck_assert_int_eq(v->ops->head_set(v, &head), 0);
	ck_assert_int_eq(open_clone(v, false, &other), -ERR_format_newer);
	ck_assert_ptr_nonnull(strstr(err_detail(), "read-only feature 3"));
	ck_assert_int_eq(open_clone(v, true, &other), 0);
	ck_assert_int_eq(store_close(other), 0);
	head.features.incompatible = 2;
	ck_assert_int_eq(head_check("x", &head), -ERR_format_newer);
	ck_assert_ptr_nonnull(strstr(err_detail(), "incompatible feature 1"));
	ck_assert_int_eq(store_close(s), 0);
}
END_TEST

/* The id is given once, by the first opening for writing. */
START_TEST(a_store_keeps_its_id)
{
	struct store *s = mem_store(NULL), *again;
	struct store_id id = store_engine(s)->head.id;

	ck_assert(!store_id_is_none(&id));
	ck_assert_int_eq(open_clone(s->volume, false, &again), 0);
	ck_assert(store_id_equal(&id, &store_engine(again)->head.id));
	ck_assert_int_eq(store_close(again), 0);
	ck_assert_int_eq(store_close(s), 0);
	s = mem_store(NULL);
	ck_assert(!store_id_equal(&id, &store_engine(s)->head.id));
	ck_assert_int_eq(store_close(s), 0);
}
END_TEST

/* A backup has no id while it is only read, and one of its own from the first
 * write on: as many as there are copies of it. */
START_TEST(a_backup_gets_an_id_of_its_own)
{
	struct store *s = mem_store(NULL), *copies[2];
	struct store_id id = store_engine(s)->head.id;
	struct engine_source own;
	struct backup_source from = engine_source(store_engine(s), &own);
	struct backup_result result;
	struct volume *to;
	struct head head;
	int i;

	ck_assert_int_eq(volume_mem_new(&to), 0);
	ck_assert_int_eq(to->ops->lease_take(to, "test"), 0);
	ck_assert_int_eq(backup_bring(&from, to, &result), 0);
	to->ops->lease_release(to);
	ck_assert_int_eq(open_clone(to, true, &copies[0]), 0);
	ck_assert(store_id_is_none(&store_engine(copies[0])->head.id));
	ck_assert_int_eq(store_close(copies[0]), 0);
	for (i = 0; i < 2; i++) {
		ck_assert_int_eq(open_clone(to, false, &copies[i]), 0);
		head = store_engine(copies[i])->head;
		ck_assert(!store_id_is_none(&head.id));
		ck_assert(!store_id_equal(&head.id, &id));
		ck_assert(store_id_equal(&head.parent, &id));
		ck_assert_uint_eq(head.parent_sequence, store_seq(s));
	}
	ck_assert(!store_id_equal(&head.id, &store_engine(copies[0])->head.id));
	for (i = 0; i < 2; i++)
		ck_assert_int_eq(store_close(copies[i]), 0);
	to->ops->close(to);
	ck_assert_int_eq(store_close(s), 0);
}
END_TEST

START_TEST(positions_as_text)
{
	const char *wrong[] = {
		"",
		":1:2",
		"a5:1:2",
		"A5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5:1:2",
		"a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5:1",
		"a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5:01:2",
		"a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5:1:+2",
		"a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5:1:2 ",
		"a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5:4294967296:2"
	};
	struct position p = { .epoch = UINT32_MAX, .sequence = UINT64_MAX };
	struct position again;
	char text[POSITION_TEXT_SIZE];
	size_t i;

	memset(&p.store, 0xa5, sizeof(p.store));
	position_text(&p, text);
	ck_assert_str_eq(text, "a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5:4294967295:"
			       "18446744073709551615");
	ck_assert_int_eq(position_parse(bytes_string(text), &again), 0);
	ck_assert(store_id_equal(&p.store, &again.store));
	ck_assert_uint_eq(again.epoch, p.epoch);
	ck_assert_uint_eq(again.sequence, p.sequence);
	for (i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		ck_assert_int_eq(position_parse(bytes_string(wrong[i]), &p),
				 -ERR_bad_argument);
}
END_TEST

static void make_table(struct store *s, const char *name)
{
	ck_assert_int_eq(
		store_create_table(s, bytes_string(name), false, NULL, 0), 0);
}

/* What another store wrote, or what is not there, is refused with both. */
START_TEST(positions_of_others_are_refused)
{
	struct store *s = mem_store(NULL), *again;
	struct position p, later;
	char text[POSITION_TEXT_SIZE];

	make_table(s, "a");
	engine_position(store_engine(s), &p);
	ck_assert_uint_gt(p.sequence, 0);
	ck_assert_int_eq(engine_check_position(store_engine(s), &p), 0);
	ck_assert_int_eq(open_clone(s->volume, false, &again), 0);
	make_table(s, "b");
	engine_position(store_engine(s), &later);
	/* Of a former epoch only what recovery found, whatever came since. */
	ck_assert_int_eq(engine_check_position(store_engine(again), &p), 0);
	make_table(again, "c");
	ck_assert_int_eq(engine_check_position(store_engine(again), &later),
			 -ERR_foreign_position);
	later.epoch = 99;
	ck_assert_int_eq(engine_check_position(store_engine(again), &later),
			 -ERR_foreign_position);
	p.store.bytes[0] ^= 1;
	ck_assert_int_eq(engine_check_position(store_engine(s), &p),
			 -ERR_foreign_position);
	position_text(&p, text);
	ck_assert_ptr_nonnull(strstr(err_detail(), text));
	p.store.bytes[0] ^= 1;
	store_id_text(&p.store, text);
	ck_assert_ptr_nonnull(strstr(err_detail(), text));
	ck_assert_int_eq(store_close(again), 0);
	ck_assert_int_eq(store_close(s), 0);
}
END_TEST

int main(void)
{
	const TTest *tests[] = {
		a_head_is_read_as_it_was_written,
		a_head_of_format_1_has_no_id,
		damaged_heads,
		features_that_are_not_known,
		a_store_keeps_its_id,
		a_backup_gets_an_id_of_its_own,
		positions_as_text,
		positions_of_others_are_refused,
	};

	return run_suite("identity", NULL, NULL, tests, 8);
}
