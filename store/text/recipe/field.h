#ifndef STORE_TEXT_RECIPE_FIELD_H
#define STORE_TEXT_RECIPE_FIELD_H

#include "store/base/buf.h"

/*
 * The fields that a recipe names, each once. In CSV a name is whole; in JSON it
 * is a path, whose steps are keys, parted by dots, and indices, [n].
 */
enum field_kind {
	FIELD_NAME,
	FIELD_POSITION, /* {#3}, from 1 */
	FIELD_FILE,     /* {$file} */
	FIELD_LINE,     /* {$line} */
	FIELD_MEMBER,   /* {$name}, of what explode takes apart */
};

struct field_step {
	struct bytes key; /* borrowed from the field's name */
	bool is_index;
	uint64_t index;
};

/* The header does not have it. */
#define FIELD_NO_COLUMN SIZE_MAX

struct field {
	enum field_kind kind;
	struct bytes name; /* owned; as in the recipe, without quotes */
	uint64_t position;
	struct field_step *steps; /* owned; of a name one at least */
	size_t step_count;
	/* By apply.c: a statement that counts names it; such a one cannot do
	 * without it; where it stands in the header, or FIELD_NO_COLUMN. */
	bool used, needed;
	size_t column;
};

struct fields {
	struct field *items; /* owned */
	size_t count, capacity;
};

void fields_release(struct fields *f);

/*
 * Takes a FIELD from the front of text: bare up to a blank or one of | { } ( )
 * , " or in quotes, which are doubled inside of it, or parts of both kinds.
 * Sets *index to it among the fields and *size to what it takes of text.
 * -ERR_bad_argument, and *size is where; or -ENOMEM.
 */
int fields_take(struct fields *f, struct bytes text, size_t *index,
		size_t *size);

#endif
