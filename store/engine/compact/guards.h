#ifndef STORE_ENGINE_COMPACT_GUARDS_H
#define STORE_ENGINE_COMPACT_GUARDS_H

#include "store/base/buf.h"
#include "store/engine/files/version.h"

/* The level below is cut into about so many parts, of equal size, and at most
 * into as many as the latter. A reader takes those of a flush as one run
 * (files/runs.h). */
#define GUARD_PARTS 16
#define GUARD_PARTS_MAX 32

/*
 * Where flushes are cut, so that each part of level 0 is merged with its own
 * part of the level below, and those that share a cut are groups (level0.h).
 * They are the starts of files there. One stays where it is, or what lies on
 * both sides of it in level 0 would become one group: a part that has grown by
 * half is cut in two, and a guard goes when the two parts beside it are
 * together no larger than one.
 */
struct guards {
	struct buf text;                    /* all keys; owned */
	struct bytes keys[GUARD_PARTS_MAX]; /* row prefixes in text,
					       ascending; one place is free */
	size_t count;
};

/* Brings them up to v; file_size is the target of files. 0 or -ENOMEM, and then
 * there are none. */
int guards_choose(struct guards *g, const struct version *v,
		  uint64_t file_size);
void guards_release(struct guards *g);

#endif
