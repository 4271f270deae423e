#include <errno.h>

#include "fs/cells/pin.h"
#include "fs/query/at.h"
#include "fs/state/path.h"
#include "fs/tree/attr.h"
#include "fs/tree/lookup.h"
#include "store/text/value/time.h"

/* How long what is seen of a time may be kept: who writes with timestamps of
 * their own, and expiry, change the past too. A pin is what it is. */
#define PAST_TIMEOUT_S 1.0
#define PIN_TIMEOUT_S 60.0
/* As COLUMNS_SEEN of the present. */
#define COLUMNS_SEEN 1000

/* What view sees at path, whose deepest part node_kind says: 1, 0 or an error.
 * Of a directory, info has the newest timestamp; value, if not NULL, gets a
 * cell's bytes appended. */
static int find(struct fs *fs, const struct at_view *view,
		const struct path *path, enum node_kind kind,
		struct cell_info *info, struct buf *value)
{
	struct scan_range range = {
		.table = path->table,
		.row = path->row,
		.has_family = kind >= NODE_AT_FAMILY,
		.family = path->family,
		.has_qualifier = kind == NODE_AT_CELL,
		.qualifier = path->qualifier,
		.keep_large = !value,
	};
	unsigned int columns = kind == NODE_AT_CELL ? 1 : COLUMNS_SEEN;
	struct scan *scan = NULL;
	struct cell cell;
	int err, found = 0;

	if (path->row.size == 0 || path->row.size > STORE_ROW_KEY_MAX)
		return 0;
	err = at_filter(view, &range.filter);
	if (!err)
		err = scan_open(fs->store, view->snapshot, &range, &scan);
	memset(info, 0, sizeof(*info));
	while (!err && columns-- > 0) {
		err = scan_next(scan, CURSOR_COLUMN, &cell);
		if (err != 1)
			break;
		found = 1;
		if (cell.timestamp_us >= info->timestamp_us)
			info->timestamp_us = cell.timestamp_us;
		info->size = cell_shown_size(&cell);
		err = value ? cell_show(&cell, value) : 0;
	}
	if (scan)
		scan_close(scan);
	filter_free(range.filter);
	/* A dropped table has no past. */
	return err == -ERR_no_table ? 0 : err < 0 ? err : found;
}

static int enter_time(struct fs *fs, struct node *directory, struct bytes name,
		      struct node **out)
{
	uint64_t us;
	int err;

	if (bytes_equal(name, BYTES_LITERAL("now")))
		err = pin_now(fs, directory, out);
	else if (time_parse(name, &us))
		err = fail(ENOENT, "%s", err_detail());
	else
		err = node_enter(&fs->nodes, directory, NODE_AT_TIME, name,
				 out);
	return err ? err : 1;
}

int at_lookup(struct fs *fs, struct node *directory, struct bytes name,
	      struct node **out)
{
	struct buf key = BUF_INIT;
	struct cell_info info;
	struct at_view view;
	struct path path;
	int err;

	if (directory->kind == NODE_AT)
		return enter_time(fs, directory, name, out);
	err = at_open(fs, directory, &view);
	if (err)
		return err;
	err = lookup_key(fs, directory, lookup_level(directory), name, &key);
	if (err == 1)
		err = node_path(&fs->nodes, directory, &path) ? -ENOMEM : 1;
	if (err == 1) {
		*path_part(&path, lookup_kind(directory)) = buf_bytes(&key);
		err = find(fs, &view, &path, lookup_kind(directory), &info,
			   NULL);
		path_release(&path);
	}
	if (err == 1 &&
	    node_enter(&fs->nodes, directory, lookup_kind(directory),
		       buf_bytes(&key), out))
		err = -ENOMEM;
	at_close(fs, &view);
	buf_release(&key);
	return err;
}

int at_attr(struct fs *fs, struct node *node, const struct path *path,
	    uint64_t ino, struct stat *st, double *timeout)
{
	struct cell_info info;
	struct at_view view;
	int err;

	if (node->kind == NODE_AT)
		return 0;
	err = at_open(fs, node, &view);
	if (err)
		return err;
	*timeout = view.pin ? PIN_TIMEOUT_S : PAST_TIMEOUT_S;
	if (node->kind == NODE_AT_TIME)
		goto close_view;
	err = find(fs, &view, path, node->kind, &info, NULL);
	if (err <= 0) {
		err = err ? err : -ENOENT;
		goto close_view;
	}
	err = 0;
	if (node->kind == NODE_AT_CELL)
		attr_cell(fs, ino, &info, st);
	else
		attr_directory(fs, ino, info.timestamp_us, st);
	st->st_mode =
		node->kind == NODE_AT_CELL ? S_IFREG | 0444 : S_IFDIR | 0555;
close_view:
	at_close(fs, &view);
	return err;
}

int at_read(struct fs *fs, struct node *node, const struct path *path,
	    struct buf *out)
{
	struct cell_info info;
	struct at_view view;
	int err = at_open(fs, node, &view);

	if (err)
		return err;
	err = find(fs, &view, path, node->kind, &info, out);
	at_close(fs, &view);
	return err == 1 ? 0 : err ? err : -ENOENT;
}
