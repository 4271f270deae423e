#ifndef STORE_TEXT_RECIPE_RECIPE_STATE_H
#define STORE_TEXT_RECIPE_RECIPE_STATE_H

#include "store/text/recipe/condition.h"
#include "store/text/recipe/recipe.h"

/* What the files of recipe.h and recipe_apply.h share. */

enum statement_kind {
	STATEMENT_KEY,
	STATEMENT_AT,
	STATEMENT_SET,
	STATEMENT_REST,
	STATEMENT_ADD,
	STATEMENT_SKIP,
	STATEMENT_EXPLODE,
	/* Of struct recipe_source. */
	STATEMENT_FORMAT,
	STATEMENT_HEADER,
	STATEMENT_DELIMITER,
	STATEMENT_QUOTE,
	STATEMENT_COMMENT,
	STATEMENT_BYTES,
	STATEMENT_ZONE,
	STATEMENT_SHORT,
};

struct statement {
	enum statement_kind kind;
	/* Of key, set, rest, add: keys and cells of one number belong together.
	 * Keys that directly follow one another share one; what stands before
	 * the first key has its. From 0. */
	size_t group;
	uint8_t *source; /* owned: the line, for recipe_print */
	size_t source_size;
	/* Key: of the row. At: the time. Set, add: the qualifier behind the
	 * family. Explode: the field. */
	struct template name;
	struct template value;      /* of set, add */
	struct template time;       /* of add; without pieces if it has none */
	struct bytes family;        /* of set, add, rest; points into memory */
	uint8_t *memory;            /* owned; or NULL */
	struct condition condition; /* of skip */
};

struct recipe {
	struct statement *items; /* owned; in their order */
	size_t count;
	struct fields fields;
	struct recipe_source source;
	bool exploded; /* by the present text or by words behind it */
};

/* The one statement of a kind that replaces those before; NULL if there is
 * none. */
const struct statement *recipe_find(const struct recipe *r,
				    enum statement_kind kind);

#endif
