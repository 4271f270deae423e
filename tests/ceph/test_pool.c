#include "store/base/rados/object/pool_op.h"
#include "store/base/rados/object/pool_registry.h"
#include "tests/unit/volume_kinds.h"

/*
 * What keeps a deposed holder from writing, each by itself: in the suite of the
 * lease it has learned of that by an earlier call. Here the call is its first,
 * and what it would have changed is looked at in the pool.
 */

/* v takes the lease, unless it has it, and another takes it then, of which v
 * does not know. */
static struct volume *depose(struct volume *v)
{
	struct volume *other = kind->open_again(v);

	if (!pool(v)->renewer)
		take(v, "first");
	kind->expire(v);
	take(other, "second");
	ck_assert_int_ne(v->ops->lease_check(v), -ERR_store_lost);
	return other;
}

/* Whether there is such an object. */
static bool is_there(struct volume *v, const char *oid)
{
	uint64_t size;
	int err = pool_size(pool(v), oid, &size);

	ck_assert(err == 0 || err == -ENOENT);
	return err == 0;
}

static struct pool_entry entry_of(struct volume *v, const char *name)
{
	struct pool_entry e;

	ck_assert_int_eq(pool_find(pool(v), name, &e), 0);
	return e;
}

static void part_of(struct volume *v, const char *name, uint64_t part,
		    char *oid)
{
	pool_part_name(name, entry_of(v, name).nonce, part, oid);
}

/* Waits until there is no garbage. */
static void collected(struct volume *v)
{
	struct pool_volume *p = pool(v);
	bool any = true;
	int i;

	for (i = 0; any && i < 1000; i++) {
		usleep(10000);
		pthread_mutex_lock(&p->lock);
		any = p->garbage != NULL;
		pthread_mutex_unlock(&p->lock);
	}
	ck_assert(!any);
	usleep(100000); /* the last one is taken from the list first */
}

START_TEST(an_append_of_the_deposed_is_in_no_part)
{
	struct volume *v = kind->open(), *other;
	struct log *l;
	char oid[POOL_PART_NAME_SIZE];
	uint64_t size;

	take(v, "first");
	l = make_log(v, "1.log", "one");
	ck_assert_int_eq(v->ops->log_sync(l), 0);
	other = depose(v);
	ck_assert_int_eq(v->ops->log_append(l, bytes_string("two")), 0);
	ck_assert_int_eq(v->ops->log_sync(l), -ERR_store_lost);
	part_of(other, "1.log", 0, oid);
	ck_assert_int_eq(pool_size(pool(other), oid, &size), 0);
	ck_assert_uint_eq(size, 3);
	check_content(other, "1.log", "one");
	v->ops->log_close(l);
	end(other, v);
}
END_TEST

START_TEST(a_part_of_the_deposed_is_not_made)
{
	char oid[POOL_PART_NAME_SIZE], fence[POOL_NUMBER_SIZE];
	struct volume *v = kind->open(), *other;
	struct log *l;
	int err;

	take(v, "first");
	ck_assert_int_eq(v->ops->log_create(v, "1.log", &l), 0);
	other = depose(v);
	err = v->ops->log_append(l, bytes_string("late"));
	ck_assert(err == 0 || err == -ERR_store_lost);
	ck_assert_int_eq(v->ops->log_sync(l), -ERR_store_lost);
	check_content(other, "1.log", "");
	ck_assert_uint_eq(entry_of(other, "1.log").state, POOL_FINAL);
	/* It was made by who took the lease. */
	part_of(other, "1.log", 0, oid);
	ck_assert_int_eq(
		pool_xattr(pool(other), oid, POOL_FENCE, fence, sizeof(fence)),
		0);
	ck_assert_str_eq(fence, pool(other)->fence);
	v->ops->log_close(l);
	end(other, v);
}
END_TEST

/* Nor the next one, where the first is full. */
START_TEST(nor_is_the_next_part)
{
	struct volume *v = kind->open(), *other;
	struct buf full = BUF_INIT;
	char oid[POOL_PART_NAME_SIZE];
	struct log *l;

	take(v, "first");
	ck_assert_int_eq(buf_reserve(&full, POOL_LOG_PART), 0);
	memset(full.data, 'x', POOL_LOG_PART);
	ck_assert_int_eq(v->ops->log_create(v, "1.log", &l), 0);
	ck_assert_int_eq(
		v->ops->log_append(l, bytes_of(full.data, POOL_LOG_PART)), 0);
	ck_assert_int_eq(v->ops->log_sync(l), 0);
	other = depose(v);
	(void)v->ops->log_append(l, bytes_string("late"));
	ck_assert_int_eq(v->ops->log_sync(l), -ERR_store_lost);
	ck_assert_uint_eq(entry_of(other, "1.log").size, POOL_LOG_PART);
	part_of(other, "1.log", 2, oid);
	ck_assert(!is_there(other, oid));
	buf_release(&full);
	v->ops->log_close(l);
	end(other, v);
}
END_TEST

/* A log that is gone is not begun anew by who wrote it. */
START_TEST(what_was_removed_stays_so)
{
	struct volume *v = kind->open(), *other;
	char oid[POOL_PART_NAME_SIZE];
	struct log *l;

	take(v, "first");
	l = make_log(v, "1.log", "one");
	ck_assert_int_eq(v->ops->log_sync(l), 0);
	part_of(v, "1.log", 0, oid);
	ck_assert(is_there(v, oid));
	other = depose(v);
	ck_assert_int_eq(other->ops->remove(other, "1.log"), 0);
	collected(other);
	ck_assert(!is_there(other, oid));
	(void)v->ops->log_append(l, bytes_string("two"));
	ck_assert_int_eq(v->ops->log_sync(l), -ERR_store_lost);
	ck_assert(!is_there(other, oid));
	v->ops->log_close(l);
	end(other, v);
}
END_TEST

/* Where nobody stands in the way of its part any more. */
START_TEST(a_log_that_was_removed_is_not_begun)
{
	struct volume *v = kind->open(), *other;
	struct log *l;

	take(v, "first");
	ck_assert_int_eq(v->ops->log_create(v, "1.log", &l), 0);
	other = depose(v);
	ck_assert_int_eq(other->ops->remove(other, "1.log"), 0);
	collected(other);
	(void)v->ops->log_append(l, bytes_string("late"));
	ck_assert_int_eq(v->ops->log_sync(l), -ERR_store_lost);
	v->ops->log_close(l);
	end(other, v);
}
END_TEST

START_TEST(the_root_is_the_holders)
{
	struct volume *v = kind->open(), *other;

	take(v, "first");
	ck_assert_int_eq(v->ops->root_swap(v, 0, bytes_string("one")), 0);
	other = depose(v);
	ck_assert_int_eq(v->ops->root_swap(v, 1, bytes_string("late")),
			 -ERR_store_lost);
	check_root(other, 1, "one");
	ck_assert_int_eq(v->ops->lease_check(v), -ERR_store_lost);
	end(other, v);
}
END_TEST

/* Each call is the first of a holder that was deposed. */
static void check_refused(int which)
{
	struct volume *v = kind->open(), *other;
	struct segment_writer *w = NULL;
	struct log *l = NULL;
	int err = 0;

	take(v, "first");
	write_segment(v, "kept.sst", "kept");
	ck_assert_int_eq(v->ops->segment_create(v, "w.sst", &w), 0);
	ck_assert_int_eq(v->ops->segment_append(w, bytes_string("w")), 0);
	other = depose(v);
	switch (which) {
	case 0:
		err = v->ops->segment_finish(w);
		w = NULL;
		break;
	case 1:
		err = v->ops->remove(v, "kept.sst");
		break;
	case 2:
		err = v->ops->log_create(v, "n.log", &l);
		break;
	case 3:
		err = v->ops->note(v, bytes_string("late\n"), 1000);
		break;
	case 4:
		err = v->ops->heat_replace(v, bytes_string("late"));
		break;
	case 5:
		err = v->ops->lease_describe(v, "late");
		break;
	}
	ck_assert_int_eq(err, -ERR_store_lost);
	if (w)
		v->ops->segment_abandon(w);
	check_absent(other, "w.sst");
	check_absent(other, "n.log");
	check_content(other, "kept.sst", "kept");
	end(other, v);
}

START_TEST(each_change_is_the_holders)
{
	check_refused(_i);
}
END_TEST

static int count_garbage(void *context, const char *key,
			 const struct pool_entry *e)
{
	(void)key;
	*(unsigned int *)context += e->state == POOL_GARBAGE;
	return 0;
}

static unsigned int garbage_of(struct volume *v)
{
	unsigned int count = 0;

	ck_assert_int_eq(pool_each(pool(v), count_garbage, &count), 0);
	return count;
}

/* Objects of the store. */
static unsigned int count_objects(struct volume *v)
{
	rados_list_ctx_t list;
	const char *oid;
	unsigned int count = 0;

	ck_assert_int_eq(rados_nobjects_list_open(pool(v)->io, &list), 0);
	while (rados_nobjects_list_next(list, &oid, NULL, NULL) == 0)
		count++;
	rados_nobjects_list_close(list);
	return count;
}

START_TEST(what_is_not_finished_is_removed_by_the_next)
{
	struct volume *v = kind->open(), *other;
	struct segment_writer *w;
	char *data = calloc(1, 3 << 20);
	unsigned int before = count_objects(v);

	take(v, "first");
	ck_assert_int_eq(v->ops->segment_create(v, "w.sst", &w), 0);
	ck_assert_int_eq(v->ops->segment_append(w, bytes_of(data, 3 << 20)), 0);
	free(data);
	ck_assert_uint_eq(garbage_of(v), 1);
	usleep(500000); /* they arrive */
	ck_assert_uint_gt(count_objects(v), before);
	other = depose(v);
	collected(other);
	ck_assert_uint_eq(garbage_of(other), 0);
	ck_assert_uint_eq(count_objects(other), before);
	v->ops->segment_abandon(w);
	end(other, v);
}
END_TEST

static int note_stray(void *context, const char *object)
{
	ck_assert_int_eq(strncmp(object, "w.sst.", 6), 0);
	++*(unsigned int *)context;
	return 0;
}

static unsigned int count_strays(struct volume *v)
{
	unsigned int count = 0;

	ck_assert_int_eq(v->ops->strays(v, note_stray, &count), 0);
	return count;
}

/* What comes when it was removed already is in nobody's way, and is told. */
START_TEST(what_is_sent_late_is_told)
{
	struct volume *v = kind->open(), *other;
	struct segment_writer *w;
	char *data = calloc(1, 2 << 20);

	take(v, "first");
	write_segment(v, "a.sst", "a");
	ck_assert_int_eq(v->ops->segment_create(v, "w.sst", &w), 0);
	ck_assert_int_eq(v->ops->segment_append(w, bytes_of(data, 2 << 20)), 0);
	usleep(500000); /* they arrive */
	ck_assert_uint_eq(count_strays(v), 0);
	other = depose(v);
	collected(other);
	ck_assert_uint_eq(count_strays(other), 0);
	ck_assert_int_eq(v->ops->segment_append(w, bytes_of(data, 2 << 20)), 0);
	usleep(500000);
	ck_assert_uint_eq(count_strays(other), 1);
	free(data);
	v->ops->segment_abandon(w);
	end(other, v);
}
END_TEST

START_TEST(a_file_is_read_on)
{
	enum { COUNT = 300000 };
	struct volume *v = kind->open();
	struct segment_writer *w;
	uint32_t *numbers = malloc(COUNT * sizeof(*numbers));
	uint32_t got[1000], i, j;
	struct reader *r;

	for (i = 0; i < COUNT; i++)
		numbers[i] = i;
	ck_assert_int_eq(v->ops->segment_create(v, "1.sst", &w), 0);
	ck_assert_int_eq(
		v->ops->segment_append(
			w, bytes_of(numbers, COUNT * sizeof(*numbers))),
		0);
	ck_assert_int_eq(v->ops->segment_finish(w), 0);
	free(numbers);
	ck_assert_int_eq(v->ops->open(v, "1.sst", &r), 0);
	for (i = 0; i < COUNT; i += 1000) {
		ck_assert_int_eq(v->ops->pread(r, i * 4, got, sizeof(got)), 0);
		for (j = 0; j < 1000; j++)
			ck_assert_uint_eq(got[j], i + j);
		/* And elsewhere in between, now and then. */
		if (i % 7000 != 0)
			continue;
		ck_assert_int_eq(v->ops->pread(r, 40, got, 4), 0);
		ck_assert_uint_eq(got[0], 10);
	}
	v->ops->reader_close(r);
	end(NULL, v);
}
END_TEST

/* A file of parts, and who reads it on in pieces of so many bytes. */
struct reading {
	struct reader *reader;
	const uint8_t *bytes;
	size_t piece;
	bool wrong;
};

static void *read_on(void *context)
{
	struct reading *a = context;
	uint64_t size = a->reader->size, at, n;
	uint8_t *got = malloc(a->piece);

	for (at = 0; at < size && !a->wrong; at += n) {
		n = size - at < a->piece ? size - at : a->piece;
		a->wrong = a->reader->ops->pread(a->reader, at, got, n) != 0 ||
			   memcmp(got, a->bytes + at, n) != 0;
	}
	free(got);
	return NULL;
}

/* By one reader and by several, two of which are the same one; the last ends
 * while more is on its way to it. */
START_TEST(many_read_on)
{
	static const size_t pieces[] = { 4093, 70001, 600000, 5000, 5000 };
	enum { SIZE = 9 * (1 << 20) + 17, COUNT = 5 };
	struct volume *v = kind->open();
	uint8_t *bytes = malloc(SIZE);
	struct reading readings[COUNT];
	pthread_t threads[COUNT];
	struct segment_writer *w;
	struct reader *r;
	uint32_t i;

	for (i = 0; i < SIZE; i++)
		bytes[i] = (uint8_t)(i * UINT32_C(2654435761) >> 24);
	ck_assert_int_eq(v->ops->segment_create(v, "1.sst", &w), 0);
	ck_assert_int_eq(v->ops->segment_append(w, bytes_of(bytes, SIZE)), 0);
	ck_assert_int_eq(v->ops->segment_finish(w), 0);
	for (i = 0; i < COUNT; i++) {
		ck_assert_int_eq(v->ops->open(v, "1.sst", &r), 0);
		if (i == COUNT - 1) {
			v->ops->reader_close(r);
			r = readings[i - 1].reader;
		}
		readings[i] = (struct reading){ r, bytes, pieces[i], false };
		pthread_create(&threads[i], NULL, read_on, &readings[i]);
	}
	for (i = 0; i < COUNT; i++)
		pthread_join(threads[i], NULL);
	for (i = 0; i < COUNT; i++)
		ck_assert(!readings[i].wrong);
	for (i = 0; i < COUNT - 1; i++) {
		r = readings[i].reader;
		ck_assert_int_eq(v->ops->pread(r, 0, bytes, 100), 0);
		ck_assert_int_eq(v->ops->pread(r, 100, bytes, 500000), 0);
		v->ops->reader_close(r);
	}
	free(bytes);
	end(NULL, v);
}
END_TEST

START_TEST(places_are_told_apart)
{
	static const char *const wrong[] = { "",         "pool",
					     "pool/",    "/name",
					     "pool/a b", "@pool/name",
					     "pool/a/b" };
	struct volume *v;
	size_t i;

	for (i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		ck_assert_int_eq(volume_rados_open(wrong[i], true, &v),
				 -EINVAL);
		ck_assert_ptr_nonnull(strstr(err_detail(), "rados:POOL/NAME"));
	}
	ck_assert_int_eq(volume_rados_open("no-such-pool/x", true, &v), -ENXIO);
	ck_assert_ptr_nonnull(strstr(err_detail(), "ceph osd pool create"));
	ck_assert_int_eq(volume_rados_open(place, false, &v), -ENOENT);
	ck_assert_ptr_null(v);
	ck_assert_int_eq(setenv("CEPH_CONF", "/nowhere/ceph.conf", 1), 0);
	ck_assert_int_eq(volume_rados_open(place, false, &v), -ENXIO);
	ck_assert_ptr_nonnull(strstr(err_detail(), "CEPH_CONF"));
}
END_TEST

START_TEST(a_holder_is_told)
{
	struct volume *v = kind->open();
	struct buf line = BUF_INIT;
	struct volume_mark mark;
	bool here = false;

	ck_assert_int_eq(volume_rados_holder(place, &line, &here), -ENOENT);
	take(v, "a holder");
	ck_assert_int_eq(volume_rados_holder(place, &line, &here), 0);
	ck_assert(bytes_equal(buf_bytes(&line), BYTES_LITERAL("a holder")));
	ck_assert(here);
	ck_assert_int_eq(volume_rados_marked(place, &mark), 0);
	ck_assert_uint_eq(mark.place, v->mark.place);
	ck_assert_uint_eq(mark.holder, v->mark.holder);
	buf_release(&line);
	end(NULL, v);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("pool");
	TCase *tcase = tcase_create("pool");
	SRunner *runner = srunner_create(suite);
	int failed;

	suite_add_tcase(suite, tcase);
	tcase_set_timeout(tcase, 600);
	tcase_add_checked_fixture(tcase, kinds[0].set_up, tear_down);
	tcase_add_test(tcase, an_append_of_the_deposed_is_in_no_part);
	tcase_add_test(tcase, a_part_of_the_deposed_is_not_made);
	tcase_add_test(tcase, nor_is_the_next_part);
	tcase_add_test(tcase, what_was_removed_stays_so);
	tcase_add_test(tcase, a_log_that_was_removed_is_not_begun);
	tcase_add_test(tcase, the_root_is_the_holders);
	tcase_add_loop_test(tcase, each_change_is_the_holders, 0, 6);
	tcase_add_test(tcase, what_is_sent_late_is_told);
	tcase_add_test(tcase, what_is_not_finished_is_removed_by_the_next);
	tcase_add_test(tcase, a_file_is_read_on);
	tcase_add_test(tcase, many_read_on);
	tcase_add_test(tcase, places_are_told_apart);
	tcase_add_test(tcase, a_holder_is_told);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
