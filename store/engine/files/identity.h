#ifndef STORE_ENGINE_FILES_IDENTITY_H
#define STORE_ENGINE_FILES_IDENTITY_H

#include "store/base/buf.h"

/*
 * Which store this is. It has an id of its own from the first time on that it
 * is opened for writing: when it is made, and when a backup, a repaired store
 * or one of format 1 is first written to. So two stores that have part of their
 * history in common, and use the same epochs and sequences from there on, are
 * told apart. The root has it (manifest_root.h). Pure functions.
 */

/* Random, so that no other store has it; all zeros stand for none. */
#define STORE_ID_SIZE 16
#define STORE_ID_TEXT_SIZE (2 * STORE_ID_SIZE + 1)
struct store_id {
	uint8_t bytes[STORE_ID_SIZE];
};

/* Features, as bits: a program that does not know one of these */
struct features {
	uint32_t incompatible; /* opens nothing */
	uint32_t read_only;    /* only reads */
	uint32_t optional;     /* may do anything, and keeps the bit */
};

struct identity {
	struct store_id id;       /* none: it was not written to yet */
	struct store_id parent;   /* of the store that this one was made of */
	uint64_t parent_sequence; /* of the last of it that may be here */
	struct features features;
};

bool store_id_is_none(const struct store_id *id);
bool store_id_equal(const struct store_id *a, const struct store_id *b);

/* Hexadecimal digits and a NUL, and back: false if text is none. */
void store_id_text(const struct store_id *id, char text[STORE_ID_TEXT_SIZE]);
bool store_id_parse(struct bytes text, struct store_id *id);

/* That of a store which is made of what parent had written up to this sequence;
 * a parent that has no id was made of another, and not written to since. */
struct identity identity_of_child(const struct identity *parent,
				  uint64_t sequence);

#endif
