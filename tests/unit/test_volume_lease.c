#include "tests/unit/volume_kinds.h"

/* What volume.h promises of the lease: who writes, and that none else does. */

START_TEST(a_second_holder_is_refused)
{
	struct volume *v = kind->open(), *other = kind->open_again(v);

	take(v, "first, a long line");
	ck_assert_int_eq(other->ops->lease_take(other, "second", NULL, NULL),
			 -ERR_store_in_use);
	ck_assert_ptr_nonnull(strstr(err_detail(), "first, a long line"));
	ck_assert_int_eq(v->ops->lease_take(v, "again", NULL, NULL),
			 -ERR_store_in_use);
	ck_assert_ptr_nonnull(strstr(err_detail(), "first, a long line"));
	ck_assert_int_eq(v->ops->lease_check(v), 0);
	ck_assert_int_eq(v->ops->root_swap(v, 0, bytes_string("one")), 0);
	end(other, v);
}
END_TEST

START_TEST(a_holder_describes_itself)
{
	struct volume *v = kind->open(), *other = kind->open_again(v);

	ck_assert_int_eq(v->ops->lease_describe(v, "nobody"), -EINVAL);
	take(v, "first, a long line");
	ck_assert_int_eq(v->ops->lease_describe(v, "short"), 0);
	ck_assert_int_eq(other->ops->lease_take(other, "second", NULL, NULL),
			 -ERR_store_in_use);
	ck_assert_ptr_nonnull(strstr(err_detail(), "short"));
	ck_assert_ptr_null(strstr(err_detail(), "long"));
	end(other, v);
}
END_TEST

START_TEST(a_released_lease_is_free)
{
	struct volume *v = kind->open(), *other = kind->open_again(v);

	take(v, "first");
	v->ops->lease_release(v);
	v->ops->lease_release(v);
	take(other, "second");
	ck_assert_int_eq(v->ops->lease_take(v, "first", NULL, NULL),
			 -ERR_store_in_use);
	ck_assert_ptr_nonnull(strstr(err_detail(), "second"));
	end(other, v);
}
END_TEST

START_TEST(the_end_releases)
{
	struct volume *v = kind->open(), *other = kind->open_again(v);

	take(other, "second");
	end(NULL, other);
	take(v, "first");
	end(NULL, v);
}
END_TEST

START_TEST(readers_share)
{
	struct volume *v = kind->open(), *other = kind->open_again(v);

	/* Of a volume that had a writer. */
	take(v, "a writer");
	v->ops->lease_release(v);
	ck_assert_int_eq(v->ops->lease_check(v), -ERR_store_lost);
	ck_assert_int_eq(v->ops->lease_share(v), 0);
	ck_assert_int_eq(v->ops->lease_check(v), 0);
	ck_assert_int_eq(other->ops->lease_share(other), 0);
	ck_assert_int_eq(other->ops->lease_check(other), 0);
	v->ops->lease_release(v);
	ck_assert_int_eq(v->ops->lease_check(v), -ERR_store_lost);
	ck_assert_int_eq(v->ops->lease_take(v, "a writer", NULL, NULL),
			 -ERR_store_in_use);
	other->ops->lease_release(other);
	ck_assert_int_eq(other->ops->lease_check(other), -ERR_store_lost);
	take(v, "a writer");
	ck_assert_int_eq(other->ops->lease_share(other), -ERR_store_in_use);
	ck_assert_ptr_nonnull(strstr(err_detail(), "a writer"));
	end(other, v);
}
END_TEST

START_TEST(who_never_took_it_is_not_asked)
{
	struct volume *v = kind->open();

	ck_assert_int_eq(v->ops->lease_check(v), 0);
	v->ops->lease_release(v);
	ck_assert_int_eq(v->ops->lease_check(v), 0);
	write_segment(v, "1.sst", "x");
	end(NULL, v);
}
END_TEST

/* Every call that would change something, of one that is no holder any more. */
static void check_changes_nothing(struct volume *v, struct volume *to)
{
	const uint64_t size = 1 << 16;
	struct segment_writer *w;
	struct log *l;

#define LOST(call) ck_assert_int_eq(v->ops->call, -ERR_store_lost)
	LOST(segment_create(v, "n.sst", &w));
	ck_assert_ptr_null(w);
	LOST(segment_from_spare(v, "n.sst", 1, &w));
	LOST(log_create(v, "n.log", &l));
	ck_assert_ptr_null(l);
	LOST(log_from_spare(v, "n.log", 1, &l));
	LOST(log_keep(v, "kept.log"));
	LOST(spare_hold(v, &size, 1, false));
	LOST(spare_wipe(v));
	LOST(remove(v, "kept.sst"));
	LOST(root_swap(v, 1, bytes_string("late")));
	LOST(note(v, bytes_string("late\n"), 1000));
	LOST(heat_append(v, 0, bytes_string("late")));
	LOST(heat_replace(v, bytes_string("late")));
	LOST(lease_describe(v, "late"));
	LOST(lease_check(v));
	ck_assert_int_eq(to->ops->link(to, "other.sst", v), -ERR_store_lost);
#undef LOST
	ck_assert_ptr_nonnull(strstr(err_detail(), v->path));
	check_content(v, "kept.sst", "kept");
	check_content(v, "kept.log", "kept");
	check_root(v, 1, "root");
}

/* A volume with a holder and what it has; *l is a log that grows and *w a
 * segment under way. */
static struct volume *held(struct log **l, struct segment_writer **w,
			   void (*lost)(void *context), void *context)
{
	struct volume *v = kind->open();

	ck_assert_int_eq(v->ops->lease_take(v, "first", lost, context), 0);
	write_segment(v, "kept.sst", "kept");
	*l = make_log(v, "kept.log", "kept");
	ck_assert_int_eq(v->ops->root_swap(v, 0, bytes_string("root")), 0);
	ck_assert_int_eq(v->ops->segment_create(v, "w.sst", w), 0);
	ck_assert_int_eq(v->ops->segment_append(*w, bytes_string("x")), 0);
	return v;
}

/* What it had open does nothing, too. Ends it. */
static void check_open_ones(struct volume *v, struct log *l,
			    struct segment_writer *w, bool finish)
{
	ck_assert_int_eq(v->ops->log_append(l, bytes_string("late")),
			 -ERR_store_lost);
	ck_assert_int_eq(v->ops->log_sync(l), -ERR_store_lost);
	ck_assert_int_eq(v->ops->log_hold(l, 100000), -ERR_store_lost);
	ck_assert_int_eq(v->ops->segment_append(w, bytes_string("late")),
			 -ERR_store_lost);
	v->ops->log_close(l);
	if (finish)
		ck_assert_int_eq(v->ops->segment_finish(w), -ERR_store_lost);
	else
		v->ops->segment_abandon(w);
	check_absent(v, "w.sst");
	check_content(v, "kept.log", "kept");
}

START_TEST(who_released_changes_nothing)
{
	struct segment_writer *w;
	struct log *l;
	struct volume *v = held(&l, &w, NULL, NULL), *to = elsewhere();

	v->ops->lease_release(v);
	check_changes_nothing(v, to);
	check_open_ones(v, l, w, true);
	to->ops->close(to);
	end(NULL, v);
}
END_TEST

START_TEST(who_takes_it_again_is_a_holder)
{
	struct volume *v = kind->open();

	take(v, "first");
	v->ops->lease_release(v);
	take(v, "first");
	ck_assert_int_eq(v->ops->lease_check(v), 0);
	write_segment(v, "1.sst", "x");
	ck_assert_int_eq(v->ops->root_swap(v, 0, bytes_string("root")), 0);
	end(NULL, v);
}
END_TEST

START_TEST(the_next_holder_goes_on)
{
	struct segment_writer *w, *w2;
	struct log *l;
	struct volume *v = held(&l, &w, NULL, NULL);
	struct volume *other = kind->open_again(v), *to = elsewhere();

	v->ops->lease_release(v);
	take(other, "second");
	ck_assert_int_eq(other->ops->segment_create(other, "w.sst", &w2), 0);
	ck_assert_int_eq(other->ops->segment_append(w2, bytes_string("2nd")),
			 0);
	check_changes_nothing(v, to);
	check_open_ones(v, l, w, false);
	ck_assert_int_eq(other->ops->segment_finish(w2), 0);
	check_content(other, "w.sst", "2nd");
	ck_assert_int_eq(other->ops->root_swap(other, 1, bytes_string("2")), 0);
	check_root(v, 2, "2");
	to->ops->close(to);
	end(other, v);
}
END_TEST

START_TEST(the_dead_give_way)
{
	struct volume *v = kind->open(), *other = kind->open_again(v);

	kind->die_with_lease(v);
	take(other, "second");
	write_segment(other, "1.sst", "x");
	ck_assert_int_eq(other->ops->lease_check(other), 0);
	end(other, v);
}
END_TEST

static void count_call(void *context)
{
	++*(unsigned int *)context;
}

START_TEST(the_deposed_change_nothing)
{
	unsigned int lost = 0;
	struct segment_writer *w;
	struct log *l;
	struct volume *v, *other, *to;

	v = held(&l, &w, count_call, &lost);
	other = kind->open_again(v);
	to = elsewhere();
	ck_assert_int_eq(other->ops->lease_take(other, "second", NULL, NULL),
			 -ERR_store_in_use);
	kind->expire(v);
	ck_assert_int_eq(v->ops->lease_check(v), 0);
	ck_assert_uint_eq(lost, 0);
	take(other, "second");
	check_changes_nothing(v, to);
	check_open_ones(v, l, w, true);
	ck_assert_uint_eq(lost, 1);
	ck_assert_int_eq(other->ops->root_swap(other, 1, bytes_string("2")), 0);
	/* Nor when the next one has gone. */
	other->ops->lease_release(other);
	ck_assert_int_eq(v->ops->root_swap(v, 2, bytes_string("3")),
			 -ERR_store_lost);
	check_root(v, 2, "2");
	take(v, "first");
	ck_assert_int_eq(v->ops->root_swap(v, 2, bytes_string("3")), 0);
	ck_assert_uint_eq(lost, 1);
	to->ops->close(to);
	end(other, v);
}
END_TEST

START_TEST(nobody_is_told_after_release)
{
	unsigned int lost = 0;
	struct volume *v = kind->open(), *other = kind->open_again(v);

	ck_assert_int_eq(v->ops->lease_take(v, "first", count_call, &lost), 0);
	v->ops->lease_release(v);
	take(other, "second");
	ck_assert_int_eq(v->ops->root_swap(v, 0, bytes_string("x")),
			 -ERR_store_lost);
	ck_assert_int_eq(v->ops->lease_check(v), -ERR_store_lost);
	ck_assert_uint_eq(lost, 0);
	end(other, v);
}
END_TEST

START_TEST(what_cannot_be_known_may_pass)
{
	unsigned int lost = 0;
	struct volume *v, *other;

	v = kind->open();
	other = kind->open_again(v);
	ck_assert_int_eq(v->ops->lease_take(v, "first", count_call, &lost), 0);
	ck_assert_uint_gt(v->ops->lease_left(v), 0);
	kind->silence(v, true);
	ck_assert_int_eq(v->ops->lease_check(v), -EAGAIN);
	ck_assert_uint_eq(v->ops->lease_left(v), 0);
	kind->silence(v, false);
	ck_assert_int_eq(v->ops->lease_check(v), 0);
	ck_assert_uint_gt(v->ops->lease_left(v), 0);
	kind->silence(v, true);
	kind->expire(v);
	take(other, "second");
	ck_assert_int_eq(v->ops->lease_check(v), -EAGAIN);
	ck_assert_uint_eq(lost, 0);
	kind->silence(v, false);
	ck_assert_int_eq(v->ops->lease_check(v), -ERR_store_lost);
	ck_assert_uint_eq(lost, 1);
	end(other, v);
}
END_TEST

START_TEST(the_next_holder_sees_all)
{
	struct segment_writer *w;
	struct log *l;
	struct volume *v = held(&l, &w, NULL, NULL);
	struct volume *other = kind->open_again(v);

	ck_assert_int_eq(v->ops->log_sync(l), 0);
	v->ops->lease_release(v);
	take(other, "second");
	check_root(other, 1, "root");
	check_content(other, "kept.sst", "kept");
	check_content(other, "kept.log", "kept");
	check_absent(other, "w.sst");
	ck_assert_int_eq(other->ops->log_keep(other, "kept.log"), 0);
	v->ops->log_close(l);
	v->ops->segment_abandon(w);
	end(other, v);
}
END_TEST

static bool can(const struct kind *k, const TTest *t)
{
	return (k->expire || t != the_deposed_change_nothing) &&
	       (k->silence || t != what_cannot_be_known_may_pass);
}

int main(void)
{
	const TTest *tests[] = {
		a_second_holder_is_refused,
		a_holder_describes_itself,
		a_released_lease_is_free,
		the_end_releases,
		readers_share,
		who_never_took_it_is_not_asked,
		who_released_changes_nothing,
		who_takes_it_again_is_a_holder,
		the_next_holder_goes_on,
		the_dead_give_way,
		the_deposed_change_nothing,
		nobody_is_told_after_release,
		what_cannot_be_known_may_pass,
		the_next_holder_sees_all,
	};

	return run_kinds("volume lease", tests,
			 sizeof(tests) / sizeof(tests[0]), can);
}
