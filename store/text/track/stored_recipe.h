#ifndef STORE_TEXT_TRACK_STORED_RECIPE_H
#define STORE_TEXT_TRACK_STORED_RECIPE_H

#include "store/store.h"
#include "store/text/recipe/recipe.h"

/*
 * Recipes that are stored with the table that they are for: two attributes
 * each, so that they go with it through renames, backups, dumps and repair,
 *
 *   recipe/NAME        its text, which recipe_check has taken
 *   recipe-time/NAME   when it was stored, in microseconds, decimal
 *
 * Names are as those of families. What is stored is whole; whether the families
 * that it names are there is asked when it is used. From any thread.
 */
struct stored_recipe {
	struct bytes name;
	struct bytes text;
	uint64_t stored_us; /* 0: not known */
};

/* 0, -ERR_bad_name or -ERR_name_too_long, with the reason. */
int stored_recipe_check_name(struct bytes name);

/* Whether the table, which may be NULL, has a recipe of this name: then *out
 * lives as long as the table's schema does. out may be NULL. */
bool stored_recipe_find(const struct table *table, struct bytes name,
			struct stored_recipe *out);

/* The recipes by name, from *index 0 on, which moves on: false at the end. As
 * stored_recipe_find. */
bool stored_recipe_next(const struct table *table, size_t *index,
			struct stored_recipe *out);

/* Stores text as the recipe of this name, in place of what that was.
 * -ERR_bad_argument, "NAME:LINE:COLUMN: why", if it is no recipe; errors of
 * names and of store_set_attributes. */
int stored_recipe_set(struct store *s, struct bytes table, struct bytes name,
		      struct bytes text, uint64_t now_us);

/* What utimensat(2) does. -ERR_no_recipe. */
int stored_recipe_stamp(struct store *s, struct bytes table, struct bytes name,
			uint64_t us);

/* -ERR_no_recipe. */
int stored_recipe_remove(struct store *s, struct bytes table,
			 struct bytes name);

/* In place of what has the name to, in one write. -ERR_no_recipe. */
int stored_recipe_rename(struct store *s, struct bytes table, struct bytes from,
			 struct bytes to);

/* Adds the recipe of this name to r, as recipe_parse. -ERR_no_table,
 * -ERR_no_recipe. */
int stored_recipe_parse(struct store *s, struct bytes table, struct bytes name,
			struct recipe *r);

/* Fails with -ERR_no_recipe; so that a caller may return it. */
int stored_recipe_missing(struct bytes table, struct bytes name);

#endif
