#ifndef STORE_HEAT_HEAT_GRID_H
#define STORE_HEAT_HEAT_GRID_H

#include "store/heat/heat_key.h"
#include "store/heat/heat_walk.h"

/*
 * The buckets of a table, whose fences move, on one grid: intervals of keys
 * that all of them are told in, and columns of time. What a bucket has counted
 * in a range that covers several intervals, or columns, is spread over them
 * evenly, so nothing is lost or made up.
 */
struct heat_wanted {
	uint32_t table;
	uint64_t from_s;   /* where the first column begins */
	uint64_t column_s; /* seconds of one, at least 1 */
	size_t columns;
	enum heat_metric metric; /* the first of these */
	int metrics;
	struct bytes prefix; /* only rows that begin so */
	size_t max;          /* intervals; the coldest are taken together */
};

struct heat_grid {
	size_t count;          /* of intervals; 0: there is nothing */
	struct buf prefix;     /* before each key, but one that is empty */
	struct heat_key *keys; /* first keys; the first empty: no bound */
	struct heat_key end;   /* behind the last; empty: no bound */
	/* Of metric m, column c, interval i: (m * columns + c) * count + i. */
	double *cells;
};

/* 0 or -ENOMEM; *g is to be released in any case. */
int heat_grid_make(const struct heat_source *sources, size_t source_count,
		   const struct heat_wanted *wanted, struct heat_grid *g);
void heat_grid_release(struct heat_grid *g);

#endif
