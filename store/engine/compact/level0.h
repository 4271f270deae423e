#ifndef STORE_ENGINE_COMPACT_LEVEL0_H
#define STORE_ENGINE_COMPACT_LEVEL0_H

#include "store/engine/files/runs.h"

/*
 * The files of level 0 in groups: files of one overlap one another, directly or
 * by others between, and those of two groups do not. A group can be merged into
 * the next level by itself. Flushes are cut where the files below begin
 * (guards.h), so that there are several groups, and a merge takes a part of
 * the level below only.
 */
struct level0_group {
	size_t first, count; /* of files */
	uint64_t size;       /* bytes */
};

struct level0 {
	struct sst_file **files; /* group by group; borrowed of the version */
	struct level0_group *groups;
	size_t group_count;
};

/* To be released. 0 or -ENOMEM, and then *out is empty. */
int level0_group(const struct version *v, struct level0 *out);
void level0_release(struct level0 *l);

/* How many files of level 0 a reader of one key asks at most: those of the
 * largest group. */
size_t level0_depth(const struct version *v);

/* Whether a's range ends behind that of b. */
bool file_ends_behind(const struct sst_file *a, const struct sst_file *b);

#endif
