#include <assert.h>
#include <errno.h>
#include <stdlib.h>

#include "fs/cells/loop.h"
#include "fs/cells/notify.h"
#include "fs/cells/space.h"
#include "fs/state/ino.h"
#include "fs/tree/attr.h"
#include "fs/tree/keep.h"
#include "fs/tree/lookup.h"
#include "fs/tree/tree.h"

/*
 * Making: a table or family is made in the store at once. A row, or a family in
 * a row, becomes a local node, and so does a cell, which its draft commits.
 *
 * Removing: a cell is deleted in the store, with its draft locked, and its node
 * detached; a directory only if the store has nothing in it, so that rm -r
 * removes nothing that it did not list.
 */

/* Why no key has this name, which has a control byte as it is: -EINVAL. */
static int refuse_raw(struct bytes name)
{
	size_t i = 0;

	while (i < name.size && name.data[i] >= 0x20 && name.data[i] != 0x7f)
		i++;
	assert(i < name.size);
	return fail(EINVAL,
		    "a name has no control byte as it is; write %%%02X "
		    "for byte %zu",
		    name.data[i], i + 1);
}

int tree_key(struct node *directory, struct bytes name, struct buf *key)
{
	enum name_level level = lookup_level(directory);
	uint64_t hash;
	int err;

	assert(name.size > 0);
	if (!node_is_data(directory) || directory->kind == NODE_CELL)
		return fs_refuse(directory);
	if (name.data[0] == '.' && level != NAME_QUALIFIER)
		return fail(EPERM, "names with a leading dot are reserved; "
				   "write %%2E for the dot of a key");
	if (bytes_equal(name, BYTES_LITERAL(".versions")))
		return fail(EPERM, "this name is reserved; write %%2Eversions "
				   "for the qualifier");
	/* A cut name stands for a key that is there already, or for none. */
	err = name_decode(level, name, key, &hash);
	if (err == NAME_CUT)
		return fail(ENAMETOOLONG,
			    "%%~ and 16 digits at the end stand for the rest "
			    "of a long key; write %%25~ for a key's own");
	if (err == -EINVAL)
		return refuse_raw(name);
	if (err)
		return err;
	if (level == NAME_TABLE)
		err = store_check_table_name(buf_bytes(key));
	if (level == NAME_FAMILY)
		err = store_check_family_name(buf_bytes(key));
	if (level == NAME_ROW && key->size == 0)
		err = fail(ERR_row_key_empty, "write %%25~ for the key %%~");
	return err;
}

/* Whether the directory has a child of this key: 1, 0 or an error. */
static int has_child(struct fs *fs, struct node *directory, struct bytes key)
	NEEDS_SHARED(fs->tree)
{
	struct fuse_entry_param e;
	int err = lookup_child(fs, directory, key, &e);

	if (err == 1)
		node_forget(&fs->nodes, node_of(&fs->nodes, e.ino), 1);
	return err;
}

/* Notes who makes the child of this key. Without memory nobody does. */
static void note_maker(struct fs *fs, struct node *directory, struct bytes key,
		       uid_t uid) NEEDS_SHARED(fs->tree)
{
	enum node_kind kind = lookup_kind(directory);
	struct place place;

	if (!place_find(fs, directory, &place) &&
	    !place_step(&place, kind, key))
		access_note_maker(fs, &place, kind, uid);
	place_release(&place);
}

/* A child that is in memory only, from now on. 0, -ENOMEM, or -ENOSPC. */
static int make_local(struct fs *fs, struct node *directory, struct bytes key,
		      uid_t uid) NEEDS_SHARED(fs->tree)
{
	struct node *node;
	int err = node_enter(&fs->nodes, directory, lookup_kind(directory), key,
			     &node);

	if (err)
		return err;
	note_maker(fs, directory, key, uid);
	/* No sequence: it is in no write. Being local is the reference that
	 * keeps it. */
	node_know(&fs->nodes, node, fs_now(fs), 0);
	err = node_make(&fs->nodes, node, uid);
	if (err)
		note_maker(fs, directory, key, 0);
	node_put(&fs->nodes, node);
	return err;
}

/* Adds a family with this policy, NULL keeping all, to the schema of path's
 * table, durably. 0 or an error. */
static int make_family(struct fs *fs, const struct path *path,
		       struct bytes family, const struct gc_policy *gc)
	NEEDS_SHARED(fs->tree)
{
	struct family_spec spec = { .name = family, .gc = gc };
	int err;

	loop_hand_over();
	err = fs_check_space(fs, 0);
	if (!err)
		err = store_create_family(fs->store, path->table, &spec);
	if (!err)
		fs_changed_outside(fs);
	return err;
}

/* A directory for a family under a row: the family too, if it is new. */
static int mkdir_family(struct fs *fs, struct node *row, struct bytes key,
			uid_t uid) NEEDS_SHARED(fs->tree)
{
	struct place place;
	int err = place_find(fs, row, &place);

	if (!err)
		err = place_step(&place, NODE_FAMILY, key);
	if (!err && !place.rules.has_family) {
		if (fs->options->strict_schema)
			err = fail(EPERM, "family %.*s is not in the schema",
				   (int)key.size, (const char *)key.data);
		else
			err = make_family(fs, &place.path, key, fs->gc);
	}
	place_release(&place);
	return err ? err : make_local(fs, row, key, uid);
}

/* A family in .schema: as a command makes it, it keeps everything. Its name is
 * its key. */
static int mkdir_schema(struct fs *fs, struct node *directory,
			struct bytes name)
{
	struct place place;
	int err = store_check_family_name(name);

	if (err)
		return err;
	err = place_enter(fs, directory, &place);
	if (!err)
		err = make_family(fs, &place.path, name, NULL);
	place_leave(fs, &place);
	return err;
}

/* A table with this mode, which is not stored if it is what all have. */
static int mkdir_table(struct fs *fs, struct bytes key, mode_t mode)
{
	struct table_access access = { mode & 07777, TABLE_ACCESS_UNSET,
				       TABLE_ACCESS_UNSET };
	int err = fs_check_space(fs, 0);

	if (access.mode == ACCESS_DIRECTORY_MODE)
		access.mode = TABLE_ACCESS_UNSET;
	/* Durable, so it waits for a disk. */
	loop_hand_over();
	return err ? err : store_create_table_for(fs->store, key, &access);
}

/* A child of a directory of data, by its key. */
static int mkdir_data(struct fs *fs, struct node *directory, struct bytes key,
		      const struct maker *maker) NEEDS_SHARED(fs->tree)
{
	int err = has_child(fs, directory, key);

	/* Its kind is a family's at most: cells are made by tree_create. */
	assert(directory->kind <= NODE_ROW);
	if (err)
		return err < 0 ? err : -EEXIST;
	switch (directory->kind) {
	case NODE_ROOT:
		return mkdir_table(fs, key, maker->mode);
	case NODE_TABLE:
		return make_local(fs, directory, key, maker->uid);
	default:
		return mkdir_family(fs, directory, key, maker->uid);
	}
}

int tree_mkdir(struct fs *fs, struct node *directory, struct bytes name,
	       const struct maker *maker)
{
	struct buf key = BUF_INIT;
	int err;

	if (directory->kind == NODE_SCHEMA)
		return mkdir_schema(fs, directory, name);
	if (directory->kind == NODE_FAMILY)
		return fail(EPERM, "a family holds files, no directories; a / "
				   "in a qualifier is written %%2F");
	if (!node_is_data(directory))
		return fs_refuse(directory);
	/* The kernel has found no such name, but others make some as well. */
	err = tree_key(directory, name, &key);
	tree_hold(fs);
	if (!err)
		err = mkdir_data(fs, directory, buf_bytes(&key), maker);
	tree_let_go(fs);
	if (!err)
		fs_changed_in(fs, directory);
	buf_release(&key);
	return err;
}

/*
 * Whether any row of a scan of all rows has a cell in this family: 1, 0 or an
 * error. Families ascend within a row: those before it are stepped over, and
 * what comes behind it is left for the next row.
 */
static int has_family_cell(struct scan *scan, struct bytes family)
{
	struct cell cell;
	int order, err = scan_next(scan, CURSOR_ROW, &cell);

	while (err == 1) {
		order = bytes_compare(cell.family, family);
		if (order == 0)
			return 1;
		err = scan_next(scan, order < 0 ? CURSOR_FAMILY : CURSOR_ROW,
				&cell);
	}
	return err;
}

/* A family is dropped from the schema once no row has a cell in it. The scan
 * may be long, and a signal ends it; renames do not wait for it. */
static int rmdir_schema(struct fs *fs, struct node *directory,
			struct bytes name)
{
	struct scan_range range = { .keep_large = true,
				    .stop = loop_is_interrupted };
	struct scan *scan = NULL;
	struct place place;
	int err;

	loop_hand_over();
	err = place_enter(fs, directory, &place);
	range.table = place.path.table;
	if (!err)
		err = scan_open(fs->store, NULL, &range, &scan);
	place_leave(fs, &place);
	if (!err)
		err = has_family_cell(scan, name);
	scan_close(scan);
	if (err)
		return err < 0 ? err : -ENOTEMPTY;
	err = place_enter(fs, directory, &place);
	if (!err)
		err = store_drop_family(fs->store, place.path.table, name);
	place_leave(fs, &place);
	if (!err)
		fs_changed_outside(fs);
	return err;
}

/* A directory that is only here: a row or family without a cell. What has one
 * is not empty. */
static int rmdir_local(struct fs *fs, struct node *directory, struct bytes key)
	NEEDS_SHARED(fs->tree)
{
	struct node *node =
		node_find(&fs->nodes, directory, lookup_kind(directory), key);
	struct cell_info info;
	struct place place;
	int err;

	if (!node)
		return has_child(fs, directory, key) == 1 ? -ENOTEMPTY
							  : -ENOENT;
	err = place_find(fs, node, &place);
	if (err)
		goto release_place;
	/* In this order: a commit makes what is local known to the store, so a
	 * cell that comes meanwhile is seen by one of the two. */
	err = node_has_locals(&fs->nodes, node);
	if (!err)
		err = cell_first(fs, &place.path, node->kind == NODE_FAMILY, 1,
				 NULL, &info);
	if (err == 1)
		err = -ENOTEMPTY;
	else if (!err && !node->local)
		err = -ENOENT;
	if (!err) {
		node_detach(&fs->nodes, node);
		makers_set(&fs->makers, path_ino(&place.path, node->kind), 0);
	}
release_place:
	place_release(&place);
	node_put(&fs->nodes, node);
	return err;
}

/* A table without a cell or a directory in memory. Of one that nobody looked up
 * there is no node. */
static int rmdir_table(struct fs *fs, struct bytes key) NEEDS_SHARED(fs->tree)
{
	struct node *node =
		node_find(&fs->nodes, fs->nodes.root, NODE_TABLE, key);
	int err;

	loop_hand_over();
	/* That it has no cell is checked by the store. */
	if (node && node_has_locals(&fs->nodes, node))
		err = -ENOTEMPTY;
	else
		err = store_drop_table(fs->store, key, true);
	if (!err && node)
		node_detach(&fs->nodes, node);
	node_put(&fs->nodes, node);
	return err;
}

int tree_rmdir(struct fs *fs, struct node *directory, struct bytes name)
{
	struct buf key = BUF_INIT;
	int err;

	if (directory->kind == NODE_SCHEMA)
		return rmdir_schema(fs, directory, name);
	if (!node_is_data(directory) || name.data[0] == '.')
		return fs_refuse(directory);
	if (directory->kind == NODE_FAMILY)
		return -ENOTDIR;
	err = lookup_key(fs, directory, lookup_level(directory), name, &key);
	if (err != 1) {
		err = err ? err : -ENOENT;
		goto release_key;
	}
	/* What is found empty by its path is what its node is. */
	tree_hold(fs);
	if (directory->kind == NODE_ROOT)
		err = rmdir_table(fs, buf_bytes(&key));
	else
		err = rmdir_local(fs, directory, buf_bytes(&key));
	tree_let_go(fs);
	if (!err)
		fs_changed_in(fs, directory);
release_key:
	buf_release(&key);
	return err;
}

/* For store_update: removes the version of path's column whose timestamp is
 * path's leaf, which cell_version has found, and so is one. */
static int decide_rm_version(void *context, struct write *w)
{
	const struct path *p = context;
	uint64_t timestamp_us = strtoull((const char *)p->leaf.data, NULL, 10);
	int err = write_row(w, p->table, p->row);

	return err ? err
		   : write_delete_cells(w, p->family, p->qualifier,
					timestamp_us, timestamp_us + 1);
}

/* Another version may then be what the cell's own path shows, so this is a
 * change from outside to that. */
static int unlink_version(struct fs *fs, struct node *column, struct bytes name)
{
	struct cell_info info;
	struct place place;
	int err = place_enter(fs, column, &place);

	/* The place is the column's, whose leaf is not needed; the name ends
	 * with NUL, as a request's names do, which strtoull relies on. */
	place.path.leaf = name;
	if (!err)
		err = cell_version(fs, &place.path, &info, NULL);
	if (err == 1)
		err = store_update(fs->store, decide_rm_version, &place.path,
				   fs->options->sync);
	else
		err = err ? err : -ENOENT;
	if (!err)
		err = tree_keep_directories(fs, column->parent->parent);
	place_leave(fs, &place);
	fs_changed_outside(fs);
	return err;
}

/* A cell that is to be removed. */
struct removal {
	struct fs *fs;
	const struct path *path;
	bool local;       /* may be missing in the store */
	uint64_t size;    /* as far as known */
	struct bytes old; /* what its history came from: node's renamed_from */
	bool has_old;     /* the empty qualifier is one too */
};

/* All versions of a column of path's family, newest first; to be closed. */
static int open_column(struct removal *r, struct bytes qualifier,
		       struct scan **scan)
{
	const struct path *p = r->path;
	struct scan_range range = {
		.table = p->table,
		.row = p->row,
		.has_family = true,
		.has_qualifier = true,
		.family = p->family,
		.qualifier = qualifier,
		.keep_large = true,
	};

	return scan_open(r->fs->store, NULL, &range, scan);
}

/*
 * Moves what path's column holds back beneath the column old, as far as it is
 * older than what that holds: an editor renamed the file away, wrote it anew
 * and now removes the backup. If old holds nothing, nobody writes that file any
 * more, and all of it is removed.
 */
static int return_history(struct removal *r, struct write *w)
{
	const struct path *p = r->path;
	uint64_t oldest = 0;
	struct scan *scan;
	struct cell cell;
	int err = open_column(r, r->old, &scan);

	if (err)
		return err;
	while ((err = scan_next(scan, CURSOR_VERSION, &cell)) == 1)
		oldest = cell.timestamp_us;
	scan_close(scan);
	/* Before 0 there is no version either. */
	if (err || oldest == 0)
		return err;
	err = open_column(r, p->qualifier, &scan);
	if (err)
		return err;
	while ((err = scan_next(scan, CURSOR_VERSION, &cell)) == 1) {
		if (cell.timestamp_us >= oldest)
			continue;
		err = write_set_cell(w, p->family, r->old, cell.timestamp_us,
				     scan, &cell);
		if (err)
			break;
	}
	scan_close(scan);
	return err < 0 ? err : 0;
}

/* For store_update: deletes the column, or nothing if that was never committed.
 */
static int decide_unlink(void *context, struct write *w)
{
	struct removal *r = context;
	const struct path *p = r->path;
	struct cell_info info;
	int err;

	tree_assert_held(r->fs);
	err = cell_stat(r->fs, p, r->size, &info);
	if (err <= 0)
		return err < 0 ? err : r->local ? 0 : -ENOENT;
	write_uncounted(w);
	err = write_row(w, p->table, p->row);
	if (!err && r->has_old)
		err = return_history(r, w);
	return err ? err : write_delete_column(w, p->family, p->qualifier);
}

/* Deletes what r says, which is of node, in the store, and takes its name from
 * node. From then on nothing is committed from draft, node's or NULL, whose
 * lock keeps a commit from coming in between. */
static int remove_cell(struct removal *r, struct node *node,
		       struct draft *draft)
{
	struct fs *fs = r->fs;
	uint64_t ino = path_ino(r->path, NODE_CELL);
	int err;

	if (draft) {
		pthread_mutex_lock(&draft->lock);
		r->local = r->local || draft->dirty;
	}
	err = store_update(fs->store, decide_unlink, r, fs->options->sync);
	if (!err) {
		if (draft)
			draft->maker = makers_get(&fs->makers, ino);
		node->gone = true;
		node_detach(&fs->nodes, node);
		makers_set(&fs->makers, ino, 0);
	}
	if (draft)
		pthread_mutex_unlock(&draft->lock);
	return err;
}

/* A cell by its node, which may be one of nothing. */
static int unlink_cell(struct fs *fs, struct node *family, struct node *node)
	NEEDS_SHARED(fs->tree)
{
	struct removal r = {
		.fs = fs,
		.local = node->local,
		.size = node->size,
		.old = node->renamed_from,
		.has_old = node->renamed_from.data != NULL,
	};
	struct draft *draft;
	struct place place;
	int err = place_find(fs, node, &place);

	assert(node->kind == NODE_CELL && node->parent == family);
	if (err)
		goto release_place;
	r.path = &place.path;
	draft = draft_get(fs, node);
	err = remove_cell(&r, node, draft);
	if (draft)
		draft_put(fs, draft);
release_place:
	place_release(&place);
	return err ? err : tree_keep_directories(fs, family);
}

int tree_unlink(struct fs *fs, struct node *directory, struct bytes name)
{
	struct buf key = BUF_INIT;
	struct node *node;
	int err;

	if (directory->kind == NODE_COLUMN)
		return unlink_version(fs, directory, name);
	/* Of a directory, the kernel tells EISDIR itself. */
	if (directory->kind != NODE_FAMILY)
		return fs_refuse(directory);
	if (bytes_equal(name, BYTES_LITERAL(".versions")))
		return -EISDIR;
	err = lookup_key(fs, directory, NAME_QUALIFIER, name, &key);
	/* A node is made even if there is no such cell, which decide_unlink
	 * finds out. */
	if (err == 1)
		err = node_enter(&fs->nodes, directory, NODE_CELL,
				 buf_bytes(&key), &node);
	else
		err = err ? err : -ENOENT;
	if (err)
		goto release_key;
	/* No rename of the row or of the cell between its path and its end. */
	tree_hold(fs);
	err = unlink_cell(fs, directory, node);
	tree_let_go(fs);
	node_put(&fs->nodes, node);
	fs_changed_in(fs, directory);
release_key:
	buf_release(&key);
	return err;
}

/* A new cell of this key is its maker's. The st_mode that it shows while it is
 * open; 0: the usual one, also if that cannot be found out. */
static mode_t begin_cell(struct fs *fs, struct node *family, struct bytes key,
			 const struct maker *maker) NEEDS_SHARED(fs->tree)
{
	/* Special bits are no file's, and the kernel would take them away with
	 * a chmod at the first write. */
	mode_t asked = maker->mode & 0777, shown = 0;
	struct place place;

	if (!place_find(fs, family, &place) &&
	    asked != access_mode(&place.rules.access, S_IFREG))
		shown = S_IFREG | asked;
	if (place.table && !place_step(&place, NODE_CELL, key))
		access_note_maker(fs, &place, NODE_CELL, maker->uid);
	place_release(&place);
	return shown;
}

/* A local node for a new cell, referenced, and its draft. 0; 1 if there are no
 * drafts in this family; or an error, with nothing made. */
static int make_cell(struct fs *fs, struct node *family, struct bytes key,
		     struct node **out, struct draft **draft)
{
	struct node *node;
	int err = node_enter(&fs->nodes, family, NODE_CELL, key, &node);

	if (err)
		return err;
	/* Found, from here on, by lookups and lists. */
	(void)!node_make(&fs->nodes, node, loop_uid());
	err = draft_open(fs, node, DRAFT_CREATE, draft);
	if (err < 0) {
		node_detach(&fs->nodes, node);
		node_put(&fs->nodes, node);
	}
	*out = node;
	return err;
}

int tree_create(struct fs *fs, struct node *directory, struct bytes name,
		const struct maker *maker, struct node **node,
		struct draft **draft)
{
	struct buf key = BUF_INIT;
	mode_t shown = 0;
	int err;

	*draft = NULL;
	if (node_is_past(directory))
		return fs_refuse(directory);
	/* In control directories too: their files are there already. */
	if (directory->kind != NODE_FAMILY)
		return fail(EPERM, "only a family's directory holds files");
	err = tree_key(directory, name, &key);
	if (err)
		goto release_key;
	tree_hold(fs);
	err = has_child(fs, directory, buf_bytes(&key));
	err = err == 1 ? -EEXIST : err;
	if (!err)
		shown = begin_cell(fs, directory, buf_bytes(&key), maker);
	tree_let_go(fs);
	if (!err)
		err = make_cell(fs, directory, buf_bytes(&key), node, draft);
	if (err < 0)
		goto release_key;
	/* Programs that make a private file and open it up later meet the
	 * mode they asked for, as long as they have it open. */
	if (!err)
		(*draft)->mode = shown;
	assert(err || *draft);
	err = 0;
	fs_changed_in(fs, directory);
release_key:
	buf_release(&key);
	return err;
}
