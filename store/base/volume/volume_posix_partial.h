#ifndef STORE_BASE_VOLUME_VOLUME_POSIX_PARTIAL_H
#define STORE_BASE_VOLUME_VOLUME_POSIX_PARTIAL_H

#include "store/base/buf.h"

/*
 * A directory for a store that gets its name when it is whole, and until then
 * is DIRECTORY.partial/store. Of several that make one of a name at once, also
 * in other processes, one does and the others are refused.
 *
 * DIRECTORY.partial is locked by flock as long as one makes it, and has the
 * sticky bit from its first moment, by which it is known from what others make
 * of such a name. Who finds one that nobody has locked takes it over as it is,
 * as it may be of one that is about to lock it: only what is in it goes.
 */
struct volume_partial {
	char *partial;   /* DIRECTORY.partial */
	struct buf path; /* where the store is to be made, ended by a NUL */
	/* A command that was killed had left something, which is gone. */
	bool has_removed;
	/* Private. */
	const char *directory;
	int fd; /* of partial, locked */
};

/*
 * Begins one for directory, which is borrowed, also if slashes end it: 0, or
 * -EEXIST if there is something of this name, or a process that has
 * DIRECTORY.partial, which is named, or what has that name is none of these;
 * -ENOENT of "". After an error p is of nothing.
 */
int volume_partial_begin(const char *directory, struct volume_partial *p);

/* The store is whole and closed: gives it its name, durably, which is free
 * still (-EEXIST). Ends p in every case. On failure nothing of it is left, but
 * after one of the sync it has its name. */
int volume_partial_finish(struct volume_partial *p);

/* Ends p: what there is of it stays where it is, for a look, and is no
 * left-over to the next one, who is refused. */
void volume_partial_keep(struct volume_partial *p);

/* Ends p: nothing of it is left. err_detail() stays as it is. */
void volume_partial_abandon(struct volume_partial *p);

#endif
