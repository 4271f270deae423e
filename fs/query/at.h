#ifndef FS_QUERY_AT_H
#define FS_QUERY_AT_H

#include "fs/cells/cell.h"

/*
 * The past as files: TABLE/.at/<time> and the rows, families and cells in it.
 * pin.h decides what a time shows; here its names are looked up, its attributes
 * told and its cells read. Nothing is kept between calls, which may come from
 * any thread.
 *
 * Below a pin (.at/now) that has ended all of it is -ESTALE.
 */

/* The child called name of directory, which is .at or a directory in it: 1 with
 * *out referenced, 0 if there is none, or an error; -ENOENT with the reason for
 * a time that does not parse. */
int at_lookup(struct fs *fs, struct node *directory, struct bytes name,
	      struct node **out) EXCLUDES(fs->tree);

/* Fills *st, whose owner and permissions the caller then sets as the table has
 * them, and *timeout, in seconds; path is node's. For .at itself both are left
 * as they were. -ENOENT if the node's cells have gone. */
int at_attr(struct fs *fs, struct node *node, const struct path *path,
	    uint64_t ino, struct stat *st, double *timeout)
	NEEDS_SHARED(fs->tree);

/* What the file of a cell shows, as cell_open gives it; path is node's. -ENOENT
 * if it has gone. */
int at_show(struct fs *fs, struct node *node, const struct path *path,
	    struct cell_bytes *shown) NEEDS_SHARED(fs->tree);

#endif
