#include <mntent.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tools/verb.h"

#define WAIT_MAX_MS 60000
#define POLL_MS 5

/* The store that is mounted at path, as the table of mounts names it: to be
 * freed; NULL if none is. */
static char *mounted_store(const char *path)
{
	FILE *mounts = setmntent("/proc/self/mounts", "r");
	char *full = realpath(path, NULL), *store = NULL;
	struct mntent *entry;

	while (mounts && (entry = getmntent(mounts)) != NULL) {
		if (strcmp(entry->mnt_dir, full ? full : path))
			continue;
		free(store);
		store = NULL;
		if (!strcmp(entry->mnt_type, "fuse.tabletfs"))
			store = strdup(entry->mnt_fsname);
	}
	if (mounts)
		endmntent(mounts);
	free(full);
	return store;
}

/* fusermount3 says itself what is wrong. */
static int run_fusermount(struct verb_call *c, const char *path)
{
	char program[] = "fusermount3", option[] = "-u", end[] = "--";
	char *words[] = { program, option, end, (char *)(uintptr_t)path, NULL };
	int status = 1, err;
	pid_t pid;

	fflush(c->err);
	err = posix_spawnp(&pid, program, NULL, NULL, words, environ);
	if (err)
		return verb_wrong(c, "%s: %s", program, strerror(err));
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		continue;
	return status != 0;
}

/* The daemon goes on after the mount has gone: until the store is closed, no
 * other process can have it. */
static int wait_for_store(struct verb_call *c, const char *store)
{
	const struct timespec pause = { 0, POLL_MS * 1000000L };
	struct buf holder = BUF_INIT;
	unsigned int ms;
	int err = 0;

	for (ms = 0; ms < WAIT_MAX_MS && !err; ms += POLL_MS) {
		buf_reset(&holder);
		err = volume_posix_holder(store, &holder);
		if (!err)
			nanosleep(&pause, NULL);
	}
	buf_release(&holder);
	if (!err)
		return verb_wrong(c,
				  "the mount has ended, but store %s is still "
				  "being closed",
				  store);
	return 0;
}

int verb_umount(struct verb_call *c)
{
	char *store;
	int status;

	if (c->argc != 2)
		return verb_usage(c);
	store = mounted_store(c->argv[1]);
	status = run_fusermount(c, c->argv[1]);
	if (!status && store)
		status = wait_for_store(c, store);
	free(store);
	return status;
}
