#ifndef STORE_TEXT_RECIPE_RECIPE_H
#define STORE_TEXT_RECIPE_RECIPE_H

#include "store/base/buf.h"
#include "store/text/value/text_format.h"

/*
 * A recipe: how a record of a file becomes rows. tools/README.md has its
 * grammar; a line is one statement. Parsed from a text, or from the words of a
 * command, or from both, of which the later counts:
 *
 *   recipe_new, recipe_parse and recipe_add_word in any number, recipe_check
 *
 * then it is used by recipe_apply.h. One thread at a time uses a recipe. Errors
 * of parsing are -ERR_bad_argument, "NAME:LINE:COLUMN: what is wrong" with
 * columns in bytes from 1, or -ENOMEM; after one it can only be freed.
 */
struct recipe;

/* A text may be so long; its lines as well. */
#define RECIPE_SIZE_MAX (64 << 10)

/* How the records of a source look; the defaults are those of a zeroed one but
 * for the characters. */
enum recipe_format {
	RECIPE_UNSAID, /* by the name of the source, or its content */
	RECIPE_CSV,
	RECIPE_TSV,
	RECIPE_JSONL,
	RECIPE_JSON,
	RECIPE_DYNAMODB, /* lines of its export; only if the recipe says so */
	RECIPE_CONTROL,  /* Debian's, deb822(5) */
};

enum recipe_header {
	RECIPE_HEADER,    /* the first record has the names */
	RECIPE_NO_HEADER, /* there are none: {#1} */
	RECIPE_NAMES,     /* the recipe has them */
};

#define RECIPE_NO_BYTE (-1) /* a line is one field, of the delimiter */
#define RECIPE_ITS_OWN (-2) /* that of the format */

struct recipe_source {
	enum recipe_format format;
	enum recipe_header header;
	struct bytes names; /* of RECIPE_NAMES, parted by commas */
	int delimiter;      /* a byte; or one of the two below */
	int quote;          /* a byte, or RECIPE_NO_BYTE */
	int comment;        /* begins a line to be passed over; the same */
	bool base64;        /* every field is */
	bool short_absent;  /* fields that a record is short of are absent */
	int zone_s;         /* of times that tell none, east of Greenwich */
};

/* An empty one. 0 or -ENOMEM. */
int recipe_new(struct recipe **out);
/* NULL is none. */
void recipe_free(struct recipe *r);

/* Adds the statements of a text; name is for messages. */
int recipe_parse(struct recipe *r, struct bytes text, const char *name);

/* Whether WORD of WORD=REST is the name of a statement. */
bool recipe_has_word(struct bytes word);

/* Adds the statement WORD REST, of an argument WORD=REST cut at the first =.
 * set, add, skip and key add to those before, others replace theirs. */
int recipe_add_word(struct recipe *r, const char *argument);

/* Whether it has a key, without which it makes no rows. */
bool recipe_has_key(const struct recipe *r);

/* Whether it has a key of which no field is a part, which all records share:
 * then *key is the first such. */
bool recipe_fixed_key(const struct recipe *r, struct bytes *key);

/* Whether it is whole: has a key, each row has cells, and no two statements set
 * one column to texts. To be called before it is used. -ERR_bad_argument. */
int recipe_check(struct recipe *r);

const struct recipe_source *recipe_source(const struct recipe *r);

/* Appends it as a text that recipe_parse takes, a line for each statement that
 * counts, in their order. 0 or -ENOMEM. */
int recipe_print(const struct recipe *r, struct buf *out);

/* The families that it writes to, by index from 0 on, perhaps repeatedly: false
 * at the end. aggregate tells whether it adds to it. */
bool recipe_family(const struct recipe *r, size_t index, struct bytes *family,
		   bool *aggregate);

#endif
