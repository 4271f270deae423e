#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>

#include "fs/cells/loop.h"
#include "fs/cells/space.h"
#include "fs/control/ctl_recipe.h"
#include "store/text/track/stored_recipe.h"

/* An open recipe: a ctl_file's state. */
struct recipe_file {
	struct buf text; /* as it is read, and with what was written */
	bool changed;    /* since it was stored, or refused */
	int failed;      /* of a write: the text lacks a part, until it is cut
			    to nothing */
};

int recipe_find_stored(struct fs *fs, struct node *directory, struct bytes name)
{
	struct place place;
	int err = place_enter(fs, directory, &place);

	if (!err && !stored_recipe_find(place.table, name, NULL))
		err = stored_recipe_missing(place.path.table, name);
	place_leave(fs, &place);
	return err;
}

int recipe_lookup(struct fs *fs, struct node *directory, struct bytes name,
		  struct node **node)
{
	struct place place;
	int err = place_enter(fs, directory, &place);

	if (!err)
		err = stored_recipe_find(place.table, name, NULL);
	place_leave(fs, &place);
	if (err == 1)
		err = node_enter(&fs->nodes, directory, NODE_RECIPE, name, node)
			      ? -ENOMEM
			      : 1;
	return err;
}

int recipe_create(struct fs *fs, struct node *directory, struct bytes name,
		  struct node **node)
{
	int err = stored_recipe_check_name(name);

	if (!err)
		err = recipe_lookup(fs, directory, name, node);
	if (err == 1) {
		node_put(&fs->nodes, *node);
		return -EEXIST;
	}
	return err ? err
		   : node_enter(&fs->nodes, directory, NODE_RECIPE, name, node);
}

void recipe_attr(const struct place *place, struct stat *st)
{
	struct stored_recipe r = { .stored_us = 0 };

	(void)stored_recipe_find(place->table, place->path.leaf, &r);
	st->st_nlink = 1;
	st->st_size = (off_t)r.text.size;
	st->st_blocks = (blkcnt_t)(r.text.size + 511) / 512;
	if (r.stored_us == 0)
		return;
	st->st_mtim.tv_sec = (time_t)(r.stored_us / 1000000);
	st->st_mtim.tv_nsec = (long)(r.stored_us % 1000000) * 1000;
	st->st_ctim = st->st_atim = st->st_mtim;
}

int recipe_stamp(struct fs *fs, struct node *node, uint64_t us)
{
	struct place place;
	int err;

	loop_hand_over();
	err = place_enter(fs, node, &place);
	if (!err)
		err = stored_recipe_stamp(fs->store, place.path.table,
					  place.path.leaf, us);
	place_leave(fs, &place);
	return err == -ERR_no_recipe ? 0 : err;
}

/* As tree_unlink: the node of what is gone finds nothing any more. */
int recipe_unlink(struct fs *fs, struct node *directory, struct bytes name)
{
	struct node *node;
	struct place place;
	int err;

	loop_hand_over();
	err = place_enter(fs, directory, &place);
	if (!err)
		err = stored_recipe_remove(fs->store, place.path.table, name);
	place_leave(fs, &place);
	node = err ? NULL : node_find(&fs->nodes, directory, NODE_RECIPE, name);
	if (node)
		node_detach(&fs->nodes, node);
	node_put(&fs->nodes, node);
	return err;
}

/* The store first, then the node, with nobody between. */
static int rename_alone(struct fs *fs, struct node *directory,
			struct bytes from, struct bytes to, bool replace)
	NEEDS(fs->tree)
{
	uint8_t *copy = node_name_new(to);
	struct node *node;
	struct place place;
	int err = place_find(fs, directory, &place);

	if (!err && !copy)
		err = -ENOMEM;
	if (!err && !replace && stored_recipe_find(place.table, to, NULL))
		err = -EEXIST;
	if (!err)
		err = stored_recipe_rename(fs->store, place.path.table, from,
					   to);
	place_release(&place);
	node = err ? NULL : node_find(&fs->nodes, directory, NODE_RECIPE, from);
	if (node && !bytes_equal(from, to)) {
		node_rename(&fs->nodes, node, copy, to.size);
		copy = NULL;
	}
	node_put(&fs->nodes, node);
	free(copy);
	return err;
}

int recipe_rename(struct fs *fs, struct node *directory, struct bytes name,
		  struct node *to, struct bytes to_name, unsigned int flags)
{
	int err;

	if (directory != to)
		return -EXDEV;
	if (flags & ~(unsigned int)RENAME_NOREPLACE)
		return -EINVAL;
	loop_hand_over();
	tree_hold_alone(fs);
	err = rename_alone(fs, directory, name, to_name,
			   !(flags & RENAME_NOREPLACE));
	tree_let_go_alone(fs);
	return err;
}

int recipe_add_names(const struct table *table, struct names *names)
{
	struct stored_recipe r;
	size_t i = 0;
	int err = 0;

	while (table && !err && stored_recipe_next(table, &i, &r))
		err = names_add(names, r.name);
	return err;
}

/* As ctl_ops.open: with the text that is there, unless that is cut off. */
static int recipe_open(struct fs *fs, struct ctl_file *f)
{
	struct recipe_file *r = calloc(1, sizeof(*r));
	struct stored_recipe stored;
	struct place place;
	int err;

	if (!r)
		return -ENOMEM;
	err = place_enter(fs, f->node, &place);
	if (!err && !(f->flags & O_TRUNC) &&
	    stored_recipe_find(place.table, place.path.leaf, &stored))
		err = buf_set(&r->text, stored.text);
	place_leave(fs, &place);
	if (err) {
		buf_release(&r->text);
		free(r);
		return err;
	}
	f->state = r;
	return 0;
}

/* As ctl_ops.read. */
static int recipe_read(struct fs *fs, struct ctl_file *f, uint64_t offset,
		       size_t size, struct buf *out)
{
	struct recipe_file *r = f->state;

	(void)fs;
	if (offset >= r->text.size)
		return 0;
	if (size > r->text.size - offset)
		size = r->text.size - (size_t)offset;
	return buf_add(out, r->text.data + offset, size);
}

/* Makes the text so long, with zeros at its end: 0, -EFBIG or -ENOMEM. */
static int set_size(struct recipe_file *r, uint64_t size)
{
	int err;

	if (size > RECIPE_SIZE_MAX)
		return fail(EFBIG, "a recipe has %d bytes at most",
			    RECIPE_SIZE_MAX);
	if (size > r->text.size) {
		err = buf_reserve(&r->text, (size_t)size - r->text.size);
		if (err)
			return err;
		memset(r->text.data + r->text.size, 0,
		       (size_t)size - r->text.size);
	}
	r->text.size = (size_t)size;
	return 0;
}

/* As ctl_ops.write. */
static ssize_t recipe_write(struct fs *fs, struct ctl_file *f,
			    struct bytes data, uint64_t offset)
{
	struct recipe_file *r = f->state;
	int err = fs_check_space(fs, data.size);

	if (f->flags & O_APPEND)
		offset = r->text.size;
	if (data.size == 0)
		return 0;
	if (!err &&
	    (offset > RECIPE_SIZE_MAX || offset + data.size > r->text.size))
		err = set_size(r, offset + data.size);
	r->failed = r->failed ? r->failed : err;
	if (err)
		return err;
	memcpy(r->text.data + offset, data.data, data.size);
	r->changed = true;
	return (ssize_t)data.size;
}

/* As ctl_ops.flush. What was refused is not refused again, unless more is
 * written; and what was emptied and no more is as if it had not been touched,
 * since a shell closes a duplicate before anything is written. */
static int recipe_flush(struct fs *fs, struct ctl_file *f, bool at_end)
{
	struct recipe_file *r = f->state;
	struct place place;
	int err;

	if (!r->changed || !at_end)
		return 0;
	r->changed = false;
	if (r->failed)
		return fail(-r->failed, "a write was refused, and so is what "
					"came before it");
	err = place_enter(fs, f->node, &place);
	/* Under fs->tree no name is taken away by a rename. */
	if (!err && f->node->found)
		err = stored_recipe_set(fs->store, place.path.table,
					place.path.leaf, buf_bytes(&r->text),
					fs_now(fs));
	place_leave(fs, &place);
	return err;
}

/* As ctl_ops.sync. A change of the schema is durable. */
static int recipe_sync(struct fs *fs, struct ctl_file *f)
{
	return recipe_flush(fs, f, true);
}

/* As ctl_ops.truncate. What is beyond the limit is refused by a write. */
static void recipe_truncate(struct ctl_file *f, uint64_t size)
{
	struct recipe_file *r = f->state;

	if (size == 0)
		r->failed = 0;
	if (size != r->text.size && set_size(r, size) == 0 && size > 0)
		r->changed = true;
}

static void recipe_release(struct fs *fs, struct ctl_file *f)
{
	struct recipe_file *r = f->state;

	(void)fs;
	buf_release(&r->text);
	free(r);
}

const struct ctl_ops ctl_recipe_ops = {
	.open = recipe_open,
	.read = recipe_read,
	.write = recipe_write,
	.flush = recipe_flush,
	.sync = recipe_sync,
	.truncate = recipe_truncate,
	.release = recipe_release,
};
