#include <errno.h>

#include "fs/at.h"
#include "fs/attr.h"
#include "fs/ctl.h"
#include "fs/draft.h"
#include "fs/lookup.h"
#include "fs/loop.h"

enum name_level lookup_level(const struct node *directory)
{
	switch (directory->kind) {
	case NODE_ROOT:
		return NAME_TABLE;
	case NODE_TABLE:
	case NODE_SCAN_ROWS:
	case NODE_AT_TIME:
		return NAME_ROW;
	case NODE_ROW:
	case NODE_AT_ROW:
	case NODE_SCHEMA:
		return NAME_FAMILY;
	case NODE_FAMILY:
	case NODE_VERSIONS:
	case NODE_AT_FAMILY:
		return NAME_QUALIFIER;
	default:
		return NAME_VALUE;
	}
}

enum node_kind lookup_kind(const struct node *directory)
{
	return directory->kind + 1;
}

/* The key that begins with head and has this hash. */
static int find_cut_key(struct fs *fs, struct node *directory,
			struct bytes head, uint64_t hash, struct buf *key)
{
	bool rows = lookup_level(directory) == NAME_ROW;
	struct at_view view = { .pin = NULL };
	struct scan_range range;
	struct scan *scan;
	struct path path;
	struct cell cell;
	int err = node_path(&fs->nodes, directory, &path);

	if (err)
		return err;
	if (node_is_past(directory))
		err = at_open(fs, directory, &view);
	if (err)
		goto release_path;
	loop_hand_over();
	memset(&range, 0, sizeof(range));
	range.table = path.table;
	range.stop = loop_is_interrupted;
	range.keep_large = true;
	if (rows) {
		range.start = head;
		range.rows_only = true;
	} else {
		range.row = path.row;
		range.has_family = true;
		range.family = path.family;
	}
	err = scan_open(fs->store, view.snapshot, &range, &scan);
	if (err)
		goto close_view;
	while ((err = scan_next(scan, rows ? CURSOR_ROW : CURSOR_COLUMN,
				&cell)) == 1) {
		struct bytes found = rows ? cell.row : cell.qualifier;

		if (bytes_starts_with(found, head)) {
			if (name_hash(found) != hash)
				continue;
			err = buf_add_bytes(key, found);
			err = err ? err : 1;
			break;
		}
		if (bytes_compare(found, head) > 0) {
			err = 0;
			break;
		}
	}
	scan_close(scan);
close_view:
	at_close(fs, &view);
release_path:
	path_release(&path);
	return err;
}

/* The same among what is only in memory. */
static int find_cut_local(struct fs *fs, struct node *directory,
			  struct bytes head, uint64_t hash, struct buf *key)
{
	struct node_names locals;
	size_t i;
	int err = node_locals(&fs->nodes, directory, &locals);

	if (err)
		return err;
	for (i = 0; i < locals.count && !err; i++) {
		struct bytes name = locals.names[i];

		if (bytes_starts_with(name, head) && name_hash(name) == hash)
			err = buf_add_bytes(key, name) ? -ENOMEM : 1;
	}
	node_names_release(&locals);
	return err;
}

int lookup_key(struct fs *fs, struct node *directory, enum name_level level,
	       struct bytes name, struct buf *key)
{
	struct buf head = BUF_INIT, again = BUF_INIT;
	uint64_t hash;
	int err = name_decode(level, name, key, &hash);

	if (err == NAME_WHOLE)
		return 1;
	if (err != NAME_CUT)
		return err == -EINVAL ? 0 : err;
	err = buf_set(&head, buf_bytes(key));
	buf_reset(key);
	if (!err)
		err = find_cut_key(fs, directory, buf_bytes(&head), hash, key);
	/* Its last cell was removed. */
	if (err == 0)
		err = find_cut_local(fs, directory, buf_bytes(&head), hash,
				     key);
	/* The spelling must be the one that a listing shows. */
	if (err == 1)
		err = name_encode(level, buf_bytes(key), &again);
	else
		goto release;
	if (!err)
		err = bytes_equal(name, buf_bytes(&again));
release:
	buf_release(&head);
	buf_release(&again);
	return err;
}

int lookup_reply(struct fs *fs, struct node *node, const struct cell_info *info,
		 struct fuse_entry_param *e)
{
	int err;

	memset(e, 0, sizeof(*e));
	err = attr_node(fs, node, info, &e->attr, &e->attr_timeout);
	if (!err) {
		e->entry_timeout = e->attr_timeout;
		e->attr_timeout = attr_keep(fs, node, e->attr_timeout);
		e->ino = node_id(&fs->nodes, node);
		node_hand_out(&fs->nodes, node);
	} else {
		node_put(&fs->nodes, node);
	}
	return err;
}

/*
 * How what was read of a cell relates to what its node knows: < 0 if it is
 * older, > 0 if somebody else wrote or removed a version since, 0 if it is the
 * same. Commits are noted with the draft's lock held; a draft with changes of
 * its own is kept.
 */
static int compare_info(struct fs *fs, struct node *node,
			const struct cell_info *info, uint64_t read_seq)
{
	struct draft *draft = draft_get(fs, node);
	uint64_t known;
	int order;

	if (draft)
		pthread_mutex_lock(&draft->lock);
	known = node_seq(&fs->nodes, node);
	order = known == 0 ? 0 : (info->seq > known) - (info->seq < known);
	/* The reading saw all that is known, and that is no more. */
	if (order < 0 && known <= read_seq)
		order = 1;
	/* Renaming the row wrote its cells anew, with their values. */
	if (order > 0 && info->seq <= node->parent->parent->moved_seq)
		order = 0;
	if (draft) {
		if (draft->dirty && order > 0)
			order = 0;
		pthread_mutex_unlock(&draft->lock);
		draft_put(fs, draft);
	}
	return order;
}

int lookup_enter(struct fs *fs, struct node *directory, struct bytes key,
		 const struct cell_info *info, uint64_t read_seq,
		 struct node **out)
{
	enum node_kind kind = lookup_kind(directory);
	struct node *node;
	int err = node_enter(&fs->nodes, directory, kind, key, &node), order;

	if (err)
		return err;
	order = kind == NODE_CELL ? compare_info(fs, node, info, read_seq) : 0;
	if (order > 0)
		node_detach(&fs->nodes, node);
	if (order)
		node_put(&fs->nodes, node);
	if (order < 0)
		return -EAGAIN;
	if (order > 0)
		err = node_enter(&fs->nodes, directory, kind, key, &node);
	if (err)
		return err;
	node_know(&fs->nodes, node, info->timestamp_us, info->seq);
	node->size = info->size;
	*out = node;
	return 0;
}

static void missing(struct fs *fs, struct fuse_entry_param *e)
{
	memset(e, 0, sizeof(*e));
	e->entry_timeout = fs->has_epochs ? ATTR_TIMEOUT_S : 1.0;
}

/* Of a row or family, to find its newest change: it is exact up to here. */
#define COLUMNS_SEEN 1000

/* What the store says of a child: 1, 0 or an error. */
static int ask_store(struct fs *fs, struct node *directory, struct bytes key,
		     struct cell_info *info)
{
	struct schema *schema;
	struct node *node;
	struct path path;
	int err;

	memset(info, 0, sizeof(*info));
	if (directory->kind == NODE_ROOT) {
		schema = store_schema(fs->store);
		err = schema_table(schema, key) != NULL;
		info->timestamp_us = fs->start_us;
		schema_put(schema);
		return err;
	}
	if (directory->kind == NODE_TABLE &&
	    (key.size == 0 || key.size > STORE_ROW_KEY_MAX))
		return 0;
	err = node_path(&fs->nodes, directory, &path);
	if (err)
		return err;
	if (directory->kind == NODE_TABLE) {
		path.row = key;
		err = cell_first(fs, &path, false, COLUMNS_SEEN, info);
	} else if (directory->kind == NODE_ROW) {
		path.family = key;
		err = cell_first(fs, &path, true, COLUMNS_SEEN, info);
	} else {
		node = node_find(&fs->nodes, directory, NODE_CELL, key);
		path.qualifier = key;
		err = cell_stat(fs, &path, node ? node->size : 0, info);
		node_put(&fs->nodes, node);
	}
	path_release(&path);
	/* A dropped table has no rows. */
	return err == -ERR_no_table ? 0 : err;
}

/* Whether node exists although the store knows nothing of it. */
static bool is_here(struct fs *fs, struct node *node)
{
	struct draft *draft;
	bool dirty;

	if (node->local || node->kind != NODE_CELL)
		return node->local;
	draft = draft_get(fs, node);
	if (!draft)
		return false;
	pthread_mutex_lock(&draft->lock);
	dirty = draft->dirty;
	pthread_mutex_unlock(&draft->lock);
	draft_put(fs, draft);
	return dirty;
}

/* One attempt of lookup_child; -EAGAIN if the store changed meanwhile. */
static int try_child(struct fs *fs, struct node *directory, struct bytes key,
		     struct fuse_entry_param *e)
{
	uint64_t seq = engine_visible_seq(store_engine(fs->store));
	struct node *node;
	struct cell_info info;
	int found = ask_store(fs, directory, key, &info), err;

	if (found < 0)
		return found;
	if (found) {
		err = lookup_enter(fs, directory, key, &info, seq, &node);
		if (!err)
			err = lookup_reply(fs, node, &info, e);
		return err ? err : 1;
	}
	node = node_find(&fs->nodes, directory, lookup_kind(directory), key);
	if (!node)
		return 0;
	if (is_here(fs, node)) {
		err = lookup_reply(fs, node, NULL, e);
		return err ? err : 1;
	}
	if (node_seq(&fs->nodes, node) > seq)
		found = -EAGAIN;
	else
		node_detach(&fs->nodes, node);
	node_put(&fs->nodes, node);
	return found;
}

/* Each needs another commit to the same cell in between. */
#define TRIES_MAX 1000

int lookup_child(struct fs *fs, struct node *directory, struct bytes key,
		 struct fuse_entry_param *e)
{
	int found = -EAGAIN, tries;

	for (tries = 0; found == -EAGAIN && tries < TRIES_MAX; tries++)
		found = try_child(fs, directory, key, e);
	if (found == -ENOENT)
		found = 0;
	if (found == 0)
		missing(fs, e);
	return found;
}

int lookup_name(struct fs *fs, struct node *directory, struct bytes name,
		struct fuse_entry_param *e)
{
	struct buf key = BUF_INIT;
	int found;

	missing(fs, e);
	if (!node_is_data(directory))
		return ctl_lookup(fs, directory, name, e);
	if (name.data[0] == '.') {
		found = ctl_lookup(fs, directory, name, e);
		/* Only cells may have names with a dot. */
		if (found || directory->kind != NODE_FAMILY)
			return found;
	}
	found = lookup_key(fs, directory, lookup_level(directory), name, &key);
	if (found == 1)
		found = lookup_child(fs, directory, buf_bytes(&key), e);
	buf_release(&key);
	return found;
}
