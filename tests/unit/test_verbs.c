#include <errno.h>
#include <stdlib.h>

#include "store/engine/run/step.h"
#include "store/model/model.h"
#include "tests/unit/mem_store.h"
#include "tests/unit/suite.h"
#include "tools/verb/verb.h"

/*
 * Commands as typed, what they print, their exit status. Expected texts are
 * what cbt 1.23 printed, with tabletfs for cbt and without Google's wire text.
 */
static struct store *store;

static void setup(void)
{
	ck_assert_int_eq(setenv("TZ", "UTC", 1), 0);
	store = mem_store(NULL);
}

static void teardown(void)
{
	ck_assert_int_eq(store_close(store), 0);
}

/* Runs a command line, whose words are separated by single blanks. Expects want
 * on standard output, or, if it begins with "tabletfs: ", on standard error and
 * status 1. */
static void check(const char *line, const char *want)
{
	char *words[32], *text = strdup(line), *p = text;
	bool failing = !strncmp(want, "tabletfs: ", 10);
	char *out_text = NULL, *err_text = NULL;
	size_t out_size, err_size;
	FILE *out = open_memstream(&out_text, &out_size);
	FILE *err = open_memstream(&err_text, &err_size);
	int count = 0, status;

	while (p) {
		words[count++] = strsep(&p, " ");
	}
	words[count] = NULL;
	status = verb_serve(store, count, words, out, err);
	fclose(out);
	fclose(err);
	ck_assert_msg(!strcmp(failing ? err_text : out_text, want),
		      "%s\ngot:\n%s%s\nexpected:\n%s", line, out_text, err_text,
		      want);
	ck_assert_str_eq(failing ? out_text : err_text, "");
	ck_assert_int_eq(status, failing);
	free(text);
	free(out_text);
	free(err_text);
}

/* An error that has passed through another's text is told once. */
START_TEST(error_texts)
{
	int err = fail(ENOSPC, "a.csv");

	ck_assert_str_eq(verb_error_text(err),
			 "a.csv: No space left on device");
	err = fail(ENOSPC, "%s", verb_error_text(err));
	ck_assert_str_eq(verb_error_text(err),
			 "a.csv: No space left on device");
	err = fail(ENOSPC, "%s", err_text(err));
	ck_assert_str_eq(verb_error_text(err), "No space left on device");
}
END_TEST

#define HEAD                                   \
	"Family Name\tGC Policy\tValue Type\n" \
	"-----------\t---------\t----------\n"

START_TEST(tables)
{
	check("createtable tab", "");
	check("createtable tab",
	      "tabletfs: Creating table: table \"tab\" already exists\n");
	check("createtable 9x", "");
	check("createtable a/b",
	      "tabletfs: Creating table: table name \"a/b\" must match "
	      "[_a-zA-Z0-9][-_.a-zA-Z0-9]*\n");
	check("ls", "9x\ntab\n");
	check("createtable f1 families=a,b,c", "");
	check("ls f1", HEAD "a\t\t\t\t{}\nb\t\t\t\t{}\nc\t\t\t\t{}\n");
	check("createtable f2 families=a:maxversions=2,b:maxage=10d,"
	      "c:maxage=10d||maxversions=1,d:maxage=1h&&maxversions=3,e:never,"
	      "z",
	      "");
	check("ls f2", "Family Name\tGC Policy\t\t\t\tValue Type\n"
		       "-----------\t---------\t\t\t\t----------\n"
		       "a\t\tversions() > 2\t\t\t\t{}\n"
		       "b\t\tage() > 10d\t\t\t\t{}\n"
		       "c\t\t(age() > 10d || versions() > 1)\t\t{}\n"
		       "d\t\t(age() > 1h && versions() > 3)\t\t{}\n"
		       "e\t\t\t\t\t\t\t{}\n"
		       "z\t\t\t\t\t\t\t{}\n");
	check("createtable f3 families=u:never:stringutf8bytes", "");
	check("ls f3", HEAD "u\t\t\t\t{\"stringType\":{\"encoding\":"
			    "{\"utf8Raw\":{}}}}\n");
	check("createtable f4 families=s:intsum",
	      "tabletfs: invalid GC policy: unexpected token: \"intsum\"\n");
	check("createtable f5 families=s:maxversions=1:float",
	      "tabletfs: unknown type float\n");
	check("createtable f6 families=a splits=m,t,z", "");
	check("createtable f8 families=a,\"a\",b:maxversions=1,b", "");
	check("ls f8", HEAD "a\t\t\t\t{}\nb\t\t\t\t{}\n");
	check("createtable f9 families=\"a",
	      "tabletfs: Invalid families arg format: extraneous or missing "
	      "\" in quoted-field\n");
	check("createtable f10 families=",
	      "tabletfs: Invalid families arg format: EOF\n");
	check("createtable f11 family=a",
	      "tabletfs: unknown arg key \"family\"\n");
	check("createtable f12 families", "tabletfs: bad arg \"families\"\n");
	check("deletetable tab", "");
	check("deletetable tab",
	      "tabletfs: Deleting table: table \"tab\" not found\n");
	check("ls nope",
	      "tabletfs: Getting table info: table \"nope\" not found\n");
}
END_TEST

START_TEST(families)
{
	check("createtable t", "");
	check("createfamily t f:maxversions=3", "");
	check("createfamily t f", "tabletfs: Creating column family: family "
				  "\"f\" already exists\n");
	check("setgcpolicy t f maxage=1d or maxversions=2 force", "");
	check("ls t", "Family Name\tGC Policy\t\t\t\tValue Type\n"
		      "-----------\t---------\t\t\t\t----------\n"
		      "f\t\t(age() > 1d || versions() > 2)\t\t{}\n");
	check("setgcpolicy t f never", "");
	check("ls t", HEAD "f\t\t\t\t{}\n");
	check("setgcpolicy t nofam never",
	      "tabletfs: Setting GC policy: no such family \"nofam\"\n");
	check("setgcpolicy t f MAXVERSIONS=1",
	      "tabletfs: invalid GC policy: unexpected token: "
	      "\"MAXVERSIONS\"\n");
	check("deletefamily t f", "");
	check("deletefamily t f",
	      "tabletfs: Deleting column family: can't delete unknown family "
	      "\"f\"\n");
}
END_TEST

#define DASHES "----------------------------------------\n"
#define CELL(name, us) "  " name " @ 1970/01/01-00:00:00." us "\n"
#define NAME_ONE "cf:one                                  "
#define NAME_TWO "cf:two                                  "
#define NAME_OS "st:os_name                              "

/* A row as fill() makes it. */
#define ROW(key, one)                                                         \
	DASHES key "\n" CELL(NAME_ONE, "002000") "    \"" one "0\"\n" CELL(   \
		NAME_ONE,                                                     \
		"001000") "    \"" one                                        \
			  "\"\n" CELL(NAME_TWO, "001000") "    \"x\"\n" CELL( \
				  NAME_OS, "003000") "    \"android\"\n\n"

static void fill(void)
{
	static const char *const keys[] = { "a", "aa", "ab", "b" };
	char line[200];
	size_t i;

	check("createtable r families=cf,st", "");
	for (i = 0; i < 4; i++) {
		snprintf(line, sizeof(line),
			 "set r %s cf:one=%zu@1000 cf:one=%zu0@2000 "
			 "cf:two=x@1000 st:os_name=android@3000",
			 keys[i], i, i);
		check(line, "");
	}
}

START_TEST(read_ranges)
{
	fill();
	check("read r",
	      ROW("a", "0") ROW("aa", "1") ROW("ab", "2") ROW("b", "3"));
	check("read r count=2", ROW("a", "0") ROW("aa", "1"));
	check("read r count=0", "");
	check("read r prefix=aa", ROW("aa", "1"));
	check("read r prefix=zzz", "");
	check("read r start=ab", ROW("ab", "2") ROW("b", "3"));
	check("read r end=aa", ROW("a", "0"));
	check("read r start=aa end=b", ROW("aa", "1") ROW("ab", "2"));
	check("read r start=b end=aa", "");
	check("read r start=b end=b", "");
	check("read r start= end= count=1", ROW("a", "0"));
	check("read r reversed=true count=2", ROW("b", "3") ROW("ab", "2"));
	check("read r reversed=true start=aa end=b",
	      ROW("ab", "2") ROW("aa", "1"));
	check("read r reversed=1 prefix=a regex=..",
	      ROW("ab", "2") ROW("aa", "1"));
	check("read r regex=a.", ROW("aa", "1") ROW("ab", "2"));
	check("read r regex=.*b count=1", ROW("ab", "2"));
	check("read r regex=phone", "");
	check("read r prefix=a prefix=b", ROW("b", "3"));
	check("count r", "4\n");
	check("count r prefix=a", "3\n");
	check("count r prefix=none", "0\n");
}
END_TEST

START_TEST(read_columns)
{
	fill();
	check("read r columns=cf:o.* prefix=b",
	      DASHES "b\n" CELL(NAME_ONE, "002000") "    \"30\"\n" CELL(
		      NAME_ONE, "001000") "    \"3\"\n\n");
	check("read r columns=cf:one,st:os_name cells-per-column=1 start=b",
	      DASHES "b\n" CELL(NAME_ONE, "002000") "    \"30\"\n" CELL(
		      NAME_OS, "003000") "    \"android\"\n\n");
	check("read r columns=two end=aa",
	      DASHES "a\n" CELL(NAME_TWO, "001000") "    \"x\"\n\n");
	check("read r columns=:two end=aa",
	      DASHES "a\n" CELL(NAME_TWO, "001000") "    \"x\"\n\n");
	check("read r columns=st: end=aa keys-only=true",
	      DASHES "a\n" CELL(NAME_OS, "003000") "    \"\"\n\n");
	check("read r columns=nofam:x", "");
	check("read r columns=cf:one prefix=b reversed=true",
	      DASHES "b\n" CELL(NAME_ONE, "002000") "    \"30\"\n" CELL(
		      NAME_ONE, "001000") "    \"3\"\n\n");
	check("read r include-stats=full columns=cf:one prefix=b",
	      DASHES "b\n" CELL(NAME_ONE, "002000") "    \"30\"\n" CELL(
		      NAME_ONE,
		      "001000") "    \"3\"\n\n"
				"Summary Stats\n====================\n"
				"rows_seen_count: 1\nrows_returned_count: 1\n"
				"cells_seen_count: 4\ncells_returned_count: 2\n"
				"frontend_server_latency: 0ms\n\n");
	check("lookup r a", ROW("a", "0"));
	check("lookup r a columns=cf:one cells-per-column=1",
	      DASHES "a\n" CELL(NAME_ONE, "002000") "    \"00\"\n\n");
	check("lookup r missing", DASHES "\n\n");
	check("lookup r ", DASHES "\n\n");
	check("lookup r a columns=cf:nope", DASHES "\n\n");
}
END_TEST

START_TEST(read_errors)
{
	fill();
	check("read", "tabletfs: usage: tabletfs read <table> [args ...]\n");
	check("read nope",
	      "tabletfs: Reading rows: table \"nope\" not found\n");
	check("lookup nope r",
	      "tabletfs: Reading row: table \"nope\" not found\n");
	check("count nope",
	      "tabletfs: Reading rows: table \"nope\" not found\n");
	check("read r start=a prefix=a", "tabletfs: \"start\"/\"end\" may not "
					 "be mixed with \"prefix\"\n");
	check("read r columns=a:b:c",
	      "tabletfs: bad format for column \"a:b:c\"\n");
	check("read r cells-per-column=0",
	      "tabletfs: Reading rows: Error in field "
	      "'cells_per_column_limit_filter' : argument must be > 0\n");
	check("read r count=-1", "tabletfs: Reading rows: bigtable: row limit "
				 "cannot be negative\n");
	check("read r count=x", "tabletfs: Bad count \"x\": strconv.ParseInt: "
				"parsing \"x\": invalid syntax\n");
	check("read r count=99999999999999999999",
	      "tabletfs: Bad count \"99999999999999999999\": "
	      "strconv.ParseInt: parsing \"99999999999999999999\": value out "
	      "of range\n");
	check("read r keys-only=maybe",
	      "tabletfs: strconv.ParseBool: parsing \"maybe\": invalid "
	      "syntax\n");
	check("read r include-stats=x",
	      "tabletfs: Bad include-stats value: \"x\" is not one of the "
	      "supported stats views.\n");
	check("read r limit=b", "tabletfs: Unknown arg key 'limit'; did you "
				"mean 'end'?\n");
	check("read r foo=b", "tabletfs: unknown arg key \"foo\"\n");
	check("read r foo", "tabletfs: bad arg \"foo\"\n");
	check("count r count=1", "tabletfs: unknown arg key \"count\"\n");
	check("lookup r a count=1", "tabletfs: unknown arg key \"count\"\n");
	check("read r regex=(", "tabletfs: Reading rows: error parsing regexp: "
				"missing closing ): `(`\n");
	check("nonsense", "tabletfs: Unknown command \"nonsense\"; tabletfs "
			  "help lists them\n");
}
END_TEST

#define AT_1000 " @ 1970/01/01-00:00:00.001000\n"

START_TEST(set_values)
{
	static const char want[] =
		DASHES "r\n"
		       "  f:                                      " AT_1000
		       "    \"empty\"\n"
		       "  f:a:b                                   " AT_1000
		       "    \"c=d\"\n"
		       "  f:hex                                   " AT_1000
		       "    \"1\"\n"
		       "  f:q                                     " AT_1000
		       "    \"me@x.org\"\n"
		       "  g:none                                  " AT_1000
		       "    \"\"\n"
		       "\n";

	check("createtable s families=f,g", "");
	check("set s r f:q=me@x.org@1000 f:hex=1@0x3e8 f:=empty@1000 "
	      "f:a:b=c=d@1000 g:none=@1000",
	      "");
	check("lookup s r", want);
	check("set s e :q=v", "tabletfs: Bad set arg \":q=v\"\n");
	check("set s e f:q", "tabletfs: Bad set arg \"f:q\"\n");
	check("set s e fq", "tabletfs: Bad set arg \"fq\"\n");
	check("set s  f:q=v",
	      "tabletfs: Applying mutation: Row keys must be non-empty\n");
	check("set s e f:q=v@-5000",
	      "tabletfs: Applying mutation: invalid timestamp -5000\n");
	check("set nope r f:q=v",
	      "tabletfs: Applying mutation: table \"nope\" not found\n");
	/* All of a command or nothing; the emulator keeps the first. */
	check("set s e f:ok=1 nofam:q=v",
	      "tabletfs: Applying mutation: unknown family \"nofam\"\n");
	check("lookup s e", DASHES "\n\n");
	check("set s r", "tabletfs: usage: tabletfs set <table> <row> "
			 "[app-profile=<app profile id>] "
			 "family:[column]=val[@ts] ...\n");
}
END_TEST

START_TEST(delete_rows)
{
	fill();
	check("deletecolumn r a cf one", "");
	check("read r columns=cf: prefix=a count=1",
	      DASHES "a\n" CELL(NAME_TWO, "001000") "    \"x\"\n\n");
	check("deletecolumn r a cf nope", "");
	check("deletecolumn r norow cf one", "");
	check("deletecolumn r a nofam one",
	      "tabletfs: Deleting cells in column: unknown family \"nofam\"\n");
	check("deleterow r a", "");
	check("deleterow r a app-profile=x", "");
	check("lookup r a", DASHES "\n\n");
	check("deleterow r ", "tabletfs: Deleting row: Row keys must be "
			      "non-empty\n");
	check("deleterow r", "tabletfs: usage: tabletfs deleterow <table> "
			     "<row> [app-profile=<app profile id>]\n");
	check("count r", "3\n");
	check("deleteallrows r", "");
	check("deleteallrows r", "");
	check("deleteallrows nope",
	      "tabletfs: Deleting all rows: table \"nope\" not found\n");
	check("count r", "0\n");
	check("ls r", HEAD "cf\t\t\t\t{}\nst\t\t\t\t{}\n");
}
END_TEST

START_TEST(a_range_without_bounds_is_refused)
{
	fill();
	check("deleterows r start= end=",
	      "tabletfs: start and end are empty; to delete all rows, use "
	      "deleteallrows\n");
	check("count r", "4\n");
}
END_TEST

START_TEST(upkeep)
{
	fill();
	check("compact", "");
	check("compact r", "");
	check("compact nope",
	      "tabletfs: Compacting: table \"nope\" not found\n");
	check("check", "no problem found\n");
	check("sync", "");
	check("count r", "4\n");
	check("version", "tabletfs " TABLETFS_VERSION "\n");
	check("create x",
	      "tabletfs: create does not run in a daemon, which opens no path; "
	      "run tabletfs create [<dir>]\n");
	check("backup x",
	      "tabletfs: backup does not run in a daemon, which opens no path; "
	      "run tabletfs backup <dir> [keep=<n>] [link=yes|no]\n");
	check("mounts",
	      "tabletfs: mounts does not run in a daemon, which opens no path; "
	      "run tabletfs mounts\n");
	check("help nonsense",
	      "tabletfs: Don't know command or topic \"nonsense\"; tabletfs "
	      "help lists the commands, and topics are start cookbook "
	      "operations undo bigtable emulator dynamodb hbase ceph\n");
}
END_TEST

/* A key is printed to its end, zero bytes too. */
START_TEST(sample_keys)
{
	static const char key[] = "a\0b";
	char verb[] = "samplekeys", table[] = "t", *text = NULL, *at;
	char *words[] = { verb, table, NULL };
	struct write *w;
	size_t size;
	FILE *out;

	check("createtable t families=f", "");
	/* A file that begins with the row, not with the table. */
	ck_assert_int_eq(engine_flush(store_engine(store)), 0);
	ck_assert_int_eq(write_new(store, &w), 0);
	ck_assert_int_eq(
		write_row(w, bytes_string("t"), bytes_of(key, sizeof(key) - 1)),
		0);
	ck_assert_int_eq(write_set(w, bytes_string("f"), bytes_string("q"), 1,
				   bytes_string("v")),
			 0);
	ck_assert_int_eq(store_commit(store, w, false), 0);
	write_free(w);
	ck_assert_int_eq(engine_flush(store_engine(store)), 0);
	out = open_memstream(&text, &size);
	ck_assert_int_eq(verb_run(store, 2, words, out, stderr), 0);
	fclose(out);
	at = memchr(text, ' ', size);
	ck_assert_ptr_nonnull(at);
	ck_assert_mem_eq(at + 1, "a\0b\n", 4);
	free(text);
}
END_TEST

int main(void)
{
	const TTest *tests[] = { tables,      families,
				 read_ranges, read_columns,
				 read_errors, set_values,
				 delete_rows, upkeep,
				 sample_keys, a_range_without_bounds_is_refused,
				 error_texts };

	return run_suite("verbs", setup, teardown, tests, 11);
}
