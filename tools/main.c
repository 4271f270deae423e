#include <stdlib.h>

#include "tools/remote.h"

/* Taken off the front: -store DIR, -store=DIR, --store. */
static const char *take_store(int *argc, char ***argv)
{
	const char *store = getenv("TABLETFS_STORE");

	while (*argc > 0 && (*argv)[0][0] == '-') {
		const char *word = (*argv)[0] + 1 + ((*argv)[0][1] == '-');

		if (!strcmp(word, "store") && *argc > 1) {
			store = (*argv)[1];
			*argv += 2;
			*argc -= 2;
		} else if (!strncmp(word, "store=", 6)) {
			store = word + 6;
			*argv += 1;
			*argc -= 1;
		} else {
			break;
		}
	}
	return store;
}

static int through_mount(struct verb_call *c, const char *store)
{
	struct buf mount_point = BUF_INIT;
	int err = remote_find(store, &mount_point), status;

	if (err < 0)
		status = verb_wrong(c, "%s", verb_error_text(err));
	else if (verb_find(c->argv[0])->flags & VERB_STREAMS)
		status = remote_import(c, (char *)mount_point.data);
	else
		status = remote_run(c, (char *)mount_point.data);
	buf_release(&mount_point);
	return status;
}

static int cannot_open(struct verb_call *c, const char *store, int err)
{
	if (err == -ENOENT)
		return verb_wrong(c,
				  "no store at %s; createtable or mount makes "
				  "one",
				  store);
	return verb_failed(c, "Opening the store", err);
}

/* Runs a verb on the store in a directory, in this process if it is free. */
static int run_on_store(struct verb_call *c, const char *store,
			unsigned int flags)
{
	struct store_options options;
	struct store *s;
	int err, status;

	store_options_init(&options);
	options.create = flags & VERB_CREATES;
	options.background = false;
	options.holder = "the command tabletfs";
	err = store_open(store, &options, &s);
	if (err == -ERR_store_in_use)
		return through_mount(c, store);
	if (err < 0)
		return cannot_open(c, store, err);
	if (store_recovery_text(s)[0])
		verb_wrong(c, "%s", store_recovery_text(s));
	status = verb_run(s, c->argc, c->argv, c->out, c->err);
	err = store_close(s);
	if (err < 0)
		status = verb_failed(c, "Closing the store", err);
	return status;
}

int main(int argc, char **argv)
{
	static char help[] = "help";
	static char *no_verb[] = { help, NULL };
	struct verb_call c = { NULL, argc - 1, argv + 1, stdout, stderr };
	const char *store = take_store(&c.argc, &c.argv);
	const struct verb *v;
	int status;

	if (c.argc == 0) {
		c.argc = 1;
		c.argv = no_verb;
		c.out = stderr;
	}
	if (!strcmp(c.argv[0], "-h") || !strcmp(c.argv[0], "--help"))
		c.argv[0] = help;
	v = verb_find(c.argv[0]);
	if (!v || (v->flags & VERB_NO_STORE)) {
		if (store)
			setenv("TABLETFS_STORE", store, 1);
		status = verb_run(NULL, c.argc, c.argv, c.out, c.err);
	} else if (!store) {
		status = verb_wrong(&c,
				    "which store? Say tabletfs -store DIR "
				    "%s ... or set TABLETFS_STORE",
				    v->name);
	} else {
		status = run_on_store(&c, store, v->flags);
	}
	if (fflush(stdout) != 0 || ferror(stdout))
		status = verb_wrong(&c, "standard output: %s", strerror(errno));
	return c.argv == no_verb ? 1 : status;
}
