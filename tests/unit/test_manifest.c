#include <stdio.h>
#include <unistd.h>

#include "store/base/err.h"
#include "store/base/volume/volume_posix.h"
#include "store/engine/files/edit.h"
#include "store/engine/files/manifest.h"
#include "store/engine/log/wal.h"
#include "store/format/blob.h"
#include "store/format/key.h"
#include "tests/unit/suite.h"

static char directory[64];
static struct volume *volume;
static struct cache *cache;

static void unused(struct file_owner *owner, uint64_t id, uint64_t size)
{
	(void)owner;
	(void)size;
	(void)id;
}

static struct file_owner owner = { .unused = unused, .unused_blob = unused };

static void setup(void)
{
	strcpy(directory, "/tmp/test_manifest.XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(directory));
	ck_assert_int_eq(volume_posix_open(directory, true, &volume), 0);
	ck_assert_int_eq(cache_new(1 << 20, &cache), 0);
}

static void teardown(void)
{
	char command[96];

	cache_free(cache);
	volume->ops->close(volume);
	snprintf(command, sizeof(command), "rm -rf %s", directory);
	ck_assert_int_eq(system(command), 0);
}

static struct manifest *reopen(struct manifest *m)
{
	int err;

	manifest_close(m);
	err = manifest_open(volume, cache, &owner, true, false, &m);
	ck_assert_msg(err == 0, "%s: %s", err_text(err), err_detail());
	return m;
}

/* A file that grows, as a log or a blob file does. */
static void make_file(uint64_t id, const char *suffix, struct bytes content)
{
	char name[VOLUME_NAME_MAX + 1];
	struct log *log;

	manifest_name(id, suffix, name);
	ck_assert_int_eq(volume->ops->log_create(volume, name, &log), 0);
	ck_assert_int_eq(log->ops->log_append(log, content), 0);
	log->ops->log_close(log);
}

static void remove_file(uint64_t id, const char *suffix)
{
	char name[VOLUME_NAME_MAX + 1];

	manifest_name(id, suffix, name);
	ck_assert_int_eq(volume->ops->remove(volume, name), 0);
}

/* What edits_round_trip says of history. */
static void expect_history(const struct edit *e)
{
	ck_assert_uint_eq(e->moments[0].seq, 2);
	ck_assert_uint_eq(e->moments[0].size, 3);
	ck_assert_uint_eq(e->moments[0].flags, 0);
	ck_assert_uint_eq(e->moments[1].seq, 5);
	ck_assert_uint_eq(e->moments[1].flags, MOMENT_AFTER_GAP);
	ck_assert_uint_eq(e->quiets[0].seq, 5);
	ck_assert_uint_eq(e->quiets[0].until_us, 9);
	ck_assert(edit_ends_moment(e, 61) && edit_drops_past(e, 62));
	ck_assert_uint_eq(e->pasts[0]->visible_seq, 72);
	ck_assert(e->pasts[0]->largest_exclusive);
	ck_assert(bytes_equal(e->pasts[0]->largest, BYTES_LITERAL("bc")));
	ck_assert_uint_eq(e->pasts[0]->blobs[0].size, 5);
}

START_TEST(edits_round_trip)
{
	const struct blob_share share = { 4, 5 };
	const struct past_facts past = { .id = 70,
					 .size = 71,
					 .visible_seq = 72,
					 .largest_exclusive = true,
					 .smallest = BYTES_LITERAL("a"),
					 .largest = BYTES_LITERAL("bc"),
					 .blobs = &share,
					 .blob_count = 1 };
	struct edit e = EDIT_INIT, again;
	struct buf raw = BUF_INIT;
	size_t size;

	ck_assert_int_eq(edit_add_file(&e, 3, 77, 1000), 0);
	ck_assert_int_eq(edit_add_file(&e, 0, UINT64_MAX, 1), 0);
	ck_assert_int_eq(edit_remove_file(&e, 2, 5), 0);
	ck_assert_int_eq(edit_add_log(&e, 9, 0), 0);
	ck_assert_int_eq(edit_add_moment(&e, &(struct moment){ 1, 2, 3, 0, 0 }),
			 0);
	ck_assert_int_eq(edit_add_quiet(&e, 5, 9), 0);
	ck_assert_int_eq(edit_add_moment(&e, &(struct moment){ 4, 5, 6, 1, 0 }),
			 0);
	ck_assert_int_eq(edit_end_moment(&e, 61), 0);
	ck_assert_int_eq(edit_add_past(&e, &past), 0);
	ck_assert_int_eq(edit_drop_past(&e, 62), 0);
	e.oldest_log = 8;
	e.last_seq = 1 << 20;
	e.gc_time_us = 123;
	e.given_seq = 1 << 21;
	ck_assert_int_eq(edit_encode(&e, &raw), 0);
	ck_assert_int_eq(edit_decode(buf_bytes(&raw), &again), 0);
	ck_assert_uint_eq(again.added_count, 2);
	ck_assert_uint_eq(again.added[1].id, UINT64_MAX);
	ck_assert_uint_eq(again.removed[0].level, 2);
	ck_assert_uint_eq(again.logs[0].id, 9);
	ck_assert_uint_eq(again.oldest_log, 8);
	ck_assert_uint_eq(again.last_seq, 1 << 20);
	ck_assert_uint_eq(again.gc_time_us, 123);
	ck_assert_uint_eq(again.given_seq, 1 << 21);
	expect_history(&again);
	edit_release(&again);
	/* Cut anywhere, it is refused or a shorter list of whole fields. */
	for (size = 0; size < raw.size; size++)
		if (edit_decode(bytes_of(raw.data, size), &again) == 0)
			edit_release(&again);
	raw.data[0] = 99;
	ck_assert_int_eq(edit_decode(buf_bytes(&raw), &again),
			 -ERR_format_newer);
	raw.data[0] = 1;
	raw.data[1] = LEVEL_COUNT;
	ck_assert_int_eq(edit_decode(buf_bytes(&raw), &again),
			 -ERR_manifest_damaged);
	buf_release(&raw);
	edit_release(&e);
}
END_TEST

/* What gets a sequence from it would fail an assertion on keys. */
static void check_sequence(struct edit *e, int want)
{
	struct buf raw = BUF_INIT;
	struct edit again;

	ck_assert_int_eq(edit_encode(e, &raw), 0);
	ck_assert_int_eq(edit_decode(buf_bytes(&raw), &again), want);
	if (want == 0)
		edit_release(&again);
	else
		ck_assert_ptr_nonnull(
			strstr(err_detail(), "72057594037927936"));
	buf_release(&raw);
	edit_release(e);
}

START_TEST(sequences_are_those_of_keys)
{
	uint64_t seq = KEY_SEQ_MAX;
	int want = 0;

	for (; seq <= KEY_SEQ_MAX + 1; seq++, want = -ERR_manifest_damaged) {
		struct edit e = EDIT_INIT;

		e.last_seq = seq;
		check_sequence(&e, want);
		e.given_seq = seq;
		check_sequence(&e, want);
		ck_assert_int_eq(edit_add_loaded(&e, 1, 2, 3, seq), 0);
		check_sequence(&e, want);
	}
}
END_TEST

START_TEST(names_say_epoch_and_number)
{
	char name[VOLUME_NAME_MAX + 1];
	const char *suffix;
	uint64_t id;

	manifest_name(UINT64_C(0x1200000034), "sst", name);
	ck_assert_str_eq(name, "00000012-00000034.sst");
	ck_assert(manifest_parse_name(name, &id, &suffix));
	ck_assert_uint_eq(id, UINT64_C(0x1200000034));
	ck_assert_str_eq(suffix, "sst");
	ck_assert(!manifest_parse_name("root", &id, &suffix));
	ck_assert(!manifest_parse_name("12-34.sst", &id, &suffix));
	ck_assert(!manifest_parse_name("0000001g-00000034.sst", &id, &suffix));
}
END_TEST

START_TEST(state_survives_and_epochs_rise)
{
	struct edit e = EDIT_INIT;
	struct manifest *m;
	uint64_t first, second;

	ck_assert_int_eq(manifest_open(volume, cache, &owner, false, false, &m),
			 -ERR_not_a_store);
	m = reopen(NULL);
	first = manifest_new_id(m);
	ck_assert_int_eq(edit_add_log(&e, first, 0), 0);
	ck_assert_int_eq(edit_add_log(&e, first + 1, 0), 0);
	make_file(first, "log", BYTES_NONE);
	make_file(first + 1, "log", BYTES_NONE);
	ck_assert_int_eq(manifest_apply(m, &e), 0);
	edit_release(&e);
	ck_assert_int_eq(edit_add_log(&e, first, 4096), 0);
	e.last_seq = 50;
	e.gc_time_us = 60;
	ck_assert_int_eq(manifest_apply(m, &e), 0);
	edit_release(&e);
	m = reopen(m);
	ck_assert_uint_eq(m->log_count, 2);
	ck_assert_uint_eq(m->logs[0].final_size, 4096);
	ck_assert_uint_eq(m->last_seq, 50);
	ck_assert_uint_eq(m->gc_time_us, 60);
	second = manifest_new_id(m);
	ck_assert_uint_gt(second >> 32, first >> 32);
	e.oldest_log = first + 1;
	e.last_seq = 40; /* never goes back */
	ck_assert_int_eq(manifest_apply(m, &e), 0);
	edit_release(&e);
	m = reopen(m);
	ck_assert_uint_eq(m->log_count, 1);
	ck_assert_uint_eq(m->last_seq, 50);
	/* Removing what is not there is damage, and changes nothing. */
	ck_assert_int_eq(edit_remove_file(&e, 1, 12345), 0);
	ck_assert_int_eq(manifest_apply(m, &e), -ERR_manifest_damaged);
	edit_release(&e);
	manifest_close(m);
}
END_TEST

/* A former owner that did not notice can change nothing any more. */
/* Who dies between making an edit log and naming it in the root leaves a name
 * that nobody may use again. */
START_TEST(a_used_up_epoch_is_passed_over)
{
	struct manifest *m = reopen(NULL);
	char name[VOLUME_NAME_MAX + 1];
	struct log *log;

	manifest_name((uint64_t)(m->epoch + 1) << 32 | 1, "edits", name);
	ck_assert_int_eq(volume->ops->log_create(volume, name, &log), 0);
	volume->ops->log_close(log);
	m = reopen(m);
	ck_assert_uint_eq(m->epoch, 3);
	m = reopen(m);
	ck_assert_uint_eq(m->epoch, 4);
	manifest_close(m);
}
END_TEST

/* What the 32 bits of an epoch cannot tell apart is not written. */
START_TEST(there_is_a_last_epoch)
{
	const struct manifest_root root = { .epoch = UINT32_MAX - 1,
					    .edits_id = 1 };
	struct edit e = EDIT_INIT;
	struct manifest *m;

	e.last_seq = 5;
	ck_assert_int_eq(manifest_write(volume, &root, &e), 0);
	m = reopen(NULL);
	ck_assert_uint_eq(m->epoch, UINT32_MAX);
	manifest_close(m);
	ck_assert_int_eq(manifest_open(volume, cache, &owner, true, false, &m),
			 -EOVERFLOW);
	ck_assert_ptr_nonnull(strstr(err_detail(), "for reading only"));
	ck_assert_int_eq(manifest_open(volume, cache, &owner, false, true, &m),
			 0);
	ck_assert_uint_eq(m->last_seq, 5);
	manifest_close(m);
}
END_TEST

START_TEST(root_is_swapped_by_one)
{
	struct edit e = EDIT_INIT;
	struct manifest *old = reopen(NULL), *m = reopen(NULL);
	uint64_t version = 0;
	struct buf raw = BUF_INIT;

	ck_assert_int_eq(volume->ops->root_swap(volume, old->root_version,
						BYTES_LITERAL("x")),
			 -ERR_volume_conflict);
	manifest_close(old);
	manifest_close(m);
	ck_assert_int_eq(volume->ops->root_get(volume, &version, &raw), 0);
	raw.data[20] ^= 1;
	ck_assert_int_eq(
		volume->ops->root_swap(volume, version, buf_bytes(&raw)), 0);
	ck_assert_int_eq(manifest_open(volume, cache, &owner, true, false, &m),
			 -ERR_manifest_damaged);
	raw.data[8] = 9;
	ck_assert_int_eq(
		volume->ops->root_swap(volume, version + 1, buf_bytes(&raw)),
		0);
	ck_assert_int_eq(manifest_open(volume, cache, &owner, true, false, &m),
			 -ERR_format_newer);
	buf_release(&raw);
	edit_release(&e);
}
END_TEST

/* What follows has the next append to a log meet a full disk, and then the swap
 * of the root, which another edit log needs, a failing one. */
static const struct volume_ops *sound_ops;
static bool full, fails;

static int full_append(struct log *log, struct bytes data)
{
	if (!full)
		return sound_ops->log_append(log, data);
	full = false;
	return fail(ENOSPC, "%s: full", log->path);
}

static int failing_swap(struct volume *v, uint64_t expected,
			struct bytes content)
{
	if (!fails)
		return sound_ops->root_swap(v, expected, content);
	fails = false;
	return fail(EIO, "%s/root: fails", v->path);
}

START_TEST(no_edit_follows_one_that_may_be_durable_or_not)
{
	struct volume_ops ops = *volume->ops;
	struct edit e = EDIT_INIT;
	struct manifest *m;

	sound_ops = volume->ops;
	ops.log_append = full_append;
	ops.root_swap = failing_swap;
	volume->ops = &ops;
	m = reopen(NULL);
	full = fails = true;
	e.last_seq = 7;
	ck_assert_int_lt(manifest_apply(m, &e), 0);
	ck_assert(m->broken);
	/* The disk is sound again, but which edit log the root names is not
	 * known: what the wrong one took would be lost. */
	ck_assert_int_eq(manifest_apply(m, &e), -ERR_store_readonly);
	ck_assert_ptr_nonnull(strstr(err_detail(), "open the store again"));
	ck_assert_uint_eq(m->last_seq, 0);
	manifest_close(m);
	volume->ops = sound_ops;
}
END_TEST

/* Opening to read gives want, and to write, too, if that is an error. */
static void check_open(int want)
{
	struct manifest *m;

	ck_assert_int_eq(manifest_open(volume, cache, &owner, false, true, &m),
			 want);
	manifest_close(m);
	if (want == 0)
		return;
	ck_assert_int_eq(manifest_open(volume, cache, &owner, true, false, &m),
			 want);
}

/* With this file, besides those of the store. */
static void check_beside(uint64_t id, const char *suffix, struct bytes content,
			 int want)
{
	char name[VOLUME_NAME_MAX + 1];

	make_file(id, suffix, content);
	check_open(want);
	manifest_name(id, suffix, name);
	if (want < 0)
		ck_assert_msg(strstr(err_detail(), name), "%s", err_detail());
	remove_file(id, suffix);
	check_open(0);
}

/* With a log that has a record, or only the promise that ends it. */
static void check_log(uint64_t id, bool record, int want)
{
	char name[VOLUME_NAME_MAX + 1];
	struct wal *wal;
	uint64_t size;

	manifest_name(id, "log", name);
	ck_assert_int_eq(wal_create(volume, name, id, &wal), 0);
	if (record)
		ck_assert_int_eq(wal_append(wal, BYTES_LITERAL("record")), 0);
	else
		ck_assert_int_eq(wal_finish(wal, &size), 0);
	wal_abandon(wal);
	check_open(want);
	remove_file(id, "log");
}

/* What only follows an edit tells that it is lost; what a crash before it, or
 * after a later one, leaves does not. */
START_TEST(a_lost_edit_is_noticed)
{
	const uint64_t next_epoch = UINT64_C(2) << 32;
	uint8_t blob[BLOB_HEADER_SIZE + 1] = { 0 };
	struct volume_ops ops = *volume->ops;
	uint64_t removed, log, dropped, id;
	struct edit e = EDIT_INIT;
	struct manifest *m;
	size_t size;

	sound_ops = volume->ops;
	ops.log_append = full_append;
	volume->ops = &ops;
	m = reopen(NULL);
	removed = manifest_new_id(m);
	log = manifest_new_id(m);
	dropped = manifest_new_id(m);
	blob_header_encode(dropped, blob);
	make_file(log, "log", BYTES_NONE);
	make_file(dropped, "blob", bytes_of(blob, sizeof(blob)));
	ck_assert_int_eq(edit_add_log(&e, log, 0), 0);
	ck_assert_int_eq(edit_add_blob(&e, dropped, sizeof(blob)), 0);
	/* On a full disk another edit log is begun. */
	full = true;
	ck_assert_int_eq(manifest_apply(m, &e), 0);
	ck_assert_uint_gt(m->edits_id, dropped);
	edit_release(&e);
	/* The new edit log names and drops another file itself. */
	id = manifest_new_id(m);
	blob_header_encode(id, blob);
	make_file(id, "blob", bytes_of(blob, sizeof(blob)));
	ck_assert_int_eq(edit_add_blob(&e, id, sizeof(blob)), 0);
	ck_assert_int_eq(edit_drop_blob(&e, dropped), 0);
	ck_assert_int_eq(manifest_apply(m, &e), 0);
	edit_release(&e);
	ck_assert_int_eq(edit_drop_blob(&e, id), 0);
	ck_assert_int_eq(manifest_apply(m, &e), 0);
	edit_release(&e);
	id = manifest_new_id(m);
	manifest_close(m);
	volume->ops = sound_ops;
	check_open(0); /* with the dropped files */
	check_log(removed, true, 0);
	check_beside(removed, "blob", bytes_of(blob, sizeof(blob)), 0);
	check_log(id, true, -ERR_manifest_damaged);
	check_log(id, false, -ERR_manifest_damaged);
	check_beside(id, "log", BYTES_NONE, 0);
	for (size = BLOB_HEADER_SIZE - 1; size <= sizeof(blob); size++)
		check_beside(id, "blob", bytes_of(blob, size),
			     size <= BLOB_HEADER_SIZE ? 0
						      : -ERR_manifest_damaged);
	check_beside(id, "sst", BYTES_LITERAL("sst"), 0);
	check_beside(next_epoch | 1, "edits", BYTES_LITERAL("edit"), 0);
	check_beside(next_epoch | 2, "log", BYTES_NONE, -ERR_manifest_damaged);
	check_beside(next_epoch | 2, "sst", BYTES_NONE, -ERR_manifest_damaged);
}
END_TEST

/* By an epoch that is taken before, repair would be told that the sst which
 * replaced the log is obsolete. */
START_TEST(a_missing_log_takes_no_epoch)
{
	struct manifest *m = reopen(NULL);
	struct edit e = EDIT_INIT;
	uint64_t log = manifest_new_id(m);

	make_file(log, "log", BYTES_NONE);
	ck_assert_int_eq(edit_add_log(&e, log, 0), 0);
	ck_assert_int_eq(manifest_apply(m, &e), 0);
	edit_release(&e);
	manifest_close(m);
	remove_file(log, "log");
	check_open(-ERR_wal_damaged);
	make_file(log, "log", BYTES_NONE);
	m = reopen(NULL);
	ck_assert_uint_eq(m->epoch, 2);
	manifest_close(m);
}
END_TEST

/* It would be made anew, and then the files of the old one removed. */
START_TEST(a_store_that_lost_its_root_is_not_made_anew)
{
	const uint64_t epoch = UINT64_C(1) << 32;
	struct manifest *m;

	make_file(epoch | 1, "edits", BYTES_LITERAL("edit"));
	make_file(epoch | 2, "sst", BYTES_LITERAL("sst"));
	ck_assert_int_eq(manifest_open(volume, cache, &owner, true, false, &m),
			 -ERR_manifest_damaged);
	ck_assert_ptr_nonnull(strstr(err_detail(), "there is no root"));
	remove_file(epoch | 2, "sst");
	m = reopen(NULL);
	ck_assert_uint_eq(m->epoch, 2);
	manifest_close(m);
}
END_TEST

/* An edit log that begins with more than it may grow by is not begun anew for
 * each edit. */
START_TEST(a_large_state_is_written_once)
{
	struct past_facts past = { .size = 71, .visible_seq = 72 };
	struct buf key = BUF_INIT;
	struct edit e = EDIT_INIT;
	struct manifest *m = reopen(NULL);
	uint64_t begun, i;

	for (i = 0; i < 60 << 10; i++)
		ck_assert_int_eq(buf_add_bytes(&key, bytes_string("k")), 0);
	past.smallest = past.largest = buf_bytes(&key);
	for (i = 0; i < 80; i++) {
		past.id = manifest_new_id(m);
		ck_assert_int_eq(edit_add_past(&e, &past), 0);
	}
	ck_assert_int_eq(manifest_apply(m, &e), 0);
	edit_release(&e);
	begun = m->edits_id;
	for (i = 0; i < 10; i++) {
		e.gc_time_us = i + 1;
		ck_assert_int_eq(manifest_apply(m, &e), 0);
	}
	ck_assert_uint_eq(m->edits_id, begun);
	ck_assert_uint_eq(m->current->past_count, 80);
	ck_assert_ptr_null(version_past(m->current, past.id + 1));
	for (i = 0; i < 80; i++)
		ck_assert_ptr_nonnull(version_past(m->current, past.id - i));
	manifest_close(m);
	buf_release(&key);
}
END_TEST

int main(void)
{
	const TTest *tests[] = {
		edits_round_trip,
		sequences_are_those_of_keys,
		names_say_epoch_and_number,
		state_survives_and_epochs_rise,
		a_used_up_epoch_is_passed_over,
		there_is_a_last_epoch,
		root_is_swapped_by_one,
		no_edit_follows_one_that_may_be_durable_or_not,
		a_lost_edit_is_noticed,
		a_missing_log_takes_no_epoch,
		a_store_that_lost_its_root_is_not_made_anew,
		a_large_state_is_written_once,
	};

	return run_suite("manifest", setup, teardown, tests,
			 sizeof(tests) / sizeof(*tests));
}
