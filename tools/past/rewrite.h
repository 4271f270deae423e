#ifndef TOOLS_PAST_REWRITE_H
#define TOOLS_PAST_REWRITE_H

#include "tools/past/compare.h"

/* What was written. */
struct rewrite_counts {
	uint64_t rows;    /* that are again what they were */
	uint64_t deleted; /* others, which were not there */
	uint64_t parted;  /* rows of which more changes than one commit takes */
};

/*
 * Makes the rows of a table, which x has as its new side, what they are on its
 * old side, by ordinary writes. Those of a row are one commit, or several where
 * they are more than REWRITE_COUNT or REWRITE_SIZE. The families are there.
 * Durable when it returns 0; after an error some rows are written, as counts
 * tells.
 */
#define REWRITE_COUNT (STORE_MUTATIONS_MAX - 2 * REWRITE_BATCH)
#define REWRITE_SIZE ((size_t)200 << 20)
/* Commits of several small rows end at so many changes or bytes. */
#define REWRITE_BATCH 1000
#define REWRITE_BATCH_SIZE ((size_t)1 << 20)

int rewrite_rows(struct compare *x, struct bytes table,
		 struct rewrite_counts *counts);

#endif
