#ifndef TESTS_SIM_RUIN_H
#define TESTS_SIM_RUIN_H

#include "store/store.h"
#include "tests/sim/volume_mem.h"

/*
 * A small store to be damaged and repaired: rows in a log and in ssts of two
 * levels, large values, deletions, sums, a bulk load; closed. And what a new
 * store that was made of it is judged by.
 */
#define RUIN_ROWS 120
#define RUIN_CELLS 440 /* parts of sums count as cells */
#define RUIN_LOADED 40 /* of them, in bulk */

void ruin_options(struct store_options *o);
/* Its volume, which is kept. */
struct volume *ruin_build(void);
/* hook, if not NULL, is called before and after each change to it. */
struct volume *ruin_build_watched(void (*hook)(void *context, struct volume *v),
				  void *context);
/*
 * Flips a bit of each file: with manifest, in the root, and in the first block
 * of each sst, so that the schema is lost, too; else in the middle of all but
 * the manifest.
 */
void ruin_harm(struct volume *v, bool manifest);
/* Whether every cell is one that was there: NULL, or what is wrong. Counts what
 * is missing, and the deleted that are back. */
const char *ruin_look(struct store *s, unsigned int *missing,
		      unsigned int *back);
/* The same of a volume that is closed, and closed again. */
const char *ruin_look_at(struct volume *v, unsigned int *missing,
			 unsigned int *back);

#endif
