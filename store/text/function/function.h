#ifndef STORE_TEXT_FUNCTION_FUNCTION_H
#define STORE_TEXT_FUNCTION_FUNCTION_H

#include "store/base/buf.h"
#include "store/text/value/number.h"

/*
 * The functions of recipes: {FIELD|name|name(argument)}. Each is total, or
 * refuses the record with a reason. They are typed: a text, or a moment, which
 * only a function of moments takes. An absent value stays absent through all of
 * them but default; an empty one is a value.
 */
enum value_type { VALUE_TEXT, VALUE_TIME };

struct value {
	enum value_type type;
	bool absent;
	bool json;         /* text is a JSON value that is no string */
	struct bytes text; /* borrowed */
	int64_t us;        /* of a moment: since 1970, may be negative */
};

#define FUNCTION_ARGUMENTS_MAX 2

struct function;

/* A function with its arguments, checked. Texts are borrowed from the
 * recipe. */
struct call {
	const struct function *function;
	struct bytes texts[FUNCTION_ARGUMENTS_MAX]; /* "" if not given */
	uint64_t numbers[FUNCTION_ARGUMENTS_MAX];
	unsigned int count; /* arguments given */
};

/* Finds a function and checks its arguments. -ERR_bad_argument says what is
 * wrong, with the functions that there are. */
int function_bind(struct bytes name, const struct bytes *arguments,
		  unsigned int count, struct call *out);

/* What it takes and gives, so that a chain is checked before any record. */
enum value_type function_takes(const struct call *c);
enum value_type function_gives(const struct call *c);
const char *function_name(const struct call *c);

/* The function that lets a key's field contain the text behind it. */
bool function_is_any(const struct call *c);
/* The function that makes an absent field a value. */
bool function_is_default(const struct call *c);

/*
 * Runs it on *v, which becomes the result. What text it makes goes to memory,
 * emptied first, which v->text must not point into; zone_s is of times that
 * tell none. -ERR_bad_line refuses the record, or -ENOMEM.
 */
int function_run(const struct call *c, int zone_s, struct value *v,
		 struct buf *memory);

static inline bool function_integer(struct bytes text, int64_t *out)
{
	return int_parse(text, out);
}

/* The names with their arguments, one after another from 0 on; NULL at the
 * end. */
const char *function_usage(unsigned int index);

#endif
