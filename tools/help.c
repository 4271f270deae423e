#include "tools/help.h"
#include "tools/topic.h"
#include "tools/words.h"

int verb_version(struct verb_call *c)
{
	fputs("tabletfs " TABLETFS_VERSION "\n", c->out);
	return 0;
}

/* What completion offers behind a verb. */
static int print_words(struct verb_call *c, const char *name)
{
	const struct verb *v = verb_find(name);
	struct buf words = BUF_INIT;
	const struct topic *t;
	int err;

	if (!v)
		return verb_wrong(c, "Don't know command \"%s\"", name);
	err = words_of(v->usage, v->help, &words);
	/* But for the newline before the first. */
	if (!err)
		fwrite(words.data + 1, 1, words.size - 1, c->out);
	for (t = topics; !err && v->run == verb_help && t->name; t++)
		fprintf(c->out, "%s\n", t->name);
	buf_release(&words);
	return err ? verb_failed(c, "Reading help", err) : 0;
}

static int print_one(struct verb_call *c, const char *name)
{
	const struct topic *t = topic_find(name);
	const struct verb *v = verb_find(name);

	if (v) {
		fprintf(c->out, "tabletfs %s\n%s%s", v->usage,
			v->help[0] ? "\n" : "", v->help);
		return 0;
	}
	if (t) {
		fputs(t->text, c->out);
		return 0;
	}
	fprintf(c->err,
		"tabletfs: Don't know command or topic \"%s\"; tabletfs "
		"help lists the commands, and topics are",
		name);
	for (t = topics; t->name; t++)
		fprintf(c->err, " %s", t->name);
	fputc('\n', c->err);
	return 1;
}

/* A verb's own words stand in tools/table.c; what is said here is about all. */
int verb_help(struct verb_call *c)
{
	const struct topic *t;
	const struct verb *v;

	if (c->argc == 3 && !strcmp(c->argv[1], "-words"))
		return print_words(c, c->argv[2]);
	if (c->argc > 2 || (c->argc == 2 && c->argv[1][0] == '-'))
		return verb_usage(c);
	if (c->argc == 2)
		return print_one(c, c->argv[1]);
	fputs("Usage: tabletfs [-store <dir>] [-follow] <command> ...\n"
	      "  -store <dir>\n"
	      "    \tThe store, or where it is mounted; TABLETFS_STORE if not\n"
	      "    \tgiven. A store that is mounted is reached through its\n"
	      "    \tmount. cbt's -project, -instance, -creds and the like\n"
	      "    \tare taken and mean nothing.\n"
	      "  -follow\n"
	      "    \tOnly read, beside who writes the store: on another\n"
	      "    \tmachine, or in the same pool\n\n",
	      c->out);
	for (v = verbs; v->name; v++)
		if (!(v->flags & VERB_INNER))
			fprintf(c->out, "tabletfs %-15s\t%s\n", v->name,
				v->summary);
	fputs("\nMore of a command: tabletfs help <command>\n"
	      "Pages to read: tabletfs help <topic>\n\n",
	      c->out);
	for (t = topics; t->name; t++)
		fprintf(c->out, "  %-22s\t%s\n", t->name, t->summary);
	return 0;
}
