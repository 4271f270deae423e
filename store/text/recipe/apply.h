#ifndef STORE_TEXT_RECIPE_APPLY_H
#define STORE_TEXT_RECIPE_APPLY_H

#include "store/text/recipe/recipe.h"
#include "store/text/recipe/record.h"

/*
 * From records to rows, by a recipe. What is wrong with a record refuses it
 * whole, with the field and the reason; what is wrong with a header ends the
 * import. One thread at a time uses an applier.
 */
struct applier;

/* A cell to be set, or a number to be added to one. */
struct recipe_cell {
	bool add;
	bool timed; /* the recipe gives it its time; else us is now */
	struct bytes family, qualifier;
	uint64_t us;
	struct bytes value; /* if it is set */
	int64_t number;     /* if it is added */
};

/* Two rows may share cells. */
struct recipe_row {
	struct bytes key;
	const struct recipe_cell *cells;
	size_t cell_count;
};

struct recipe_rows {
	const struct recipe_row *rows;
	size_t count;
};

/*
 * r, which recipe_check took, is borrowed until applier_free. now_us is the
 * time of cells without one; with millis all times are cut to milliseconds. 0
 * or -ENOMEM.
 */
int applier_new(struct recipe *r, uint64_t now_us, bool millis,
		struct applier **out);
/* NULL is none. */
void applier_free(struct applier *a);

/* The names of the columns from now on, which stay the caller's until the next
 * call; without names the columns are known by their positions only.
 * -ERR_bad_argument: a column that is named is missing or there twice. */
int applier_header(struct applier *a, const struct bytes *names, size_t count,
		   bool has_names);

/* After applier_header with names: whether nobody asked for them, as the recipe
 * has positions alone and does not say that there is a header. */
bool applier_passes_header(const struct applier *a);

/* As applier_header, for applier_keys alone: a column that is missing is
 * absent. */
int applier_key_header(struct applier *a, const struct bytes *names,
		       size_t count);

/* As applier_header, of JSON records: positions are refused. */
int applier_json(struct applier *a);

/* Begins a record, which is borrowed until applier_next gave 0. */
void applier_begin(struct applier *a, const struct record *record);

/*
 * What becomes of the record, or of the next element that explode makes of it:
 * 1 with *rows, which live until the next call, and are none if it is skipped;
 * 0 if there is no more; or an error. -ERR_bad_line refuses it, and the next
 * call goes on behind it.
 */
int applier_next(struct applier *a, struct recipe_rows *rows);

/* Whether the record begun last has nothing where explode has its array. */
bool applier_lacks_array(const struct applier *a);

/* The keys alone of a record, with a newline behind each: 0, or the refusal. */
int applier_keys(struct applier *a, const struct record *record,
		 struct buf *out);

#endif
