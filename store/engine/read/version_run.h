#ifndef STORE_ENGINE_READ_VERSION_RUN_H
#define STORE_ENGINE_READ_VERSION_RUN_H

#include "store/format/key.h"

/*
 * Long runs of writes of one version that a reader does not see, since it has
 * seen a newer one or they are newer than its moment: a cell that was written
 * a million times with one timestamp. After some steps the rest is sought past.
 * Unlike a gap (core/gaps.h) that needs no note of an earlier reader. Zeroed,
 * a run is ready.
 */
struct version_run {
	unsigned int steps; /* over writes of the version at timestamp */
	uint64_t timestamp;
	struct buf target;
};

void version_run_release(struct version_run *r);

/*
 * The entry at key is passed, of the same column as the one before unless steps
 * was set to 0. Of its version only what is not newer than seq may be seen, or
 * nothing if the entry itself is not newer: true if the reader should seek
 * *target, which is greater than key and lives until the next call.
 */
bool version_run_pass(struct version_run *r, struct bytes key, uint64_t seq,
		      struct bytes *target);

#endif
