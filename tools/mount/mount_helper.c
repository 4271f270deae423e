#include <string.h>

#include "tools/mount/mount_helper.h"
#include "tools/verb/verb.h"

/*
 * What mount(8) calls for -t fuse.tabletfs, in fstab and by hand:
 *
 *   mount.fuse.tabletfs STORE DIR [-sfnv] [-N NAMESPACE] [-o OPTIONS] [-t TYPE]
 *
 * -f is mount's --fake: nothing is mounted. The store must be given by its full
 * path, since mount(8) may be anywhere.
 */
bool is_mount_helper(const char *program)
{
	const char *name = strrchr(program, '/');

	return !strncmp(name ? name + 1 : program, "mount.", 6);
}

/* Makes the words of the verb mount of it, in their places. Other options than
 * those looked at change nothing here. */
int mount_helper(int argc, char **argv)
{
	/* Behind -o "" nothing is given: then the verb gets two words less. */
	static char mount[] = "mount", option[] = "-o", none[] = "";
	char *words[] = { mount, none, none, option, none, NULL };
	struct verb_call c = { NULL, argc, argv, stdout, stderr };
	bool fake = false;
	int i, paths = 0;

	for (i = 1; i < argc; i++) {
		char *word = argv[i];

		if (word[0] != '-') {
			if (++paths > 2)
				return verb_wrong(&c, "%s: what is this?",
						  word);
			words[paths] = word;
			continue;
		}
		fake = fake || strchr(word, 'f') != NULL;
		if (!strcmp(word, "-o") || !strcmp(word, "-t") ||
		    !strcmp(word, "-N")) {
			if (++i == argc)
				return verb_wrong(&c, "%s needs a word", word);
			if (word[1] == 'o')
				words[4] = argv[i];
		}
	}
	if (paths < 2)
		return verb_wrong(&c, "usage: %s STORE DIR [-o OPTIONS]",
				  argv[0]);
	return fake ? 0
		    : verb_run(NULL, words[4][0] ? 5 : 3, words, stdout,
			       stderr);
}
