#include <string.h>

#include "tests/unit/suite.h"
#include "tools/topic.h"
#include "tools/verb/verb.h"
#include "tools/words.h"

/* What words_of makes of usage and help must be these lines. */
static void check_words(const char *usage, const char *help, const char *want)
{
	struct buf out = BUF_INIT;

	ck_assert_int_eq(words_of(usage, help, &out), 0);
	ck_assert_int_eq(buf_terminate(&out), 0);
	ck_assert_str_eq((char *)out.data + 1, want);
	buf_release(&out);
}

START_TEST(places_in_their_order)
{
	check_words("stats", "", "");
	check_words("load <file>|- <dir>", "", "<file>\n<dir>\n");
	check_words("create [<dir>]", "", "[<dir>]\n");
	check_words("keyviz <table> [from=<time>] [<file>.svg|.html]", "",
		    "<table>\nfrom=\n[<file>]\n");
	check_words("mutate <table> <json> ...", "", "<table>\n<json>\n");
	check_words("help [<command>|<topic>]", "", "[<command>]\n");
}
END_TEST

START_TEST(values_that_are_known)
{
	check_words("x [a=b|c] [d=<true|false>] [e=<f>|<g>] [h=i|<j>] k=l,...",
		    "", "a=b\na=c\nd=true\nd=false\ne=\nh=i\nh=\nk=\n");
	check_words("x [app-profile=<app profile id>] f:[c]=v[@ts] <n>=<v> ...",
		    "", "app-profile=\n");
}
END_TEST

START_TEST(words_as_they_stand)
{
	check_words("mount [-f] [-o <options>] [<store>] <dir>", "",
		    "-f\n-o\n[<store>]\n<dir>\n");
	check_words("recipe <table> [show <name> | set <name> <file>|- | "
		    "rm <name>]",
		    "", "<table>\nshow\nset\nrm\n");
	check_words("gc <t> ((maxage=<d> | maxversions=<n>) [(and|or) "
		    "(maxage=<d>),...] | never) [force]",
		    "", "<t>\nmaxage=\nmaxversions=\nand\nor\nnever\nforce\n");
	check_words("read <table> [args ...]", "", "<table>\n");
}
END_TEST

START_TEST(lines_of_help)
{
	check_words("x",
		    "  a=<b>   A word=, but this is prose\n"
		    "  plain   Not a word\n"
		    "prose, of b=\n"
		    "    deeper=<x>\n"
		    "  c= [or] d=yes|no  And several\n"
		    "  -o sync        An option\n"
		    "  -o gc=<policy> Another\n"
		    "  'chain(f)=1'\n"
		    "  a=<b>   Again",
		    "a=\nc=\nor\nd=yes\nd=no\n-o sync\n-o gc=\n");
}
END_TEST

/* Whatever a verb's own words are, they can be read and shown. */
START_TEST(every_verb)
{
	const struct verb *v;
	struct buf out = BUF_INIT;
	const char *line;

	for (v = verbs; v->name; v++) {
		out.size = 0;
		ck_assert_int_eq(words_of(v->usage, v->help, &out), 0);
		ck_assert_msg(!strncmp(v->usage, v->name, strlen(v->name)),
			      "%s: usage is of another", v->name);
		for (line = v->help; *line; line = strchr(line, '\n') + 1)
			ck_assert_msg(strchr(line, '\n') &&
					      strcspn(line, "\n") <= 70,
				      "%s: %.40s is longer than 70 columns, or "
				      "ends without a newline",
				      v->name, line);
	}
	buf_release(&out);
}
END_TEST

START_TEST(topics_are_no_verbs)
{
	const struct topic *t;

	for (t = topics; t->name; t++) {
		ck_assert_msg(!verb_find(t->name), "%s is both", t->name);
		ck_assert(topic_find(t->name) == t);
		ck_assert_msg(!strncmp(t->text, "# ", 2) &&
				      t->text[strlen(t->text) - 1] == '\n',
			      "%s is no page", t->name);
	}
	ck_assert_ptr_null(topic_find("nonsense"));
}
END_TEST

int main(void)
{
	const TTest *tests[] = {
		places_in_their_order,
		values_that_are_known,
		words_as_they_stand,
		lines_of_help,
		every_verb,
		topics_are_no_verbs,
	};

	return run_suite("words", NULL, NULL, tests, 6);
}
