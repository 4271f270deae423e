#ifndef FS_QUERY_AT_H
#define FS_QUERY_AT_H

#include "fs/cells/cell.h"

/*
 * The past as files: TABLE/.at/<time>, TABLE/.as-of/<time>, and the rows,
 * families, cells and versions in them. pin.h decides what a time shows,
 * as_of.h what names the times of .as-of have; here names of keys are looked
 * up, attributes told and cells read. Nothing is kept between calls, which may
 * come from any thread.
 *
 * Below a pin (.at/now) that has ended all of it is -ESTALE, below a moment
 * that is no longer kept -ERR_moment_gone.
 */

/* The child called name of directory, which is .at or .as-of or a directory in
 * these, but for .schema: 1 with *out referenced, 0 if there is none, or an
 * error; -ENOENT with the reason for a time that does not parse or is not to be
 * had. */
int at_lookup(struct fs *fs, struct node *directory, struct bytes name,
	      struct node **out) EXCLUDES(fs->tree);

/* Fills *st, whose mode is that of a control name and whose owner and
 * permissions the caller then sets as the table has them, and *timeout, in
 * seconds; path is node's. Of what has no time, *st is left as it was; data of
 * a moment have the modes of data. -ENOENT if the node's cells have gone. */
int at_attr(struct fs *fs, struct node *node, const struct path *path,
	    uint64_t ino, struct stat *st, double *timeout)
	NEEDS_SHARED(fs->tree);

/* Owner and mode that is to be shown in the past: access has those of then, or
 * what the mount says. Below a moment nobody may do more than they may now. */
void at_narrow(struct fs *fs, const struct node *node,
	       struct table_access *access);

/* What the file of a cell or version shows, as cell_open gives it; path is
 * node's. -ENOENT if it has gone. */
int at_show(struct fs *fs, struct node *node, const struct path *path,
	    struct cell_bytes *shown) NEEDS_SHARED(fs->tree);

#endif
