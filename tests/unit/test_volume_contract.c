#include <pthread.h>
#include <stdatomic.h>

#include "tests/unit/volume_kinds.h"

/* What volume.h promises of what a volume holds. */

START_TEST(a_segment_is_seen_when_it_is_finished)
{
	struct volume *v = kind->open();
	struct segment_writer *w;

	check_absent(v, "1.sst");
	ck_assert_int_eq(v->ops->segment_create(v, "1.sst", &w), 0);
	ck_assert_int_eq(v->ops->segment_append(w, bytes_string("hel")), 0);
	ck_assert_int_eq(v->ops->segment_append(w, bytes_string("lo")), 0);
	ck_assert_uint_eq(w->size, 5);
	check_absent(v, "1.sst");
	check_list(v, "");
	ck_assert_int_eq(v->ops->segment_finish(w), 0);
	check_content(v, "1.sst", "hello");
	check_list(v, "1.sst ");
	end(NULL, v);
}
END_TEST

START_TEST(an_abandoned_segment_leaves_nothing)
{
	struct volume *v = kind->open();
	struct segment_writer *w;

	ck_assert_int_eq(v->ops->segment_create(v, "1.sst", &w), 0);
	ck_assert_int_eq(v->ops->segment_append(w, bytes_string("x")), 0);
	v->ops->segment_abandon(w);
	check_absent(v, "1.sst");
	check_list(v, "");
	write_segment(v, "1.sst", "y");
	check_content(v, "1.sst", "y");
	end(NULL, v);
}
END_TEST

START_TEST(a_name_is_taken_once)
{
	struct volume *v = kind->open();
	struct segment_writer *w;
	struct log *l;

	write_segment(v, "1.sst", "x");
	ck_assert_int_eq(v->ops->segment_create(v, "1.sst", &w), -EEXIST);
	ck_assert_ptr_null(w);
	ck_assert_int_eq(v->ops->log_create(v, "1.sst", &l), -EEXIST);
	ck_assert_ptr_null(l);
	ck_assert_ptr_nonnull(strstr(err_detail(), "1.sst"));
	check_content(v, "1.sst", "x");
	end(NULL, v);
}
END_TEST

START_TEST(a_segment_that_meets_its_name_changes_nothing)
{
	struct volume *v = kind->open();
	struct segment_writer *w;
	struct log *l;

	ck_assert_int_eq(v->ops->segment_create(v, "1.sst", &w), 0);
	l = make_log(v, "1.sst", "log");
	v->ops->log_close(l);
	ck_assert_int_eq(v->ops->segment_append(w, bytes_string("seg")), 0);
	ck_assert_int_eq(v->ops->segment_finish(w), -EEXIST);
	check_content(v, "1.sst", "log");
	end(NULL, v);
}
END_TEST

START_TEST(an_empty_segment)
{
	struct volume *v = kind->open();

	write_segment(v, "1.sst", "");
	check_content(v, "1.sst", "");
	end(NULL, v);
}
END_TEST

START_TEST(reads_are_exact)
{
	struct volume *v = kind->open();
	char text[8] = "";
	struct reader *r;

	write_segment(v, "1.sst", "hello");
	ck_assert_int_eq(v->ops->open(v, "1.sst", &r), 0);
	ck_assert_int_eq(v->ops->pread(r, 1, text, 4), 0);
	ck_assert_str_eq(text, "ello");
	ck_assert_int_eq(v->ops->pread(r, 5, text, 0), 0);
	ck_assert_int_eq(v->ops->pread(r, 1, text, 5), -EIO);
	ck_assert_ptr_nonnull(strstr(err_detail(), "1.sst"));
	ck_assert_int_eq(v->ops->pread(r, 100, text, 1), -EIO);
	v->ops->reader_close(r);
	end(NULL, v);
}
END_TEST

START_TEST(a_large_segment)
{
	enum { PART = 100000, PARTS = 57 };
	struct volume *v = kind->open();
	uint8_t *part = malloc(PART), *got = malloc(PART);
	struct segment_writer *w;
	struct reader *r;
	size_t i, at;

	ck_assert_int_eq(v->ops->segment_create(v, "1.sst", &w), 0);
	for (i = 0; i < PARTS; i++) {
		memset(part, (int)i, PART);
		ck_assert_int_eq(
			v->ops->segment_append(w, bytes_of(part, PART)), 0);
	}
	ck_assert_int_eq(v->ops->segment_finish(w), 0);
	ck_assert_int_eq(v->ops->open(v, "1.sst", &r), 0);
	ck_assert_uint_eq(r->size, (uint64_t)PART * PARTS);
	for (at = PART / 2; at + PART <= (size_t)PART * PARTS; at += PART) {
		ck_assert_int_eq(v->ops->pread(r, at, got, PART), 0);
		ck_assert_uint_eq(got[0], at / PART);
		ck_assert_uint_eq(got[PART - 1], at / PART + 1);
	}
	v->ops->reader_close(r);
	free(part);
	free(got);
	end(NULL, v);
}
END_TEST

START_TEST(a_reader_goes_on_after_removal)
{
	struct volume *v = kind->open();
	char text[8] = "";
	struct reader *r;

	write_segment(v, "1.sst", "hello");
	ck_assert_int_eq(v->ops->open(v, "1.sst", &r), 0);
	ck_assert_int_eq(v->ops->remove(v, "1.sst"), 0);
	check_absent(v, "1.sst");
	ck_assert_int_eq(v->ops->pread(r, 0, text, 5), 0);
	ck_assert_str_eq(text, "hello");
	v->ops->reader_close(r);
	end(NULL, v);
}
END_TEST

START_TEST(a_log_is_read_while_it_grows)
{
	struct volume *v = kind->open();
	struct log *l = make_log(v, "1.log", "one");
	char text[16] = "";
	struct reader *r;

	check_content(v, "1.log", "one");
	ck_assert_int_eq(v->ops->open(v, "1.log", &r), 0);
	ck_assert_int_eq(v->ops->log_append(l, bytes_string("two")), 0);
	ck_assert_uint_eq(l->size, 6);
	ck_assert_uint_eq(r->size, 3);
	ck_assert_int_eq(v->ops->pread(r, 0, text, 6), 0);
	ck_assert_str_eq(text, "onetwo");
	v->ops->reader_close(r);
	v->ops->log_close(l);
	end(NULL, v);
}
END_TEST

START_TEST(an_empty_log_is_there)
{
	struct volume *v = kind->open();
	struct log *l;

	ck_assert_int_eq(v->ops->log_create(v, "1.log", &l), 0);
	ck_assert_uint_eq(l->size, 0);
	check_content(v, "1.log", "");
	ck_assert_int_eq(v->ops->log_sync(l), 0);
	v->ops->log_close(l);
	check_content(v, "1.log", "");
	check_list(v, "1.log ");
	end(NULL, v);
}
END_TEST

START_TEST(appends_are_in_order)
{
	struct volume *v = kind->open();
	struct log *l = make_log(v, "1.log", "");
	uint32_t i, got[1000];
	struct reader *r;

	for (i = 0; i < 1000; i++) {
		ck_assert_int_eq(v->ops->log_append(l, bytes_of(&i, sizeof(i))),
				 0);
		if (i % 100 == 7)
			ck_assert_int_eq(v->ops->log_sync(l), 0);
	}
	ck_assert_int_eq(v->ops->open(v, "1.log", &r), 0);
	ck_assert_int_eq(v->ops->pread(r, 0, got, sizeof(got)), 0);
	for (i = 0; i < 1000; i++)
		ck_assert_uint_eq(got[i], i);
	v->ops->reader_close(r);
	v->ops->log_close(l);
	end(NULL, v);
}
END_TEST

START_TEST(a_log_is_kept)
{
	struct volume *v = kind->open();
	struct log *l = make_log(v, "1.log", "one");

	v->ops->log_close(l);
	ck_assert_int_eq(v->ops->log_keep(v, "1.log"), 0);
	check_content(v, "1.log", "one");
	ck_assert_int_eq(v->ops->log_keep(v, "2.log"), -ENOENT);
	ck_assert_ptr_nonnull(strstr(err_detail(), "2.log"));
	end(NULL, v);
}
END_TEST

START_TEST(a_log_with_room)
{
	struct volume *v = kind->open();
	struct log *l = make_log(v, "1.log", "one");
	char text[8] = "";
	struct reader *r;

	ck_assert_int_eq(v->ops->log_hold(l, 100000), 0);
	ck_assert_uint_eq(l->size, 3);
	ck_assert_int_eq(v->ops->log_append(l, bytes_string("two")), 0);
	ck_assert_int_eq(v->ops->log_sync(l), 0);
	ck_assert_uint_eq(l->size, 6);
	ck_assert_int_eq(v->ops->open(v, "1.log", &r), 0);
	ck_assert_int_eq(v->ops->pread(r, 0, text, 6), 0);
	ck_assert_str_eq(text, "onetwo");
	v->ops->reader_close(r);
	v->ops->log_close(l);
	end(NULL, v);
}
END_TEST

START_TEST(what_is_removed_is_gone)
{
	struct volume *v = kind->open();

	write_segment(v, "1.sst", "x");
	v->ops->log_close(make_log(v, "2.log", "y"));
	ck_assert_int_eq(v->ops->remove(v, "1.sst"), 0);
	ck_assert_int_eq(v->ops->remove(v, "2.log"), 0);
	ck_assert_int_eq(v->ops->remove(v, "1.sst"), -ENOENT);
	ck_assert_ptr_nonnull(strstr(err_detail(), "1.sst"));
	check_list(v, "");
	end(NULL, v);
}
END_TEST

static int second_is_wrong(void *context, const char *name)
{
	(void)name;
	return ++*(int *)context == 2 ? -EDOM : 1;
}

START_TEST(a_listing_ends_by_a_failure)
{
	struct volume *v = kind->open();
	int count = 0;

	write_segment(v, "1.sst", "x");
	write_segment(v, "2.sst", "x");
	write_segment(v, "3.sst", "x");
	ck_assert_int_eq(v->ops->list(v, second_is_wrong, &count), -EDOM);
	ck_assert_int_eq(count, 2);
	end(NULL, v);
}
END_TEST

START_TEST(there_is_no_root_at_first)
{
	struct volume *v = kind->open();
	struct buf root = BUF_INIT;
	uint64_t version;

	ck_assert_int_eq(v->ops->root_get(v, &version, &root), -ENOENT);
	ck_assert_int_eq(v->ops->root_swap(v, 1, bytes_string("x")),
			 -ERR_volume_conflict);
	ck_assert_int_eq(v->ops->root_get(v, &version, &root), -ENOENT);
	buf_release(&root);
	end(NULL, v);
}
END_TEST

START_TEST(a_root_is_swapped)
{
	struct volume *v = kind->open(), *other = kind->open_again(v);

	ck_assert_int_eq(v->ops->root_swap(v, 0, bytes_string("one")), 0);
	check_root(other, 1, "one");
	ck_assert_int_eq(v->ops->root_swap(v, 1, bytes_string("")), 0);
	check_root(other, 2, "");
	ck_assert_int_eq(v->ops->root_swap(v, 2, bytes_string("three")), 0);
	check_root(other, 3, "three");
	check_list(v, "");
	end(other, v);
}
END_TEST

START_TEST(a_conflict_changes_nothing)
{
	struct volume *v = kind->open(), *other = kind->open_again(v);

	ck_assert_int_eq(v->ops->root_swap(v, 0, bytes_string("one")), 0);
	ck_assert_int_eq(other->ops->root_swap(other, 0, bytes_string("x")),
			 -ERR_volume_conflict);
	ck_assert_int_eq(v->ops->root_swap(v, 2, bytes_string("x")),
			 -ERR_volume_conflict);
	check_root(v, 1, "one");
	end(other, v);
}
END_TEST

START_TEST(room_that_is_held)
{
	const uint64_t sizes[] = { 1 << 16, 1 << 18 };
	struct volume *v = kind->open();
	struct segment_writer *w;
	char text[8] = "";
	struct reader *r;
	struct log *l;

	ck_assert_int_eq(v->ops->log_from_spare(v, "1.log", 1, &l), -ENOSPC);
	ck_assert_int_eq(v->ops->spare_hold(v, sizes, 2, false), 0);
	ck_assert_int_eq(v->ops->log_from_spare(v, "1.log", 1 << 20, &l),
			 -ENOSPC);
	ck_assert_int_eq(v->ops->log_from_spare(v, "1.log", 1 << 17, &l), 0);
	ck_assert_uint_eq(l->size, 0);
	ck_assert_int_eq(v->ops->log_append(l, bytes_string("one")), 0);
	ck_assert_int_eq(v->ops->log_sync(l), 0);
	ck_assert_int_eq(v->ops->open(v, "1.log", &r), 0);
	ck_assert_int_eq(v->ops->pread(r, 0, text, 3), 0);
	ck_assert_str_eq(text, "one");
	v->ops->reader_close(r);
	v->ops->log_close(l);
	ck_assert_int_eq(v->ops->segment_from_spare(v, "2.sst", 1 << 20, &w),
			 0);
	ck_assert_int_eq(v->ops->segment_append(w, bytes_string("two")), 0);
	ck_assert_int_eq(v->ops->segment_finish(w), 0);
	check_content(v, "2.sst", "two");
	ck_assert_int_eq(v->ops->segment_from_spare(v, "3.sst", 1, &w),
			 -ENOSPC);
	end(NULL, v);
}
END_TEST

START_TEST(a_file_is_given_to_another)
{
	struct volume *v = kind->open(), *to = elsewhere();
	int err;

	write_segment(v, "1.sst", "one");
	err = v->ops->link(v, "1.sst", to);
	if (err != -EXDEV) {
		ck_assert_int_eq(err, 0);
		check_content(to, "1.sst", "one");
		ck_assert_int_eq(v->ops->link(v, "1.sst", to), -EEXIST);
		ck_assert_int_eq(v->ops->remove(v, "1.sst"), 0);
		check_content(to, "1.sst", "one");
		ck_assert_int_eq(v->ops->link(v, "9.sst", to), -ENOENT);
	}
	to->ops->close(to);
	end(NULL, v);
}
END_TEST

START_TEST(notes_are_the_holders)
{
	struct volume *v = kind->open();

	ck_assert_int_eq(v->ops->note(v, bytes_string("x\n"), 1000), -EINVAL);
	take(v, "me");
	ck_assert_int_eq(v->ops->note(v, bytes_string("x\n"), 1000), 0);
	check_list(v, "");
	end(NULL, v);
}
END_TEST

START_TEST(heat_is_no_object)
{
	struct volume *v = kind->open();
	struct buf heat = BUF_INIT;

	take(v, "me");
	ck_assert_int_eq(v->ops->heat_read(v, &heat), 0);
	ck_assert_uint_eq(heat.size, 0);
	ck_assert_int_eq(v->ops->heat_replace(v, bytes_string("one")), 0);
	ck_assert_int_eq(v->ops->heat_append(v, 4, bytes_string("x")), -ESTALE);
	ck_assert_int_eq(v->ops->heat_append(v, 3, bytes_string("two")), 0);
	ck_assert_int_eq(v->ops->heat_read(v, &heat), 0);
	ck_assert(bytes_equal(buf_bytes(&heat), bytes_string("onetwo")));
	check_list(v, "");
	buf_release(&heat);
	end(NULL, v);
}
END_TEST

START_TEST(scratch_is_nobodys)
{
	struct volume *v = kind->open();
	int fd = v->ops->scratch(v);
	char text[4] = "";

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(pwrite(fd, "abc", 3, 0), 3);
	ck_assert_int_eq(pread(fd, text, 3, 0), 3);
	ck_assert_str_eq(text, "abc");
	check_list(v, "");
	close(fd);
	end(NULL, v);
}
END_TEST

START_TEST(there_is_space)
{
	struct volume *v = kind->open();
	struct volume_space space = { 0 };

	ck_assert_int_eq(v->ops->space(v, &space), 0);
	ck_assert_uint_gt(space.total_size, 0);
	ck_assert_uint_ge(space.total_size, space.free_size);
	ck_assert_uint_ge(space.free_size, space.available_size);
	end(NULL, v);
}
END_TEST

/* Several that sync beside one that appends. */
struct syncers {
	struct log *log;
	atomic_bool end;
	atomic_uint syncs;
	atomic_int err;
};

static void *sync_on(void *context)
{
	struct syncers *s = context;
	int err;

	while (!atomic_load(&s->end)) {
		err = s->log->ops->log_sync(s->log);
		if (err < 0)
			atomic_store(&s->err, err);
		atomic_fetch_add(&s->syncs, 1);
	}
	return NULL;
}

START_TEST(syncs_beside_appends)
{
	enum { THREADS = 4 };
	struct volume *v = kind->open();
	struct syncers s = { .log = make_log(v, "1.log", "") };
	pthread_t threads[THREADS];
	uint32_t i, n = 0, got;
	struct reader *r;

	for (i = 0; i < THREADS; i++)
		ck_assert_int_eq(pthread_create(&threads[i], NULL, sync_on, &s),
				 0);
	while (n < 2000 || (atomic_load(&s.syncs) < 20 && n < 2000000)) {
		ck_assert_int_eq(
			v->ops->log_append(s.log, bytes_of(&n, sizeof(n))), 0);
		n++;
	}
	atomic_store(&s.end, true);
	for (i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	ck_assert_int_eq(atomic_load(&s.err), 0);
	ck_assert_int_eq(v->ops->open(v, "1.log", &r), 0);
	for (i = 0; i < n; i++) {
		ck_assert_int_eq(
			v->ops->pread(r, i * sizeof(i), &got, sizeof(got)), 0);
		ck_assert_uint_eq(got, i);
	}
	v->ops->reader_close(r);
	v->ops->log_close(s.log);
	end(NULL, v);
}
END_TEST

static bool can(const struct kind *k, const TTest *t)
{
	return k->threads || t != syncs_beside_appends;
}

int main(void)
{
	const TTest *tests[] = {
		a_segment_is_seen_when_it_is_finished,
		an_abandoned_segment_leaves_nothing,
		a_name_is_taken_once,
		a_segment_that_meets_its_name_changes_nothing,
		an_empty_segment,
		reads_are_exact,
		a_large_segment,
		a_reader_goes_on_after_removal,
		a_log_is_read_while_it_grows,
		an_empty_log_is_there,
		appends_are_in_order,
		a_log_is_kept,
		a_log_with_room,
		what_is_removed_is_gone,
		a_listing_ends_by_a_failure,
		there_is_no_root_at_first,
		a_root_is_swapped,
		a_conflict_changes_nothing,
		room_that_is_held,
		a_file_is_given_to_another,
		notes_are_the_holders,
		heat_is_no_object,
		scratch_is_nobodys,
		there_is_space,
		syncs_beside_appends,
	};

	return run_kinds("volume contract", tests,
			 sizeof(tests) / sizeof(tests[0]), can);
}
