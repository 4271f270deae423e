#ifndef FS_CONTROL_CTL_TABLE_H
#define FS_CONTROL_CTL_TABLE_H

#include "fs/control/ctl.h"

/* The entries with a fixed name of a directory of this kind: index, from 0,
 * counts over all kinds; returns the next one at or after it, or NULL. */
const struct ctl_entry *ctl_entry_at(enum node_kind parent, size_t *index);

/* Whether a fixed name can be used in this very directory. */
bool ctl_is_offered(struct fs *fs, struct node *directory,
		    const struct ctl_entry *entry);

/* The file type and permissions of a control node. */
mode_t ctl_mode(const struct node *node);

#endif
