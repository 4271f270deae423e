#ifndef TESTS_SIM_NAIVE_FILTER_H
#define TESTS_SIM_NAIVE_FILTER_H

#include "store/model/filter/filter_run.h"

/*
 * What a filter means, said by an evaluator that holds a whole row in memory
 * and does word by word what the documents say.
 */
#define NESTED_MAX 8

struct filtered {
	struct cell cell;
	struct bytes label;
	/* For the interleaves around: which of the cells that it was given,
	 * through which part. */
	size_t origin[NESTED_MAX], part[NESTED_MAX];
};

struct filtered_list {
	struct filtered *items;
	size_t count, room;
};

/* Ends the program if there is no memory. */
void filtered_add(struct filtered_list *l, const struct filtered *c);
void filtered_release(struct filtered_list *l);
/* All of from is added to the end and released. */
void filtered_append(struct filtered_list *to, struct filtered_list from);

/* Scan order of cells; what is equal are copies. */
int compare_places(const struct cell *a, const struct cell *b);
bool same_column(const struct cell *a, const struct cell *b);

/* What f makes of the cells of a row; sunk gets what comes to sinks. */
struct filtered_list naive_filter(struct filter *f,
				  const struct filtered_list *in,
				  struct filtered_list *sunk);

#endif
