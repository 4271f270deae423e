#include "store/base/err.h"
#include "store/engine/core/position.h"
#include "store/engine/core/state.h"
#include "store/engine/run/backup.h"
#include "store/model/model.h"
#include "tests/unit/mem_store.h"

/*
 * Which store one is: the root that says so, ids, and positions that are told
 * apart.
 */

static struct manifest_root example(void)
{
	struct manifest_root root = { 7, 8, { .parent_sequence = UINT64_MAX } };

	root.identity.features = (struct features){ 0, 9, UINT32_C(1) << 31 };
	memset(&root.identity.id, 0xa5, STORE_ID_SIZE);
	memset(&root.identity.parent, 0x1f, STORE_ID_SIZE);
	return root;
}

START_TEST(a_root_is_read_as_it_was_written)
{
	struct manifest_root root = example(), again;
	uint8_t raw[MANIFEST_ROOT_SIZE];

	manifest_root_encode(&root, raw);
	ck_assert_int_eq(
		manifest_root_decode("x", bytes_of(raw, sizeof(raw)), &again),
		0);
	ck_assert_uint_eq(again.epoch, 7);
	ck_assert_uint_eq(again.edits_id, 8);
	ck_assert(store_id_equal(&root.identity.id, &again.identity.id));
	ck_assert(
		store_id_equal(&root.identity.parent, &again.identity.parent));
	ck_assert_uint_eq(again.identity.parent_sequence, UINT64_MAX);
	ck_assert_uint_eq(again.identity.features.read_only, 9);
	ck_assert_uint_eq(again.identity.features.optional, UINT32_C(1) << 31);
}
END_TEST

/* As programs of format 1 wrote it. */
START_TEST(a_root_of_format_1_has_no_id)
{
	static const uint8_t raw[32] = { 't',  'a',  'b',  'l',  'e', 't', 'f',
					 's',  1,    0,    0,    0,   0,   0,
					 0,    0,    0x13, 0,    0,   0,   1,
					 0,    0,    0,    0x13, 0,   0,   0,
					 0x77, 0x4d, 0xd1, 0xe0 };
	struct manifest_root root;

	ck_assert_int_eq(manifest_root_decode("x", bytes_of(raw, 32), &root),
			 0);
	ck_assert_uint_eq(root.epoch, 0x13);
	ck_assert_uint_eq(root.edits_id, UINT64_C(0x1300000001));
	ck_assert(store_id_is_none(&root.identity.id));
}
END_TEST

/* Each changed bit and each cut is told; sanitizers see any read outside. */
START_TEST(damaged_roots)
{
	struct manifest_root root = example(), again;
	uint8_t raw[MANIFEST_ROOT_SIZE];
	size_t i;
	int err;

	manifest_root_encode(&root, raw);
	for (i = 0; i < sizeof(raw) * 8; i++) {
		raw[i / 8] ^= (uint8_t)(1 << i % 8);
		err = manifest_root_decode("x", bytes_of(raw, sizeof(raw)),
					   &again);
		/* Of the numbers that say what it is, it may be newer. */
		ck_assert(
			err == -ERR_manifest_damaged ||
			(err == -ERR_format_newer && i / 8 >= 8 && i / 8 < 16));
		raw[i / 8] ^= (uint8_t)(1 << i % 8);
	}
	for (i = 0; i < sizeof(raw); i++)
		ck_assert_int_eq(
			manifest_root_decode("x", bytes_of(raw, i), &again),
			-ERR_manifest_damaged);
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

static struct identity *identity_of(struct store *s)
{
	return &store_engine(s)->manifest->identity;
}

/* Gives the root of v these features. */
static void set_features(struct volume *v, struct features features)
{
	uint8_t raw[MANIFEST_ROOT_SIZE];
	struct buf content = BUF_INIT;
	struct manifest_root root;
	uint64_t version;

	ck_assert_int_eq(v->ops->root_get(v, &version, &content), 0);
	ck_assert_int_eq(manifest_root_decode("x", buf_bytes(&content), &root),
			 0);
	root.identity.features = features;
	manifest_root_encode(&root, raw);
	ck_assert_int_eq(
		v->ops->root_swap(v, version, bytes_of(raw, sizeof(raw))), 0);
	buf_release(&content);
}

/* Of what only writers must know, readers need not; what nobody must know
 * stays. */
START_TEST(features_that_are_not_known)
{
	struct store *s = mem_store(NULL), *other;
	struct volume *v = s->volume;

	set_features(v, (struct features){ 0, 0, 5 });
	ck_assert_int_eq(open_clone(v, false, &other), 0);
	ck_assert_uint_eq(identity_of(other)->features.optional, 5);
	ck_assert_int_eq(store_close(other), 0);
	set_features(v, (struct features){ 0, 8, 5 });
	ck_assert_int_eq(open_clone(v, false, &other), -ERR_format_newer);
	ck_assert_ptr_nonnull(strstr(err_detail(), "features 8"));
	ck_assert_int_eq(open_clone(v, true, &other), 0);
	ck_assert_int_eq(store_close(other), 0);
	set_features(v, (struct features){ 2, 0, 0 });
	ck_assert_int_eq(open_clone(v, false, &other), -ERR_format_newer);
	ck_assert_int_eq(open_clone(v, true, &other), -ERR_format_newer);
	ck_assert_ptr_nonnull(strstr(err_detail(), "features 2"));
	/* s is past all that. */
	ck_assert_int_eq(store_close(s), 0);
}
END_TEST

/* The id is given once, by the first opening for writing. */
START_TEST(a_store_keeps_its_id)
{
	struct store *s = mem_store(NULL), *again;
	struct store_id id = identity_of(s)->id;

	ck_assert(!store_id_is_none(&id));
	ck_assert_int_eq(open_clone(s->volume, false, &again), 0);
	ck_assert(store_id_equal(&id, &identity_of(again)->id));
	ck_assert_int_eq(store_close(again), 0);
	ck_assert_int_eq(store_close(s), 0);
	s = mem_store(NULL);
	ck_assert(!store_id_equal(&id, &identity_of(s)->id));
	ck_assert_int_eq(store_close(s), 0);
}
END_TEST

/* A backup has no id while it is only read, and one of its own from the first
 * write on: as many as there are copies of it. */
START_TEST(a_backup_gets_an_id_of_its_own)
{
	struct store *s = mem_store(NULL), *copies[2];
	struct store_id id = identity_of(s)->id;
	struct engine_source own;
	struct backup_source from = engine_source(store_engine(s), &own);
	struct backup_result result;
	struct volume *to;
	struct identity child = { .parent_sequence = 0 };
	int i;

	ck_assert_int_eq(volume_mem_new(&to), 0);
	ck_assert_int_eq(to->ops->lease_take(to, "test", NULL, NULL), 0);
	ck_assert_int_eq(backup_bring(&from, NULL, to, &result), 0);
	to->ops->lease_release(to);
	ck_assert_int_eq(open_clone(to, true, &copies[0]), 0);
	ck_assert(store_id_is_none(&identity_of(copies[0])->id));
	ck_assert_int_eq(store_close(copies[0]), 0);
	for (i = 0; i < 2; i++) {
		ck_assert_int_eq(open_clone(to, false, &copies[i]), 0);
		child = *identity_of(copies[i]);
		ck_assert(!store_id_is_none(&child.id));
		ck_assert(!store_id_equal(&child.id, &id));
		ck_assert(store_id_equal(&child.parent, &id));
		ck_assert_uint_eq(child.parent_sequence, store_seq(s));
	}
	ck_assert(!store_id_equal(&child.id, &identity_of(copies[0])->id));
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
	ck_assert_int_eq(engine_check_position(store_engine(again), &p), 0);
	ck_assert_int_eq(engine_check_position(store_engine(again), &later),
			 -ERR_foreign_position);
	p.epoch = 99;
	ck_assert_int_eq(engine_check_position(store_engine(again), &p),
			 -ERR_foreign_position);
	p.epoch = 1;
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

/* What a crash could take back, and give again, is in none. */
START_TEST(positions_are_durable)
{
	const struct family_spec f = { .name = BYTES_LITERAL("f") };
	struct store *s = mem_store(NULL), *reader;
	struct position before, after;
	struct write *w;

	ck_assert_int_eq(store_create_table(s, bytes_string("a"), false, &f, 1),
			 0);
	engine_position(store_engine(s), &before);
	ck_assert_int_eq(write_new(s, &w), 0);
	ck_assert_int_eq(write_row(w, bytes_string("a"), bytes_string("r")), 0);
	ck_assert_int_eq(write_set(w, bytes_string("f"), bytes_string("q"), 1,
				   bytes_string("v")),
			 0);
	ck_assert_int_eq(store_commit(s, w, false), 0);
	write_free(w);
	engine_position(store_engine(s), &after);
	ck_assert_uint_eq(after.sequence, before.sequence);
	/* Nor for who reads what a kill has left, which is all of it. */
	ck_assert_int_eq(open_clone(s->volume, true, &reader), 0);
	engine_position(store_engine(reader), &after);
	ck_assert_uint_eq(after.sequence, before.sequence);
	ck_assert_uint_eq(store_seq(reader), store_seq(s));
	ck_assert_int_eq(engine_check_position(store_engine(reader), &before),
			 0);
	ck_assert_int_eq(store_close(reader), 0);
	ck_assert_int_eq(store_sync(s), 0);
	engine_position(store_engine(s), &after);
	ck_assert_uint_eq(after.sequence, store_seq(s));
	ck_assert_uint_gt(after.sequence, before.sequence);
	ck_assert_int_eq(store_close(s), 0);
}
END_TEST

int main(void)
{
	const TTest *tests[] = {
		a_root_is_read_as_it_was_written,
		a_root_of_format_1_has_no_id,
		damaged_roots,
		features_that_are_not_known,
		a_store_keeps_its_id,
		a_backup_gets_an_id_of_its_own,
		positions_as_text,
		positions_of_others_are_refused,
		positions_are_durable,
	};

	return run_suite("identity", NULL, NULL, tests, 9);
}
