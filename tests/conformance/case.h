#ifndef TESTS_CONFORMANCE_CASE_H
#define TESTS_CONFORMANCE_CASE_H

#include "store/base/buf.h"

/*
 * A .case file: operations, each with the result that a Bigtable emulator gave
 * (">" lines) and, where that deviates from the documents, the right one ("="
 * lines). The format is in the corpus' FORMAT.md.
 */
struct list {
	char **items;
	size_t count;
};

struct operation {
	unsigned int line;    /* in the file, from 1 */
	struct list words;    /* the first is the operation's name */
	struct list block;    /* lines of its block, without the indent */
	struct list observed; /* results, comments cut off */
	struct list conforming;
};

struct test_case {
	struct buf text; /* what all strings point into */
	struct operation *operations;
	size_t count;
};

/* 0 or an error; a file that is no case says why on stderr. */
int case_load(const char *path, struct test_case *out);
void case_release(struct test_case *c);

/* What a checker has to compare with. */
const struct list *operation_expected(const struct operation *o);

/* Appends to a list; the string is not copied. 0 or -ENOMEM. */
int list_add(struct list *l, char *item);
/* Splits text in place at single blanks and appends the words. */
int list_split(struct list *l, char *text);

#endif
