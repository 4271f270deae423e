#ifndef TESTS_SIM_NAMED_H
#define TESTS_SIM_NAMED_H

#include "store/engine/files/edit.h"
#include "store/store.h"

/*
 * The files that are part of a store at some moment: what its manifest names,
 * the manifest itself, and what a directory has besides.
 */
struct named {
	struct edit state;
	uint64_t edits_id;
};

/* 0 or -ENOMEM; released in both cases. */
int named_get(struct store *s, struct named *n);
bool named_has(const struct named *n, const char *file);
void named_release(struct named *n);

#endif
