#ifndef STORE_ENGINE_FILES_RUNS_H
#define STORE_ENGINE_FILES_RUNS_H

#include "store/engine/files/version.h"

/*
 * Level 0 as sorted runs: each has files in ascending order, no two of which
 * overlap or share a column. So a reader takes a run as it takes a level: one
 * file of it holds a key, and one is open at a time. The files of one flush are
 * a run, or part of one.
 *
 * Of two files that overlap or share a column the newer is in an earlier run:
 * what is found first still hides what is found later. There are as few runs as
 * that allows, at most one for each flush.
 */

/* Makes the runs of a version whose level 0 is sorted already, in place of
 * those that it has. 0 or -ENOMEM, and then v has some of them. */
int version_make_runs(struct version *v);

/* Files are the version's, and stay. */
void version_drop_runs(struct version *v);

/* All runs of a version, newest writes first: those of level 0, and then each
 * level from 1 on, which may be empty. */
static inline size_t version_run_count(const struct version *v)
{
	return v->run_count + LEVEL_COUNT - 1;
}

static inline const struct level *version_run(const struct version *v, size_t i)
{
	return i < v->run_count ? &v->runs[i]
				: &v->levels[i - v->run_count + 1];
}

/*
 * Whether b begins after all of a, and in another column. Files that share a
 * column are merged together, though no key of one lies between those of the
 * other: a delete at the end of one may hide a write at the start of the other,
 * and versions are counted by column.
 */
bool files_are_apart(const struct sst_file *a, const struct sst_file *b);

#endif
