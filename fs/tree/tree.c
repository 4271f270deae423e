#include <errno.h>
#include <stdlib.h>

#include "fs/cells/loop.h"
#include "fs/cells/notify.h"
#include "fs/state/path.h"
#include "fs/tree/attr.h"
#include "fs/tree/keep.h"
#include "fs/tree/lookup.h"
#include "fs/tree/tree.h"

int tree_key(struct node *directory, struct bytes name, struct buf *key)
{
	enum name_level level = lookup_level(directory);
	uint64_t hash;
	int err;

	if (!node_is_data(directory) || directory->kind == NODE_CELL)
		return node_is_past(directory) ? -EROFS : -EPERM;
	if (name.data[0] == '.' && level != NAME_QUALIFIER)
		return fail(EPERM, "names with a leading dot are reserved; "
				   "write %%2E for the dot of a key");
	if (bytes_equal(name, BYTES_LITERAL(".versions")))
		return -EPERM;
	err = name_decode(level, name, key, &hash);
	if (err == NAME_CUT)
		return -ENAMETOOLONG;
	if (err == -EINVAL)
		return fail(EINVAL, "not how this name is spelled");
	if (err)
		return err;
	if (level == NAME_TABLE)
		err = store_check_table_name(buf_bytes(key));
	if (level == NAME_FAMILY)
		err = store_check_family_name(buf_bytes(key));
	if (level == NAME_ROW && key->size == 0)
		err = fail(ERR_row_key_empty, "%%~");
	return err;
}

/* Whether the directory has a child of this key: 1, 0 or an error. */
static int has_child(struct fs *fs, struct node *directory, struct bytes key)
{
	struct fuse_entry_param e;
	int err = lookup_child(fs, directory, key, &e);

	if (err == 1)
		node_forget(&fs->nodes, node_of(&fs->nodes, e.ino), 1);
	return err;
}

static int make_local(struct fs *fs, struct node *directory, struct bytes key)
{
	struct node *node;
	int err = node_enter(&fs->nodes, directory, lookup_kind(directory), key,
			     &node);

	if (err)
		return err;
	node_know(&fs->nodes, node, fs_now(), 0);
	node_set_local(&fs->nodes, node, true);
	node_put(&fs->nodes, node);
	return 0;
}

static int make_family(struct fs *fs, const struct path *path,
		       struct bytes family, const struct gc_policy *gc)
{
	struct family_spec spec = { .name = family, .gc = gc };
	int err;

	loop_hand_over();
	err = store_create_family(fs->store, path->table, &spec);

	if (!err)
		fs_changed_outside(fs);
	return err;
}

/* A directory for a family under a row: the family too, if it is new. */
static int mkdir_family(struct fs *fs, struct node *row, struct bytes key)
{
	struct cell_rules rules;
	struct path path;
	int err = node_path(&fs->nodes, row, &path);

	if (err)
		return err;
	path.family = key;
	err = cell_rules(fs, &path, &rules);
	if (!err && !rules.has_family) {
		if (fs->options->strict_schema)
			err = fail(EPERM, "family %.*s is not in the schema",
				   (int)key.size, (const char *)key.data);
		else
			err = make_family(fs, &path, key, fs->gc);
	}
	path_release(&path);
	return err ? err : make_local(fs, row, key);
}

static int mkdir_schema(struct fs *fs, struct node *directory,
			struct bytes name)
{
	struct path path;
	int err = store_check_family_name(name);

	if (err)
		return err;
	err = node_path(&fs->nodes, directory, &path);
	if (err)
		return err;
	err = make_family(fs, &path, name, NULL);
	path_release(&path);
	return err;
}

static int mkdir_data(struct fs *fs, struct node *directory, struct bytes key)
{
	int err = has_child(fs, directory, key);

	if (err)
		return err < 0 ? err : -EEXIST;
	switch (directory->kind) {
	case NODE_ROOT:
		loop_hand_over();
		return store_create_table(fs->store, key, false, NULL, 0);
	case NODE_TABLE:
		return make_local(fs, directory, key);
	default:
		return mkdir_family(fs, directory, key);
	}
}

int tree_mkdir(struct fs *fs, struct node *directory, struct bytes name)
{
	struct buf key = BUF_INIT;
	int err;

	if (directory->kind == NODE_SCHEMA)
		return mkdir_schema(fs, directory, name);
	if (!node_is_data(directory) || directory->kind == NODE_FAMILY)
		return node_is_past(directory) ? -EROFS : -EPERM;
	err = tree_key(directory, name, &key);
	if (!err)
		err = mkdir_data(fs, directory, buf_bytes(&key));
	if (!err)
		fs_changed_in(fs, directory);
	buf_release(&key);
	return err;
}

/* A family is dropped from the schema once no row has a cell in it. */
static int rmdir_schema(struct fs *fs, struct node *directory,
			struct bytes name)
{
	struct scan_range range = { .keep_large = true,
				    .stop = loop_is_interrupted };
	struct scan *scan;
	struct path path;
	struct cell cell;
	int err = node_path(&fs->nodes, directory, &path), order;

	if (err)
		return err;
	loop_hand_over();
	range.table = path.table;
	err = scan_open(fs->store, NULL, &range, &scan);
	if (err)
		goto release_path;
	err = scan_next(scan, CURSOR_ROW, &cell);
	while (err == 1) {
		order = bytes_compare(cell.family, name);
		if (order == 0)
			break;
		err = scan_next(scan, order < 0 ? CURSOR_FAMILY : CURSOR_ROW,
				&cell);
	}
	scan_close(scan);
	if (err)
		err = err < 0 ? err : -ENOTEMPTY;
	else
		err = store_drop_family(fs->store, path.table, name);
	if (!err)
		fs_changed_outside(fs);
release_path:
	path_release(&path);
	return err;
}

/* A directory that is only here: a row or family without a cell. */
static int rmdir_local(struct fs *fs, struct node *directory, struct bytes key)
{
	struct node *node =
		node_find(&fs->nodes, directory, lookup_kind(directory), key);
	struct cell_info info;
	struct path path;
	int err;

	if (!node)
		return has_child(fs, directory, key) == 1 ? -ENOTEMPTY
							  : -ENOENT;
	err = node_path(&fs->nodes, node, &path);
	if (err)
		goto put_node;
	/* In this order: a commit makes what is local known to the store. */
	err = node_has_locals(&fs->nodes, node);
	if (!err)
		err = cell_first(fs, &path, node->kind == NODE_FAMILY, 1, NULL,
				 &info);
	path_release(&path);
	if (err == 1)
		err = -ENOTEMPTY;
	else if (!err && !node->local)
		err = -ENOENT;
	if (!err)
		node_detach(&fs->nodes, node);
put_node:
	node_put(&fs->nodes, node);
	return err;
}

static int rmdir_table(struct fs *fs, struct bytes key)
{
	struct node *node =
		node_find(&fs->nodes, fs->nodes.root, NODE_TABLE, key);
	int err;

	loop_hand_over();
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
		return node_is_past(directory) ? -EROFS : -EPERM;
	if (directory->kind == NODE_FAMILY)
		return -ENOTDIR;
	err = lookup_key(fs, directory, lookup_level(directory), name, &key);
	if (err != 1) {
		err = err ? err : -ENOENT;
		goto release_key;
	}
	pthread_rwlock_rdlock(&fs->tree);
	if (directory->kind == NODE_ROOT)
		err = rmdir_table(fs, buf_bytes(&key));
	else
		err = rmdir_local(fs, directory, buf_bytes(&key));
	pthread_rwlock_unlock(&fs->tree);
	if (!err)
		fs_changed_in(fs, directory);
release_key:
	buf_release(&key);
	return err;
}

/* The version of path's column whose timestamp is path's leaf. */
static int decide_rm_version(void *context, struct write *w)
{
	const struct path *p = context;
	uint64_t timestamp_us = strtoull((const char *)p->leaf.data, NULL, 10);
	int err = write_row(w, p->table, p->row);

	return err ? err
		   : write_delete_cells(w, p->family, p->qualifier,
					timestamp_us, timestamp_us + 1);
}

static int unlink_version(struct fs *fs, struct node *column, struct bytes name)
{
	struct cell_info info;
	struct path path;
	int err = node_path(&fs->nodes, column, &path);

	if (err)
		return err;
	path.leaf = name; /* ends with NUL, as a request's names do */
	err = cell_version(fs, &path, &info, NULL);
	if (err == 1)
		err = store_update(fs->store, decide_rm_version, &path,
				   fs->options->sync);
	else
		err = err ? err : -ENOENT;
	path_release(&path);
	if (!err)
		err = tree_keep_directories(fs, column->parent->parent);
	fs_changed_outside(fs);
	return err;
}

struct removal {
	struct fs *fs;
	const struct path *path;
	bool local;       /* may be missing in the store */
	uint64_t size;    /* as far as known */
	struct bytes old; /* where its history came from; see tree.h */
	bool has_old;
};

/*
 * Moves what path's column holds back beneath the column old, as far as it is
 * older than what that holds: an editor renamed the file away, wrote it anew
 * and now removes the backup.
 */
static int return_history(struct removal *r, struct write *w)
{
	const struct path *p = r->path;
	struct scan_range range = {
		.table = p->table,
		.row = p->row,
		.has_family = true,
		.has_qualifier = true,
		.family = p->family,
		.qualifier = r->old,
		.keep_large = true,
	};
	uint64_t oldest = 0;
	struct scan *scan;
	struct cell cell;
	int err = scan_open(r->fs->store, NULL, &range, &scan);

	if (err)
		return err;
	while ((err = scan_next(scan, CURSOR_VERSION, &cell)) == 1)
		oldest = cell.timestamp_us;
	scan_close(scan);
	if (err || oldest == 0)
		return err;
	range.qualifier = p->qualifier;
	err = scan_open(r->fs->store, NULL, &range, &scan);
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

static int decide_unlink(void *context, struct write *w)
{
	struct removal *r = context;
	const struct path *p = r->path;
	struct cell_info info;
	int err = cell_stat(r->fs, p, r->size, &info);

	if (err <= 0)
		return err < 0 ? err : r->local ? 0 : -ENOENT;
	err = write_row(w, p->table, p->row);
	if (!err && r->has_old)
		err = return_history(r, w);
	return err ? err : write_delete_column(w, p->family, p->qualifier);
}

static int unlink_cell(struct fs *fs, struct node *family, struct node *node)
{
	struct removal r = {
		.fs = fs,
		.local = node->local,
		.size = node->size,
	};
	struct draft *draft = draft_get(fs, node);
	struct path path;
	int err = node_path(&fs->nodes, node, &path);

	if (err)
		goto put_draft;
	r.path = &path;
	r.old = node->renamed_from;
	r.has_old = node->renamed_from.data != NULL;
	/* The draft's lock keeps a commit of it from coming after. */
	if (draft) {
		pthread_mutex_lock(&draft->lock);
		r.local = r.local || draft->dirty;
	}
	err = store_update(fs->store, decide_unlink, &r, fs->options->sync);
	if (!err) {
		node->gone = true;
		node_detach(&fs->nodes, node);
	}
	if (draft)
		pthread_mutex_unlock(&draft->lock);
	path_release(&path);
	if (!err)
		err = tree_keep_directories(fs, family);
put_draft:
	if (draft)
		draft_put(fs, draft);
	return err;
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
		return node_is_past(directory) ? -EROFS : -EPERM;
	if (bytes_equal(name, BYTES_LITERAL(".versions")))
		return -EISDIR;
	err = lookup_key(fs, directory, NAME_QUALIFIER, name, &key);
	if (err == 1)
		err = node_enter(&fs->nodes, directory, NODE_CELL,
				 buf_bytes(&key), &node);
	else
		err = err ? err : -ENOENT;
	if (err)
		goto release_key;
	pthread_rwlock_rdlock(&fs->tree);
	err = unlink_cell(fs, directory, node);
	pthread_rwlock_unlock(&fs->tree);
	node_put(&fs->nodes, node);
	fs_changed_in(fs, directory);
release_key:
	buf_release(&key);
	return err;
}

/* The mode that a new cell shows while it is open; 0: the usual one. */
static mode_t mode_to_show(struct fs *fs, struct node *family, mode_t mode)
{
	struct cell_rules rules;
	struct path path;
	bool is_usual = true;

	if (node_path(&fs->nodes, family, &path))
		return 0;
	if (!cell_rules(fs, &path, &rules))
		is_usual = mode == attr_usual_mode(&rules);
	path_release(&path);
	return is_usual ? 0 : mode;
}

int tree_create(struct fs *fs, struct node *directory, struct bytes name,
		mode_t mode, struct node **out, struct draft **draft)
{
	struct buf key = BUF_INIT;
	struct node *node;
	int err;

	if (node_is_past(directory))
		return -EROFS;
	if (directory->kind != NODE_FAMILY)
		return fail(EPERM, "only a family's directory holds files");
	err = tree_key(directory, name, &key);
	if (!err) {
		err = has_child(fs, directory, buf_bytes(&key));
		err = err == 1 ? -EEXIST : err;
	}
	if (!err)
		err = node_enter(&fs->nodes, directory, NODE_CELL,
				 buf_bytes(&key), &node);
	if (err)
		goto release_key;
	node_set_local(&fs->nodes, node, true);
	*draft = NULL;
	err = draft_open(fs, node, DRAFT_CREATE, draft);
	if (err < 0) {
		node_detach(&fs->nodes, node);
		node_put(&fs->nodes, node);
		goto release_key;
	}
	/* Programs that make a private file and open it up later meet the
	 * mode they asked for, as long as they have it open. */
	if (!err)
		(*draft)->mode = mode_to_show(fs, directory, mode & 07777);
	err = 0;
	fs_changed_in(fs, directory);
	*out = node;
release_key:
	buf_release(&key);
	return err;
}
