#ifndef FS_QUERY_AT_H
#define FS_QUERY_AT_H

#include "fs/cells/cell.h"
#include "fs/state/fs.h"

/*
 * The past of a table, .at/<time>: of what the store still keeps, each column's
 * newest version not after that time. .at/now is a snapshot, pinned when it is
 * first looked up. Lookups share it until it was unused for a minute; then the
 * next one pins another, under a new node, and who is still in the old one
 * stays there. After an hour it ends, and what is under it is ESTALE.
 */
#define AT_SHARED_US UINT64_C(60000000)
#define AT_KEPT_US UINT64_C(3600000000)

/* What a node at or below .at/<time> sees. */
struct at_view {
	struct pin *pin; /* of now, in use by this view; else NULL */
	const struct snapshot *snapshot; /* the pin's */
	uint64_t time_us;                /* INT64_MAX for now */
};

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
