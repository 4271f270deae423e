#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/base/backups/backups.h"
#include "store/base/backups/digests.h"
#include "store/base/err.h"
#include "store/base/volume/volume_posix_own.h"
#include "store/model/admin/backup_one.h"
#include "store/model/model.h"
#include "tests/unit/small_store.h"
#include "tests/unit/volume_directory.h"

/*
 * Directories of backups: what a later one copies and shares, whose they are,
 * which are removed, and what becomes of one that is damaged.
 */
static struct store_options options;
static struct store *store; /* at directory */
static char backups[96];    /* a directory, which is not there yet */

static void open_store(void)
{
	small_store_options(&options);
	options.create = true;
	ck_assert_int_eq(store_open(directory, &options, &store), 0);
}

static void begin(void)
{
	struct family_spec family = { .name = BYTES_LITERAL("f") };

	set_up();
	snprintf(backups, sizeof(backups), "%s/backups", top);
	open_store();
	ck_assert_int_eq(
		store_create_table(store, bytes_string("t"), false, &family, 1),
		0);
}

static void end(void)
{
	ck_assert_int_eq(store_close(store), 0);
	tear_down();
}

/* Sets a row to a value of so many of this byte. */
static void put(const char *row, int byte, size_t size)
{
	uint8_t value[4000];
	struct write *w;

	memset(value, byte, size);
	ck_assert_int_eq(write_new(store, &w), 0);
	ck_assert_int_eq(write_row(w, bytes_string("t"), bytes_string(row)), 0);
	ck_assert_int_eq(write_set(w, bytes_string("f"), bytes_string("q"), 1,
				   bytes_of(value, size)),
			 0);
	ck_assert_int_eq(store_commit(store, w, false), 0);
	write_free(w);
}

static struct backup_result back_up(unsigned int keep, bool link)
{
	struct backup_options o = { keep, link };
	struct backup_result r;
	int err = store_backup(store, backups, &o, &r);

	ck_assert_msg(err == 0, "%s", err_detail());
	return r;
}

static void refuse_backup(int wanted, const char *why)
{
	struct backup_options o = { 0, false };
	struct backup_result r;

	ck_assert_int_eq(store_backup(store, backups, &o, &r), wanted);
	ck_assert_msg(strstr(err_detail(), why), "%s", err_detail());
}

/* How many rows the store at a path has, each with this byte; it is sound. */
static unsigned int rows_at(const char *path, uint8_t byte)
{
	struct scan_range range = { .table = BYTES_LITERAL("t") };
	struct store_options o = options;
	unsigned int rows = 0;
	struct store *copy;
	struct scan *scan;
	struct cell cell;

	o.read_only = true;
	ck_assert_msg(store_open(path, &o, &copy) == 0, "%s", err_detail());
	ck_assert_int_eq(scan_open(copy, NULL, &range, &scan), 0);
	while (scan_next(scan, CURSOR_ROW, &cell) == 1) {
		rows++;
		ck_assert(cell.value.size == 0 || cell.value.data[0] == byte);
	}
	scan_close(scan);
	ck_assert_int_eq(store_close(copy), 0);
	return rows;
}

static unsigned int rows_of(const char *moment, uint8_t byte)
{
	char path[160];

	snprintf(path, sizeof(path), "%s/%s", backups, moment);
	return rows_at(path, byte);
}

struct listed {
	struct backup_info items[8];
	size_t count;
};

static int add(void *context, const struct backup_info *info)
{
	struct listed *l = context;

	ck_assert_uint_lt(l->count, 8);
	l->items[l->count++] = *info;
	return 0;
}

static struct listed list_as(bool verify)
{
	struct listed l = { .count = 0 };

	ck_assert_msg(backup_list(backups, verify, add, &l) == 0, "%s",
		      err_detail());
	return l;
}

static struct listed list(void)
{
	return list_as(false);
}

/* Runs a command of the shell, with the paths of the store and the backups. */
static void shell(const char *format)
{
	char command[400];

	snprintf(command, sizeof(command), "s=%s b=%s; set -e; %s", directory,
		 backups, format);
	ck_assert_msg(system(command) == 0, "%s", command);
}

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

/* As those of backup_source. */
static int pin(void *context, struct buf *contents)
{
	return store_pin(store, contents, context);
}

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
		ck_assert_int_eq(backup_restore(backups, new, &r), 0);
		shell("rm -r $b/../new");
	}
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
	shell("cd $b && f=$(find 2* -name '*.blob' -links +2 | sort | head -n 1)"
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

START_TEST(a_clock_that_is_set_back)
{
	struct backup_result r;

	put("a", 1, 50);
	r = back_up(0, false);
	shell("cd $b && mv 2* 20990105T101112.131415Z");
	r = back_up(0, false);
	ck_assert_str_gt(r.moment, "20990105T101112.131415Z");
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

START_TEST(a_restored_store_is_whole_and_new)
{
	struct backup_result r;
	char new[160];

	snprintf(new, sizeof(new), "%s/new", top);
	put("a", 1, 50);
	put("b", 1, 3000);
	back_up(0, false);
	put("c", 2, 50);
	ck_assert_int_eq(backup_restore(backups, directory, &r), -EEXIST);
	ck_assert_int_eq(backup_restore(backups, new, &r), 0);
	ck_assert_uint_eq(rows_at(new, 1), 2);
	ck_assert_uint_eq(r.linked_count + r.shared_count, 0);
	/* Damage of any kind is found, and nothing is left. */
	shell("rm -r $b/../new; cd $b/latest/ && f=$(ls *.sst) && "
	      "printf x | dd of=$f bs=1 seek=9 conv=notrunc 2>/dev/null");
	ck_assert_int_eq(backup_restore(backups, new, &r), -ERR_check_failed);
	ck_assert_ptr_nonnull(strstr(err_detail(), ".sst"));
	shell("[ ! -e $b/../new ] && [ ! -e $b/../new.partial ]");
	shell("cd $b/latest/ && echo >>digests");
	ck_assert_int_eq(backup_restore(backups, new, &r), -ERR_check_failed);
	shell("cd $b/latest/ && rm digests");
	ck_assert_int_lt(backup_restore(backups, new, &r), 0);
	/* And it is no base of the next. */
	ck_assert_uint_eq(back_up(0, false).shared_count, 0);
	ck_assert_int_eq(backup_restore(backups, new, &r), 0);
}
END_TEST

/* As backup_source.unpin; it puts a link in the place of what is made, as one who may write to the directory can. */
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
	ck_assert_int_eq(backup_restore(backups, new, &r), -ERR_check_failed);
	ck_assert_ptr_nonnull(strstr(err_detail(), ".blob: "));
	shell("rm $b/latest/digests");
	ck_assert_int_eq(backup_restore(backups, new, &r), -ERR_check_failed);
	ck_assert_ptr_nonnull(strstr(err_detail(), "digests"));
	ck_assert_int_eq(backup_restore(path, new, &r), -ERR_check_failed);
	shell("[ ! -e $b/../new ]");
	snprintf(path, sizeof(path), "%s.former", backups);
	ck_assert_int_eq(backup_restore(path, new, &r), 0);
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
	ck_assert_int_eq(backup_restore(backups, new, &r), -ERR_check_failed);
	ck_assert_ptr_nonnull(strstr(err_detail(), "digests: has more than "));
	ck_assert(list_as(true).items[0].is_damaged);
	ck_assert_uint_eq(back_up(0, false).shared_count, 0);
	shell("truncate -s 1G $b/backups");
	refuse_backup(-ERR_not_backups, "not a format");
	ck_assert_int_lt(used_memory() - before, 512 << 10);
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
		a_later_one_copies_what_is_new,
		links_to_the_store_are_asked_for,
		another_file_of_the_same_name_is_copied,
		another_store_is_refused,
		a_failure_binds_nobody,
		directories_of_others_stay,
		older_ones_are_removed,
		one_that_is_damaged_is_no_hindrance,
		damage_of_one_is_not_shared,
		all_files_are_verified,
		one_that_is_damaged_is_none,
		moments_that_are_none,
		what_a_kill_left_goes,
		a_clock_that_is_set_back,
		backups_are_found,
		a_restored_store_is_whole_and_new,
		links_are_not_followed,
		what_nothing_tells_of_is_not_restored,
		one_that_cannot_be_read_is_left_alone,
		files_without_an_end_take_no_memory,
		digests_are_not_trusted,
	};

	return run_suite("backups", begin, end, tests,
			 sizeof(tests) / sizeof(tests[0]));
}
