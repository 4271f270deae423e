#include <assert.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "fs/cells/ending.h"
#include "tools/admin/backup.h"
#include "tools/admin/dump.h"
#include "tools/admin/keyviz.h"
#include "tools/admin/recipe.h"
#include "tools/admin/restore.h"
#include "tools/admin/schema.h"
#include "tools/data/export.h"
#include "tools/import/import.h"
#include "tools/import/key.h"
#include "tools/import/recipe_words.h"
#include "tools/import/remote_import.h"
#include "tools/mount/mount_helper.h"
#include "store/base/place/place.h"
#include "tools/mount/mount_table.h"
#include "tools/past/history.h"
#include "tools/verb/remote.h"
#include "tools/verb/stop.h"

/*
 * The program: finds the store that a command is about, and where the command
 * has to run.
 *
 *   no store is needed   here
 *   the store is free    here, with the store open and no background thread
 *   it is only read      here, if the verb only reads, too
 *   -follow was said     here, beside who writes it
 *   it is mounted        in its daemon, to which remote_run brings the words;
 *     or served          here, with its help, if the verb names a path
 *   it is otherwise used after that, if it ends soon
 *
 * The exit status is that of the verb, 0, 1 or 2; also 1 (of an import by a
 * recipe 2) if it could not begin or be ended, if standard output
 * cannot be written, or no verb was given.
 */

/* Flags that have a value: the store's, then those of cbt, which say where its
 * service is and mean nothing here. */
static const char *const value_flags[] = {
	"store",         "project",        "instance",   "creds",
	"access-token",  "admin-endpoint", "auth-token", "cert-file",
	"data-endpoint", "timeout",        "user-agent", NULL,
};

/* Takes -FLAG VALUE, -FLAG=VALUE, --FLAG VALUE off the front, the last of which
 * counts, and -follow; returns the store, else TABLETFS_STORE, or NULL. */
static const char *take_flags(int *argc, char ***argv, bool *follow)
{
	const char *store = getenv("TABLETFS_STORE");

	while (*argc > 0 && (*argv)[0][0] == '-') {
		/* Behind one dash, or two. */
		const char *word = (*argv)[0] + 1 + ((*argv)[0][1] == '-');
		size_t size = strcspn(word, "="), i = 0;
		int taken = word[size] ? 1 : 2;

		if (!strcmp(word, "follow")) {
			*follow = true;
			++*argv;
			--*argc;
			continue;
		}
		while (value_flags[i] && (strlen(value_flags[i]) != size ||
					  strncmp(value_flags[i], word, size)))
			i++;
		if (!value_flags[i] || *argc < taken)
			break;
		if (i == 0)
			store = taken == 1 ? word + size + 1 : (*argv)[1];
		*argv += taken;
		*argc -= taken;
	}
	return store;
}

/* Whether it is an import by a recipe, of which a status of 1 says that it came
 * to its end: what keeps it from that, before and after the verb runs, is 2. */
static bool is_by_recipe(const struct verb_call *c)
{
	const struct verb *v = verb_find(c->argv[0]);

	return v && v->run == verb_import && recipe_is_meant(c, 2);
}

/* The status of what did not come to its end, when that is not the verb's. */
static int failed(const struct verb_call *c, int status)
{
	return status == 1 && is_by_recipe(c) ? 2 : status;
}

/* Verbs that name a path open it here, whether or not the store is mounted. */
static int through_mount(struct verb_call *c, const struct served *served)
{
	const struct verb *v = verb_find(c->argv[0]);

	if (v->run == verb_import && served->root < 0)
		return failed(
			c, verb_wrong(c,
				      "import reads into a store that is free "
				      "or mounted, and %s is served: end that, "
				      "or mount it with -o serve=ADDRESS "
				      "instead",
				      served->directory));
	if (v->run == verb_import)
		return remote_import(c, served);
	if (v->run == verb_key)
		return key_at(c, served->root);
	if (v->run == verb_backup)
		return remote_backup(c, served);
	if (v->run == verb_restore_from)
		return remote_restore_from(c, served);
	if (v->run == verb_export)
		return remote_export(c, served);
	if (v->run == verb_dump)
		return remote_dump(c, served);
	if (v->run == verb_keyviz)
		return remote_keyviz(c, served);
	assert(!(v->flags & VERB_OUTSIDE));
	return remote_run(c, served);
}

/* key is about a store only if it names a table of one. */
static bool needs_store(const struct verb *v, const struct verb_call *c)
{
	return v->run == verb_key ? key_has_table(c)
				  : !(v->flags & VERB_NO_STORE);
}

/* Whether it is a directory of backups, which scripts may take for one; says so
 * then. */
static bool holds_backups(struct verb_call *c, const char *store)
{
	struct buf newest = BUF_INIT;
	bool holds = backup_find(store, &newest) == 0 &&
		     strcmp((const char *)newest.data, store) != 0;

	if (holds)
		verb_wrong(c,
			   "%s holds backups, each of which is a store; the "
			   "newest is %s",
			   store, (const char *)newest.data);
	buf_release(&newest);
	return holds;
}

/* Says why the store cannot be opened and what to do: 1. Damage has an errno of
 * EIO but is an error of our own, where a disk that fails is a plain one. */
static int cannot_open(struct verb_call *c, const char *store, int err)
{
	char why[1024];
	int status;

	if (!store[0])
		return verb_nameless(c);
	if (err == -ENOENT)
		return verb_wrong(
			c,
			"no store at %s; create, createtable or mount "
			"makes one",
			store);
	if (err == -ERR_not_a_store) {
		snprintf(why, sizeof(why), "%s", verb_error_text(err));
		if (holds_backups(c, store))
			return 1;
		return verb_wrong(c,
				  "%s; create, createtable or mount makes a "
				  "store in a new or empty directory",
				  why);
	}
	status = verb_failed(c, "Opening the store", err);
	if (-err >= ERR_BASE && err_errno(err) == EIO)
		verb_wrong(c,
			   "tabletfs -store %s repair <dir> makes a new "
			   "store of what can be read",
			   store);
	return status;
}

/* Of a command that reads where another process writes. */
#define FOLLOWS (1u << 31)

/* As served_open, with the options of a command. */
static int open_store(const char *directory, unsigned int flags,
		      struct store **out, struct served *served)
{
	struct store_options options;
	char holder[64];

	snprintf(holder, sizeof(holder), "a tabletfs command, pid %d",
		 (int)getpid());
	store_options_init(&options);
	options.beside = true;
	options.create = flags & VERB_CREATES;
	options.read_only = flags & VERB_READS;
	options.follow = flags & FOLLOWS;
	options.background = options.follow;
	/* It tells what was there when it began, however long it takes. */
	if (options.follow)
		options.staleness_ms = STORE_STALENESS_MAX_MS;
	options.holder = holder;
	return served_open(directory, &options, out, served);
}

/* Runs a verb on the store in a directory, in this process if it is free: the
 * exit status. Closing makes everything durable, so its error is the verb's. */
static int run_on_store(struct verb_call *c, const char *directory,
			unsigned int flags)
{
	struct served served;
	struct store *s;
	int err = open_store(directory, flags, &s, &served), status;

	assert(err <= 1);
	if (err < 0)
		return failed(c, cannot_open(c, directory, err));
	if (err == 1) {
		status = through_mount(c, &served);
		served_release(&served);
		return status;
	}
	/* Told, but no failure: the store has recovered. */
	if (store_recovery_text(s)[0])
		verb_wrong(c, "%s", store_recovery_text(s));
	err = ending_watch(s, NULL, directory);
	status = err < 0 ? failed(c, verb_failed(c, "Running it", err))
			 : verb_run(s, c->argc, c->argv, c->out, c->err);
	err = store_close(s);
	if (err < 0)
		status = failed(c, verb_failed(c, "Closing the store", err));
	return status;
}

/* Where the mount is that holds the store in directory, within its line, which
 * is in line; NULL if none does. */
static const char *mount_place(const char *directory, struct buf *line)
{
	const char *mark = NULL;
	bool here;

	if (volume_holder(directory, line, &here) == 0 &&
	    buf_terminate(line) == 0)
		mark = strstr((char *)line->data, SERVED_AT);
	return mark ? mark + strlen(SERVED_AT) : NULL;
}

/* Whether a mount at place does, which the line names up to a newline. */
static bool holds_at(const char *directory, const char *place)
{
	char *full = realpath(place, NULL);
	struct buf line = BUF_INIT;
	const char *at = mount_place(directory, &line);
	bool does = full && at && strcmp(at, full) == 0;

	buf_release(&line);
	free(full);
	return does;
}

/* Whether the daemon that served found does, wherever else it is mounted. */
static bool holds(const char *directory, const struct served *served)
{
	struct buf line = BUF_INIT;
	int pid;
	bool does = mount_place(directory, &line) &&
		    sscanf((char *)line.data, "pid %d,", &pid) == 1 &&
		    pid == served->pid;

	buf_release(&line);
	return does;
}

/* What may only read a store was asked for more. */
static int changes_nothing(struct verb_call *c, const char *what,
			   const char *directory)
{
	return failed(c, verb_wrong(c,
				    "%s only reads %s, which another process "
				    "writes (%s): run this where that is "
				    "mounted or served",
				    what, directory, strerror(EROFS)));
}

/* As run_on_store, of a mount that follows what is written in directory: reads
 * there, beside who writes, too. */
static int run_following(struct verb_call *c, const struct served *served,
			 const char *directory, unsigned int flags)
{
	const char *place = (const char *)served->place.data;

	if (!(flags & VERB_READS))
		return changes_nothing(c, place, directory);
	if (!served_is_of(served, directory))
		return failed(c, verb_wrong(c,
					    "%s follows a store that is not at "
					    "%s any more, or cannot be looked "
					    "at there: mount it again",
					    place, directory));
	return run_on_store(c, directory, flags | FOLLOWS);
}

/* As run_on_store, of the place where a store is mounted, too. That lets in who
 * may not look into the store, and leads to it wherever it is by now: another
 * may have come to the path that it had. */
static int run_at(struct verb_call *c, const char *place, unsigned int flags)
{
	char *mounted = mount_store_at(place, NULL);
	const char *directory = mounted ? mounted : place;
	struct served served = { .root = -1 };
	bool is_closed =
		mounted && access(mounted, R_OK | X_OK) < 0 && errno == EACCES;
	bool is_there = mounted && (is_closed || !holds_at(mounted, place)) &&
			served_at(mounted, place, &served) == 1;
	int status;

	if (flags & FOLLOWS && !(flags & VERB_READS))
		status = changes_nothing(c, "-follow", directory);
	else if (is_there && (served.follows || flags & FOLLOWS))
		status = run_following(c, &served, mounted, flags);
	else if (is_there && (is_closed || !served_is_of(&served, mounted) ||
			      holds(mounted, &served)))
		status = through_mount(c, &served);
	else
		status = run_on_store(c, directory, flags);
	served_release(&served);
	free(mounted);
	return status;
}

/* Every sst of a store is kept open, 32 MiB each: as many as the system lets
 * one have. */
static void raise_file_limit(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
		return;
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
}

/* Whoever started this may have closed a standard stream: then the next file to
 * be opened, such as one of the store, would be written to as that. What takes
 * its place fails as a closed one does. */
static void fill_standard_streams(void)
{
	int fd;

	for (fd = 0; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) < 0)
			(void)!open("/dev/null",
				    fd == STDIN_FILENO ? O_WRONLY : O_RDONLY);
}

/* Replaces what other programs take for help and version by the verb. */
static void take_verb(char **argv)
{
	static char help[] = "help", version[] = "version";

	if (!strcmp(argv[0], "-h") || !strcmp(argv[0], "--help"))
		argv[0] = help;
	else if (!strcmp(argv[0], "--version"))
		argv[0] = version;
}

/* The status of a verb that ended with this one, once all it wrote is out: a
 * full disk or a closed pipe shows here at the latest. */
static int flush_output(struct verb_call *c, int status)
{
	if (fflush(stdout) != 0)
		return failed(c, verb_wrong(c, "standard output: %s",
					    strerror(errno)));
	if (ferror(stdout))
		return failed(c, verb_wrong(c, "standard output: a part of it "
					       "could not be written"));
	return status;
}

/* Those of the verb with these words, of which some only read: a store that is
 * opened to be written is no backup any more. */
static unsigned int flags_of(const struct verb *v, const struct verb_call *c)
{
	bool shows = (v->run == verb_history && c->argc == 1) ||
		     (v->run == verb_protect && c->argc == 2) ||
		     (v->run == verb_recipe &&
		      (c->argc == 2 ||
		       (c->argc > 2 && !strcmp(c->argv[2], "show"))));
	bool reads = shows || (v->run == verb_import && recipe_is_dry(c, 2));

	return reads ? v->flags | VERB_READS : v->flags;
}

static char help[] = "help";

/* NULL: there is none. VERB --help is help VERB. */
static const struct verb *find_verb(struct verb_call *c)
{
	const struct verb *v = verb_find(c->argv[0]);

	if (!v || c->argc != 2 || strcmp(c->argv[1], "--help"))
		return v;
	c->argv[1] = c->argv[0];
	c->argv[0] = help;
	return verb_find(help);
}

/* Where its words and the flags before them say; v is NULL if there is no such
 * verb, and store if none is said. */
static int run(struct verb_call *c, const struct verb *v, const char *store,
	       bool follow)
{
	struct buf text = BUF_INIT;
	int status;

	/* The status that import has when it is stopped later. */
	if (v && v->flags & VERB_STOPS)
		stop_expect(v->run == verb_import ? 2 : 1);
	if (v && follow && !needs_store(v, c)) {
		status = verb_wrong(c,
				    "-follow reads a store that another "
				    "process writes, and %s reads none; mount "
				    "has -o follow",
				    v->name);
	} else if (v && v->run == verb_restore_from && restore_has_table(c)) {
		status = run_at(c, c->argv[2], v->flags);
	} else if (!v || !needs_store(v, c)) {
		if (store)
			/* create, mount and repair open the store themselves,
			 * by this name. */
			setenv("TABLETFS_STORE", store, 1);
		status = verb_run(NULL, c->argc, c->argv, c->out, c->err);
	} else if (!store) {
		status = failed(
			c, verb_wrong(c,
				      "which store? Say tabletfs -store DIR "
				      "%s ... or set TABLETFS_STORE",
				      v->name));
	} else if (v->run == verb_recipe && recipe_bring(c, &text)) {
		status = 1;
	} else {
		status = run_at(c, store,
				flags_of(v, c) | (follow ? FOLLOWS : 0));
	}
	buf_release(&text);
	return status;
}

int main(int argc, char **argv)
{
	static char *no_verb[] = { help, NULL };
	struct verb_call c = { NULL, argc - 1, argv + 1, stdout, stderr };
	bool follow = false;
	const char *store = take_flags(&c.argc, &c.argv, &follow);
	const struct verb *v;
	int status;

	fill_standard_streams();
	raise_file_limit();
	/* A write beyond the limit of a file's size fails, as others do. */
	signal(SIGXFSZ, SIG_IGN);
	if (is_mount_helper(argv[0]))
		return mount_helper(argc, argv);
	if (c.argc == 0) {
		c.argc = 1;
		c.argv = no_verb;
		c.out = stderr;
	}
	take_verb(c.argv);
	if (c.argv[0][0] == '-')
		return verb_wrong(&c,
				  "%s is no flag, or lacks its value; "
				  "tabletfs help lists them",
				  c.argv[0]);
	v = find_verb(&c);
	status = run(&c, v, store, follow);
	status = flush_output(&c, status);
	/* Help that nobody asked for is an error, for a script that lost its
	 * words. */
	return c.argv == no_verb ? 1 : status;
}
