#ifndef STORE_BASE_LEASE_FLOCK_H
#define STORE_BASE_LEASE_FLOCK_H

#include <stdbool.h>

/*
 * What is locked by flock under a name that others may remove, or give to
 * something else, at the same moment. Who locks it asks afterwards whether it
 * has the name still; who has the lock, and found it so, is the only one to
 * change what has the name.
 */

/* Whether the open file fd is what path names, itself and not through a
 * link. */
bool flock_is_named(int fd, const char *path);

#define FLOCK_WHO_SIZE 32

/* Who has fd's file locked, by /proc/locks, for a message: "process 12", or
 * "another process" where that does not tell, as of another machine, or if
 * nobody has it by now. text has FLOCK_WHO_SIZE bytes and is what is
 * returned. */
const char *flock_who(int fd, char *text);

#endif
