#include <pthread.h>
#include <stdio.h>

#include "store/base/clock.h"
#include "store/base/hash.h"
#include "store/text/track/import_position.h"
#include "store/text/track/import_table.h"

#define NAME BYTES_LITERAL(IMPORT_TABLE)

/* No id of a table has this bit, so no number that is given is one. */
#define GIVEN (UINT64_C(1) << 32)

/* Two that begin at once would give one table two numbers. */
static pthread_mutex_t claiming = PTHREAD_MUTEX_INITIALIZER;

/* What is no number is 0. */
static uint64_t number_of(struct bytes text)
{
	uint64_t n = 0;
	size_t i;

	for (i = 0; i < text.size; i++) {
		unsigned int digit = text.data[i] - (unsigned int)'0';

		if (digit > 9 || n > (UINT64_MAX - digit) / 10)
			return 0;
		n = n * 10 + digit;
	}
	return n;
}

/* Whether attributes tell the numbers, and ids say nothing. */
static bool is_told(const struct schema *schema)
{
	size_t i = 0;

	while (i < schema->table_count &&
	       !attributes_find(&schema->tables[i].attributes, NAME, NULL))
		i++;
	return i < schema->table_count;
}

uint64_t import_table_number(const struct schema *schema, const struct table *t)
{
	struct bytes text;

	if (attributes_find(&t->attributes, NAME, &text))
		return number_of(text);
	return is_told(schema) ? 0 : t->id;
}

/* One that no other table has, of any store. */
static int give(struct store *s, struct bytes table, uint64_t *out)
{
	uint64_t seed[] = { clock_now(&clock_real), store_seq(s),
			    hash64(table) };
	char text[24];

	*out = hash64(bytes_of((uint8_t *)seed, sizeof(seed))) | GIVEN;
	snprintf(text, sizeof(text), "%llu", (unsigned long long)*out);
	return store_set_attribute(s, table, NAME, bytes_string(text));
}

int import_table_claim(struct store *s, struct bytes table, uint64_t *out)
{
	const struct table *t;
	struct schema *schema;
	int err = 0;

	pthread_mutex_lock(&claiming);
	schema = store_schema(s);
	t = schema_table(schema, table);
	*out = t ? import_table_number(schema, t) : 0;
	schema_put(schema);
	if (!t)
		err = fail(ERR_no_table, "%.*s", (int)table.size,
			   (const char *)table.data);
	else if (*out == 0)
		err = give(s, table, out);
	pthread_mutex_unlock(&claiming);
	return err;
}

bool import_table_is_there(const struct schema *schema, uint64_t number)
{
	size_t i = 0;

	while (i < schema->table_count &&
	       import_table_number(schema, &schema->tables[i]) != number)
		i++;
	return i < schema->table_count;
}

/* What a load takes has its bounds, which the attribute keeps. */
bool import_table_dumped(const struct schema *schema, const struct table *t,
			 uint64_t *out)
{
	const struct table *positions =
		schema_table(schema, BYTES_LITERAL(IMPORT_POSITIONS));

	if (!positions || attributes_find(&t->attributes, NAME, NULL) ||
	    t->attributes.size > STORE_ATTRIBUTES_MAX - 256)
		return false;
	*out = is_told(schema) ? 0 : t->id;
	return *out > 0 || t == positions;
}
