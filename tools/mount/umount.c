#include <dirent.h>
#include <limits.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "fs/kernel/served.h"
#include "store/base/place/place.h"
#include "tools/mount/mount_table.h"
#include "tools/mount/umount.h"
#include "tools/verb/verb.h"

/*
 * Ending a mount takes two steps: fusermount3, which may do it without being
 * root, takes the mount away; the daemon then closes the store by itself, and
 * whoever opens the store next must not come before that.
 */

/* How long the daemon may take to close, when to say so, when to look what else
 * may keep it, and how often to look whether it has ended. */
#define WAIT_MAX_MS 60000
#define SAY_AFTER_MS 1000
#define LOOK_AFTER_MS 3000
#define POLL_MS 5
#define BUSY_PAUSE_MS 50

/* Runs fusermount3 -u on path and waits for it: 0 if the mount has gone. Else
 * said, of size bytes, holds the first line of what it says. Its standard error
 * is a file in memory, which cannot fill up as a pipe could. */
static int run_fusermount(const char *path, char *said, size_t size)
{
	char program[] = "fusermount3", option[] = "-u", end[] = "--";
	char *words[] = { program, option, end, (char *)(uintptr_t)path, NULL };
	int status = 1, fd = memfd_create(program, MFD_CLOEXEC);
	int err = fd < 0 ? errno : 0;
	posix_spawn_file_actions_t actions;
	ssize_t got = 0;
	pid_t pid;

	posix_spawn_file_actions_init(&actions);
	if (!err)
		err = posix_spawn_file_actions_adddup2(&actions, fd, 2);
	if (!err)
		err = posix_spawnp(&pid, program, &actions, NULL, words,
				   environ);
	posix_spawn_file_actions_destroy(&actions);
	while (!err && waitpid(pid, &status, 0) < 0 && errno == EINTR)
		continue;
	if (err)
		snprintf(said, size, "%s: %s%s", program, strerror(err),
			 err == ENOENT ? "; the package fuse3 has it, and "
					 "root can do without, by umount"
				       : "");
	else if (WIFSIGNALED(status))
		snprintf(said, size, "%s: %s", program,
			 strsignal(WTERMSIG(status)));
	else {
		got = pread(fd, said, size - 1, 0);
		said[got > 0 ? got : 0] = 0;
	}
	said[strcspn(said, "\n")] = 0;
	if (fd >= 0)
		close(fd);
	return status != 0;
}

/* As run_fusermount; who looks at path just now, such as another umount of it,
 * keeps it busy for a moment, so that is tried again for a second. */
static int unmount(const char *path, char *said, size_t size)
{
	const struct timespec pause = { 0, BUSY_PAUSE_MS * 1000000L };
	int tries = 1000 / BUSY_PAUSE_MS, status;

	while ((status = run_fusermount(path, said, size)) &&
	       strstr(said, strerror(EBUSY)) && tries-- > 0)
		nanosleep(&pause, NULL);
	return status;
}

/* The mount of this store and device, or NULL. Another mount of the store, to
 * read, is none, and neither is one of another store, which may have the number
 * of a device that has gone. */
static const struct mount_entry *find_mount(const struct mount_list *list,
					    const char *store,
					    const char *device)
{
	const struct mount_entry *m = list->entries, *end = m + list->count;

	for (; m < end; m++)
		if (m->store && !strcmp(m->store, store) &&
		    !strcmp(m->device, device))
			return m;
	return NULL;
}

/* Whether there is a bind mount yet of what was mounted: its daemon then goes
 * on. Says so. */
static bool is_mounted_still(struct verb_call *c, const char *store,
			     const char *device)
{
	const struct mount_entry *m = NULL;
	struct mount_list list;

	if (mount_list_read(&list) == 0)
		m = find_mount(&list, store, device);
	if (m)
		verb_wrong(c,
			   "%s has ended, but store %s stays open: it is "
			   "mounted at %s, too; umount that as well",
			   c->argv[1], store, m->place);
	mount_list_release(&list);
	return m != NULL;
}

/* is_mounted_still in the namespaces of other processes, whose copies of the
 * mount keep its daemon, too. */
static bool is_mounted_elsewhere(struct verb_call *c, const char *store,
				 const char *device)
{
	const struct mount_entry *m = NULL;
	struct mount_list list;
	struct dirent *entry;
	char path[PATH_MAX];
	DIR *proc = opendir("/proc");

	while (proc && !m && (entry = readdir(proc))) {
		if (entry->d_name[0] < '1' || entry->d_name[0] > '9')
			continue;
		snprintf(path, sizeof(path), "/proc/%s/mountinfo",
			 entry->d_name);
		/* A process that has gone, or that we may not ask, is none. */
		if (mount_list_read_from(path, &list) == 0)
			m = find_mount(&list, store, device);
		if (m)
			verb_wrong(
				c,
				"%s has ended here, but store %s stays open: "
				"in its namespace pid %s sees it mounted at "
				"%s; umount that as well, by nsenter -t %s "
				"-m",
				c->argv[1], store, entry->d_name, m->place,
				entry->d_name);
		mount_list_release(&list);
	}
	if (proc)
		closedir(proc);
	return m != NULL;
}

/* By name, or as directories, of which one may be a bind mount of the other. */
static bool is_same(const char *a, const char *b)
{
	struct stat st, other;

	return !strcmp(a, b) ||
	       (stat(a, &st) == 0 && stat(b, &other) == 0 &&
		st.st_dev == other.st_dev && st.st_ino == other.st_ino);
}

/* Whether the line of a store's holder names another mount: what was mounted
 * here only followed, or its store was moved, and this one came to its path. */
static bool is_another(const char *line, const char *store, const char *device)
{
	const char *at = strstr(line, SERVED_AT);
	const struct mount_entry *m = NULL;
	struct mount_list list;
	bool another;

	if (mount_list_read(&list) == 0 && at && device)
		m = mount_list_at(&list, at + strlen(SERVED_AT));
	another = m && m->store && strcmp(m->device, device) != 0 &&
		  is_same(m->store, store);
	mount_list_release(&list);
	return another;
}

/* The daemon goes on after the mount has gone: until the store is closed, no
 * other process can have it. 0 once nobody has it to write; readers, of whom
 * there may be others, are not waited for. */
static int wait_for_store(struct verb_call *c, const char *store,
			  const char *device)
{
	const struct timespec pause = { 0, POLL_MS * 1000000L };
	struct buf holder = BUF_INIT;
	struct timespec start, now;
	bool here, has_said = false, has_looked = false, goes_on = false;
	int64_t past = 0;
	int err = 0;

	clock_gettime(CLOCK_MONOTONIC, &start);
	while (!err && !goes_on && past < WAIT_MAX_MS) {
		buf_reset(&holder);
		err = volume_holder(store, &holder, &here);
		if (!err)
			err = buf_terminate(&holder);
		if (!err && is_another((char *)holder.data, store, device))
			err = 1;
		if (err)
			break;
		if (past >= SAY_AFTER_MS && !has_said) {
			verb_wrong(c, "waiting for the end of %s",
				   (char *)holder.data);
			has_said = true;
		}
		/* Copies come and go, with each program that gets a namespace.
		 */
		if (past >= LOOK_AFTER_MS && !has_looked) {
			goes_on = device &&
				  is_mounted_elsewhere(c, store, device);
			has_looked = true;
		}
		nanosleep(&pause, NULL);
		clock_gettime(CLOCK_MONOTONIC, &now);
		past = (int64_t)(now.tv_sec - start.tv_sec) * 1000 +
		       (now.tv_nsec - start.tv_nsec) / 1000000;
	}
	buf_release(&holder);
	if (err < 0 && err != -ENOENT)
		return verb_failed(c, "the mount has ended; its store", err);
	if (goes_on)
		return 1;
	if (!err)
		return verb_wrong(c,
				  "the mount has ended, but store %s is still "
				  "being closed",
				  store);
	return 0;
}

int verb_umount(struct verb_call *c)
{
	char said[256], *store, *device, *full;
	int status;

	if (c->argc != 2)
		return verb_usage(c);
	/* Through links, which fusermount3 does not follow. This asks no daemon
	 * of what is mounted there, for a root is no link. */
	full = realpath(c->argv[1], NULL);
	/* Before it has gone: afterwards nothing tells the store. */
	store = mount_store_at(c->argv[1], &device);
	status = unmount(full ? full : c->argv[1], said, sizeof(said));
	if (!status && store)
		status = (device && is_mounted_still(c, store, device)) ||
			 wait_for_store(c, store, device);
	else if (status && store && strstr(said, "busy"))
		verb_wrong(c,
			   "%s; fuser -vm %s tells who uses it, of the package "
			   "psmisc",
			   said, c->argv[1]);
	/* fusermount3 finds there what one's own user has mounted. */
	else if (status && store && strstr(said, "/etc/mtab") &&
		 !access("/etc/mtab", R_OK))
		verb_wrong(c,
			   "%s: another user has mounted it, who can end it, "
			   "and so can root",
			   c->argv[1]);
	else if (status && store && strstr(said, "/etc/mtab"))
		verb_wrong(c,
			   "%s; \"ln -s /proc/self/mounts /etc/mtab\" by "
			   "root makes it",
			   said);
	else if (status && store)
		verb_wrong(c, "%s", said);
	else if (status)
		verb_wrong(c, "%s; no store is mounted there", said);
	free(full);
	free(device);
	free(store);
	return status;
}
