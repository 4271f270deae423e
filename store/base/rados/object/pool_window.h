#ifndef STORE_BASE_RADOS_OBJECT_POOL_WINDOW_H
#define STORE_BASE_RADOS_OBJECT_POOL_WINDOW_H

#include <sys/types.h>

#include "store/base/rados/object/pool_registry.h"

/*
 * Windows: bytes of files ahead of those who read on, of which a volume keeps a
 * few. A read takes as long for a block as for a thousand; and while one window
 * is used the next is on its way. That one is asked for once a part of the
 * first was used, so that who reads two blocks gets no more than one. Where
 * there is no place, the one that was used longest ago goes.
 *
 * Several threads may read one file. Two that read on in it at once disturb
 * each other's windows, and still read what is there.
 */
struct pool_file {
	struct pool_volume *volume; /* borrowed */
	const char *name;           /* borrowed */
	struct pool_entry entry;    /* not of a log that grows */
};

/* The window at offset, within the file, is on its way from now on, if it is
 * not there already and can be had. is_wanted: it is waited for, so that one
 * which is in use makes way for it. */
void pool_window_begin(const struct pool_file *f, uint64_t offset,
		       bool is_wanted);

/* Copies the first of size bytes that windows have, for which it waits: how
 * many, perhaps 0, or -ETIMEDOUT, raw. */
ssize_t pool_window_take(const struct pool_file *f, uint64_t offset, void *data,
			 size_t size);

/* At the end of f, which nobody reads any more. */
void pool_window_forget(const struct pool_file *f);

/* Frees what was kept; there are no files any more. */
void pool_windows_end(struct pool_volume *v);

#endif
