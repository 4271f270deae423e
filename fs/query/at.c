#include <assert.h>
#include <errno.h>

#include "fs/cells/cell.h"
#include "fs/cells/pin.h"
#include "fs/query/as_of.h"
#include "fs/query/at.h"
#include "fs/state/path.h"
#include "fs/tree/access.h"
#include "fs/tree/attr.h"
#include "fs/tree/lookup.h"
#include "store/text/value/time.h"

/*
 * A node in the past is a path of the table and a view: a snapshot, or a time
 * that a filter of timestamps stands for. Nothing of it is local and no draft
 * is asked, so each question is one short scan of the row.
 *
 * Kinds stand in the order of depth, which find and lookup_kind count on.
 */
static_assert(NODE_AT_TIME == NODE_AT + 1 && NODE_AT_ROW == NODE_AT + 2 &&
		      NODE_AT_FAMILY == NODE_AT + 3 &&
		      NODE_AT_CELL == NODE_AT + 4,
	      "kinds of .at are in the order of their depth");

/* How long, in seconds, the kernel may keep what it sees of a time: who writes
 * with timestamps of their own, and expiry, change the past too, and not all of
 * that is announced. What a pin shows never changes, but the pin may end. */
#define PAST_TIMEOUT_S 1.0
#define PIN_TIMEOUT_S 60.0

/* Of a row or family, how many columns are looked at for the newest timestamp:
 * as many as lookup.c looks at in the present, so that both tell the same. */
#define COLUMNS_SEEN 1000

/* Whether nodes of this kind are there as cells are. */
static bool is_of_cells(enum node_kind kind)
{
	return (kind >= NODE_AT_ROW && kind <= NODE_AT_CELL) ||
	       kind == NODE_AT_COLUMN || kind == NODE_AT_VERSION;
}

/* The next cell of scan for find: of a version, the one with that timestamp,
 * since versions descend. */
static int next_cell(struct scan *scan, enum node_kind kind,
		     uint64_t timestamp_us, struct cell *cell)
{
	int err;

	if (kind != NODE_AT_VERSION)
		return scan_next(scan, CURSOR_COLUMN, cell);
	do
		err = scan_next(scan, CURSOR_VERSION, cell);
	while (err == 1 && cell->timestamp_us > timestamp_us);
	return err == 1 && cell->timestamp_us != timestamp_us ? 0 : err;
}

/* What view sees at path, down to the part that is kind's: 1, 0 or an error. Of
 * a row or family, info has the newest timestamp of its first columns; of a
 * cell or version timestamp and size; shown, if not NULL, gets what cell_open
 * gives. A version's timestamp is path's leaf. */
static int find(struct fs *fs, const struct at_view *view,
		const struct path *path, enum node_kind kind,
		struct cell_info *info, struct cell_bytes *shown)
	NEEDS_SHARED(fs->tree)
{
	struct scan_range range = {
		.table = path->table,
		.table_id = view->table_id,
		.row = path->row,
		.has_family = kind != NODE_AT_ROW,
		.family = path->family,
		.has_qualifier = kind >= NODE_AT_CELL,
		.qualifier = path->qualifier,
		.keep_large = true,
	};
	unsigned int columns = range.has_qualifier ? 1 : COLUMNS_SEEN;
	uint64_t timestamp_us = 0;
	struct scan *scan = NULL;
	struct cell cell;
	int err, found = 0;

	assert(is_of_cells(kind));
	memset(info, 0, sizeof(*info));
	/* A name may stand for the empty key, which no row has; to a scan it
	 * would mean all rows. */
	if (path->row.size == 0 || path->row.size > STORE_ROW_KEY_MAX)
		return 0;
	if (kind == NODE_AT_VERSION &&
	    !cell_timestamp(path->leaf, &timestamp_us))
		return 0;
	err = at_filter(view, &range.filter);
	if (!err)
		err = scan_open(fs->store, view->snapshot, &range, &scan);
	while (!err && columns-- > 0) {
		err = next_cell(scan, kind, timestamp_us, &cell);
		if (err != 1)
			break;
		found = 1;
		if (cell.timestamp_us >= info->timestamp_us)
			info->timestamp_us = cell.timestamp_us;
		info->size = cell_shown_size(&cell);
		err = shown ? cell_open(scan, &cell, shown) : 0;
	}
	if (scan)
		scan_close(scan);
	filter_free(range.filter);
	/* A dropped table has no past: its names are missing, not in error. */
	return err == -ERR_no_table ? 0 : err < 0 ? err : found;
}

/* The node of .at/<name>: 1 with *out referenced, or an error; -ENOENT if name
 * is no time. Any time has a node, whether anything is that old or not. */
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

/* Whether view sees a child of this key, or timestamp: 1, 0 or an error. */
static int find_child(struct fs *fs, struct node *directory,
		      const struct at_view *view, struct bytes key)
{
	enum node_kind kind = lookup_kind(directory);
	struct cell_info info;
	struct place place;
	int err = place_enter(fs, directory, &place);

	if (kind == NODE_AT_VERSION)
		place.path.leaf = key;
	else if (!err)
		err = place_step(&place, kind, key);
	if (!err)
		err = find(fs, view, &place.path, kind, &info, NULL);
	place_leave(fs, &place);
	/* A dropped table has no past: its names are missing, not in error. */
	return err == -ERR_no_table ? 0 : err;
}

int at_lookup(struct fs *fs, struct node *directory, struct bytes name,
	      struct node **out)
{
	struct buf key = BUF_INIT;
	struct at_view view;
	int err;

	assert(node_is_past(directory));
	if (directory->kind == NODE_AT)
		return enter_time(fs, directory, name, out);
	if (directory->kind == NODE_AS_OF ||
	    directory->kind == NODE_AS_OF_STORE)
		return as_of_lookup(fs, directory, name, out);
	err = at_open(fs, directory, &view);
	if (err)
		return err;
	err = lookup_key(fs, directory, lookup_level(directory), name, &key);
	if (err == 1)
		err = find_child(fs, directory, &view, buf_bytes(&key));
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
	mode_t mode = st->st_mode;
	struct cell_info info;
	struct at_view view;
	int err;

	assert(node_is_past(node));
	if (node->kind == NODE_AS_OF_LINK)
		*timeout = 0;
	if (node->kind == NODE_AT || node->kind == NODE_AS_OF ||
	    node->kind == NODE_AS_OF_LINK)
		return 0;
	err = at_open(fs, node, &view);
	if (err)
		return err;
	*timeout = view.pin ? PIN_TIMEOUT_S : PAST_TIMEOUT_S;
	/* What stands for a moment has its time. */
	if (node->timestamp_us)
		attr_directory(fs, ino, node->timestamp_us, st);
	/* The root of a time is there as long as its table is, and what a
	 * schema has, as long as the moment. */
	if (!is_of_cells(node->kind))
		goto close_view;
	err = find(fs, &view, path, node->kind, &info, NULL);
	if (err <= 0) {
		err = err ? err : -ENOENT;
		goto close_view;
	}
	err = 0;
	if (S_ISREG(mode))
		attr_cell(fs, ino, &info, st);
	else
		attr_directory(fs, ino, info.timestamp_us, st);
close_view:
	/* What is copied out of a moment is to look as it did. */
	if (!view.table_id || node->kind > NODE_AT_CELL)
		st->st_mode = mode;
	at_close(fs, &view);
	return err;
}

/* Whose the table of this id is now, or was when it was dropped; if that is not
 * known, only who mounts may read it. */
static struct table_access last_access(struct fs *fs, const struct schema *now,
				       uint32_t id)
{
	const struct table *table = table_by_id(now, id);
	struct table_access last = { 0700, TABLE_ACCESS_UNSET,
				     TABLE_ACCESS_UNSET };

	if (table)
		last = table->access;
	else
		schema_dropped_access(now, id, &last);
	return access_of(fs, &last);
}

/* Takes from access what the table with this id does not give by now; the first
 * of them says whose it is. */
static void narrow_by(struct fs *fs, const struct schema *now, uint32_t id,
		      struct table_access *access, bool *is_owned)
{
	struct table_access by;

	if (id == 0)
		return;
	by = last_access(fs, now, id);
	if (*is_owned) {
		access_narrow(access, &by);
		return;
	}
	access_narrow(&by, access);
	*access = by;
	*is_owned = true;
}

void at_narrow(struct fs *fs, const struct node *node,
	       struct table_access *access)
{
	struct schema *now;
	bool is_owned = false;

	if (!at_is_moment(node))
		return;
	now = store_schema(fs->store);
	*access = access_of(fs, access);
	/* The table that it was, and the one that it is looked at through. */
	for (; node; node = node->parent)
		if (node->kind == NODE_AT_TIME || node->kind == NODE_TABLE)
			narrow_by(fs, now, node->table_id, access, &is_owned);
	schema_put(now);
}

int at_show(struct fs *fs, struct node *node, const struct path *path,
	    struct cell_bytes *shown)
{
	struct cell_info info;
	struct at_view view;
	int err = at_open(fs, node, &view);

	assert(node->kind == NODE_AT_CELL || node->kind == NODE_AT_VERSION);
	if (err)
		return err;
	err = find(fs, &view, path, node->kind, &info, shown);
	at_close(fs, &view);
	return err == 1 ? 0 : err ? err : -ENOENT;
}
