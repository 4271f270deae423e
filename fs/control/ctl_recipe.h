#ifndef FS_CONTROL_CTL_RECIPE_H
#define FS_CONTROL_CTL_RECIPE_H

#include "fs/control/ctl.h"

/*
 * TABLE/.recipes: the recipes that are stored with a table, as files, see
 * store/text/track/stored_recipe.h. What is written is checked and stored when
 * the file is closed, or synced; what is no recipe fails that with EINVAL, and
 * the former one stays. A new one is there from then on. Each open file has a
 * text of its own, and follows its name; once that is removed, or another takes
 * it, what is written goes nowhere.
 *
 * Names are as in the request. From any thread.
 */

/* 0 if the table that the directory belongs to has a recipe of this name; else
 * -ERR_no_recipe. */
int recipe_find_stored(struct fs *fs, struct node *directory, struct bytes name)
	EXCLUDES(fs->tree);

/* Whether .recipes has a file of this name: 1 with *node referenced, 0 or an
 * error. */
int recipe_lookup(struct fs *fs, struct node *directory, struct bytes name,
		  struct node **node) EXCLUDES(fs->tree);

/* A name that is not there yet, to be opened: *node is referenced. -EEXIST,
 * -ERR_bad_name, -ERR_name_too_long. */
int recipe_create(struct fs *fs, struct node *directory, struct bytes name,
		  struct node **node) EXCLUDES(fs->tree);

/* Size and time of the recipe that place is of, into *st; of one that is not
 * stored yet, or no more, those of an empty one. */
void recipe_attr(const struct place *place, struct stat *st);

/* What utimensat(2) does: nothing to one that is not stored. */
int recipe_stamp(struct fs *fs, struct node *node, uint64_t us)
	EXCLUDES(fs->tree);

int recipe_unlink(struct fs *fs, struct node *directory, struct bytes name)
	EXCLUDES(fs->tree);

/* flags are renameat2's, and to is .recipes of any table, or another directory:
 * -EXDEV unless it is the same; -EINVAL for RENAME_EXCHANGE; -EEXIST. */
int recipe_rename(struct fs *fs, struct node *directory, struct bytes name,
		  struct node *to, struct bytes to_name, unsigned int flags)
	EXCLUDES(fs->tree);

/* Adds the names in .recipes of this table. 0 or -ENOMEM. */
int recipe_add_names(const struct table *table, struct names *names);

#endif
