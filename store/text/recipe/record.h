#ifndef STORE_TEXT_RECIPE_RECORD_H
#define STORE_TEXT_RECIPE_RECORD_H

#include "store/text/json/json.h"
#include "store/text/recipe/field.h"
#include "store/text/function/function.h"

/*
 * One record of a source, of either kind: the columns of a header, or a JSON
 * tree. All is borrowed, until the next record.
 */
struct record_column {
	struct bytes value;
	bool absent;
};

struct record {
	struct bytes file;
	uint64_t line;
	/* With a header: as many as it has, or of this record without one. */
	const struct record_column *columns;
	size_t column_count;
	/* JSON: then there are no columns. */
	const struct json *json;
	const struct json_node *root;
	/* What is taken apart by explode, and the element that stands in its
	 * place, of an array with its index; or both NULL. */
	const struct field *exploded;
	const struct json_node *element;
	bool of_array;
	uint64_t index;
};

/* Sets *v to the value of a field, which lives as long as the record's, or in
 * memory. What is not there, and null, is absent. 0 or -ENOMEM. */
int record_get(const struct record *r, const struct field *f,
	       struct buf *memory, struct value *v);

/* The node that a path leads to, the exploded one being its element; NULL if
 * there is none. */
const struct json_node *record_node(const struct record *r,
				    const struct field *f);

/* Sets *v to a node's value: of an array or object its JSON text, in memory. 0
 * or -ENOMEM. */
int record_value(const struct record *r, const struct json_node *n,
		 struct buf *memory, struct value *v);

#endif
