#include <assert.h>

#include "store/text/value/family.h"
#include "store/text/value/gcpolicy.h"

/* Google's JSON of a type, to the byte as cbt ls prints it: what scripts
 * compare has its irregular blank, too. */
#define INT64_INPUT \
	"\"inputType\":{\"int64Type\":{\"encoding\":{\"bigEndianBytes\":{}}}}"
#define AGGREGATE(name) "{\"aggregateType\":{" INT64_INPUT ", \"" name "\":{}}}"

/* Indexed by enum family_type. The word is what createtable takes, the JSON
 * what ls shows. */
static const struct type_text {
	const char *word;
	const char *json;
} types[] = {
	{ "bytes", "{}" },
	{ "stringutf8bytes",
	  "{\"stringType\":{\"encoding\":{\"utf8Raw\":{}}}}" },
	{ "intsum", AGGREGATE("sum") },
	{ "intmin", AGGREGATE("min") },
	{ "intmax", AGGREGATE("max") },
	{ "inthll", AGGREGATE("hllppUniqueCount") },
};

#define TYPE_COUNT (sizeof(types) / sizeof(types[0]))

static_assert(TYPE_COUNT == FAMILY_INTHLL + 1, "each type has its words");

int family_type_parse(struct bytes text, enum family_type *out)
{
	size_t i;

	for (i = 0; i < TYPE_COUNT; i++) {
		if (bytes_equal(text, bytes_string(types[i].word))) {
			*out = (enum family_type)i;
			return 0;
		}
	}
	return fail(ERR_no_such_type, "unknown type %.*s", (int)text.size,
		    text.data);
}

const char *family_type_word(enum family_type type)
{
	return (size_t)type < TYPE_COUNT ? types[type].word : "unknown";
}

const char *family_type_json(enum family_type type)
{
	return (size_t)type < TYPE_COUNT ? types[type].json : "{}";
}

int family_spec_parse(struct bytes text, struct family_spec *spec)
{
	const uint8_t *colon = memchr(text.data, ':', text.size);
	struct gc_policy *gc = NULL;
	struct bytes rest, type = BYTES_NONE;
	int err;

	*spec = (struct family_spec){ .name = text };
	if (!colon)
		return 0;
	spec->name.size = (size_t)(colon - text.data);
	rest = bytes_after(text, spec->name.size + 1);
	/* The policy ends at the next colon: none of its words has one. */
	colon = memchr(rest.data, ':', rest.size);
	if (colon) {
		type = bytes_after(rest, (size_t)(colon - rest.data) + 1);
		rest.size = (size_t)(colon - rest.data);
	}
	err = gc_policy_parse(rest, &gc);
	if (!err && colon)
		err = family_type_parse(type, &spec->type);
	if (err < 0) {
		gc_policy_free(gc);
		return err;
	}
	spec->gc = gc;
	return 0;
}
