#ifndef FS_QUERY_AT_H
#define FS_QUERY_AT_H

#include "fs/cells/cell.h"
#include "fs/cells/pin.h"
#include "fs/state/fs.h"

/* The child of this name, in .at and below: 1, referenced, 0 or an error. */
int at_lookup(struct fs *fs, struct node *directory, struct bytes name,
	      struct node **out);
/* Attributes but owner and mode. */
int at_attr(struct fs *fs, struct node *node, const struct path *path,
	    uint64_t ino, struct stat *st, double *timeout);
/* Appends the content of a cell. */
int at_read(struct fs *fs, struct node *node, const struct path *path,
	    struct buf *out);

#endif
