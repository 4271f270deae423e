#ifndef FS_KERNEL_LISTING_H
#define FS_KERNEL_LISTING_H

#include "fs/cells/cell.h"
#include "fs/state/fs.h"

/*
 * What a directory contains, in order: first the control names it shows, then
 * its entries from one snapshot of the store, merged with names that are only
 * local. A name that is in both comes once. One thread at a time.
 */
struct listing;

struct listing_entry {
	struct bytes key; /* in key bytes; valid until the next call */
	enum node_kind kind;
	size_t fixed; /* of a control name: which one, from 1; else 0 */
	/* Of a cell, or of the first cell in a directory, as the snapshot has
	 * it; seq 0: not known. expiry_us is never set. */
	struct cell_info info;
};

/* A listing of now, before its first entry. It borrows node. On 0 the caller
 * owns *out. */
int listing_open(struct fs *fs, struct node *node, struct listing **out);
void listing_close(struct fs *fs, struct listing *l);

/* Whether the kernel may keep this list: not of control, nor where an age rule
 * takes names away at a moment that nobody announces. */
bool listing_can_be_cached(const struct listing *l);

/* The next entry: 1, 0 at the end, or an error; or 2, with no entry, when it
 * has gone on in a newer snapshot, with what was changed since. */
int listing_next(struct listing *l, struct listing_entry *entry);

/* Where the entry that was given last is in the order of this list, whatever
 * the snapshot: replaces *place by bytes, never none, that order as entries are
 * listed. 0 or -ENOMEM. */
int listing_place(const struct listing *l, const struct listing_entry *entry,
		  struct buf *place);

/* Goes back or on to before the first entry that is at this place or behind it;
 * but entries before it may come first, all of them where entries are no rows
 * of data. After an error only listing_seek and listing_close are allowed. 0; 2
 * if it is a newer snapshot, after a change; or an error. */
int listing_seek(struct listing *l, struct bytes place);

/* Whether listing_seek goes to rows without reading what is before them. */
bool listing_seeks_rows(const struct listing *l);

/* The next call may not come soon: see scan_rest. The entry given last ends.
 * Whether there is memory for what it keeps meanwhile: if not, it is to be
 * closed. */
bool listing_rest(struct listing *l);

/* Whether names of this kind, in a listing, are control names, which are
 * written as they are; all others are keys to be encoded. */
bool listing_is_fixed(enum node_kind kind);

/* The file type (S_IFDIR, ...) of a control name of this kind. */
mode_t listing_fixed_type(enum node_kind kind, struct bytes name);

#endif
