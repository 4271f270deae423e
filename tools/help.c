#include "tools/help.h"
#include "tools/verb/verb.h"

int verb_version(struct verb_call *c)
{
	fputs("tabletfs " TABLETFS_VERSION "\n", c->out);
	return 0;
}

/* A verb's own words stand in tools/table.c; what is said here is about all. */
int verb_help(struct verb_call *c)
{
	const struct verb *v;

	if (c->argc > 1) {
		v = verb_find(c->argv[1]);
		if (!v)
			return verb_wrong(c, "Don't know command \"%s\"",
					  c->argv[1]);
		fprintf(c->out, "tabletfs %s\n%s%s", v->usage,
			v->help[0] ? "\n" : "", v->help);
		return 0;
	}
	fputs("Usage: tabletfs [-store <dir>] <command> ...\n"
	      "  -store <dir>\n"
	      "    \tThe store, or where it is mounted; TABLETFS_STORE if not\n"
	      "    \tgiven. A store that is mounted is reached through its\n"
	      "    \tmount. cbt's -project, -instance, -creds and the like\n"
	      "    \tare taken and mean nothing.\n\n",
	      c->out);
	for (v = verbs; v->name; v++)
		fprintf(c->out, "tabletfs %-15s\t%s\n", v->name, v->summary);
	fputs("\ntabletfs help <command> tells more.\n", c->out);
	return 0;
}
