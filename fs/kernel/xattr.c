#include <assert.h>
#include <errno.h>

#include "fs/cells/cell.h"
#include "fs/cells/reply.h"
#include "fs/kernel/xattr.h"
#include "fs/state/path.h"
#include "store/text/value/gcpolicy.h"

#define PREFIX "user.tabletfs."

/* What a family has, its cells have too. */
static_assert(NODE_FAMILY < NODE_CELL, "kinds are in the order of depth");

/* Appends how many versions the cell at p has, in decimal. They are read one by
 * one, but no large value is. */
static int count_versions(struct fs *fs, const struct path *p, struct buf *out)
{
	struct scan_range range = {
		.table = p->table,
		.row = p->row,
		.has_family = true,
		.has_qualifier = true,
		.family = p->family,
		.qualifier = p->qualifier,
		.keep_large = true,
	};
	unsigned long long count = 0;
	struct scan *scan;
	struct cell cell;
	int err = scan_open(fs->store, NULL, &range, &scan);

	if (err)
		return err;
	while ((err = scan_next(scan, CURSOR_VERSION, &cell)) == 1)
		count++;
	scan_close(scan);
	return err ? err : buf_printf(out, "%llu", count);
}

/* Appends the GC policy of the place's family, in cbt's words. -ENODATA if the
 * schema has none of that name. */
static int print_policy(const struct place *place, struct buf *out)
{
	const struct family *family =
		table_family(place->table, place->path.family);

	return family ? gc_policy_print_words(family_gc(family), out)
		      : -ENODATA;
}

/* Appends the value of node's attribute name to out. -ENODATA if it has none of
 * that name. */
static int get(struct fs *fs, const struct node *node,
	       const struct place *place, const char *name, struct buf *out)
	NEEDS_SHARED(fs->tree)
{
	const struct path *p = &place->path;
	struct cell_info info;
	int n;

	if (strncmp(name, PREFIX, strlen(PREFIX)) || !node_is_data(node))
		return -ENODATA;
	/* Not all kinds have all of them, see xattr.h. */
	name += strlen(PREFIX);
	if (!strcmp(name, "key") && node->kind != NODE_ROOT)
		return buf_add_bytes(out, p->leaf);
	if (!strcmp(name, "family_gc") && node->kind >= NODE_FAMILY)
		return print_policy(place, out);
	if (node->kind != NODE_CELL)
		return -ENODATA;
	if (!strcmp(name, "versions"))
		return count_versions(fs, p, out);
	if (strcmp(name, "timestamp"))
		return -ENODATA;
	/* A cell that is only local has no timestamp yet. */
	n = cell_newest(fs, p, &info, 1);
	if (n <= 0)
		return n ? n : -ENODATA;
	return buf_printf(out, "%llu", (unsigned long long)info.timestamp_us);
}

void xattr_on_get(fuse_req_t req, fuse_ino_t ino, const char *name, size_t size)
{
	struct fs *fs = fs_of(req);
	struct node *node = node_of(&fs->nodes, ino);
	struct buf out = BUF_INIT;
	struct place place;
	int err;

	if (!fs->options->xattr) {
		fuse_reply_err(req, ENOSYS);
		return;
	}
	err_clear();
	err = place_enter(fs, node, &place);
	if (!err)
		err = get(fs, node, &place, name, &out);
	place_leave(fs, &place);
	/* As getxattr(2): who asks first asks for the size. */
	if (!err && size > 0 && out.size > size)
		err = -ERANGE;
	if (err)
		fs_reply_error(fs, req, node, NULL, err);
	else if (size == 0)
		fs_reply_xattr(req, out.size);
	else
		fs_reply_buf(req, (char *)out.data, out.size);
	buf_release(&out);
}

void xattr_on_list(fuse_req_t req, fuse_ino_t ino, size_t size)
{
	struct fs *fs = fs_of(req);

	/* Whether there are any or not, the list is empty. */
	(void)ino;
	if (!fs->options->xattr)
		fuse_reply_err(req, ENOSYS);
	else if (size == 0)
		fs_reply_xattr(req, 0);
	else
		fs_reply_buf(req, NULL, 0);
}
