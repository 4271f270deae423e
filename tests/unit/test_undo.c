#include <unistd.h>

#include "store/base/lease/holder.h"
#include "store/engine/core/history.h"
#include "store/engine/run/step.h"
#include "store/model/model.h"
#include "store/text/dump/dump.h"
#include "tests/unit/mem_store.h"
#include "tools/verb/verb.h"

/* The verbs on the recent past: what comes back is what was, to the byte of a
 * dump. */

#define SECOND UINT64_C(1000000)

static struct store *store;
static uint64_t now_us;

static uint64_t now(void *context)
{
	(void)context;
	return now_us;
}

static const struct clock test_clock = { now, NULL };

static void set_up(void)
{
	struct store_options o;

	now_us = UINT64_C(1000000) * SECOND;
	mem_store_options(&o);
	o.clock = &test_clock;
	store = mem_store(&o);
	ck_assert_int_eq(store_set_history(store, 86400 * SECOND, 1 << 30), 0);
}

static void tear_down(void)
{
	ck_assert_int_eq(store_close(store), 0);
}

/* Runs a command line, whose words are separated by single blanks; TIME in it
 * is that of was_us. What it prints on either stream ends with want. */
static uint64_t was_us;

static void check(const char *line, int status, const char *want)
{
	char *words[32], *text = strdup(line), *p = text, moment[32];
	char *out_text = NULL;
	size_t out_size, want_size = strlen(want);
	FILE *out = open_memstream(&out_text, &out_size);
	int count = 0, got;

	snprintf(moment, sizeof(moment), "as-of=%llu",
		 (unsigned long long)was_us);
	while (p) {
		words[count] = strsep(&p, " ");
		if (!strcmp(words[count], "TIME"))
			words[count] = moment;
		count++;
	}
	words[count] = NULL;
	got = verb_serve(store, count, words, out, out);
	fclose(out);
	ck_assert_msg(got == status && out_size >= want_size &&
			      !strcmp(out_text + out_size - want_size, want),
		      "%s: %d, got:\n%s\nexpected:\n%s", line, got, out_text,
		      want);
	free(text);
	free(out_text);
}

/* A second goes by, and its moment is noted. */
static void tick(void)
{
	now_us += SECOND;
	ck_assert_int_eq(history_note(store_engine(store)), 0);
}

static void settle(void)
{
	ck_assert_int_eq(store_compact(store, BYTES_NONE), 0);
	while (engine_step(store_engine(store)) > 0)
		;
}

/* What the store shows, to be freed. */
static char *state(void)
{
	struct buf text = BUF_INIT;
	struct text_stream *t;

	ck_assert_int_eq(dump_open(store, NULL, NULL, &t), 0);
	while (t->next(t, &text) > 0)
		;
	t->close(t);
	ck_assert_int_eq(buf_terminate(&text), 0);
	return (char *)text.data;
}

/* From here on something goes wrong. */
static char *before;

static void mark(void)
{
	tick();
	was_us = now_us;
	before = state();
	tick();
}

static void same_as_before(void)
{
	char *after = state();

	ck_assert_str_eq(after, before);
	free(after);
	free(before);
	before = NULL;
}

static uint64_t sequence(void)
{
	struct store_stats stats;

	store_stats(store, &stats);
	return stats.visible_seq;
}

START_TEST(a_row_is_what_it_was)
{
	uint64_t seq;

	check("createtable t families=f:maxversions=2,g", 0, "");
	check("set t a f:q=1@1000 f:q=2@2000 f:q=3@3000 g:=x@5", 0, "");
	check("set t b g:same=1@1", 0, "");
	mark();
	check("set t a f:q=4@4000 g:=y@5 g:new=1@7", 0, "");
	check("deletecolumn t a g x", 0, "");
	check("set t c g:q=1@1", 0, "");
	settle();
	check("restore t TIME", 0, "1 rows restored, 1 deleted\n");
	same_as_before();
	/* What is the same is not written. */
	seq = sequence();
	check("restore t TIME", 0, "0 rows restored, 0 deleted\n");
	ck_assert_uint_eq(sequence(), seq);
}
END_TEST

/* Parts that a policy hides would be added to, if they were not taken away. */
START_TEST(an_aggregate_is_not_added_to)
{
	check("createtable t "
	      "families=n:maxversions=1:intsum,s:never:intsum,m:never:intmax",
	      0, "");
	check("addtocell t a n:c=5@2000 s:c=5@2000 m:c=5@2000", 0, "");
	check("addtocell t b n:c=5@2000", 0, "");
	mark();
	check("addtocell t a n:c=1@3000 s:c=1@2000 m:c=9@2000", 0, "");
	check("addtocell t a n:c=70@2000", 0, "");
	check("deleterow t b", 0, "");
	check("addtocell t b n:c=70@2000 n:c=1@3000", 0, "");
	check("restore t TIME", 0, "2 rows restored, 0 deleted\n");
	same_as_before();
	mark();
	settle();
	check("addtocell t a n:c=1@3000 s:c=1@2000 m:c=9@2000", 0, "");
	settle();
	check("restore t TIME", 0, "1 rows restored, 0 deleted\n");
	settle();
	same_as_before();
}
END_TEST

/* A row of more changes than a commit takes comes in parts; the others of its
 * table do not. */
START_TEST(a_huge_row)
{
	const unsigned int count = STORE_MUTATIONS_MAX - 1;
	struct write *w;
	unsigned int i;
	char name[16];

	check("createtable t families=f", 0, "");
	check("set t a f:q=1@1", 0, "");
	check("set t z f:q=1@1", 0, "");
	ck_assert_int_eq(write_new(store, &w), 0);
	ck_assert_int_eq(write_row(w, bytes_string("t"), bytes_string("huge")),
			 0);
	for (i = 0; i < count; i++) {
		snprintf(name, sizeof(name), "%u", i);
		ck_assert_int_eq(write_set(w, bytes_string("f"),
					   bytes_string(name), 1,
					   bytes_string("v")),
				 0);
	}
	ck_assert_int_eq(store_commit(store, w, false), 0);
	write_free(w);
	mark();
	check("deleteallrows t", 0, "");
	settle();
	check("restore t TIME", 0,
	      "3 rows restored, 0 deleted\n1 of them in parts\n");
	same_as_before();
}
END_TEST

/* One that has come since stays, and is told. */
START_TEST(a_later_family_is_told)
{
	check("createtable t families=f", 0, "");
	check("set t a f:q=1@1", 0, "");
	mark();
	free(before);
	check("createfamily t late:maxversions=2", 0, "");
	check("set t a late:q=1@1", 0, "");
	check("restore t TIME prefix=a", 0, "1 rows restored, 0 deleted\n");
	check("restore t TIME", 0,
	      "family \"late\": stays, made after that; bytes maxversions=2\n"
	      "As of 1970-01-12T13:46:41.000000Z: 0 rows restored, "
	      "0 deleted\n");
}
END_TEST

START_TEST(the_schema_comes_back)
{
	check("createtable t families=f:maxversions=3,n:never:intsum,x", 0, "");
	check("set t a f:q=1@1000 f:q=2@2000 x:q=1@1", 0, "");
	check("addtocell t a n:c=5@2000", 0, "");
	mark();
	check("setgcpolicy t f maxversions=1", 0, "");
	check("deletefamily t x", 0, "");
	check("deletefamily t n", 0, "");
	check("createfamily t n:never:intmax", 0, "");
	check("restore t TIME", 1,
	      "tabletfs: Restoring: family \"n\" had the type intsum and has "
	      "intmax now; after deletefamily it is made again\n");
	check("deletefamily t n", 0, "");
	check("restore t TIME prefix=b", 0,
	      "family \"f\": keeps its policy, which was bytes maxversions=3\n"
	      "family \"n\": made again, intsum never\n"
	      "family \"x\": made again, bytes never\n"
	      "As of 1970-01-12T13:46:41.000000Z: 0 rows restored, "
	      "0 deleted\n");
	check("restore t TIME", 0,
	      "family \"f\": again bytes maxversions=3\n"
	      "As of 1970-01-12T13:46:41.000000Z: 1 rows restored, "
	      "0 deleted\n");
	same_as_before();
}
END_TEST

/* By its present name, whatever it was; or by its former one, in another table.
 */
START_TEST(a_table_and_its_names)
{
	check("createtable t families=f", 0, "");
	check("set t a f:q=1@1", 0, "");
	mark();
	free(before);
	ck_assert_int_eq(
		store_rename_table(store, bytes_string("t"), bytes_string("u")),
		0);
	check("deleterow u a", 0, "");
	check("restore t TIME", 1,
	      "tabletfs: Restoring: table \"t\" not found; undelete brings "
	      "back one that was dropped\n");
	check("restore u TIME", 0, "1 rows restored, 0 deleted\n");
	check("undelete t", 1, "history has no table \"t\" that was dropped\n");
	check("deletetable u", 0, "");
	check("createtable u families=f", 0, "");
	check("restore u TIME", 1, "table \"u\" not found then\n");
	tick();
	check("undelete u", 1,
	      "there is a table \"u\"; as= brings one that was dropped back "
	      "under another name, and restore rows of this one\n");
	check("undelete u as=w", 0, "Z\n");
	check("count w", 0, "1\n");
	check("createtable v.partial", 0, "");
	check("undelete u as=v", 1,
	      "there is a table \"v.partial\", which no restore-from or "
	      "undelete made: as= gives another name, and deletetable "
	      "removes it\n");
	check("ls", 0, "u\nv.partial\nw\n");
}
END_TEST

/* Who looks for it in vain is told that there was more once. */
START_TEST(a_table_whose_history_gave_way)
{
	const char *want = "history has no table \"t\" that was dropped; "
			   "before 1970-01-12T13:46:43.000000Z it was given "
			   "up for lack of room, and what was then is in a "
			   "backup or nowhere\n";

	check("createtable t families=f", 0, "");
	mark();
	free(before);
	check("deletetable t", 0, "");
	tick();
	ck_assert_int_eq(history_give_up(store_engine(store), UINT64_MAX), 0);
	check("undelete t", 1,
	      "a tenth of it is to be free; it begins again within a second\n");
	tick();
	check("undelete t", 1, want);
	check("history", 0, "lost 1970-01-12T13:46:43.000000Z\n");
}
END_TEST

/* Of one that was emptied its rows come back by the name that it had then. */
START_TEST(an_emptied_table_that_was_renamed)
{
	check("createtable t families=f", 0, "");
	check("set t a f:q=1@1", 0, "");
	mark();
	free(before);
	ck_assert_int_eq(
		store_rename_table(store, bytes_string("t"), bytes_string("u")),
		0);
	check("deleterow u a", 0, "");
	tick();
	check("deletetable u", 0, "");
	check("undelete u", 0,
	      "of a time when it had another name, tabletfs undelete NAME "
	      "as=OTHER as-of=TIME.\n");
	check("restore u TIME", 1, "table \"u\" not found then\n");
	check("undelete t TIME as=y", 0, "Z\n");
	check("count y", 0, "1\n");
}
END_TEST

/* Nobody knows when what came after its drop was written, as after a kill or
 * beside a clock that is behind: the last moment that has it is known. */
START_TEST(a_table_from_before_a_gap)
{
	check("createtable t families=f", 0, "");
	check("createtable u families=f", 0, "");
	check("set t a f:q=1@1", 0, "");
	mark();
	free(before);
	check("deletetable t", 0, "");
	tick();
	store_engine(store)->moment_flags = MOMENT_AFTER_GAP;
	check("set u a f:q=1@1", 0, "");
	now_us += SECOND;
	check("undelete t as=beside", 0, "Z\n");
	tick();
	tick();
	check("undelete t", 0, "Z\n");
	check("count t", 0, "1\n");
	check("count beside", 0, "1\n");
}
END_TEST

/* A protected table is one again, and protected again only when it is whole. */
START_TEST(a_protected_table)
{
	check("createtable t families=f", 0, "");
	check("set t a f:q=1@1", 0, "");
	check("protect t on", 0, "");
	mark();
	check("protect t off", 0, "");
	check("deletetable t", 0, "");
	check("undelete t TIME", 0, "Z\n");
	same_as_before();
	check("protect t", 0, "yes\n");
	check("ls", 0, "t\n");
	check("deletetable t", 1, "Operation not permitted\n");
}
END_TEST

/* All that is noted of who had tables that were dropped. */
static void forget_whose(void)
{
	struct attribute gone[8] = { 0 };
	struct schema *schema = store_schema(store);
	size_t i, count = 0;

	for (i = 0; i < schema->attributes.count; i++)
		if (bytes_starts_with(schema->attributes.items[i].name,
				      BYTES_LITERAL(STORE_DROPPED)))
			gone[count++].name = schema->attributes.items[i].name;
	ck_assert_uint_gt(count, 0);
	ck_assert_int_eq(store_set_attributes(store, BYTES_NONE, gone, count),
			 0);
	schema_put(schema);
}

static struct table_access access_of_t(void)
{
	struct schema *schema = store_schema(store);
	struct table_access access =
		schema_table(schema, bytes_string("t"))->access;

	schema_put(schema);
	return access;
}

/* One that was closed to others before it was dropped is not open again, as it
 * was at an older moment. */
START_TEST(a_table_that_was_closed_to_others)
{
	struct table_access open = { 0755, 7, 8 }, closed = { 0700, 9, 8 };
	struct table_access now;

	check("createtable t families=f", 0, "");
	check("set t a f:q=1@1", 0, "");
	ck_assert_int_eq(store_set_access(store, bytes_string("t"), &open), 0);
	mark();
	free(before);
	check("deleterow t a", 0, "");
	ck_assert_int_eq(store_set_access(store, bytes_string("t"), &closed),
			 0);
	tick();
	check("deletetable t", 0, "");
	check("undelete t TIME", 0, "Z\n");
	check("count t", 0, "1\n");
	now = access_of_t();
	ck_assert_uint_eq(now.mode, 0700);
	ck_assert_uint_eq(now.uid, 9);
	ck_assert_uint_eq(now.gid, 8);
	/* Of which nobody knows it is its maker's alone. */
	check("deletetable t", 0, "");
	forget_whose();
	check("undelete t TIME", 0, "Z\n");
	now = access_of_t();
	ck_assert_uint_eq(now.mode, 0700);
	ck_assert_uint_eq(now.uid, TABLE_ACCESS_UNSET);
}
END_TEST

/* What one that was killed has left is in no other's way, whatever it was to be
 * of; nor is what it is of, under another name. */
START_TEST(one_that_was_killed)
{
	struct attribute of_t = { bytes_string("partial/as"),
				  bytes_string("t") };
	struct table_spec left = { .name = bytes_string("t.partial"),
				   .attributes = &of_t,
				   .attribute_count = 1 };
	char by[2 + HOLDER_TEXT_SIZE];
	struct holder other;

	check("createtable t families=f", 0, "");
	check("set t a f:q=1@1", 0, "");
	mark();
	check("deletetable t", 0, "");
	ck_assert_int_eq(store_make_table(store, &left), 0);
	check("undelete t", 0, "Z\n");
	same_as_before();
	check("ls", 0, "t\n");
	/* By another process. */
	snprintf(by, sizeof(by), "t ");
	holder_self(&other);
	other.pid = getppid();
	other.start = 0;
	holder_format(&other, by + 2);
	of_t.value = bytes_string(by);
	check("deletetable t", 0, "");
	ck_assert_int_eq(store_make_table(store, &left), 0);
	check("undelete t", 1, "deletetable removes it\n");
	check("ls t.partial", 0, "if it was killed; deletetable removes it\n");
	other.boot[0] ^= 1;
	holder_format(&other, by + 2);
	ck_assert_int_eq(store_set_attributes(store, left.name, &of_t, 1), 0);
	check("undelete t", 0, "Z\n");
	check("ls", 0, "t\n");
	check("ls t", 0, "{}\n");
	left.name = bytes_string("u.partial");
	check("deletetable t", 0, "");
	ck_assert_int_eq(store_make_table(store, &left), 0);
	check("undelete t as=u", 1, "deletetable removes it\n");
	check("ls", 0, "u.partial\n");
}
END_TEST

START_TEST(differences)
{
	char line[64];

	check("createtable t families=f,n:never:intsum", 0, "");
	check("set t a f:q=1@1 f:r=2@2", 0, "");
	check("set t b f:q=1@1", 0, "");
	mark();
	free(before);
	snprintf(line, sizeof(line), "diff t from=%llu",
		 (unsigned long long)was_us);
	check(line, 0, "");
	check("set t a f:q=3@1 f:s=4@3", 0, "");
	check("addtocell t a n:c=-7@2", 0, "");
	check("deleterow t b", 0, "");
	check(line, 1,
	      "- \"a\" f:\"q\" @1 \"1\"\n"
	      "+ \"a\" f:\"q\" @1 \"3\"\n"
	      "+ \"a\" f:\"s\" @3 \"4\"\n"
	      "+ \"a\" n:\"c\" @2 -7\n"
	      "- \"b\" f:\"q\" @1 \"1\"\n");
	strcat(line, " key=b");
	check(line, 1, "- \"b\" f:\"q\" @1 \"1\"\n");
	check("diff t", 2,
	      "usage: tabletfs diff <table> from=<time> [to=<time>]\n");
	check("diff t from=x", 2, "90m for 90 minutes ago\n");
	check("diff t from=1", 2,
	      "1970-01-01T00:00:00.000001Z is before that\n");
	check("restore t TIME filter=pass_all()", 1,
	      "unknown arg key \"filter\"\n");
}
END_TEST

/* What is filled under another name is the one of its id. */
START_TEST(a_table_is_no_other_of_its_name)
{
	struct bytes partial = bytes_string("x.partial");
	uint32_t id = 0;
	struct table_spec spec = { .name = partial, .id = &id };
	const struct table_spec last = { .name = bytes_string("x") };

	ck_assert_int_eq(store_make_table(store, &spec), 0);
	ck_assert_uint_eq(id, store_table_id(store, NULL, partial));
	ck_assert_int_eq(store_drop_table(store, partial, false), 0);
	spec.id = NULL;
	ck_assert_int_eq(store_make_table(store, &spec), 0);
	ck_assert_int_eq(store_finish_table(store, id, &last), -ERR_no_table);
	ck_assert_int_eq(store_discard_table(store, id), -ERR_no_table);
	id = store_table_id(store, NULL, partial);
	ck_assert_uint_ne(id, 0);
	ck_assert_int_eq(store_finish_table(store, id, &last), 0);
	ck_assert_uint_eq(store_table_id(store, NULL, bytes_string("x")), id);
	ck_assert_int_eq(store_discard_table(store, id), 0);
	ck_assert_uint_eq(store_table_id(store, NULL, bytes_string("x")), 0);
}
END_TEST

int main(void)
{
	const TTest *tests[] = {
		a_row_is_what_it_was,
		an_aggregate_is_not_added_to,
		a_huge_row,
		a_later_family_is_told,
		the_schema_comes_back,
		a_table_and_its_names,
		a_table_is_no_other_of_its_name,
		a_table_whose_history_gave_way,
		an_emptied_table_that_was_renamed,
		a_table_from_before_a_gap,
		a_protected_table,
		a_table_that_was_closed_to_others,
		one_that_was_killed,
		differences,
	};

	return run_suite("undo", set_up, tear_down, tests, 14);
}
