#ifndef FS_KERNEL_LISTING_H
#define FS_KERNEL_LISTING_H

#include "fs/cells/cell.h"
#include "fs/state/fs.h"

/*
 * What a directory contains, in order: first the control names it shows, then
 * its entries from one snapshot of the store, merged with names that are only
 * local. One thread at a time.
 */
struct listing;

struct listing_entry {
	struct bytes key; /* valid until the next call */
	enum node_kind kind;
	/* Of a cell, or a directory's first; seq 0: not known. */
	struct cell_info info;
};

int listing_open(struct fs *fs, struct node *node, struct listing **out);
void listing_close(struct fs *fs, struct listing *l);
/* 1, 0 at the end, or an error. */
int listing_next(struct listing *l, struct listing_entry *entry);
/* Goes on with the row of this key; if it is empty, with the first entry. */
int listing_seek(struct listing *l, struct bytes key);

/* Kinds whose names are written as they are, and the file type of one. */
bool listing_is_fixed(enum node_kind kind);
mode_t listing_fixed_type(enum node_kind kind, struct bytes name);

#endif
