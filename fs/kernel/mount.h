#ifndef FS_KERNEL_MOUNT_H
#define FS_KERNEL_MOUNT_H

#include <stdio.h>

#include "store/store.h"

/*
 * The filesystem as tools/ sees it: mount a store and serve it until it is
 * unmounted or told to end.
 *
 * Commands that find the store mounted run inside the daemon, through
 * MNT/.tabletfs/ctl: open it O_RDWR, write one request in one write(2), then
 * read the reply until end of file. A request is the command's words, each
 * ended by a NUL byte. The reply is frames: a letter, a decimal length, a
 * newline, and that many bytes; o is standard output, e is standard error, and
 * last comes "x <status>\n", the exit status, without bytes. The one word
 * "sync" makes everything durable.
 */
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

/*
 * Opens the store, mounts it and serves. In the foreground it prints
 * "tabletfs: STORE is served at MNT" and returns when unmounted (0) or on an
 * error; else it returns 0 once it is served. Errors (mount point missing,
 * busy, inside the store or the store inside it, store in use) are told on
 * standard error in one sentence each and returned.
 */
int mount_serve(const struct mount_options *o);

#endif
