#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "store/base/backups/digests.h"
#include "store/model/admin/backup_one.h"
#include "tests/unit/backups_directory.h"

/*
 * Backups that are damaged, or that others have put there: they are told, stay
 * apart from those that are sound, and lead nowhere.
 */
START_TEST(one_that_is_damaged_is_no_hindrance)
{
	struct backup_result r;

	put("a", 1, 50);
	back_up(0, false);
	put("a", 1, 60);
	back_up(0, false);
	shell("cd $b && rm $(ls -d 2* | head -n 1)/tabletfs");
	ck_assert_uint_eq(list().count, 2);
	ck_assert(list().items[0].is_damaged);
	ck_assert(!list().items[1].is_damaged);
	shell("cd $b && rm latest/root");
	ck_assert(list().items[1].is_damaged);
	r = back_up(1, false);
	ck_assert_uint_eq(r.shared_count, 0);
	ck_assert_uint_eq(r.removed_count, 2);
	ck_assert_uint_eq(rows_of("latest", 1), 1);
}
END_TEST

/* What is to be shared is looked at, and what is damaged is copied again. */
START_TEST(damage_of_one_is_not_shared)
{
	static const char *const damages[] = {
		"truncate -s 100 *.sst",
		"truncate -s +1 *.sst",
		"printf x | dd of=$(ls *.sst) bs=1 seek=9 conv=notrunc",
		"printf x | dd of=$(ls *.blob) bs=1 seek=99 conv=notrunc",
		"rm *.blob",
		"f=$(ls *.sst) && cp $f $b.sst && ln -sf $b.sst $f",
	};
	struct backup_result r;
	char command[160], new[160];
	size_t i;

	snprintf(new, sizeof(new), "%s/new", top);
	put("a", 1, 3000);
	back_up(0, false);
	ck_assert_uint_eq(back_up(0, false).damaged_count, 0);
	for (i = 0; i < sizeof(damages) / sizeof(damages[0]); i++) {
		snprintf(command, sizeof(command),
			 "cd $b/latest/ && { %s; } 2>/dev/null", damages[i]);
		shell(command);
		r = back_up(0, false);
		ck_assert_uint_eq(r.damaged_count, 1);
		ck_assert_uint_eq(r.copied_count, 1);
		ck_assert_uint_eq(r.shared_count, 1);
		ck_assert_ptr_nonnull(
			strstr(damages[i], strchr(r.damaged, '.')));
		ck_assert_uint_eq(rows_of(r.moment, 1), 1);
		ck_assert_int_eq(backup_restore(backups, new, NULL, &r), 0);
		shell("rm -r $b/../new");
	}
}
END_TEST

/* Bytes of the store's last blob file. */
static void spoil_blob(const char *at)
{
	char command[160];

	snprintf(command, sizeof(command),
		 "cd $s && f=$(ls *.blob | tail -n 1) && "
		 "printf '\\377\\0' | dd of=$f bs=1 seek=%s conv=notrunc "
		 "2>/dev/null",
		 at);
	shell(command);
}

/* A large value that the store itself has damaged makes no backup, but what no
 * value refers to is no matter. */
START_TEST(damage_of_the_store_is_found)
{
	char new[160], made[160];
	struct backup_result r;

	snprintf(new, sizeof(new), "%s/new", top);
	/* Two chunks each, in one file. */
	put("a", 1, 2000);
	put("b", 1, 2000);
	small_store_flush(store);
	r = back_up(0, true);
	ck_assert(!list_as(true).items[0].is_damaged);
	shell("mv $b $b.linked");
	spoil_blob("40");
	refuse_backup(-ERR_blob_damaged, "chunk of a large value");
	shell("[ -z \"$(ls -d $b/2* 2>/dev/null)\" ]");
	/* Its file is one of the backup, too, as it was asked for. */
	shell("rm -rf $b && mv $b.linked $b");
	ck_assert(list_as(true).items[0].is_damaged);
	snprintf(made, sizeof(made), "%s/%s", backups, r.moment);
	ck_assert_int_eq(backup_restore(made, new, NULL, &r),
			 -ERR_blob_damaged);
	/* Nothing refers to it any more. */
	shell("rm -r $b");
	put("a", 1, 50);
	small_store_flush(store);
	ck_assert_int_eq(store_compact(store, bytes_string("t")), 0);
	r = back_up(0, false);
	ck_assert_uint_eq(rows_of(r.moment, 1), 2);
	/* Nor to a header, and what a later one copies is looked at, too. */
	put("c", 1, 2000);
	small_store_flush(store);
	spoil_blob("20");
	refuse_backup(-ERR_blob_damaged, "header checksum");
}
END_TEST

/* Until a store has its marker, too; what else is there stays. */
START_TEST(what_a_killed_restore_left_goes)
{
	struct backup_result r;
	char new[160];

	snprintf(new, sizeof(new), "%s/new", top);
	put("a", 1, 50);
	back_up(0, false);
	shell("mkdir -pm 1700 $b/../new.partial/store && "
	      "echo Tablet >$b/../new.partial/store/tabletfs.tmp && "
	      "chmod 1700 $b/../new.partial");
	ck_assert_msg(backup_restore(backups, new, NULL, &r) == 0, "%s",
		      err_detail());
	ck_assert_uint_eq(rows_at(new, 1), 1);
	shell("cd $b/.. && ! ls -d new.* 2>/dev/null && "
	      "mkdir new.partial && mv new new.partial/store");
	ck_assert_int_eq(backup_restore(backups, new, NULL, &r), -EEXIST);
	shell("cd $b/../new.partial && [ -f store/tabletfs ] && "
	      "mkdir store/mine && chmod 1700 .");
	ck_assert_int_eq(backup_restore(backups, new, NULL, &r), -EEXIST);
	shell("[ -d $b/../new.partial/store/mine ]");
}
END_TEST

/* A directory, say, that somebody copied it to. */
START_TEST(a_latest_that_is_no_link_stays)
{
	put("a", 1, 50);
	ck_assert(!back_up(0, false).is_latest_taken);
	shell("cd $b && rm latest && mkdir latest && touch latest/mine");
	ck_assert(back_up(0, false).is_latest_taken);
	shell("cd $b && [ -f latest/mine ] && ! ls latest.tmp 2>/dev/null");
}
END_TEST

/* What was written to is no backup; one that is is named. */
START_TEST(another_is_named)
{
	struct backup_result first, r;
	struct store *written;
	char path[160];

	put("a", 1, 50);
	first = back_up(0, false);
	r = back_up(0, false);
	snprintf(path, sizeof(path), "%s/%s", backups, r.moment);
	ck_assert_int_eq(store_open(path, &options, &written), 0);
	ck_assert_int_eq(store_close(written), 0);
	snprintf(path, sizeof(path), "%s/new", top);
	ck_assert_int_eq(backup_restore(backups, path, NULL, &r), -EINVAL);
	snprintf(path, sizeof(path), "%s@%s is the newest", backups,
		 first.moment);
	ck_assert_msg(strstr(err_detail(), path), "%s", err_detail());
	snprintf(path, sizeof(path), "%s/20990105T101112.131415Z", backups);
	ck_assert_int_eq(backup_restore(backups, path, NULL, &r), -EINVAL);
	ck_assert_ptr_nonnull(strstr(err_detail(), "lies in a directory of"));
	ck_assert_uint_eq(list().count, 2);
}
END_TEST

START_TEST(all_files_are_verified)
{
	struct listed l;
	int i;

	for (i = 0; i < 4; i++) {
		put("a", 1, 3000);
		put("b", 1, (size_t)i + 1);
		back_up(0, i == 3);
	}
	l = list_as(true);
	for (i = 0; i < 4; i++)
		ck_assert(!l.items[i].is_damaged);
	/* What two share; what three do; what nothing tells of. */
	shell("cd $b && f=$(find 2* -name '*.sst' -links 2 | sort | head -n 1)"
	      " && printf x | dd of=$f bs=1 seek=9 conv=notrunc 2>/dev/null");
	l = list_as(true);
	ck_assert_uint_eq(l.items[0].is_damaged + l.items[1].is_damaged +
				  l.items[2].is_damaged + l.items[3].is_damaged,
			  2);
	ck_assert_uint_gt(l.items[0].size, 0);
	shell("cd $b && f=$(find 2* -name '*.blob' -links +2 | sort | sed 1q)"
	      " && printf x | dd of=$f bs=1 seek=9 conv=notrunc 2>/dev/null");
	l = list_as(true);
	ck_assert(l.items[1].is_damaged && l.items[2].is_damaged);
	ck_assert(!list().items[1].is_damaged);
	shell("cd $b && rm latest/digests");
	ck_assert(list_as(true).items[3].is_damaged);
}
END_TEST

/* Of those that are kept, and the one that was just made is. */
START_TEST(one_that_is_damaged_is_none)
{
	struct backup_result first, r;

	put("a", 1, 50);
	first = back_up(0, false);
	back_up(0, false);
	shell("cd $b && rm latest/root");
	r = back_up(2, false);
	ck_assert_uint_eq(r.removed_count, 0);
	ck_assert_uint_eq(rows_of(first.moment, 1), 1);
	ck_assert_uint_eq(rows_of(r.moment, 1), 1);
}
END_TEST

/* Names that somebody else has made. */
START_TEST(moments_that_are_none)
{
	struct backup_result r;

	put("a", 1, 50);
	back_up(0, false);
	shell("cd $b && mkdir $b.other && echo x >$b.other/file && "
	      "ln -s $b.other 20000105T101112.131415Z && "
	      "touch 99991231T235959.999998Z");
	r = back_up(1, false);
	ck_assert_uint_eq(r.removed_count, 1);
	ck_assert_uint_eq(list().count, 1);
	shell("cd $b && [ -L 20000105T101112.131415Z ] && "
	      "[ -f 99991231T235959.999998Z ] && [ -f $b.other/file ] && "
	      "mkdir 99991231T235959.999999Z");
	refuse_backup(-EOVERFLOW, "99991231T235959.999999Z");
	ck_assert_uint_eq(rows_of(r.moment, 1), 1);
	shell("cd $b && rmdir 9*9Z && mkdir 99991231T235959.000000Z");
	r = back_up(1, false);
	ck_assert_str_gt(r.moment, "99991231T235959.000000Z");
	ck_assert_uint_eq(r.removed_count, 2);
	ck_assert_uint_eq(rows_of(r.moment, 1), 1);
}
END_TEST

START_TEST(a_restored_store_is_whole_and_new)
{
	struct backup_result r;
	char new[160];

	snprintf(new, sizeof(new), "%s/new", top);
	put("a", 1, 50);
	put("b", 1, 3000);
	back_up(0, false);
	put("c", 2, 50);
	ck_assert_int_eq(backup_restore(backups, directory, NULL, &r), -EEXIST);
	ck_assert_int_eq(backup_restore(backups, new, NULL, &r), 0);
	ck_assert_uint_eq(rows_at(new, 1), 2);
	ck_assert_uint_eq(r.linked_count + r.shared_count, 0);
	/* Damage of any kind is found, and nothing is left. */
	shell("rm -r $b/../new; cd $b/latest/ && f=$(ls *.sst) && "
	      "printf x | dd of=$f bs=1 seek=9 conv=notrunc 2>/dev/null");
	ck_assert_int_eq(backup_restore(backups, new, NULL, &r),
			 -ERR_check_failed);
	ck_assert_ptr_nonnull(strstr(err_detail(), ".sst"));
	shell("[ ! -e $b/../new ] && [ ! -e $b/../new.partial ]");
	shell("cd $b/latest/ && echo >>digests");
	ck_assert_int_eq(backup_restore(backups, new, NULL, &r),
			 -ERR_check_failed);
	shell("cd $b/latest/ && rm digests");
	ck_assert_int_lt(backup_restore(backups, new, NULL, &r), 0);
	/* And it is no base of the next. */
	ck_assert_uint_eq(back_up(0, false).shared_count, 0);
	ck_assert_int_eq(backup_restore(backups, new, NULL, &r), 0);
}
END_TEST

static unsigned int checks_left;

/* As check of backup_restore, which is stopped after so many files. */
static int count_down(void)
{
	return checks_left-- > 0 ? 0 : fail(ERR_bad_argument, "stopped");
}

START_TEST(a_restore_that_is_stopped_leaves_nothing)
{
	struct backup_result r;
	unsigned int files;
	char new[160];

	snprintf(new, sizeof(new), "%s/new", top);
	put("a", 1, 50);
	put("b", 1, 3000);
	back_up(0, false);
	for (files = 0; files < 2; files++) {
		checks_left = files;
		ck_assert_int_eq(backup_restore(backups, new, count_down, &r),
				 -ERR_bad_argument);
		ck_assert_str_eq(err_detail(), "stopped");
		ck_assert_uint_eq(r.copied_count, files);
		shell("! ls -d $b/../new* 2>/dev/null");
	}
	checks_left = files;
	ck_assert_int_eq(backup_restore(backups, new, count_down, &r), 0);
	ck_assert_uint_eq(r.copied_count, files);
}
END_TEST

/* As backup_source.unpin; it puts a link in the place of what is made, as one
 * who may write to the directory can. */
static int exchange(void *context)
{
	struct backup_pin **pinned = context;

	store_unpin(store, *pinned);
	shell("cd $b && p=$(ls -d *.partial) && mv $p moved && "
	      "mkdir $b.other && ln -s $b.other $p");
	return 0;
}

START_TEST(links_are_not_followed)
{
	struct backup_pin *pinned;
	struct backup_source from = { store_volume(store), pin, exchange,
				      &pinned };
	struct backup_options o = { 0, false };
	struct backup_result r;

	put("a", 1, 50);
	ck_assert_int_eq(backup_make(&from, backups, &o, &r), -ENOTDIR);
	ck_assert_ptr_nonnull(strstr(err_detail(), ".partial"));
	shell("[ -z \"$(ls -A $b.other)\" ]");
	ck_assert_uint_eq(list().count, 0);
}
END_TEST

/* Takes away what the newest backup's digests tell of its first file. */
static void forget_a_file(void)
{
	struct backup_digests d;
	char path[160];

	int at;

	snprintf(path, sizeof(path), "%s/latest", backups);
	at = open(path, O_RDONLY | O_DIRECTORY);
	ck_assert_int_ge(at, 0);
	ck_assert_int_eq(backup_read_digests(at, path, &d), 0);
	d.files[0] = d.files[--d.count];
	ck_assert_int_eq(backup_write_digests(at, path, &d), 0);
	close(at);
	backup_digests_release(&d);
}

/* Without what tells what it was, a backup is taken for none, but one that a
 * former release has made. */
START_TEST(what_nothing_tells_of_is_not_restored)
{
	struct backup_result r;
	char new[160], path[160];

	snprintf(new, sizeof(new), "%s/new", top);
	put("a", 1, 50);
	put("b", 1, 3000);
	r = back_up(0, false);
	snprintf(path, sizeof(path), "%s/%s", backups, r.moment);
	shell("cp -a $b/latest/ $b.former && rm $b.former/digests");
	forget_a_file();
	ck_assert_int_eq(backup_restore(backups, new, NULL, &r),
			 -ERR_check_failed);
	ck_assert_ptr_nonnull(strstr(err_detail(), ".blob: "));
	shell("rm $b/latest/digests");
	ck_assert_int_eq(backup_restore(backups, new, NULL, &r),
			 -ERR_check_failed);
	ck_assert_ptr_nonnull(strstr(err_detail(), "digests"));
	ck_assert_int_eq(backup_restore(path, new, NULL, &r),
			 -ERR_check_failed);
	shell("[ ! -e $b/../new ]");
	snprintf(path, sizeof(path), "%s.former", backups);
	ck_assert_int_eq(backup_restore(path, new, NULL, &r), 0);
	ck_assert_uint_eq(rows_at(new, 1), 2);
}
END_TEST

/* One that cannot be looked at, as it is of a newer format, hides no other, and
 * keeps no new one from being made. */
START_TEST(one_that_cannot_be_read_is_left_alone)
{
	struct backup_result r;
	struct listed l;

	put("a", 1, 50);
	back_up(0, false);
	back_up(0, false);
	back_up(0, false);
	shell("cd $b && echo 'TabletFS store, format 99' "
	      ">$(ls -d 2* | head -n 1)/tabletfs");
	l = list();
	ck_assert_uint_eq(l.count, 3);
	ck_assert_int_eq(l.items[0].err, -ERR_format_newer);
	ck_assert(!l.items[0].is_damaged);
	ck_assert_int_eq(l.items[1].err, 0);
	r = back_up(1, false);
	ck_assert_uint_eq(r.removed_count, 2);
	ck_assert_uint_eq(r.stayed_count, 1);
	ck_assert_ptr_nonnull(strstr(r.stayed_why, "not a format"));
	ck_assert_uint_eq(list().count, 2);
}
END_TEST

/* The most memory that was used, in KiB. */
static long used_memory(void)
{
	struct rusage u;

	ck_assert_int_eq(getrusage(RUSAGE_SELF, &u), 0);
	return u.ru_maxrss;
}

START_TEST(files_without_an_end_take_no_memory)
{
	long before = used_memory();
	struct backup_result r;
	char new[160];

	snprintf(new, sizeof(new), "%s/new", top);
	put("a", 1, 50);
	back_up(0, false);
	shell("truncate -s 1G $b/latest/digests");
	ck_assert_int_eq(backup_restore(backups, new, NULL, &r),
			 -ERR_check_failed);
	ck_assert_ptr_nonnull(strstr(err_detail(), "digests: has more than "));
	ck_assert(list_as(true).items[0].is_damaged);
	ck_assert_uint_eq(back_up(0, false).shared_count, 0);
	shell("truncate -s 1G $b/backups");
	refuse_backup(-ERR_not_backups, "not a format");
	ck_assert_int_lt(used_memory() - before, 512 << 10);
}
END_TEST

static char problems[4000];

static void note_problem(void *context, const char *problem)
{
	size_t size = strlen(problems);

	(void)context;
	snprintf(problems + size, sizeof(problems) - size, "%s\n", problem);
}

/* What a check of the newest backup comes to; problems are what it tells. */
static int check_latest(void)
{
	struct store_options o = options;
	char path[160];
	struct store *s;
	int err;

	snprintf(path, sizeof(path), "%s/latest", backups);
	o.read_only = true;
	problems[0] = 0;
	ck_assert_msg(store_open(path, &o, &s) == 0, "%s", err_detail());
	err = store_check_backup(s, note_problem, NULL);
	ck_assert_int_eq(store_close(s), 0);
	return err;
}

/* Digests that do not tell any more what a backup has to be are told when it is
 * checked, and not when it is needed. */
START_TEST(a_check_looks_at_digests)
{
	put("a", 1, 50);
	put("b", 1, 3000);
	back_up(0, false);
	shell("cp -a $b/latest/digests $b.other");
	put("c", 1, 3000);
	back_up(0, false);
	ck_assert_msg(check_latest() == 0, "%s", err_detail());
	shell("cd $b/latest/ && cp -a digests $b.digests && "
	      "sed -i '2s/ [0-9]* / 1x /' digests");
	ck_assert_int_eq(check_latest(), -ERR_check_failed);
	ck_assert_ptr_nonnull(strstr(problems, "/digests: line 2 is not a "));
	shell("cd $b/latest/ && sed '2s/$/1/' $b.digests >digests");
	ck_assert_int_eq(check_latest(), -ERR_check_failed);
	ck_assert_ptr_nonnull(strstr(problems, " has not the sum of "));
	shell("cd $b/latest/ && head -n 3 $b.digests >digests");
	ck_assert_int_eq(check_latest(), -ERR_check_failed);
	ck_assert_ptr_nonnull(strstr(problems, "line 4 is missing"));
	shell("cd $b/latest/ && cp $b.other digests");
	ck_assert_int_eq(check_latest(), -ERR_check_failed);
	ck_assert_ptr_nonnull(strstr(problems, ": they do not tell of it\n"));
	shell("cd $b/latest/ && rm digests");
	ck_assert_int_eq(check_latest(), -ERR_check_failed);
	ck_assert_ptr_nonnull(strstr(problems, "digests is missing"));
}
END_TEST

/* Of files, each that is not what it was is told. */
START_TEST(a_check_looks_at_what_was_backed_up)
{
	char path[160];
	struct store *s;

	put("s", 1, 3000);
	back_up(0, false);
	shell("cd $b/latest/ && for f in *.blob; do "
	      "printf x | dd of=$f bs=1 seek=$(($(wc -c <$f) / 2)) "
	      "conv=notrunc 2>/dev/null; done");
	ck_assert_int_eq(check_latest(), -ERR_check_failed);
	ck_assert_ptr_nonnull(
		strstr(problems, ".blob: is damaged, it is not "));
	/* It is a store of its own when it was written to. */
	shell("rm -r $b");
	back_up(0, false);
	shell("cd $b/latest/ && rm digests");
	ck_assert_int_eq(check_latest(), -ERR_check_failed);
	snprintf(path, sizeof(path), "%s/latest", backups);
	ck_assert_int_eq(store_open(path, &options, &s), 0);
	ck_assert_int_eq(store_close(s), 0);
	ck_assert_msg(check_latest() == 0, "%s", err_detail());
}
END_TEST

START_TEST(digests_are_not_trusted)
{
	struct backup_digests d = { 0 }, read;
	struct backup_file f = { .size = UINT64_MAX, .has_digest = true };
	struct buf text = BUF_INIT;
	const struct backup_file *found;
	size_t i;

	strcpy(f.name, "b.sst");
	memset(f.digest.bytes, 0xa5, DIGEST_SIZE);
	f.source.inode = 7;
	f.source.written_ns = UINT64_MAX;
	ck_assert_int_eq(backup_digests_add(&d, &f), 0);
	strcpy(f.name, "a.sst");
	f.has_digest = false;
	ck_assert_int_eq(backup_digests_add(&d, &f), 0);
	backup_digests_sort(&d);
	ck_assert_int_eq(backup_digests_encode(&d, &text), 0);
	ck_assert_int_eq(backup_digests_decode("x", buf_bytes(&text), &read),
			 0);
	ck_assert_uint_eq(read.count, 2);
	ck_assert_ptr_null(backup_digests_find(&read, "c.sst"));
	ck_assert(!backup_digests_find(&read, "a.sst")->has_digest);
	found = backup_digests_find(&read, "b.sst");
	ck_assert_uint_eq(found->size, UINT64_MAX);
	ck_assert_uint_eq(found->source.written_ns, UINT64_MAX);
	ck_assert_int_eq(found->digest.bytes[15], 0xa5);
	backup_digests_release(&read);
	for (i = 0; i < text.size; i++) {
		text.data[i] ^= 1;
		ck_assert_int_eq(
			backup_digests_decode("x", buf_bytes(&text), &read),
			-ERR_check_failed);
		text.data[i] ^= 1;
		ck_assert_int_eq(backup_digests_decode(
					 "x", bytes_of(text.data, i), &read),
				 -ERR_check_failed);
	}
	backup_digests_release(&d);
	buf_release(&text);
}
END_TEST

int main(void)
{
	const TTest *tests[] = {
		one_that_is_damaged_is_no_hindrance,
		damage_of_one_is_not_shared,
		damage_of_the_store_is_found,
		what_a_killed_restore_left_goes,
		a_latest_that_is_no_link_stays,
		another_is_named,
		all_files_are_verified,
		one_that_is_damaged_is_none,
		moments_that_are_none,
		a_restored_store_is_whole_and_new,
		a_restore_that_is_stopped_leaves_nothing,
		links_are_not_followed,
		what_nothing_tells_of_is_not_restored,
		one_that_cannot_be_read_is_left_alone,
		files_without_an_end_take_no_memory,
		a_check_looks_at_digests,
		a_check_looks_at_what_was_backed_up,
		digests_are_not_trusted,
	};

	return run_suite("backups_damage", begin, end, tests,
			 sizeof(tests) / sizeof(tests[0]));
}
