#ifndef FS_STATE_OPTIONS_H
#define FS_STATE_OPTIONS_H

#include <stdio.h>

#include "store/store.h"
#include "store/text/print/text_stream.h"

struct figures;

/* What a server beside a mount tells it, from any thread. */
struct mount_beside {
	void *context;
	/* After each change that no path has made, before anybody is answered
	 * that it was made. */
	void (*changed)(void *context);
	/* What is worth a line of .tabletfs/errors. */
	void (*log)(void *context, const char *line);
};

/*
 * What a mount is asked for: the words of -o, as mount(8) and fstab write them.
 * Filled by one thread before the mount; afterwards nobody changes it. Strings
 * are borrowed and have to outlive the mount.
 */
struct mount_options {
	const char *store;       /* directory */
	const char *mount_point; /* directory */
	bool foreground;         /* serve in this process; else daemonize and
				    return once served */
	bool quiet;              /* chmod, chown that cannot be: ignored */
	bool show_control;       /* -o showctl: list control names */
	bool strict_schema;      /* mkdir row/family makes no family */
	bool xattr;              /* extended attributes can be read */
	bool opendir;            /* the kernel asks at each opendir */
	bool sync;               /* every close is durable */
	bool allow_other;        /* other users too; the kernel checks modes */
	bool read_only;          /* -o ro: the store is opened to read, and
				    the kernel refuses changes */
	bool follow;             /* beside its owner, without a lease; then
				    read_only counts as said */
	unsigned int staleness_ms; /* with follow: it may be so old */
	uint64_t reader_grace_us;  /* files that readers elsewhere may need
					stay so long; 0: none do */
	bool no_exec;              /* no program in it is executed */
	bool no_atime;             /* for who looks at the mount's options */
	/* uid=, gid=, umask=: of tables that say nothing, and of what is in no
	 * table; where unset, 755 and who mounts it. */
	struct table_access access;
	unsigned int commit_seconds; /* log is synced at least so often */
	unsigned int stale_seconds;  /* how long kernels that cannot be told
					of changes keep what they know */
	const char *gc;              /* policy of families made by mkdir */
	const char *delimiter;       /* of segments of row keys; not empty */
	enum event_level events;     /* of the store's event log */
	bool log_stderr;             /* what it tells goes there, too */
	uint64_t slow_us;            /* what it tells as slow; 0: nothing */
	const char *metrics_file;    /* see metrics_file.h; NULL: none */
	uint64_t quota_size;         /* bytes; 0: none */
	uint64_t export_max_size;    /* bytes, of a file of .scan with a size */
	uint64_t memory_size;        /* bytes, of the store; 0: its default */
	/*
	 * Runs a command in the daemon: its exit status, its text to out and
	 * err. argv[0] is the verb. Any thread may be the caller. It is how
	 * fs/ reaches tools/, which it does not include.
	 */
	int (*run)(struct store *s, int argc, char **argv, FILE *out,
		   FILE *err);
	/*
	 * serve=: where another server of the store is to listen, which begins
	 * before the mount's first request and ends after the last, by these:
	 * 0 or an error, and then nothing has begun; server is theirs. fd is a
	 * descriptor that the daemon has to keep for it, or -1.
	 */
	const char *serve; /* NULL: none */
	void *server;
	int server_fd;
	/* What it tells of itself, beside the mount's figures. */
	void (*server_figures)(void *server, struct figures *f);
	int (*server_start)(void *server, struct store *s, bool sync,
			    const struct mount_beside *beside);
	void (*server_stop)(void *server);
	/*
	 * The same as run for a command whose output is made as it is read: 1
	 * with *out; 0 if it is another's, for run; or -1 after it said on err
	 * what is wrong. stop is that of struct scan_range.
	 */
	int (*stream)(struct store *s, int argc, char **argv, FILE *err,
		      bool (*stop)(void), struct text_stream **out);
};

/* The defaults: a sync each second, ten versions in families that mkdir makes,
 * "#" between segments, all else off or unset. */
void mount_options_init(struct mount_options *o);

/* Where what the event log tells goes, too: stderr. 0 or -ERR_bad_argument. */
int log_to_parse(const char *value);

/* How long something takes that is to be told as slow, "50ms"; 0 is never. 0 or
 * -ERR_bad_argument, with its sentence. */
int slow_parse(const char *value, uint64_t *us);

/* Whether words that were taken go together: 0 or -ERR_bad_argument, with its
 * sentence. */
int mount_options_check(const struct mount_options *o);

/* Parses one -o argument ("quiet,commit=5"), a later word over an earlier one,
 * but serve= only once; -ERR_bad_argument names the word that is unknown or out
 * of range, after those before it were taken; -ERR_bad_gc_policy and -ENOMEM of
 * gc=. Strings point into argument, which is changed. */
int mount_options_parse(struct mount_options *o, char *argument);

#endif
