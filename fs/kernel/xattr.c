#include <assert.h>
#include <errno.h>

#include "fs/cells/cell.h"
#include "fs/cells/pin.h"
#include "fs/cells/reply.h"
#include "fs/kernel/xattr.h"
#include "fs/state/path.h"
#include "store/text/value/gcpolicy.h"

#define PREFIX "user.tabletfs."

/* What a family has, its cells have too. */
static_assert(NODE_FAMILY < NODE_CELL, "kinds are in the order of depth");
/* See data_kind. */
static_assert(NODE_AT_CELL - NODE_AT_TIME == NODE_CELL - NODE_TABLE,
	      "those of the past are in the same order");

/* Counts the versions that view sees of the cell at p, up to most, and tells
 * the newest one's timestamp: 0 or an error. They are read one by one, but no
 * large value is. */
static int count_versions(struct fs *fs, const struct at_view *view,
			  const struct path *p, uint64_t most, uint64_t *count,
			  uint64_t *timestamp_us)
{
	struct scan_range range = {
		.table = p->table,
		.table_id = view->table_id,
		.row = p->row,
		.has_family = true,
		.has_qualifier = true,
		.family = p->family,
		.qualifier = p->qualifier,
		.keep_large = true,
	};
	struct scan *scan;
	struct cell cell;
	int err = scan_open(fs->store, view->snapshot, &range, &scan);

	*count = *timestamp_us = 0;
	if (err)
		return err;
	while (*count < most &&
	       (err = scan_next(scan, CURSOR_VERSION, &cell)) == 1)
		if ((*count)++ == 0)
			*timestamp_us = cell.timestamp_us;
	scan_close(scan);
	return err < 0 ? err : 0;
}

/* Appends how many versions the cell at p has, as view sees it, or the
 * timestamp of the newest. -ENODATA: one that is only local has none yet. */
static int print_versions(struct fs *fs, const struct at_view *view,
			  const struct path *p, bool counts, struct buf *out)
{
	uint64_t count, timestamp_us;
	int err = count_versions(fs, view, p, counts ? UINT64_MAX : 1, &count,
				 &timestamp_us);

	if (!err && !counts && count == 0)
		return -ENODATA;
	return err ? err
		   : buf_printf(out, "%llu",
				(unsigned long long)(counts ? count
							    : timestamp_us));
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

/* The kind of node if it is data, or that of what it was at a moment;
 * NODE_ROOT, which has no attributes, of all else. */
static enum node_kind data_kind(const struct node *node)
{
	if (node_is_data(node))
		return node->kind;
	if (node->kind < NODE_AT_TIME || node->kind > NODE_AT_CELL ||
	    !at_is_moment(node))
		return NODE_ROOT;
	return node->kind - NODE_AT_TIME + NODE_TABLE;
}

/* Appends the value of node's attribute name to out. -ENODATA if it has none of
 * that name. */
static int get(struct fs *fs, struct node *node, const struct place *place,
	       const char *name, struct buf *out) NEEDS_SHARED(fs->tree)
{
	enum node_kind kind = data_kind(node);
	const struct path *p = &place->path;
	struct at_view view = { .pin = NULL };
	bool counts;
	int err = 0;

	if (strncmp(name, PREFIX, strlen(PREFIX)) || kind == NODE_ROOT)
		return -ENODATA;
	/* Not all kinds have all of them, see xattr.h. */
	name += strlen(PREFIX);
	if (!strcmp(name, "key"))
		return buf_add_bytes(
			out, kind == NODE_TABLE ? place->table->name : p->leaf);
	if (!strcmp(name, "family_gc") && kind >= NODE_FAMILY)
		return print_policy(place, out);
	counts = !strcmp(name, "versions");
	if (kind != NODE_CELL || (!counts && strcmp(name, "timestamp") != 0))
		return -ENODATA;
	if (node_is_past(node))
		err = at_open(fs, node, &view);
	if (!err)
		err = print_versions(fs, &view, p, counts, out);
	at_close(fs, &view);
	return err;
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
