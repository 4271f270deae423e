#ifndef STORE_ENGINE_COMPACT_GUARDS_H
#define STORE_ENGINE_COMPACT_GUARDS_H

#include "store/base/buf.h"
#include "store/engine/files/version.h"

/* The most parts of a flush. A reader takes them as one run (files/runs.h). */
#define GUARD_PARTS 8

/*
 * Where flushes are cut, so that each part of level 0 is merged with its own
 * part of the level below, and those that share a cut are groups (level0.h).
 * They are the starts of files there, and stay the same until what is there has
 * grown or shrunk by an eighth: merges of a part go on beginning and ending
 * there. A function of the versions alone.
 */
struct guards {
	struct buf text;                /* all keys; owned */
	struct bytes keys[GUARD_PARTS]; /* row prefixes in text, ascending */
	size_t count;
	uint64_t size; /* of the levels when they were chosen; bytes */
};

/* Chooses anew if v is so different; file_size is the target of files. 0 or
 * -ENOMEM, and then there are none. */
int guards_choose(struct guards *g, const struct version *v,
		  uint64_t file_size);
void guards_release(struct guards *g);

#endif
