#include <string.h>

#include "tools/topic.h"

/* Each x(name, summary) is tools/doc/name.md. */
/* clang-format off */
#define TOPICS(x) \
	x(start, "From nothing to rows of your own, without root") \
	x(cookbook, "Jobs from beginning to end, in commands only") \
	x(operations, "Keeping a store: durable, backed up, mounted, watched") \
	x(undo, "I deleted it: what to do in the first minute") \
	x(bigtable, "For who knows Bigtable and cbt") \
	x(emulator, "For who runs against Google's emulator of Bigtable") \
	x(dynamodb, "For who knows DynamoDB") \
	x(hbase, "For who knows HBase") \
	x(ceph, "A store in a pool of a Ceph cluster")
/* clang-format on */

/* The assembler takes a page into the program, from the top of the tree, where
 * make runs; the Makefile has this compiled anew when one changes. */
#define x(name, summary)                                                \
	__asm__(".pushsection .rodata\n"                                \
		"topic_" #name ": .incbin \"tools/doc/" #name ".md\"\n" \
		".byte 0\n"                                             \
		".popsection");                                         \
	extern const char topic_##name[];
TOPICS(x)
#undef x

const struct topic topics[] = {
#define x(name, summary) { #name, summary, topic_##name },
	TOPICS(x)
#undef x
		{ NULL, NULL, NULL },
};

const struct topic *topic_find(const char *name)
{
	const struct topic *t;

	for (t = topics; t->name; t++)
		if (!strcmp(t->name, name))
			return t;
	return NULL;
}
