#ifndef STORE_TEXT_RECIPE_FLATTEN_H
#define STORE_TEXT_RECIPE_FLATTEN_H

#include "store/text/recipe/record.h"

/*
 * Walks over a JSON record: calls leaf for each value that is no object and
 * that no used field names, nor is part of such a one, with its keys joined by
 * dots. The exploded array stands for its element. name lives during the call
 * only. 0 or the first error of leaf or -ENOMEM.
 */
int flatten(const struct record *r, const struct fields *fields,
	    int (*leaf)(void *context, struct bytes name,
			const struct json_node *n),
	    void *context);

#endif
