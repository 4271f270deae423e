#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>

#include "fs/cells/cell.h"
#include "fs/cells/loop.h"
#include "fs/cells/space.h"
#include "fs/control/ctl_recipe.h"
#include "fs/control/ctl_table.h"
#include "fs/control/import_steps.h"
#include "fs/query/at.h"
#include "fs/query/query.h"
#include "fs/query/query_run.h"
#include "fs/query/query_steps.h"
#include "fs/query/sized.h"
#include "fs/state/ino.h"
#include "fs/state/path.h"
#include "fs/tree/access.h"
#include "fs/tree/attr.h"
#include "fs/tree/lookup.h"

/*
 * A name is looked for in three ways, in this order: in .at, where all names
 * are the past's; in the table of fixed names; and, in a directory that mirrors
 * data or takes values, by asking for what it stands for. Only what is found
 * gets a node. The functions below that look up return what ctl_lookup does: 1
 * with *e filled and the kernel told, 0, or an error.
 *
 * Control nodes are there for good, and the kernel keeps what it is told of
 * them for an hour; those that mirror data (versions, a schema's families, rows
 * that a query passes) may change with any write, so it asks for them every
 * time.
 */

/* Fills *e for node and tells the kernel of it, in place of the caller's
 * reference, which ends in every case. 1 or an error. */
static int reply(struct fs *fs, struct node *node, struct fuse_entry_param *e)
{
	int err;

	memset(e, 0, sizeof(*e));
	err = lookup_remember(
		fs, node, ctl_attr(fs, node, &e->attr, &e->attr_timeout), e);
	return err ? err : 1;
}

/* Answers with the child of this kind and key, which exists. 1 or an error. */
static int found(struct fs *fs, struct node *directory, enum node_kind kind,
		 struct bytes key, struct fuse_entry_param *e)
{
	struct node *node;
	int err = node_enter(&fs->nodes, directory, kind, key, &node);

	return err ? err : reply(fs, node, e);
}

/* In .versions/<qualifier>: name is a timestamp in decimal. */
static int lookup_version(struct fs *fs, struct node *column, struct bytes name,
			  struct fuse_entry_param *e)
{
	struct cell_info info;
	struct place place;
	int err = place_enter(fs, column, &place);

	place.path.leaf = name;
	if (!err)
		err = cell_version(fs, &place.path, &info, NULL);
	place_leave(fs, &place);
	return err == 1 ? found(fs, column, NODE_VERSION, name, e) : err;
}

/* Whether the column has a version in the store: 1, 0 or an error. */
static int has_version(struct fs *fs, struct node *versions,
		       struct bytes qualifier)
{
	struct cell_info info;
	struct place place;
	int err = place_enter(fs, versions, &place);

	place.path.qualifier = qualifier;
	if (!err)
		err = cell_newest(fs, &place.path, &info, 1);
	place_leave(fs, &place);
	return err;
}

/* In .recipes. */
static int lookup_recipe(struct fs *fs, struct node *directory,
			 struct bytes name, struct fuse_entry_param *e)
{
	struct node *node;
	int err = recipe_lookup(fs, directory, name, &node);

	return err == 1 ? reply(fs, node, e) : err;
}

/* In .versions: a qualifier that has a version in the store. */
static int lookup_column(struct fs *fs, struct node *versions,
			 struct bytes name, struct fuse_entry_param *e)
{
	struct buf key = BUF_INIT;
	int err = lookup_key(fs, versions, NAME_QUALIFIER, name, &key);

	if (err == 1)
		err = has_version(fs, versions, buf_bytes(&key));
	if (err == 1)
		err = found(fs, versions, NODE_COLUMN, buf_bytes(&key), e);
	buf_release(&key);
	return err;
}

/* In .schema, also that of a moment. Names of families have one spelling, their
 * bytes. */
static int lookup_family(struct fs *fs, struct node *directory,
			 struct bytes name, struct fuse_entry_param *e)
{
	enum node_kind kind = directory->kind == NODE_SCHEMA
				      ? NODE_SCHEMA_FAMILY
				      : NODE_AT_SCHEMA_FAMILY;
	struct place place;
	bool has_family;
	int err = place_enter(fs, directory, &place);

	if (!err)
		err = place_step(&place, kind, name);
	has_family = place.rules.has_family;
	place_leave(fs, &place);
	if (err || !has_family)
		return err;
	return found(fs, directory, kind, name, e);
}

/* In a step's name: any value that parses is there, as a directory of kind; a
 * recipe, if the table has it. A wrong one is ENOENT with the reason, which ls
 * does not show and .tabletfs/errors does. */
static int lookup_step_value(struct fs *fs, struct node *step,
			     enum node_kind kind, struct bytes name,
			     struct fuse_entry_param *e)
{
	bool of_recipe = step->kind == NODE_IMPORT_STEP &&
			 bytes_equal(node_name(step), BYTES_LITERAL("recipe"));
	struct buf key = BUF_INIT;
	uint64_t hash;
	int err = name_decode(NAME_VALUE, name, &key, &hash);

	/* Steps have no cut names: their value is nowhere but in the name. */
	if (err)
		err = fail(ENOENT,
			   "%.*s: not a value's name; write %%XX for a "
			   "control byte, %%25~ for %%~ before 16 digits",
			   (int)name.size, (const char *)name.data);
	else if (step->kind == NODE_IMPORT_STEP)
		err = import_steps_check(node_name(step), buf_bytes(&key));
	else
		err = query_check_step(node_name(step), buf_bytes(&key));
	if (!err && of_recipe)
		err = recipe_find_stored(fs, step, buf_bytes(&key));
	if (!err)
		err = found(fs, step, kind, buf_bytes(&key), e);
	/* It may be removed, so the kernel is to ask every time. */
	if (of_recipe)
		e->entry_timeout = 0;
	buf_release(&key);
	return err;
}

/* In rows: the row, if the query lets it pass. */
static int lookup_link(struct fs *fs, struct node *rows, struct bytes name,
		       struct fuse_entry_param *e)
{
	struct buf key = BUF_INIT;
	int err = lookup_key(fs, rows, NAME_ROW, name, &key);

	/* rows has no local children: a cut name is found in the store. */
	if (err == 1)
		err = query_has_row(fs, rows, buf_bytes(&key));
	if (err == 1)
		err = found(fs, rows, NODE_SCAN_LINK, buf_bytes(&key), e);
	buf_release(&key);
	return err;
}

/*
 * Appends to key the segment whose name is cut and written so: 1, 0 if there is
 * none, or an error. Only a listing can tell, since the name holds a hash of
 * it; it may be long, and a signal ends it with -EINTR.
 */
static int find_cut_segment(struct fs *fs, struct node *segments,
			    struct bytes name, struct buf *key)
{
	struct buf again = BUF_INIT;
	struct bytes segment;
	struct query *q;
	struct cell cell;
	int err = query_open(fs, segments, QUERY_SEGMENTS, &q);

	if (err)
		return err;
	loop_hand_over();
	while ((err = query_next_segment(q, &cell, &segment)) == 1) {
		buf_reset(&again);
		/* The name must be the one that a listing shows. */
		err = name_encode(NAME_VALUE, segment, &again);
		if (!err && bytes_equal(buf_bytes(&again), name))
			err = buf_set(key, segment) ? -ENOMEM : 1;
		if (err)
			break;
	}
	query_close(fs, q);
	buf_release(&again);
	return err;
}

/* In segments. */
static int lookup_segment(struct fs *fs, struct node *segments,
			  struct bytes name, struct fuse_entry_param *e)
{
	struct buf key = BUF_INIT;
	uint64_t hash;
	int err = name_decode(NAME_VALUE, name, &key, &hash);

	if (err == NAME_WHOLE)
		err = query_has_segment(fs, segments, buf_bytes(&key));
	else if (err == NAME_CUT)
		err = find_cut_segment(fs, segments, name, &key);
	else if (err == -EINVAL) /* no key has this name */
		err = 0;
	if (err == 1)
		err = found(fs, segments, NODE_SCAN_SEGMENT, buf_bytes(&key),
			    e);
	buf_release(&key);
	return err;
}

/* In .at and .as-of, and below. */
static int lookup_past(struct fs *fs, struct node *directory, struct bytes name,
		       struct fuse_entry_param *e)
{
	struct node *node;
	int err = at_lookup(fs, directory, name, &node);

	if (err == 1)
		err = reply(fs, node, e);
	/* Each lookup of now counts as a use of the pin, and may lead to
	 * another pin, and a time to another moment, so the kernel is to ask
	 * every time. */
	if (directory->kind == NODE_AT || directory->kind == NODE_AS_OF)
		e->entry_timeout = 0;
	return err;
}

/* In .scan and its steps: an export; in .keyviz, a picture. As a pin, each
 * lookup counts as a use of it and may lead to another. */
static int lookup_export(struct fs *fs, struct node *directory,
			 struct bytes name, struct fuse_entry_param *e)
{
	struct node *node;
	int err = sized_lookup(fs, directory, name, &node);

	if (err == 1)
		err = reply(fs, node, e);
	e->entry_timeout = 0;
	return err;
}

/* What a name that is not there is answered with: in .scan a reason is
 * recorded, since it was probably meant as a step. Not for names with a dot:
 * programs look for such files wherever they are. */
static int no_step(struct node *directory, struct bytes name)
{
	if (directory->kind != NODE_SCAN || name.data[0] == '.')
		return 0;
	return fail(ENOENT, "%.*s: no step, or given already: ls tells which",
		    (int)name.size, (const char *)name.data);
}

int ctl_lookup(struct fs *fs, struct node *directory, struct bytes name,
	       struct fuse_entry_param *e)
{
	const struct ctl_entry *entry;
	size_t i;

	assert(name.size > 0);
	if (!node_is_data(directory))
		e->entry_timeout = 0;
	if (directory->kind == NODE_AT)
		return lookup_past(fs, directory, name, e);
	if (sized_is_name(directory, name))
		return lookup_export(fs, directory, name, e);
	/* A name of the table is looked for no further, offered or not. */
	for (i = 0; (entry = ctl_entry_at(directory->kind, &i)); i++)
		if (bytes_equal(name, bytes_string(entry->name)))
			return ctl_is_offered(fs, directory, entry)
				       ? found(fs, directory, entry->kind, name,
					       e)
				       : no_step(directory, name);
	switch (directory->kind) {
	case NODE_VERSIONS:
		return lookup_column(fs, directory, name, e);
	case NODE_COLUMN:
		return lookup_version(fs, directory, name, e);
	case NODE_SCHEMA:
	case NODE_AT_SCHEMA:
		return lookup_family(fs, directory, name, e);
	case NODE_RECIPES:
		return lookup_recipe(fs, directory, name, e);
	case NODE_SCAN_STEP:
		return lookup_step_value(fs, directory, NODE_SCAN, name, e);
	case NODE_IMPORT_STEP:
		return lookup_step_value(fs, directory, NODE_IMPORT, name, e);
	case NODE_DROP_STEP:
		return lookup_step_value(fs, directory, NODE_DROP_RANGE, name,
					 e);
	case NODE_SCAN_ROWS:
		return lookup_link(fs, directory, name, e);
	case NODE_SCAN_SEGMENTS:
		return lookup_segment(fs, directory, name, e);
	default:
		return node_is_past(directory)
			       ? lookup_past(fs, directory, name, e)
			       : no_step(directory, name);
	}
}

/* Whether a control node, once found, is there for good. What mirrors data may
 * change at any time. */
static bool is_fixed(enum node_kind kind)
{
	return kind != NODE_COLUMN && kind != NODE_VERSION &&
	       kind != NODE_SCHEMA_FAMILY && kind != NODE_SCAN_LINK &&
	       kind != NODE_SCAN_SEGMENT && kind != NODE_RECIPE;
}

/* Attributes of the version that node is, at path. When it has gone, they are
 * those that it had, without a name: a lookup finds it no more, but who has it
 * open goes on. -ENOENT if it was never seen. */
static int version_attr(struct fs *fs, struct node *node,
			const struct path *path, uint64_t ino, struct stat *st)
	NEEDS_SHARED(fs->tree)
{
	struct cell_info info;
	int found = cell_version(fs, path, &info, NULL);

	if (found < 0)
		return found;
	if (found) {
		node->size = info.size;
		node->timestamp_us = info.timestamp_us;
	} else {
		info = (struct cell_info){ .size = node->size,
					   .timestamp_us = node->timestamp_us };
	}
	if (!info.timestamp_us && !found)
		return -ENOENT;
	attr_cell(fs, ino, &info, st);
	st->st_mode = S_IFREG | 0444;
	st->st_nlink = found ? 1 : 0;
	return 0;
}

/* Whether what is looked up below a directory of this kind is found by reading
 * the table, so that its names and sizes tell of rows and values. */
static bool asks(enum node_kind kind)
{
	return (kind >= NODE_KEYVIZ && kind <= NODE_SCAN_SEGMENT) ||
	       (kind >= NODE_DROP && kind <= NODE_DROP_APPLY);
}

/* access_apply for control names. Who may not list the table enters nothing
 * that asks it for them. In a sticky table, where each removes only what is
 * theirs, what reaches all of it is the owner's to change. */
static void apply_access(const struct table_access *access, enum node_kind kind,
			 struct stat *st)
{
	mode_t reads;

	access_apply(access, st);
	reads = st->st_mode & (S_IRUSR | S_IRGRP | S_IROTH);
	if (S_ISDIR(st->st_mode) && asks(kind))
		st->st_mode &=
			~(mode_t)(S_IXUSR | S_IXGRP | S_IXOTH) | reads >> 2;
	if (access->mode != TABLE_ACCESS_UNSET && (access->mode & S_ISVTX))
		st->st_mode &= ~(mode_t)(S_IWGRP | S_IWOTH);
}

int ctl_attr(struct fs *fs, struct node *node, struct stat *st, double *timeout)
{
	uint64_t ino = node_ino(&fs->nodes, node);
	struct place place;
	int err;

	/* Control nodes are as old as the mount, which is no worse a time than
	 * any; what has a time of its own sets it below. */
	attr_directory(fs, ino, fs->start_us, st);
	st->st_mode = ctl_mode(node);
	*timeout = is_fixed(node->kind) ? attr_longest(fs) : 0;
	err = place_enter(fs, node, &place);
	/* Below a dropped table nobody's rules are left, and the node goes on
	 * being shown. */
	if (place_is_dropped(err))
		err = 0;
	if (!err && node->kind == NODE_VERSION)
		err = version_attr(fs, node, &place.path, ino, st);
	if (!err && node->kind == NODE_RECIPE)
		recipe_attr(&place, st);
	if (!err && node->kind == NODE_SCAN_EXPORT)
		err = sized_attr(fs, node, st, timeout);
	if (!err && node_is_past(node))
		err = at_attr(fs, node, &place.path, ino, st, timeout);
	at_narrow(fs, node, &place.rules.access);
	/* A link's mode is always the same. */
	if (!err && !S_ISLNK(st->st_mode))
		apply_access(&place.rules.access, node->kind, st);
	place_leave(fs, &place);
	return err;
}

/* What serves the files of a kind. */
static const struct ctl_ops *ops_of(enum node_kind kind)
{
	switch (kind) {
	case NODE_IMPORT_FILE:
		return &ctl_import_ops;
	case NODE_MUTATE:
		return &ctl_mutate_ops;
	case NODE_SCAN_TEXT:
		return &ctl_scan_ops;
	case NODE_CTL:
		return &ctl_verb_ops;
	case NODE_RECIPE:
		return &ctl_recipe_ops;
	case NODE_ROW_JSON:
		return &ctl_row_ops;
	case NODE_SCAN_EXPORT:
		return &ctl_export_ops;
	case NODE_DROP_APPLY:
		return &ctl_drop_ops;
	case NODE_CELL:
		return &ctl_aggregate_ops;
	case NODE_VERSION:
	case NODE_AT_CELL:
	case NODE_AT_VERSION:
		return &ctl_version_ops;
	default:
		return &ctl_text_ops;
	}
}

/* Whether who opens what is in a table with this access is not to be told what
 * is in the table. Of who opens it to be read, too, the kernel has seen that
 * they may, by groups that are not known here. */
static bool is_blind(struct fs *fs, const struct table_access *access,
		     int flags)
{
	struct table_access whole = access_of(fs, access);

	return fs->options->allow_other && (flags & O_ACCMODE) != O_RDWR &&
	       !access_reads(&whole, loop_uid());
}

int ctl_open(struct fs *fs, struct node *node, int flags, struct ctl_file **out)
{
	/* To truncate is to write, also with what can only be read. */
	bool reads = (flags & O_ACCMODE) != O_WRONLY;
	bool writes = flags & (O_ACCMODE | O_TRUNC);
	mode_t mode = ctl_mode(node);
	struct place place;
	struct ctl_file *f;
	int err;

	assert(!S_ISDIR(mode) && !S_ISLNK(mode));
	if (writes && node_is_past(node))
		return fs_refuse(node);
	/* Root passes the kernel's check of modes; a file that has nothing to
	 * read, or takes nothing, refuses root too. */
	if ((reads && !(mode & 0400)) || (writes && !(mode & 0200)))
		return -EACCES;
	f = calloc(1, sizeof(*f));
	if (!f)
		return -ENOMEM;
	/* Borrowed until it is open: the kernel's reference holds node. */
	f->ops = ops_of(node->kind);
	f->node = node;
	f->flags = flags;
	spill_init(&f->in, fs->store, MEMORY_REQUESTS, CTL_WRITTEN_MAX);
	err = place_enter(fs, node, &place);
	f->table_id = place.table ? place.table->id : 0;
	f->is_blind = is_blind(fs, &place.rules.access, flags);
	place_leave(fs, &place);
	if (!err && f->ops->open)
		err = f->ops->open(fs, f);
	if (err)
		goto free_file;
	pthread_mutex_init(&f->lock, NULL);
	node_get(&fs->nodes, node);
	*out = f;
	return 0;

free_file:
	buf_release(&f->out);
	free(f);
	return err;
}

/* Counts for the quota what waits to be whole, size bytes; nothing of what runs
 * now, which is looked at as it runs. */
static void count_held(struct fs *fs, struct ctl_file *f, uint64_t size)
{
	atomic_fetch_add(&fs->uncommitted, size - f->held_size);
	f->held_size = size;
}

/* Whether there is room for more of what is not whole yet. Commands, in no
 * table, are not refused. */
static int check_held(struct fs *fs, const struct ctl_file *f, uint64_t more)
{
	if (f->table_id == 0 || f->in.size <= CTL_HELD_MAX)
		return 0;
	return fs_check_space(fs, f->in.size + more);
}

ssize_t ctl_write(struct fs *fs, struct ctl_file *f, uint64_t owner,
		  struct bytes data, uint64_t offset)
{
	ssize_t taken;

	assert(f->ops->write);
	pthread_mutex_lock(&f->lock);
	count_held(fs, f, 0);
	taken = check_held(fs, f, data.size);
	if (taken == 0)
		taken = f->ops->write(fs, f, data, offset);
	count_held(fs, f, f->in.size);
	if (taken > 0) {
		f->writer = owner;
		f->is_written = true;
	}
	pthread_mutex_unlock(&f->lock);
	return taken;
}

int ctl_flush(struct fs *fs, struct ctl_file *f, uint64_t owner)
{
	int err = 0;

	pthread_mutex_lock(&f->lock);
	if (f->writer == owner)
		f->is_written = false;
	count_held(fs, f, 0);
	if (f->ops->flush)
		err = f->ops->flush(fs, f, !f->is_written);
	count_held(fs, f, f->in.size);
	pthread_mutex_unlock(&f->lock);
	return err;
}

void ctl_truncate(struct ctl_file *f, uint64_t size)
{
	if (!f->ops->truncate)
		return;
	pthread_mutex_lock(&f->lock);
	f->ops->truncate(f, size);
	pthread_mutex_unlock(&f->lock);
}

void ctl_close(struct fs *fs, struct ctl_file *f)
{
	/* No close is left to tell of an error. */
	int err = f->is_written ? ctl_flush(fs, f, f->writer) : 0;

	if (err)
		fs_log_error(fs, f->node, NULL, err);
	/* It may still use node. */
	if (f->ops->release)
		f->ops->release(fs, f);
	pthread_mutex_destroy(&f->lock);
	count_held(fs, f, 0);
	spill_release(&f->in);
	buf_release(&f->out);
	node_put(&fs->nodes, f->node);
	free(f);
}
