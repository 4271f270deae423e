#include <fcntl.h>
#include <grp.h>
#include <limits.h>
#include <linux/capability.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "fs/state/privilege.h"
#include "store/base/err.h"

#define DEVICE "/dev/fuse"
/* Where libfuse of a distribution looks for it first, and where it has its
 * rules. */
#define PROGRAM "/usr/bin/fusermount3"
#define RULES "/etc/fuse.conf"

static bool can_mount_itself(void)
{
	struct __user_cap_header_struct header = { _LINUX_CAPABILITY_VERSION_3,
						   0 };
	struct __user_cap_data_struct data[2] = { { 0 } };

	return syscall(SYS_capget, &header, data) == 0 &&
	       data[0].effective & (1U << CAP_SYS_ADMIN);
}

/* Why the device, which is there, cannot be opened: who it is for. */
static int refuse_device(const struct stat *device, int error)
{
	const struct group *group = getgrgid(device->st_gid);

	if (error == EACCES && (device->st_mode & 0060) == 0060 && group &&
	    device->st_gid != 0)
		return fail(EACCES,
			    DEVICE
			    " is for the group %s: \"usermod -aG %s "
			    "USER\" by root, and a new login, let you in",
			    group->gr_name, group->gr_name);
	if (error == EACCES)
		return fail(EACCES,
			    DEVICE " is not for you: \"chmod 666 " DEVICE
				   "\" by root, as the package "
				   "udev has it, lets all in");
	return fail(error, DEVICE " cannot be opened; a container is to be "
				  "started with --device " DEVICE);
}

/* fusermount3 opens it with the rights of who calls it. */
static int check_device(void)
{
	int fd = open(DEVICE, O_RDWR | O_CLOEXEC), error = errno;
	struct stat st;

	if (fd >= 0) {
		close(fd);
		return 0;
	}
	if (stat(DEVICE, &st) == 0)
		return refuse_device(&st, error);
	return fail(error, "there is no " DEVICE ": \"modprobe fuse\" by root "
			   "makes it, and a container is to be started with "
			   "--device " DEVICE);
}

/* Sets out, of PATH_MAX bytes, to where fusermount3 is: libfuse's own place or
 * one that PATH names. */
static bool find_program(char *out)
{
	const char *path = getenv("PATH"), *part, *end;

	snprintf(out, PATH_MAX, "%s", PROGRAM);
	if (access(out, X_OK) == 0)
		return true;
	for (part = path ? path : ""; *part; part = end + (*end == ':')) {
		end = strchrnul(part, ':');
		snprintf(out, PATH_MAX, "%.*s/fusermount3", (int)(end - part),
			 part);
		if (access(out, X_OK) == 0)
			return true;
	}
	return false;
}

/* fusermount3 mounts by its own rights: it needs some, and must get them. */
static int check_program(void)
{
	char path[PATH_MAX];
	struct stat st;

	if (prctl(PR_CAPBSET_READ, CAP_SYS_ADMIN) == 0)
		return fail(EPERM, "nobody may mount in this container, which "
				   "is to be started with --cap-add SYS_ADMIN "
				   "--device " DEVICE);
	if (prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1)
		return fail(EPERM, "this process may gain no rights, so "
				   "fusermount3 has none: its unit needs "
				   "NoNewPrivileges=no, a container no "
				   "no-new-privileges");
	if (!find_program(path))
		return fail(ENOENT, "there is no fusermount3, which the "
				    "package fuse3 has");
	if (stat(path, &st) == 0 && (!(st.st_mode & S_ISUID) || st.st_uid) &&
	    getxattr(path, "security.capability", NULL, 0) < 0)
		return fail(EPERM,
			    "%s is not setuid root, as the package fuse3 has "
			    "it: \"chmod u+s %s\" by root",
			    path, path);
	return 0;
}

/* Whether fusermount3 lets users have allow_other: a line of its rules. */
static bool rules_allow_other(void)
{
	FILE *f = fopen(RULES, "re");
	char line[256], word[256], more[2];
	bool found = false;

	while (f && !found && fgets(line, sizeof(line), f))
		found = sscanf(line, " %255s %1s", word, more) == 1 &&
			!strcmp(word, "user_allow_other");
	if (f)
		fclose(f);
	return found;
}

/* What fusermount3 asks of a user. */
static int check_user(const char *mount_point, bool allow_other)
{
	struct stat st;

	if (!getpwuid(getuid()))
		return fail(EPERM,
			    "fusermount3 mounts for users with a name, and "
			    "%u has none; the user needs a line in "
			    "/etc/passwd, in a container, too",
			    getuid());
	if (allow_other && !rules_allow_other())
		return fail(EPERM, "allow_other is for users only where " RULES
				   " has the line user_allow_other");
	if (stat(mount_point, &st) < 0)
		return fail(errno, "%s", mount_point);
	if (access(mount_point, W_OK) < 0 ||
	    (st.st_mode & S_ISVTX && st.st_uid != getuid()))
		return fail(EACCES,
			    "users mount on directories of their own: mkdir "
			    "one in your home, or \"chown %u %s\" by root",
			    getuid(), mount_point);
	return 0;
}

int privilege_check(const char *mount_point, bool allow_other)
{
	int err = check_device();

	if (err || can_mount_itself())
		return err;
	err = check_program();
	if (!err && getuid() != 0)
		err = check_user(mount_point, allow_other);
	return err;
}
