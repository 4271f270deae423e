#ifndef FS_TREE_ATTR_H
#define FS_TREE_ATTR_H

#include <sys/stat.h>

#include "fs/cells/cell.h"
#include "fs/state/fs.h"

/*
 * Attributes, and how long the kernel may keep them: an hour, because every
 * change that it does not see itself is announced; less where a rule of age
 * will hide a cell; not at all in control directories that mirror data. From
 * any thread; times are in seconds, as libfuse takes them.
 */
#define ATTR_TIMEOUT_S 3600.0

/* Of a directory: 755, one link, the owner of the mount, and this time in all
 * three. */
void attr_directory(struct fs *fs, uint64_t ino, uint64_t timestamp_us,
		    struct stat *st);

/* Of a cell: 644, the size and time that info has, all else as of a
 * directory. */
void attr_cell(struct fs *fs, uint64_t ino, const struct cell_info *info,
	       struct stat *st);

/* How long what no age rule ends may be believed, in seconds: a kernel that
 * cannot be told of changes (before 6.16) has to ask again. */
double attr_longest(struct fs *fs);

/* How long a directory of data, or a missing name in one, may be believed. */
double attr_timeout(struct fs *fs, const struct cell_rules *rules);

/* How long the kernel is told to keep the attributes of node that it is told
 * now, which is timeout at most. Notes that it keeps a directory's, so that
 * fs_changed_in and fs_committed end that: call it last, for each reply. */
double attr_keep(struct fs *fs, struct node *node, double timeout);

/* Those of a node of data, and how long they hold. -ENOENT if it has gone. */
int attr_node(struct fs *fs, struct node *node, struct stat *st,
	      double *timeout) NEEDS_SHARED(fs->tree);

/* attr_node for a node of data below the root, whose place is at hand; info, if
 * not NULL, is what a lookup has just seen. */
int attr_at(struct fs *fs, struct node *node, const struct place *place,
	    const struct cell_info *info, struct stat *st, double *timeout)
	NEEDS_SHARED(fs->tree);

#endif
