#include <stdio.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "store/base/lease/flock.h"

bool flock_is_named(int fd, const char *path)
{
	struct stat named, opened;

	return lstat(path, &named) == 0 && fstat(fd, &opened) == 0 &&
	       named.st_dev == opened.st_dev && named.st_ino == opened.st_ino;
}

const char *flock_who(int fd, char *text)
{
	FILE *locks = fopen("/proc/locks", "re");
	unsigned int device_major, device_minor;
	unsigned long inode;
	char line[256];
	struct stat st;
	int pid = 0;

	snprintf(text, FLOCK_WHO_SIZE, "another process");
	if (!locks)
		return text;
	/* One of another pid namespace is 0. */
	while (fstat(fd, &st) == 0 && fgets(line, sizeof(line), locks))
		if (sscanf(line, "%*u: FLOCK %*s WRITE %d %x:%x:%lu", &pid,
			   &device_major, &device_minor, &inode) == 4 &&
		    st.st_ino == inode && major(st.st_dev) == device_major &&
		    minor(st.st_dev) == device_minor && pid > 0)
			snprintf(text, FLOCK_WHO_SIZE, "process %d", pid);
	fclose(locks);
	return text;
}
