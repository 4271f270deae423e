#ifndef STORE_BASE_VOLUME_HEAD_H
#define STORE_BASE_VOLUME_HEAD_H

#include "store/base/buf.h"

/*
 * The head of a store, its file `tabletfs`: that it is one, which one, and what
 * a program must know to open it. store/README.md has the text. A store of
 * format 1 says nothing but that; it gets the rest when it is first opened for
 * writing. Pure functions; no byte that is read is trusted.
 */
#define HEAD_FORMAT 2
#define HEAD_NAME "TabletFS store"

/* Random, so that no other store has it; all zeros stand for none. */
#define STORE_ID_SIZE 16
#define STORE_ID_TEXT_SIZE (2 * STORE_ID_SIZE + 1)
struct store_id {
	uint8_t bytes[STORE_ID_SIZE];
};

/* Features, as bits: a program that does not know one of these */
struct features {
	uint64_t incompatible; /* opens nothing */
	uint64_t read_only;    /* only reads */
	uint64_t optional;     /* may do anything, and keeps the bit */
};

struct head {
	unsigned int format;      /* 1, or HEAD_FORMAT */
	struct store_id id;       /* none: of a backup, or format 1, that was
				     not written to yet */
	struct store_id parent;   /* of the store that this one was made of */
	uint64_t parent_sequence; /* of the last of it that may be here */
	struct features features;
};

bool store_id_is_none(const struct store_id *id);
bool store_id_equal(const struct store_id *a, const struct store_id *b);

/* Hexadecimal digits and a NUL, and back: false if text is none. */
void store_id_text(const struct store_id *id, char text[STORE_ID_TEXT_SIZE]);
bool store_id_parse(struct bytes text, struct store_id *id);

/* Appends the text of head, in today's format. 0 or -ENOMEM. */
int head_encode(const struct head *head, struct buf *out);

/* Of the text of a file. -ERR_not_a_store, -ERR_format_newer,
 * -ERR_manifest_damaged if it is of a known format and not whole; directory is
 * for messages. Features are not judged. */
int head_decode(const char *directory, struct bytes text, struct head *head);

/* -ERR_format_newer, with the feature, if this program cannot read what has
 * this head; or, of the second, not write to it. */
int head_check(const char *directory, const struct head *head);
int head_check_writable(const char *directory, const struct head *head);

#endif
