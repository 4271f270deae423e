#ifndef STORE_TEXT_ADVICE_ADVICE_KEYS_H
#define STORE_TEXT_ADVICE_ADVICE_KEYS_H

#include "store/base/buf.h"

/*
 * What row keys are made of: segments between the delimiters # / : |, and in
 * each letters that all keys have there, and a number. Keys come in their
 * order. One thread at a time.
 */
#define ADVICE_SEGMENTS 8
#define ADVICE_LETTERS 32

struct advice_segment {
	uint64_t count;                  /* of keys that have it */
	struct buf first;                /* what the first has */
	uint64_t same;                   /* of keys that have that, too */
	uint64_t numbers;                /* of those, a number behind letters */
	uint8_t letters[ADVICE_LETTERS]; /* of the first */
	size_t letters_size;
	bool has_zeros;           /* a number begins with 0 and is not 0 */
	size_t shortest, longest; /* digits */
	uint64_t least, greatest;
	uint64_t last; /* number, if the key before had one here */
	bool has_last;
	/* Two keys that follow one another, whose numbers do not. */
	struct buf before, after;
};

struct advice_keys {
	uint64_t count;
	struct advice_segment segments[ADVICE_SEGMENTS];
	struct buf key; /* the last */
	uint64_t dates; /* keys that begin as 2026-01-05 does */
};

/* Counts one. 0 or -ENOMEM. */
int advice_keys_add(struct advice_keys *k, struct bytes key);
void advice_keys_release(struct advice_keys *k);

/* Whether the segment holds numbers that are in no order since they are not
 * padded. Those that may be telephone numbers, times or hashes are none. */
bool advice_is_unpadded(const struct advice_segment *s);

/* Whether keys begin, but for what they all have, with a number that goes on
 * from key to key, or with a time. */
bool advice_is_sequence(const struct advice_keys *k);
bool advice_is_time(const struct advice_keys *k);

#endif
