#include <assert.h>
#include <errno.h>

#include "fs/cells/loop.h"
#include "fs/cells/pin.h"
#include "fs/cells/seen.h"
#include "fs/open/draft.h"
#include "fs/tree/attr.h"
#include "fs/tree/lookup.h"

/*
 * A lookup reads the store, without a lock that would keep commits out, and
 * then enters a node. What it read may be old by then, or the node may know of
 * something that others have changed since: sequences tell which. What was read
 * too early is read again; a cell that others wrote gets a new node, so that
 * the kernel, which keeps pages by node, does not mix the two.
 */

/* Of a row or family, to find its newest change: it is exact up to here. */
#define COLUMNS_SEEN 1000

static_assert(NODE_TABLE == NODE_ROOT + 1 && NODE_ROW == NODE_TABLE + 1 &&
		      NODE_FAMILY == NODE_ROW + 1 &&
		      NODE_CELL == NODE_FAMILY + 1,
	      "see lookup_kind");
static_assert(NODE_AT_TIME == NODE_AT + 1 && NODE_AT_ROW == NODE_AT_TIME + 1 &&
		      NODE_AT_FAMILY == NODE_AT_ROW + 1 &&
		      NODE_AT_CELL == NODE_AT_FAMILY + 1 &&
		      NODE_AT_COLUMN == NODE_AT_VERSIONS + 1 &&
		      NODE_AT_VERSION == NODE_AT_COLUMN + 1,
	      "see lookup_kind");

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
	case NODE_AT_SCHEMA:
		return NAME_FAMILY;
	case NODE_FAMILY:
	case NODE_VERSIONS:
	case NODE_AT_FAMILY:
	case NODE_AT_VERSIONS:
		return NAME_QUALIFIER;
	default: /* the value of a step, or a name that is always the same */
		return NAME_VALUE;
	}
}

enum node_kind lookup_kind(const struct node *directory)
{
	assert((node_is_data(directory) && directory->kind != NODE_CELL) ||
	       (directory->kind >= NODE_AT_TIME &&
		directory->kind < NODE_AT_VERSION));
	assert(directory->kind != NODE_AT_CELL);
	return directory->kind + 1;
}

/* Of the rows or columns of a scan, which ascend, the key that begins with head
 * and has this hash: 1 with the key appended, 0 or an error. */
static int search_cut_key(struct scan *scan, bool rows, struct bytes head,
			  uint64_t hash, struct buf *key)
{
	enum cursor_step step = rows ? CURSOR_ROW : CURSOR_COLUMN;
	struct cell cell;
	int err;

	while ((err = scan_next(scan, step, &cell)) == 1) {
		struct bytes found = rows ? cell.row : cell.qualifier;

		if (bytes_starts_with(found, head)) {
			if (name_hash(found) != hash)
				continue;
			err = buf_add_bytes(key, found);
			return err ? err : 1;
		}
		/* Behind all that begin with it. */
		if (bytes_compare(found, head) > 0)
			return 0;
	}
	return err;
}

/* search_cut_key for a directory of rows or of columns, in the store. A scan
 * can begin at a row but not at a column. */
static int find_cut_key(struct fs *fs, struct node *directory,
			struct bytes head, uint64_t hash, struct buf *key)
{
	bool rows = lookup_level(directory) == NAME_ROW;
	struct at_view view = { .pin = NULL };
	struct scan_range range = { .stop = loop_is_interrupted,
				    .keep_large = true };
	struct scan *scan = NULL;
	struct place place;
	int err = 0;

	if (node_is_past(directory))
		err = at_open(fs, directory, &view);
	if (err)
		return err;
	loop_hand_over();
	err = place_enter(fs, directory, &place);
	range.table = place.path.table;
	range.table_id = view.table_id;
	if (rows) {
		range.start = head;
		range.rows_only = true;
	} else {
		range.row = place.path.row;
		range.has_family = true;
		range.family = place.path.family;
	}
	if (!err)
		err = scan_open(fs->store, view.snapshot, &range, &scan);
	/* The scan goes on by itself. */
	place_leave(fs, &place);
	if (!err)
		err = search_cut_key(scan, rows, head, hash, key);
	scan_close(scan);
	at_close(fs, &view);
	return err;
}

int lookup_key(struct fs *fs, struct node *directory, enum name_level level,
	       struct bytes name, struct buf *key)
{
	struct buf head = BUF_INIT, again = BUF_INIT;
	uint64_t hash;
	int err;

	assert(key->size == 0);
	err = name_decode(level, name, key, &hash);
	if (err == NAME_WHOLE)
		return 1;
	if (err != NAME_CUT)
		return err == -EINVAL ? 0 : err;
	err = buf_set(&head, buf_bytes(key));
	buf_reset(key);
	if (!err)
		err = find_cut_key(fs, directory, buf_bytes(&head), hash, key);
	/* Its last cell was removed, and it stayed as a directory. */
	if (err == 0)
		err = node_find_local(&fs->nodes, directory, buf_bytes(&head),
				      hash, key);
	/* The spelling must be the one that a listing shows: a head that was
	 * cut elsewhere, with the right hash, is no name. */
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

int lookup_remember(struct fs *fs, struct node *node, int err,
		    struct fuse_entry_param *e)
{
	if (err) {
		node_put(&fs->nodes, node);
		return err;
	}
	/* The name itself stays longer than a directory's attributes may. */
	e->entry_timeout = e->attr_timeout;
	e->attr_timeout = attr_keep(fs, node, e->attr_timeout);
	e->ino = node_id(&fs->nodes, node);
	node_hand_out(&fs->nodes, node);
	return 0;
}

int lookup_reply(struct fs *fs, struct node *node, struct fuse_entry_param *e)
{
	memset(e, 0, sizeof(*e));
	return lookup_remember(
		fs, node, attr_node(fs, node, &e->attr, &e->attr_timeout), e);
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

	assert(node->kind == NODE_CELL);
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

/* A child of a data directory: where it is, and what its table says of it. */
struct child {
	struct node *directory;
	struct bytes key;   /* borrowed, also by path */
	struct place place; /* the child's; to be released */
};

/* Whether the node of a table is one that was dropped, and the place's another
 * of its name. */
static bool is_of_another(const struct node *node, const struct place *place)
{
	return node->table_id && node->table_id != place->table->id;
}

/*
 * A child that exists, as info says, read when changes up to read_seq were
 * visible (0: not known). If a node of that name knows an older version, or
 * a newer one that the reading must have seen, the cell was changed by
 * others, and the name gets a new node, as that of a dropped table does; if it
 * knows one newer than the reading, info is old: -EAGAIN. Referenced.
 */
static int enter_child(struct fs *fs, const struct child *c,
		       const struct cell_info *info, uint64_t read_seq,
		       struct node **out)
{
	enum node_kind kind = lookup_kind(c->directory);
	struct node *node;
	int err = node_enter(&fs->nodes, c->directory, kind, c->key, &node),
	    order;

	if (err)
		return err;
	if (kind == NODE_CELL)
		order = compare_info(fs, node, info, read_seq);
	else
		order = kind == NODE_TABLE && is_of_another(node, &c->place);
	if (order > 0)
		node_detach(&fs->nodes, node);
	if (order)
		node_put(&fs->nodes, node);
	if (order < 0)
		return -EAGAIN;
	if (order > 0)
		err = node_enter(&fs->nodes, c->directory, kind, c->key, &node);
	if (err)
		return err;
	node_know(&fs->nodes, node, info->timestamp_us, info->seq);
	node->size = info->size;
	if (kind == NODE_TABLE)
		node->table_id = c->place.table->id;
	*out = node;
	return 0;
}

void lookup_missing(struct fs *fs, struct fuse_entry_param *e)
{
	memset(e, 0, sizeof(*e));
	/* No rule makes a name appear, so age does not matter. */
	e->entry_timeout = attr_longest(fs);
}

/* Fills *c. 0; -ERR_no_table and other errors, with the place to be released
 * all the same. */
static int child_find(struct fs *fs, struct node *directory, struct bytes key,
		      struct child *c) NEEDS_SHARED(fs->tree)
{
	int err = place_find(fs, directory, &c->place);

	c->directory = directory;
	c->key = key;
	return err ? err : place_step(&c->place, lookup_kind(directory), key);
}

/* It exists, as info says, read as of read_seq: see enter_child for that and
 * -EAGAIN. Fills *e and remembers the child. 0 or an error. */
static int child_reply(struct fs *fs, const struct child *c,
		       const struct cell_info *info, uint64_t read_seq,
		       struct fuse_entry_param *e) NEEDS_SHARED(fs->tree)
{
	struct node *node;
	int err = enter_child(fs, c, info, read_seq, &node);

	if (err)
		return err;
	memset(e, 0, sizeof(*e));
	err = attr_at(fs, node, &c->place, info, &e->attr, &e->attr_timeout);
	return lookup_remember(fs, node, err, e);
}

int lookup_listed(struct fs *fs, struct node *directory, struct bytes key,
		  const struct cell_info *info, struct fuse_entry_param *e)
{
	struct child child;
	int err = child_find(fs, directory, key, &child);

	if (!err)
		err = child_reply(fs, &child, info, 0, e);
	place_release(&child.place);
	return err;
}

/* What the store, where seq is the last write, says of a child whose table
 * exists: 1 with *info, 0 or an error. Mostly its row's lookup has seen it. */
static int ask_store(struct fs *fs, const struct child *c, uint64_t seq,
		     struct cell_info *info) NEEDS_SHARED(fs->tree)
{
	const struct path *path = &c->place.path;
	enum node_kind kind = lookup_kind(c->directory);
	struct node *node;
	int err;

	memset(info, 0, sizeof(*info));
	/* When a row ends by an age rule, the store says. */
	if (kind >= NODE_FAMILY ||
	    (kind == NODE_ROW && !c->place.rules.expires)) {
		err = seen_find(fs->seen, path, kind, seq, info);
		if (err >= 0)
			return err;
	}
	switch (kind) {
	case NODE_TABLE:
		/* Its rules were found, so it is there; when it was made is
		 * not known. */
		info->timestamp_us = fs->start_us;
		return 1;
	case NODE_ROW:
		if (c->key.size == 0 || c->key.size > STORE_ROW_KEY_MAX)
			return 0;
		return cell_first(fs, path, false, COLUMNS_SEEN, &c->place,
				  info);
	case NODE_FAMILY:
		return cell_first(fs, path, true, COLUMNS_SEEN, &c->place,
				  info);
	default:
		assert(kind == NODE_CELL);
		node = node_find(&fs->nodes, c->directory, NODE_CELL, c->key);
		err = cell_stat(fs, path, node ? node->size : 0, info);
		node_put(&fs->nodes, node);
		/* Without a write meanwhile that is so as of seq. */
		if (err == 0 && !c->place.rules.expires &&
		    seq == store_seq(fs->store))
			seen_none(fs->seen, path, seq);
		return err;
	}
}

/* Whether node exists although the store knows nothing of it: it is local, or a
 * cell that others removed while it is open with changes to be committed. */
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

/* The store knows nothing of the child, as of read_seq: 1 if it is there all
 * the same, 0, or an error; -EAGAIN if it came meanwhile. */
static int reply_local(struct fs *fs, struct node *directory, struct bytes key,
		       uint64_t read_seq, struct fuse_entry_param *e)
	NEEDS_SHARED(fs->tree)
{
	struct node *node =
		node_find(&fs->nodes, directory, lookup_kind(directory), key);
	int found = 0;

	if (!node)
		return 0;
	if (is_here(fs, node)) {
		found = lookup_reply(fs, node, e);
		return found ? found : 1;
	}
	/* Committed after the store was read; else it was removed by others. */
	if (node_seq(&fs->nodes, node) > read_seq)
		found = -EAGAIN;
	else
		node_detach(&fs->nodes, node);
	node_put(&fs->nodes, node);
	return found;
}

/* One attempt of lookup_child; -EAGAIN if the child changed meanwhile. seq is
 * taken first: what was read includes all up to it, and perhaps more. */
static int try_child(struct fs *fs, struct node *directory, struct bytes key,
		     struct fuse_entry_param *e) NEEDS_SHARED(fs->tree)
{
	uint64_t seq = store_seq(fs->store);
	struct child child;
	struct cell_info info;
	int found = child_find(fs, directory, key, &child), err;

	if (!found)
		found = ask_store(fs, &child, seq, &info);
	if (found == 1) {
		err = child_reply(fs, &child, &info, seq, e);
		found = err ? err : 1;
	}
	place_release(&child.place);
	/* A dropped table has no rows; what is open in it is still there. */
	if (found && found != -ERR_no_table)
		return found;
	return reply_local(fs, directory, key, seq, e);
}

/* Each needs another commit to the same cell in between; then it is EAGAIN. */
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
		lookup_missing(fs, e);
	return found;
}
