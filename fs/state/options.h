#ifndef FS_STATE_OPTIONS_H
#define FS_STATE_OPTIONS_H

#include <stdio.h>

#include "store/store.h"

/* What a mount is asked for. */
struct mount_options {
	const char *store;       /* directory */
	const char *mount_point; /* directory */
	bool foreground;         /* serve in this process; else daemonize and
				    return once served */
	bool quiet;              /* chmod, chown that cannot be: ignored */
	bool show_control;       /* -o showctl: list control names */
	bool strict_schema;      /* mkdir row/family makes no family */
	bool xattr;
	bool sync; /* every close is durable */
	bool allow_other;
	bool read_only;              /* -o ro: the kernel refuses changes */
	unsigned int commit_seconds; /* log is synced at least so often */
	const char *gc;              /* policy of families made by mkdir */
	const char *delimiter;       /* of segments of row keys */
	uint64_t quota_size;         /* 0: none */
	uint64_t memory_size;        /* of the store; 0: its default */
	/*
	 * Runs a command in the daemon: its exit status, its text to out and
	 * err. argv[0] is the verb. Any thread may be the caller.
	 */
	int (*run)(struct store *s, int argc, char **argv, FILE *out,
		   FILE *err);
};

void mount_options_init(struct mount_options *o);

/* Parses one -o argument ("quiet,commit=5"); -ERR_bad_argument names the
 * word. Strings point into argument, which is changed. */
int mount_options_parse(struct mount_options *o, char *argument);

#endif
