#include "store/base/backups/backups.h"
#include "tests/unit/backups_directory.h"

/*
 * Directories of backups: what a later one copies and shares, whose they are,
 * and which are removed.
 */
START_TEST(a_later_one_copies_what_is_new)
{
	struct backup_result first, second, third;
	struct listed l;

	put("a", 1, 3000);
	put("b", 1, 50);
	first = back_up(0, false);
	ck_assert_uint_eq(first.shared_count + first.linked_count, 0);
	ck_assert_uint_eq(first.copied_size, first.size);
	put("c", 1, 50);
	second = back_up(0, false);
	ck_assert_uint_eq(second.copied_count, 1);
	ck_assert_uint_eq(second.shared_count, first.copied_count);
	third = back_up(0, false);
	ck_assert_uint_eq(third.copied_count, 0);
	ck_assert_int_lt(strcmp(first.moment, second.moment), 0);
	ck_assert_uint_eq(rows_of(first.moment, 1), 2);
	ck_assert_uint_eq(rows_of(second.moment, 1), 3);
	ck_assert_uint_eq(rows_of(third.moment, 1), 3);
	ck_assert_uint_eq(rows_of("latest", 1), 3);
	/* Nothing of the store's is shared with it. */
	shell("[ -z \"$(find $s -name '*.sst' -links +1)\" ]");
	l = list();
	ck_assert_uint_eq(l.count, 3);
	ck_assert_uint_lt(l.items[2].own_size, 2000);
	/* What no other has is the last one's. */
	shell("cd $b && rm -r $(ls -d 2* | head -n 2)");
	l = list();
	ck_assert_uint_eq(l.count, 1);
	ck_assert_uint_eq(l.items[0].own_size, l.items[0].size);
	ck_assert_uint_eq(rows_of(third.moment, 1), 3);
	ck_assert_uint_eq(back_up(0, false).copied_count, 0);
}
END_TEST

START_TEST(links_to_the_store_are_asked_for)
{
	struct backup_result r;

	put("a", 1, 50);
	r = back_up(0, true);
	ck_assert_uint_eq(r.linked_count, 1);
	ck_assert_uint_eq(r.copied_count, 0);
	ck_assert_uint_eq(back_up(0, true).shared_count, 1);
	/* What is linked is no second copy. */
	r = back_up(0, false);
	ck_assert_uint_eq(r.copied_count, 1);
	ck_assert_uint_eq(back_up(0, false).shared_count, 1);
	ck_assert_uint_eq(rows_of("latest", 1), 1);
}
END_TEST

/* A file of the same name and size that is another one: of two copies of a
 * store, with one id, that went on by themselves. */
START_TEST(another_file_of_the_same_name_is_copied)
{
	struct backup_result r;

	put("a", 1, 50);
	ck_assert_int_eq(store_close(store), 0);
	shell("cp -a $s $s.copy");
	open_store();
	put("b", 1, 50);
	r = back_up(0, false);
	ck_assert_uint_eq(rows_of(r.moment, 1), 2);
	ck_assert_int_eq(store_close(store), 0);
	shell("mv $s $s.first && mv $s.copy $s");
	open_store();
	put("b", 2, 50);
	put("a", 2, 50);
	r = back_up(0, false);
	ck_assert_uint_eq(r.damaged_count, 0);
	ck_assert_uint_eq(rows_of(r.moment, 2), 2);
	/* The same files elsewhere are read, and then known. */
	ck_assert_int_eq(store_close(store), 0);
	shell("cp -r $s $s.moved && rm -r $s && mv $s.moved $s");
	open_store();
	r = back_up(0, false);
	ck_assert_uint_eq(r.copied_count, 0);
	ck_assert_uint_gt(r.shared_count, 0);
}
END_TEST

START_TEST(another_store_is_refused)
{
	put("a", 1, 50);
	back_up(0, false);
	ck_assert_int_eq(store_close(store), 0);
	shell("sed -n 2p $b/backups >$b.id; mv $s $s.first");
	open_store();
	refuse_backup(-ERR_foreign_backups, "and this is store ");
	shell("grep -q . $b.id && [ $(ls -d $b/2* | wc -l) = 1 ]");
	/* Nor is one that was set back. */
	ck_assert_int_eq(store_close(store), 0);
	shell("rm -r $s && cp -a $s.first $s");
	open_store();
	put("b", 1, 50);
	put("c", 1, 50);
	back_up(0, false);
	ck_assert_int_eq(store_close(store), 0);
	shell("rm -r $s && cp -a $s.first $s");
	open_store();
	refuse_backup(-ERR_foreign_backups, "it is an older copy");
	shell("[ $(ls -d $b/2* | wc -l) = 2 ]");
}
END_TEST

/* As backup_source.unpin. */
static int lose(void *context)
{
	struct backup_pin **pinned = context;

	store_unpin(store, *pinned);
	return fail(ENOTCONN, "lost");
}

/* A directory without a backup is nobody's, whoever has tried. */
START_TEST(a_failure_binds_nobody)
{
	struct backup_pin *pinned;
	struct backup_source from = { store_volume(store), pin, lose, &pinned };
	struct backup_options o = { 0, false };
	struct backup_result r;

	put("a", 1, 50);
	ck_assert_int_eq(backup_make(&from, backups, &o, &r), -ENOTCONN);
	ck_assert_uint_eq(list().count, 0);
	ck_assert_int_eq(store_close(store), 0);
	shell("rm -r $s");
	open_store();
	r = back_up(0, false);
	shell("rm -r $b/2*");
	ck_assert_int_eq(store_close(store), 0);
	shell("rm -r $s");
	open_store();
	back_up(0, false);
	ck_assert_uint_eq(list().count, 1);
}
END_TEST

START_TEST(directories_of_others_stay)
{
	char kept[96];

	snprintf(kept, sizeof(kept), "%s", backups);
	put("a", 1, 50);
	/* A store, as a former release made it. */
	shell("cp -a $s $b && (cd $b && sha256sum *.* >../sums)");
	refuse_backup(-ERR_not_backups, "is a store");
	shell("cd $b && sha256sum -c --quiet ../sums");
	shell("rm -r $b && mkdir $b && touch $b/mine");
	refuse_backup(-ERR_not_backups, "such as mine");
	shell("[ \"$(ls -A $b)\" = mine ]");
	ck_assert_int_eq(backup_list(backups, false, add, NULL),
			 -ERR_not_backups);
	snprintf(backups, sizeof(backups), "%s/none", top);
	ck_assert_int_eq(backup_list(backups, false, add, NULL), -ENOENT);
	snprintf(backups, sizeof(backups), "%s", kept);
}
END_TEST

START_TEST(older_ones_are_removed)
{
	struct backup_result r;
	struct store_options o;
	struct store *reader;
	char path[160];
	int i;

	for (i = 0; i < 4; i++) {
		put("a", 1, (size_t)i + 1);
		r = back_up(2, false);
	}
	ck_assert_uint_eq(r.removed_count, 1);
	ck_assert_uint_eq(list().count, 2);
	/* One that somebody reads stays until later. */
	o = options;
	o.read_only = true;
	snprintf(path, sizeof(path), "%s/%s", backups, list().items[0].moment);
	ck_assert_int_eq(store_open(path, &o, &reader), 0);
	put("a", 1, 9);
	r = back_up(1, false);
	ck_assert_uint_eq(r.removed_count, 1);
	ck_assert_uint_eq(r.busy_count, 1);
	ck_assert_uint_eq(list().count, 2);
	ck_assert_int_eq(store_close(reader), 0);
	/* One that was written to is a store of its own. */
	ck_assert_int_eq(store_open(path, &options, &reader), 0);
	ck_assert_int_eq(store_close(reader), 0);
	r = back_up(1, false);
	ck_assert_uint_eq(r.removed_count, 1);
	ck_assert_uint_eq(r.busy_count, 0);
	ck_assert_uint_eq(list().count, 2);
	ck_assert(list().items[0].was_written_to);
	ck_assert(!list().items[1].was_written_to);
}
END_TEST

START_TEST(what_a_kill_left_goes)
{
	struct backup_options o = { 0, false };
	struct backup_result r;
	struct backups *b;

	put("a", 1, 50);
	r = back_up(0, false);
	shell("cd $b && cp -r latest/ 20990105T101112.131415Z.partial && "
	      "touch 20990105T101112.131415Z.partial/x.sst.tmp && "
	      "touch backups.tmp");
	ck_assert_uint_eq(list().count, 1);
	/* But not while another command is there. */
	ck_assert_int_eq(backups_open(backups, true, &b), 0);
	ck_assert_int_eq(backups_lock(b, "somebody, pid 1"), 0);
	ck_assert_int_eq(store_backup(store, backups, &o, &r), -EBUSY);
	ck_assert_ptr_nonnull(strstr(err_detail(), "somebody, pid 1"));
	backups_close(b);
	back_up(0, false);
	shell("cd $b && [ \"$(ls | grep -vc ^2)\" = 3 ] && "
	      "! ls -d *.partial 2>/dev/null");
}
END_TEST

/* Before there is a marker, and so nothing tells whose it is. */
START_TEST(what_a_kill_left_of_the_first_goes)
{
	struct backups *b;

	put("a", 1, 50);
	/* While the first is made, it is the second that waits. */
	ck_assert_int_eq(backups_open(backups, true, &b), 0);
	ck_assert_int_eq(backups_lock(b, "somebody, pid 1"), 0);
	shell("cd $b && mkdir -m 700 20990105T101112.131415Z.partial && "
	      "touch backups.tmp 20990105T101112.131415Z.partial/tabletfs.tmp");
	refuse_backup(-EBUSY, "somebody, pid 1");
	backups_close(b);
	back_up(0, false);
	shell("cd $b && ! ls -d *.partial *.tmp 2>/dev/null");
	/* But what is not of a backup is somebody's. */
	shell("rm -r $b && mkdir -p -m 700 $b/x.partial");
	refuse_backup(-ERR_not_backups, "such as x.partial");
}
END_TEST

START_TEST(a_clock_that_is_set_back)
{
	struct backup_result r;

	put("a", 1, 50);
	r = back_up(0, false);
	shell("cd $b && mv 2* 20990105T101112.131415Z");
	r = back_up(0, false);
	ck_assert_str_eq(r.moment, "20990105T101112.131416Z");
	ck_assert_str_eq(back_up(0, false).moment, "20990105T101112.131417Z");
	ck_assert_uint_eq(r.shared_count, 1);
	ck_assert_str_eq(list().items[1].moment, r.moment);
}
END_TEST

START_TEST(backups_are_found)
{
	struct buf path = BUF_INIT;
	struct backup_result r;
	char name[160];

	put("a", 1, 50);
	back_up(0, false);
	r = back_up(0, false);
	ck_assert_int_eq(backup_find(backups, &path), 0);
	ck_assert_ptr_nonnull(strstr((char *)path.data, r.moment));
	snprintf(name, sizeof(name), "%s@%.8s", backups, r.moment);
	ck_assert_int_eq(backup_find(name, &path), 0);
	ck_assert_ptr_nonnull(strstr((char *)path.data, r.moment));
	snprintf(name, sizeof(name), "%s@1999", backups);
	ck_assert_int_eq(backup_find(name, &path), -ERR_no_backup);
	ck_assert_ptr_nonnull(strstr(err_detail(), "1999"));
	ck_assert_ptr_nonnull(strstr(err_detail(), r.moment));
	snprintf(name, sizeof(name), "%s/%s", backups, r.moment);
	ck_assert_int_eq(backup_find(name, &path), 0);
	ck_assert_str_eq((char *)path.data, name);
	snprintf(name, sizeof(name), "%s/none@1", top);
	ck_assert_int_eq(backup_find(name, &path), -ENOENT);
	buf_release(&path);
}
END_TEST

int main(void)
{
	const TTest *tests[] = {
		a_later_one_copies_what_is_new,
		links_to_the_store_are_asked_for,
		another_file_of_the_same_name_is_copied,
		another_store_is_refused,
		a_failure_binds_nobody,
		directories_of_others_stay,
		older_ones_are_removed,
		what_a_kill_left_goes,
		what_a_kill_left_of_the_first_goes,
		a_clock_that_is_set_back,
		backups_are_found,
	};

	return run_suite("backups", begin, end, tests,
			 sizeof(tests) / sizeof(tests[0]));
}
