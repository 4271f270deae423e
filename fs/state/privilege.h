#ifndef FS_STATE_PRIVILEGE_H
#define FS_STATE_PRIVILEGE_H

#include <stdbool.h>

/*
 * What mounting needs of the system. It is looked at before anything is made,
 * so that who lacks it hears in one sentence what, and who gives it, instead of
 * what libfuse and fusermount3 say. Only what is certain to fail is refused;
 * what a policy of the system forbids besides, the kernel tells.
 *
 * Who has CAP_SYS_ADMIN mounts by itself, others by fusermount3, which is
 * setuid root and has rules of its own.
 */

/* Whether this process may mount at a directory that is there: 0 or an error,
 * such as -EACCES, with its detail. */
int privilege_check(const char *mount_point, bool allow_other);

#endif
