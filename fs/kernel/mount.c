#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <systemd/sd-daemon.h>
#include <unistd.h>

#include "fs/cells/ending.h"
#include "fs/cells/loop.h"
#include "fs/cells/notify.h"
#include "fs/cells/pin.h"
#include "fs/cells/place.h"
#include "fs/cells/prune.h"
#include "fs/query/sized.h"
#include "fs/cells/space.h"
#include "fs/command/metrics_writer.h"
#include "fs/control/ctl_import.h"
#include "fs/control/ctl_stats.h"
#include "fs/kernel/answer.h"
#include "fs/kernel/device.h"
#include "fs/kernel/dirs.h"
#include "fs/kernel/heap.h"
#include "fs/kernel/mount.h"
#include "fs/kernel/ops.h"
#include "fs/kernel/served.h"
#include "fs/open/draft.h"
#include "fs/state/privilege.h"
#include "store/base/bg.h"
#include "store/base/place/place.h"
#include "store/base/volume/volume.h"

/*
 * A mount's life: paths are checked while there is a terminal to complain to;
 * then, unless in the foreground, a child becomes the daemon, and its parent
 * waits at a pipe until the daemon serves (a 0, see tell_ready in ops.c) or has
 * failed (its error). The daemon opens the store, which takes the store's lock,
 * makes the filesystem, mounts it and serves. It ends in the reverse order:
 * requests, drafts, the mount, the filesystem, the store.
 */

extern char **environ;

/* How long a daemon may take to say that it lives, and another to end what it
 * does at the mount point; how often to look. */
#define ANSWER_MAX_MS 2000
#define POLL_MS 5

/* Tells on standard error why there is no mount, and returns err. */
static int refuse(const struct mount_options *o, int err)
{
	const char *detail = err_detail();

	fprintf(stderr, "tabletfs: cannot mount %s at %s: %s%s%s\n", o->store,
		err_name(bytes_string(o->mount_point)), err_text(err),
		*detail ? ": " : "", detail);
	if (strstr(detail, "in use by tabletfs serve"))
		fprintf(stderr,
			"tabletfs: one process can do both: end that one, and "
			"mount with -o serve=ADDRESS\n");
	return err;
}

/* Says so if the mount point has files, which nobody sees below a mount. */
static void tell_hidden(const char *mount_point)
{
	DIR *d = opendir(mount_point);
	int entries = 0;

	while (d && entries <= 2 && readdir(d))
		entries++;
	if (d)
		closedir(d);
	if (entries > 2)
		fprintf(stderr,
			"tabletfs: %s has files, which are hidden until it is "
			"unmounted\n",
			mount_point);
}

/* Unmounts mount_point, whoever uses it. A program is needed for that, since it
 * may be a user's mount. 0 or an error. */
static int run_fusermount(const char *mount_point)
{
	/* posix_spawn takes words that could be written to. */
	char program[] = "fusermount3", unmount[] = "-u", lazy[] = "-z",
	     end[] = "--", path[PATH_MAX];
	char *words[] = { program, unmount, lazy, end, path, NULL };
	pid_t pid;
	int status, err;

	snprintf(path, sizeof(path), "%s", mount_point);
	err = posix_spawnp(&pid, program, NULL, NULL, words, environ);
	if (err)
		return -err;
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return -errno;
	return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? 0 : -EIO;
}

/* The mount point must be a directory where nothing is mounted; what a daemon
 * that died left there is unmounted. */
static int check_mount_point(const char *path)
{
	int is_root = answer_at(path, ANSWER_MAX_MS, NULL, NULL);

	if (is_root == -ENOTCONN) {
		if (run_fusermount(path) == 0)
			is_root = answer_at(path, ANSWER_MAX_MS, NULL, NULL);
		if (is_root < 0)
			return fail(ERR_mount_point,
				    "a stale mount cannot be removed");
	}
	if (is_root == -ETIMEDOUT)
		return fail(EBUSY,
			    "something is mounted there, whose daemon does not "
			    "answer; tabletfs mounts names its process");
	return is_root > 0 ? fail(EBUSY, "something is mounted there")
			   : is_root;
}

/* Whether path is directory or in it; both are absolute and resolved. */
static bool is_inside(const char *path, const char *directory)
{
	size_t n = strlen(directory);

	/* The only path that ends with a slash. */
	if (!strcmp(directory, "/"))
		return true;
	return !strncmp(path, directory, n) &&
	       (path[n] == '/' || path[n] == '\0');
}

/* Sets out, of PATH_MAX bytes, to the absolute path of a store that may not
 * exist yet; the directory that it is to be in has to. Of one that is no
 * directory to where it is. */
static int resolve_store(const char *path, char *out)
{
	char parent[PATH_MAX];
	const struct volume_kind *kind;
	const char *name;
	size_t n = strlen(path);
	int err = volume_place(path, &kind, &name);

	if (err < 0)
		return err;
	if (kind && n < PATH_MAX) {
		memcpy(out, path, n + 1);
		return 0;
	}
	if (realpath(path, out))
		return 0;
	if (n == 0)
		return fail(ENOENT, "an empty name");
	/* realpath has set errno, which is looked at below. */
	while (n > 1 && path[n - 1] == '/')
		n--;
	name = memrchr(path, '/', n);
	name = name ? name + 1 : path;
	snprintf(parent, sizeof(parent), "%.*s", (int)(name - path), path);
	if (errno != ENOENT || !realpath(*parent ? parent : ".", out))
		return fail(errno, "%s", path);
	n = (size_t)(path + n - name);
	if (strlen(out) + n + 2 > PATH_MAX)
		return fail(ENAMETOOLONG, "%s", path);
	/* The root's path ends with its slash. */
	snprintf(out + strlen(out), n + 2, "%s%s", strcmp(out, "/") ? "/" : "",
		 name);
	return 0;
}

/* The mount would hide the file of figures: nobody would find it. Where its
 * directory is not to be found, that is told when it is opened. */
static int check_metrics(const char *file, const char *mount_point)
{
	char directory[PATH_MAX], resolved[PATH_MAX];
	const char *slash = file ? strrchr(file, '/') : NULL;

	if (!slash || slash - file >= PATH_MAX - 1)
		return 0;
	snprintf(directory, sizeof(directory), "%.*s", (int)(slash - file + 1),
		 file);
	return realpath(directory, resolved) && is_inside(resolved, mount_point)
		       ? fail(ERR_mount_point,
			      "metrics-file=%s lies inside it, where nobody "
			      "would see it; name a directory outside",
			      file)
		       : 0;
}

/* Sets store and mount_point, of PATH_MAX bytes each, to absolute paths,
 * checked against each other: a daemon whose store lay under its own mount
 * would wait for itself. Absolute, since the daemon leaves its directory. */
static int resolve(const struct mount_options *o, char *store,
		   char *mount_point)
{
	int err = check_mount_point(o->mount_point);

	if (err)
		return err;
	if (!realpath(o->mount_point, mount_point))
		return fail(errno, "%s", o->mount_point);
	/* It is the end of a line in the store's lock. */
	if (strchr(mount_point, '\n'))
		return fail(ERR_mount_point,
			    "its path has a newline in it; name a directory "
			    "whose path has none");
	err = resolve_store(o->store, store);
	if (err)
		return err;
	if (is_inside(store, mount_point))
		return fail(ERR_mount_point, "the store lies inside it");
	if (is_inside(mount_point, store))
		return fail(ERR_mount_point, "it lies inside the store");
	return check_metrics(o->metrics_file, mount_point);
}

/* Opens the store, or makes it if it may be written, with what whoever finds it
 * in use is told: which process has it, and where it is mounted. Waits for a
 * daemon whose mount has ended. */
static int open_store(const struct mount_options *o, const char *store,
		      const char *mount_point, struct store **out)
{
	struct store_options so;
	struct buf holder = BUF_INIT;
	struct served served;
	int err;

	store_options_init(&so);
	so.beside = true;
	so.create = !o->read_only && !o->follow;
	so.read_only = o->read_only;
	so.follow = o->follow;
	so.staleness_ms = o->staleness_ms;
	so.reader_grace_us = o->reader_grace_us;
	so.sync_interval_ms = o->commit_seconds * 1000;
	so.events = o->events;
	so.events_fd = o->log_stderr ? STDERR_FILENO : -1;
	if (o->memory_size > 0)
		store_options_memory(&so, o->memory_size);
	err = buf_printf(&holder, "pid %d, " SERVED_AT "%s", (int)getpid(),
			 mount_point);
	if (!err)
		err = buf_terminate(&holder);
	/* Borrowed while it opens, not longer. */
	if (!err) {
		so.holder = (char *)holder.data;
		err = served_open(store, &so, out, &served);
	}
	if (!err)
		store_set_quota(*out, o->quota_size);
	if (err == 1) {
		err = fail(ERR_store_in_use, "%s: in use by %s", store,
			   (char *)served.holder.data);
		served_release(&served);
	}
	buf_release(&holder);
	return err;
}

/* Appends the argument of "-o" for libfuse. Commas in the store's path must end
 * no option there. With allow_other the kernel checks modes, so that each user
 * may do what these say: the daemon could not, as it is not asked when somebody
 * goes through names that the kernel keeps, or watches a directory by inotify.
 */
static int session_arguments(const struct mount_options *o, const char *store,
			     struct buf *out)
{
	const char *c;
	int err = buf_add_string(out, "subtype=tabletfs,fsname=");

	for (c = store; *c && !err; c++) {
		if (*c == ',' || *c == '\\')
			err = buf_add_byte(out, '\\');
		if (!err)
			err = buf_add_byte(out, (uint8_t)*c);
	}
	if (!err && o->allow_other)
		err = buf_add_string(out, ",allow_other,default_permissions");
	if (!err && (o->read_only || o->follow))
		err = buf_add_string(out, ",ro");
	if (!err && o->no_exec)
		err = buf_add_string(out, ",noexec");
	if (!err && o->no_atime)
		err = buf_add_string(out, ",noatime");
	return err ? err : buf_terminate(out);
}

/* Makes fs->session, not mounted yet. */
static int open_session(struct fs *fs, const char *store)
{
	struct buf arguments = BUF_INIT;
	char program[] = "tabletfs", option[] = "-o";
	char *words[] = { program, option, NULL, NULL };
	struct fuse_args args = FUSE_ARGS_INIT(3, words);
	int err = session_arguments(fs->options, store, &arguments);

	if (!err) {
		words[2] = (char *)arguments.data;
		fs->session =
			fuse_session_new(&args, &fs_ops, sizeof(fs_ops), fs);
		if (!fs->session)
			err = fail(EIO, "libfuse gives no session");
	}
	fuse_opt_free_args(&args);
	buf_release(&arguments);
	return err;
}

/* As in struct metrics_source. */
static void tell_metrics(void *context, int err)
{
	fs_log_error(context, NULL, NULL, err);
}

/* Has the file of figures written from now on, if one was asked for. Without a
 * thread for it there is a mount all the same. */
static void start_metrics(struct fs *fs, struct metrics_file *file)
{
	const struct metrics_source source = { fs->options->metrics_file,
					       ctl_print_metrics, tell_metrics,
					       fs };
	int err =
		file ? metrics_writer_start(file, &source, &fs->metrics_writer)
		     : 0;

	if (err < 0)
		fs_log_error(fs, NULL, NULL, err);
}

/* What it uses may be gone after this. */
static void stop_metrics(struct fs *fs)
{
	int err = metrics_writer_stop(fs->metrics_writer);

	fs->metrics_writer = NULL;
	/* Nobody reads the mount's own list of errors any more. */
	if (err < 0)
		fprintf(stderr, "tabletfs: %s\n", err_detail());
}

/* As loop_serve calls it, about once a second. */
static void tick(void *context)
{
	struct fs *fs = context;

	pins_sweep(fs, fs_steady());
	exports_sweep(fs, fs_steady());
	dirs_sweep(fs, fs_steady());
	fs_tend_space(fs);
	metrics_writer_tick(fs->metrics_writer, fs_steady());
	store_write_events(fs->store);
}

/* Tells who finds the store in use that it soon is not. Who only reads it has
 * no line to change. */
static void tell_end(struct fs *fs)
{
	struct volume *v = store_volume(fs->store);
	char holder[64];

	snprintf(holder, sizeof(holder), "pid %d, which closes it",
		 (int)getpid());
	/* What was said before does no harm. */
	v->ops->lease_describe(v, holder);
}

/* Mounts the session where nothing is mounted yet, since the kernel would put
 * one above the other. A lock of the directory keeps out who would come in
 * between; without it, as somebody may hold it for ever, it is mounted all the
 * same. */
static int mount_session(struct fuse_session *session, const char *path)
{
	const struct timespec pause = { 0, POLL_MS * 1000000L };
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int tries = ANSWER_MAX_MS / POLL_MS, err = 0;
	struct statx st;

	while (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) < 0 && tries-- > 0)
		nanosleep(&pause, NULL);
	/* What came meanwhile may not answer, and is not asked. */
	if (statx(AT_FDCWD, path, AT_NO_AUTOMOUNT | AT_STATX_DONT_SYNC, 0, &st))
		err = fail(errno, "%s", path);
	else if (st.stx_attributes & STATX_ATTR_MOUNT_ROOT)
		err = fail(EBUSY, "something is mounted there");
	if (!err && fuse_session_mount(session, path))
		err = fail(EIO, "the kernel refuses the mount, or fusermount3, "
				"which has said why; in a container a profile "
				"of AppArmor may do so, and --security-opt "
				"apparmor=unconfined helps");
	if (fd >= 0)
		close(fd);
	return err;
}

/* As struct mount_beside. */
static void changed_beside(void *context)
{
	fs_changed_outside(context);
}

static void log_beside(void *context, const char *line)
{
	fs_log_error(context, NULL, NULL, fail(ECONNREFUSED, "%s", line));
}

/* As struct purge_holder: until the rows are deleted nobody opens a file, nor
 * commits. */
static UNCHECKED void begin_purge(void *context, struct bytes table,
				  const struct purge_span *rows, size_t count)
{
	tree_hold_alone(context);
	drafts_forget(context, table, rows, count);
}

static UNCHECKED void end_purge(void *context)
{
	tree_let_go_alone(context);
}

/* Begins with what changes beside the kernel: of a mount that follows what is
 * found, what is purged, and the server, if one was asked for. Once it is
 * mounted, as what the kernel keeps ends with that. */
static int start_beside(struct fs *fs)
{
	const struct mount_options *o = fs->options;
	const struct mount_beside beside = { fs, changed_beside, log_beside };
	const struct purge_holder holder = { begin_purge, end_purge, fs };
	int err = 0;

	store_on_purge(fs->store, &holder);
	if (o->serve)
		err = o->server_start(o->server, fs->store, o->sync, &beside);
	if (!err)
		store_on_change(fs->store, changed_beside, fs);
	return err;
}

static void stop_beside(struct fs *fs)
{
	store_on_purge(fs->store, NULL);
	store_on_change(fs->store, NULL, NULL);
	if (fs->options->serve)
		fs->options->server_stop(fs->options->server);
}

/* Mounts the session, serves it until it ends, and unmounts it. What is open is
 * committed at the end, also where umount(8) has ended it. figures, which may
 * be NULL, is taken. */
static int serve_session(struct fs *fs, const sigset_t *ending,
			 const char *mount_point, struct metrics_file *figures)
{
	int err = mount_session(fs->session, mount_point), failed;

	if (!err) {
		err = device_use(fs->session);
		if (!err)
			err = start_beside(fs);
		if (err)
			fuse_session_unmount(fs->session);
	}
	if (err) {
		metrics_file_close(figures);
		return err;
	}
	start_metrics(fs, figures);
	sd_notifyf(0, "STATUS=%s is served at %s", fs->options->store,
		   mount_point);
	err = loop_serve(fs->session, ending, &fs->metrics, tick, fs);
	stop_metrics(fs);
	stop_beside(fs);
	/* Requests may have started these. */
	prune_stop(fs);
	failed = imports_stop(fs->imports);
	if (err)
		err = fail(-err, "the session broke");
	sd_notify(0, "STOPPING=1");
	tell_end(fs);
	if ((fs_commit_all(fs, true) || failed) && !err)
		err = fail(EIO, "some files could not be committed");
	fuse_session_unmount(fs->session);
	return err;
}

/* As store_on_wait has it: other requests go on while one waits, and what
 * paused listings see is not kept meanwhile. */
static void about_to_wait(void *context)
{
	struct fs *fs = context;

	loop_hand_over();
	dirs_let_go(fs);
}

/* All of a mount's life in the process that serves it. ready_fd is the pipe to
 * who waits for it, -1 in the foreground. */
static int serve(const struct mount_options *o, const char *store_path,
		 const char *mount_point, int ready_fd)
{
	struct device device = { 0 };
	struct metrics_file *figures = NULL;
	struct heap_watch *heap;
	struct store *store;
	struct fs fs;
	sigset_t ending;
	int err, failed;

	/* The store's threads must not take what ends the mount. */
	bg_block_ending(&ending);
	umask(0);
	heap_init();
	err = open_store(o, store_path, mount_point, &store);
	if (err)
		return err;
	heap = heap_watch(store);
	err = ending_watch(store, &ending, store_path);
	if (!err)
		err = fs_init(&fs, o, store);
	if (err)
		goto close_store;
	store_on_wait(store, about_to_wait, &fs);
	/* Closed by tell_ready, or with the process. */
	fs.ready_fd = ready_fd;
	/* A full disk takes them later. */
	err = store_check_events(store);
	if (err && err != -ENOSPC)
		fs_log_error(&fs, NULL, NULL, err);
	fs.device = &device;
	store_set_slow(store, o->slow_us);
	fs.mark = store_volume(store)->mark;
	err = o->metrics_file
		      ? metrics_file_open(o->metrics_file, store_path, &figures)
		      : 0;
	if (!err)
		err = open_session(&fs, store_path);
	/* The filesystem outlives its session, whose threads use it. */
	if (!err) {
		err = serve_session(&fs, &ending, mount_point, figures);
		fuse_session_destroy(fs.session);
	} else {
		metrics_file_close(figures);
	}
	store_on_wait(store, NULL, NULL);
	fs_release(&fs);
close_store:
	heap_unwatch(heap);
	failed = store_close(store);
	return err ? err : failed;
}

/* Closes the descriptors between these two. */
static void close_between(int low, int high)
{
	if (low + 1 < high)
		close_range((unsigned int)low + 1, (unsigned int)high - 1, 0);
}

/* The daemon, a child of who asked: leaves its session and directory, keeps its
 * standard error until it serves, and reports over the pipe. Does not
 * return. */
static void serve_in_background(const struct mount_options *o,
				const char *store, const char *mount_point,
				int ready_fd)
{
	int null, err, keep = o->server_fd;
	int first = ready_fd, second = ready_fd;

	setsid();
	if (chdir("/"))
		_exit(1);
	/* Who reads its output, or waits for a lock that it inherited, need not
	 * wait for its end. */
	if (keep >= 0 && keep < ready_fd)
		first = keep;
	else if (keep >= 0)
		second = keep;
	close_between(STDERR_FILENO, first);
	close_between(first, second);
	close_range((unsigned int)second + 1, ~0U, 0);
	null = open("/dev/null", O_RDWR | O_CLOEXEC);
	if (null >= 0) {
		dup2(null, STDIN_FILENO);
		dup2(null, STDOUT_FILENO);
		close(null);
	}
	err = serve(o, store, mount_point, ready_fd);
	if (err) {
		refuse(o, err);
		/* Fails if it was told that all is well before. */
		(void)!write(ready_fd, &err, sizeof(err));
	}
	_exit(err ? 1 : 0);
}

/* Starts the daemon and waits until it serves (0) or has failed: its error,
 * which it has told itself, or -EIO if it died before. */
static int daemonize(const struct mount_options *o, const char *store,
		     const char *mount_point)
{
	int ends[2], status, ended = 0;
	ssize_t n;
	pid_t pid;

	if (pipe2(ends, O_CLOEXEC))
		return refuse(o, fail(errno, "pipe"));
	/* Or both would print what is in the buffers. */
	fflush(NULL);
	pid = fork();
	if (pid < 0)
		return refuse(o, fail(errno, "fork"));
	if (pid == 0) {
		close(ends[0]);
		serve_in_background(o, store, mount_point, ends[1]);
	}
	/* The child has the only other end: if it dies, read returns 0. */
	close(ends[1]);
	do {
		n = read(ends[0], &status, sizeof(status));
	} while (n < 0 && errno == EINTR);
	close(ends[0]);
	if (n == sizeof(status))
		return status;
	while (waitpid(pid, &ended, 0) < 0 && errno == EINTR)
		continue;
	return refuse(o, fail(EIO,
			      "its process ended before it served: %s; limits "
			      "such as ulimit -s and -v may be too low",
			      WIFSIGNALED(ended) ? strsignal(WTERMSIG(ended))
						 : "by itself"));
}

int mount_serve(const struct mount_options *o)
{
	char store[PATH_MAX], mount_point[PATH_MAX];
	int err = resolve(o, store, mount_point);

	if (!err)
		err = privilege_check(mount_point, o->allow_other);
	if (err)
		return refuse(o, err);
	tell_hidden(mount_point);
	if (!o->foreground)
		return daemonize(o, store, mount_point);
	err = serve(o, store, mount_point, -1);
	return err ? refuse(o, err) : 0;
}
