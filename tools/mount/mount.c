#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "fs/kernel/mount.h"
#include "fs/state/options.h"
#include "tools/mount/mount.h"
#include "tools/admin/streams.h"
#include "tools/serve/verb/announce.h"
#include "tools/serve/verb/beside.h"
#include "tools/verb/verb.h"

/* Takes -f, -o OPTIONS, -oOPTIONS, before, between or after the two paths, as
 * mount(8) and people put them. One path is the mount point of the store that
 * TABLETFS_STORE names. 0, or 1 after it said what is wrong. */
static int parse(struct verb_call *c, struct mount_options *o)
{
	int i;

	for (i = 1; i < c->argc; i++) {
		char *word = c->argv[i], *options = NULL;

		if (!strcmp(word, "-f")) {
			o->foreground = true;
		} else if (!strncmp(word, "-o", 2)) {
			options = word[2] ? word + 2 : c->argv[++i];
			if (i >= c->argc)
				return verb_usage(c);
			if (mount_options_parse(o, options))
				return verb_wrong(
					c,
					"bad option: %s; tabletfs help "
					"mount lists them",
					err_detail());
		} else if (word[0] == '-' || o->mount_point) {
			return verb_usage(c);
		} else if (o->store) {
			o->mount_point = word;
		} else {
			o->store = word;
		}
	}
	if (mount_options_check(o))
		return verb_wrong(c, "bad option: %s", err_detail());
	if (o->log_stderr && !o->foreground)
		return verb_wrong(c,
				  "log-to=stderr wants -f: a daemon has left "
				  "its standard error");
	/* One path only. */
	if (o->store && !o->mount_point) {
		o->mount_point = o->store;
		o->store = getenv("TABLETFS_STORE");
	}
	return o->store && o->mount_point ? 0 : verb_usage(c);
}

/* The daemon leaves its directory: a path from there on becomes a full one, in
 * memory. 0, or 1 after it said what is wrong. */
static int find_metrics(struct verb_call *c, struct mount_options *o,
			struct buf *memory)
{
	char *directory;
	int err;

	if (!o->metrics_file || o->metrics_file[0] == '/')
		return 0;
	directory = getcwd(NULL, 0);
	if (!directory)
		return verb_failed(c, "metrics-file=", -errno);
	err = buf_printf(memory, "%s/%s", directory, o->metrics_file);
	if (!err)
		err = buf_terminate(memory);
	free(directory);
	if (err < 0)
		return verb_failed(c, "metrics-file=", err);
	o->metrics_file = (char *)memory->data;
	return 0;
}

/* Mounts, and says where else it is served: in the foreground before, since
 * nothing comes back; clients wait until then. */
static int mount(struct verb_call *c, const struct mount_options *o,
		 struct beside *b)
{
	if (o->serve && o->foreground && announce(c, b->listener.address))
		return 1;
	/* The daemon is a child, which must not print it again. */
	fflush(c->out);
	if (mount_serve(o))
		return 1;
	beside_close(b, true);
	return o->serve && !o->foreground ? announce(c, b->listener.address)
					  : 0;
}

int verb_mount(struct verb_call *c)
{
	struct mount_options o;
	struct buf metrics = BUF_INIT;
	struct beside beside;
	int status, err;

	mount_options_init(&o);
	/* What the daemon runs commands with: fs/ knows nothing of tools/. */
	o.run = verb_serve;
	o.stream = streams_open;
	if (parse(c, &o) || find_metrics(c, &o, &metrics))
		return 1;
	err = beside_open(&beside, &o);
	if (err < 0) {
		buf_release(&metrics);
		return verb_failed(c, "Listening", err);
	}
	status = mount(c, &o, &beside);
	beside_close(&beside, false);
	buf_release(&metrics);
	return status;
}
