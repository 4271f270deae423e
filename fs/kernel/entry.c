#include <assert.h>

#include "fs/control/ctl.h"
#include "fs/kernel/entry.h"
#include "fs/tree/attr.h"
#include "fs/tree/lookup.h"

int entry_lookup(struct fs *fs, struct node *directory, struct bytes name,
		 struct fuse_entry_param *e)
{
	struct buf key = BUF_INIT;
	int found;

	assert(name.size > 0);
	/* Until something is found. */
	lookup_missing(fs, e);
	if (!node_is_data(directory))
		return ctl_lookup(fs, directory, name, e);
	if (name.data[0] == '.') {
		found = ctl_lookup(fs, directory, name, e);
		/* Names of tables, rows and families with a dot are reserved;
		 * a cell may have one that is not control. */
		if (found || directory->kind != NODE_FAMILY)
			return found;
	}
	/* A spelling that is no key's is missing, too. */
	found = lookup_key(fs, directory, lookup_level(directory), name, &key);
	if (found == 1) {
		tree_hold(fs);
		found = lookup_child(fs, directory, buf_bytes(&key), e);
		tree_let_go(fs);
	}
	buf_release(&key);
	return found;
}

int entry_attr(struct fs *fs, struct node *node, struct stat *st,
	       double *timeout)
{
	int err;

	if (!node_is_data(node))
		return ctl_attr(fs, node, st, timeout);
	tree_hold(fs);
	err = attr_node(fs, node, st, timeout);
	tree_let_go(fs);
	return err;
}
