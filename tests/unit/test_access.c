#include "fs/tree/access.h"
#include "tests/unit/suite.h"

#define NONE TABLE_ACCESS_UNSET

/* Of user 1001 and group 7. */
static struct table table(uint32_t mode)
{
	return (struct table){ .id = 3, .access = { mode, 1001, 7 } };
}

static struct stat applied(uint32_t mode, mode_t type)
{
	struct table t = table(mode);
	struct stat st = { .st_mode = type, .st_uid = 1, .st_gid = 1 };

	access_apply(&t.access, &st);
	return st;
}

/* Files have no x, special bits are directories'; none has more than it would
 * have without a table. */
START_TEST(what_a_table_shows)
{
	struct table_access unset = { NONE, NONE, NONE };
	struct stat st = { .st_mode = S_IFREG | 0644, .st_uid = 1 };

	access_apply(&unset, &st);
	ck_assert_uint_eq(st.st_mode, S_IFREG | 0644);
	ck_assert_uint_eq(st.st_uid, 1);
	st = applied(03771, S_IFDIR | 0755);
	ck_assert_uint_eq(st.st_mode, S_IFDIR | 03771);
	ck_assert_uint_eq(st.st_uid, 1001);
	ck_assert_uint_eq(st.st_gid, 7);
	ck_assert_uint_eq(applied(03771, S_IFREG | 0644).st_mode,
			  S_IFREG | 0660);
	ck_assert_uint_eq(applied(0777, S_IFREG | 0444).st_mode,
			  S_IFREG | 0444);
	ck_assert_uint_eq(applied(0700, S_IFDIR | 0555).st_mode,
			  S_IFDIR | 0500);
	ck_assert_uint_eq(access_mode(&unset, S_IFREG), 0644);
	ck_assert_uint_eq(access_mode(&unset, S_IFDIR), 0755);
	unset.mode = 02770;
	ck_assert_uint_eq(access_mode(&unset, S_IFREG), 0660);
	ck_assert_uint_eq(access_mode(&unset, S_IFDIR), 02770);
}
END_TEST

/* A table's mode, a file's or a directory's in it, and whether it is taken. */
static const struct {
	uint32_t table;
	mode_t type, asked;
	bool taken;
} chmods[] = {
	/* What it shows. */
	{ NONE, S_IFREG, 0644, true },
	{ NONE, S_IFDIR, 0755, true },
	{ 02775, S_IFDIR, 02775, true },
	/* Who asks for others not to read is told. */
	{ NONE, S_IFREG, 0600, false },
	{ NONE, S_IFREG, 0640, false },
	{ NONE, S_IFDIR, 0700, false },
	{ NONE, S_IFDIR, 0754, false },
	{ 0770, S_IFREG, 0600, false },
	{ 01777, S_IFREG, 0640, false },
	/* Nobody is given more. */
	{ NONE, S_IFREG, 0664, false },
	{ NONE, S_IFREG, 0646, false },
	{ NONE, S_IFREG, 0755, false },
	{ NONE, S_IFDIR, 0775, false },
	{ NONE, S_IFDIR, 01755, false },
	{ 0711, S_IFREG, 0644, false },
	{ 0750, S_IFREG, 0660, false },
	/* The owner's own bits are as they are. */
	{ NONE, S_IFREG, 0444, false },
	{ NONE, S_IFREG, 0244, false },
	{ 0700, S_IFDIR, 0500, false },
	/* Who does not get there has nothing, whatever is asked for. */
	{ 0700, S_IFREG, 0644, true },
	{ 0700, S_IFREG, 0666, true },
	{ 0700, S_IFDIR, 0755, true },
	{ 0750, S_IFREG, 0644, true },
	{ 0750, S_IFREG, 0646, true },
	{ 0744, S_IFDIR, 0700, true },
	/* Who writes is the table's to say; special bits are, too. */
	{ 0770, S_IFREG, 0644, true },
	{ 0770, S_IFDIR, 0755, true },
	{ 0777, S_IFREG, 0644, true },
	{ 02775, S_IFDIR, 0755, true },
	{ 01777, S_IFDIR, 0755, true },
	{ 01777, S_IFREG, 0644, true },
};

START_TEST(chmod_is_taken_if_it_changes_nothing)
{
	size_t i;

	for (i = 0; i < sizeof(chmods) / sizeof(*chmods); i++) {
		struct table_access access = { chmods[i].table, NONE, NONE };
		mode_t usual = access_mode(&access, chmods[i].type);

		ck_assert_msg(
			access_takes_mode(&access, usual, chmods[i].asked) ==
				chmods[i].taken,
			"%o in %o", chmods[i].asked, chmods[i].table);
	}
}
END_TEST

START_TEST(who_writes_and_does_not_read_is_known)
{
	static const struct {
		mode_t mode;
		bool owner, others; /* may read for certain */
	} tables[] = {
		{ 0755, true, true },   { 0777, true, true },
		{ 0770, true, true },   { 0733, true, false },
		{ 0773, true, false },  { 0737, true, false },
		{ 0711, true, true },   { 0377, false, true },
		{ 01730, true, false },
	};
	size_t i;

	for (i = 0; i < sizeof(tables) / sizeof(*tables); i++) {
		struct table_access t = { tables[i].mode, 1001, 7 };

		ck_assert(access_reads(&t, 0));
		ck_assert_msg(access_reads(&t, 1001) == tables[i].owner,
			      "owner of %o", t.mode);
		ck_assert_msg(access_reads(&t, 1002) == tables[i].others,
			      "others in %o", t.mode);
	}
}
END_TEST

/* A directory in a table with this mode that user made under another. */
static struct stat made(uint32_t then, uint32_t now, uid_t user)
{
	struct table before = table(then), t = table(now);
	struct stat st = applied(now, S_IFDIR | 0755);

	access_apply_maker(t.id, &t.access,
			   access_maker(before.id, &before.access, user), &st);
	return st;
}

START_TEST(who_makes_it_in_a_shared_table_owns_it)
{
	static const uint32_t shared[] = { 0770, 02770, 0775, 0777, 01777 };
	static const uint32_t others[] = { NONE, 0700, 0755, 0750, 0765, 0745 };
	size_t i;

	for (i = 0; i < sizeof(shared) / sizeof(*shared); i++) {
		struct stat st = made(shared[i], shared[i], 1002);

		ck_assert_uint_eq(st.st_uid, 1002);
		ck_assert_uint_eq(st.st_gid, 7);
		ck_assert_uint_eq(st.st_mode, S_IFDIR | shared[i]);
		/* Whom it does not say that of. */
		ck_assert_uint_eq(made(shared[i], shared[i], 0).st_uid, 1001);
		ck_assert_uint_eq(made(shared[i], shared[i], 1001).st_uid,
				  1001);
		/* Once the table's mode has changed. */
		ck_assert_uint_eq(made(shared[i], 0773, 1002).st_uid, 1001);
		ck_assert_uint_eq(made(shared[i], 0755, 1002).st_uid, 1001);
	}
	for (i = 0; i < sizeof(others) / sizeof(*others); i++)
		ck_assert_uint_eq(made(others[i], others[i], 1002).st_uid,
				  1001);
	/* No more than the least of those who may make names. */
	ck_assert_uint_eq(made(0730, 0730, 1002).st_mode, S_IFDIR | 0330);
	ck_assert_uint_eq(made(0773, 0773, 1002).st_mode, S_IFDIR | 0373);
	ck_assert_uint_eq(made(0737, 0737, 1002).st_mode, S_IFDIR | 0337);
	ck_assert_uint_eq(made(0705, 0703, 1002).st_mode, S_IFDIR | 0703);
}
END_TEST

/* Nor in another table, or one that has gone to others. */
START_TEST(a_table_with_other_access_has_no_makers)
{
	struct table then = table(0770), now;
	uint64_t maker = access_maker(then.id, &then.access, 1002);
	size_t i;

	for (i = 0; i < 4; i++) {
		struct stat st = { .st_mode = S_IFDIR | 0770, .st_uid = 1001 };

		now = then;
		now.id += i == 1;
		now.access.uid += i == 2;
		now.access.gid += i == 3;
		access_apply_maker(now.id, &now.access, maker, &st);
		ck_assert_uint_eq(st.st_uid, i == 0 ? 1002 : 1001);
	}
}
END_TEST

/* What a user of these groups, a bit each, may do: rwx. */
static mode_t may(const struct table_access *a, uid_t uid, unsigned int groups)
{
	if (uid == a->uid)
		return a->mode >> 6 & 7;
	return (groups >> a->gid & 1 ? a->mode >> 3 : a->mode) & 7;
}

/* All bits of a class come and go alike, so one of them will do. */
static void check_narrowed(const struct table_access *a,
			   const struct table_access *b)
{
	struct table_access both = *a;
	unsigned int groups;
	uid_t uid;

	access_narrow(&both, b);
	ck_assert_uint_eq(both.uid, a->uid);
	ck_assert_uint_eq(both.gid, a->gid);
	for (uid = 1; uid <= 3; uid++)
		for (groups = 0; groups < 4; groups++)
			ck_assert_uint_eq(may(&both, uid, groups) &
						  ~(may(a, uid, groups) &
						    may(b, uid, groups)),
					  0);
	if (a->uid == b->uid && a->gid == b->gid)
		ck_assert_uint_eq(both.mode, a->mode & b->mode);
}

START_TEST(what_two_allow)
{
	uint32_t i, j, ids;

	/* Modes of r alone, in all combinations. */
	for (i = 0; i < 8; i++)
		for (j = 0; j < 8; j++)
			for (ids = 0; ids < 4; ids++) {
				struct table_access a = { (i & 4) << 6 |
								  (i & 2) << 4 |
								  (i & 1) << 2,
							  1, 0 };
				struct table_access b = { (j & 4) << 6 |
								  (j & 2) << 4 |
								  (j & 1) << 2,
							  1 + (ids & 1),
							  ids >> 1 };

				check_narrowed(&a, &b);
			}
}
END_TEST

int main(void)
{
	const TTest *tests[] = {
		what_a_table_shows,
		chmod_is_taken_if_it_changes_nothing,
		who_writes_and_does_not_read_is_known,
		who_makes_it_in_a_shared_table_owns_it,
		a_table_with_other_access_has_no_makers,
		what_two_allow,
	};

	return run_suite("access", NULL, NULL, tests, 6);
}
