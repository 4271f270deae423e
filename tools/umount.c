#include <unistd.h>

#include "tools/verb.h"

int verb_umount(struct verb_call *c)
{
	if (c->argc != 2)
		return verb_usage(c);
	fflush(c->err);
	execlp("fusermount3", "fusermount3", "-u", "--", c->argv[1], NULL);
	return verb_wrong(c, "fusermount3: %s", strerror(errno));
}
