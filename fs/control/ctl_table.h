#ifndef FS_CONTROL_CTL_TABLE_H
#define FS_CONTROL_CTL_TABLE_H

#include "fs/control/ctl.h"

/*
 * The table of control names: which fixed names there are in which kind of
 * directory, what node each leads to, and with which permissions. A new control
 * file begins with a row here. Names that mirror data or are a step's value are
 * not in it. It is constant; any thread may read it.
 */
struct ctl_entry {
	enum node_kind parent; /* the kind of directory it is in */
	const char *name;
	enum node_kind kind;
	mode_t mode; /* file type and permissions */
};

/* Walks through the entries of a kind of directory, in the order in which they
 * are listed. *index, 0 at first, counts over all kinds: it is set to that of
 * the next entry at or after it, which is returned, or NULL at the end. Add 1
 * to go on. */
const struct ctl_entry *ctl_entry_at(enum node_kind parent, size_t *index);

/* Whether an entry of its kind can be used in this very directory: steps cannot
 * be repeated, and some files stand in some directories only. */
bool ctl_is_offered(struct fs *fs, struct node *directory,
		    const struct ctl_entry *entry);

/* The file type and permissions of a control node, before the table's access
 * rules; of a cell, those of an aggregate. */
mode_t ctl_mode(const struct node *node);

#endif
