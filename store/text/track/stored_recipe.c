#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

#include "store/text/track/stored_recipe.h"

#define TEXT "recipe/"
#define TIME "recipe-time/"
static_assert(sizeof(TIME) + STORE_FAMILY_NAME_MAX <= STORE_ATTRIBUTE_NAME_MAX,
	      "a name fits that of an attribute");
static_assert(RECIPE_SIZE_MAX <= STORE_ATTRIBUTE_VALUE_MAX,
	      "a recipe fits an attribute");

/* The names of a recipe's attributes. */
struct names {
	char text[sizeof(TEXT) + STORE_FAMILY_NAME_MAX];
	char time[sizeof(TIME) + STORE_FAMILY_NAME_MAX];
};

/* name has been checked. */
static void names_of(struct bytes name, struct names *n)
{
	assert(name.size <= STORE_FAMILY_NAME_MAX);
	snprintf(n->text, sizeof(n->text), TEXT "%.*s", (int)name.size,
		 (const char *)name.data);
	snprintf(n->time, sizeof(n->time), TIME "%.*s", (int)name.size,
		 (const char *)name.data);
}

int stored_recipe_check_name(struct bytes name)
{
	int err = store_check_family_name(name);

	if (err == -ERR_bad_name)
		return fail(ERR_bad_name, "a recipe's name must match "
					  "[_a-zA-Z0-9][-_.a-zA-Z0-9]*");
	if (err == -ERR_name_too_long)
		return fail(ERR_name_too_long,
			    "a recipe's name has %d bytes at most",
			    STORE_FAMILY_NAME_MAX);
	return err;
}

int stored_recipe_missing(struct bytes table, struct bytes name)
{
	return fail(ERR_no_recipe, "table \"%.*s\" has no recipe \"%.*s\"",
		    (int)table.size, (const char *)table.data, (int)name.size,
		    (const char *)name.data);
}

/* 0 if it is no time. */
static uint64_t time_of(const struct attributes *a, const char *name)
{
	struct bytes value;
	uint64_t us = 0;
	size_t i;

	if (!attributes_find(a, bytes_string(name), &value) || value.size > 18)
		return 0;
	for (i = 0; i < value.size; i++) {
		if (value.data[i] < '0' || value.data[i] > '9')
			return 0;
		us = us * 10 + (uint64_t)(value.data[i] - '0');
	}
	return us;
}

bool stored_recipe_find(const struct table *table, struct bytes name,
			struct stored_recipe *out)
{
	struct stored_recipe found = { .name = name };
	struct names n;

	if (!table || store_check_family_name(name) < 0)
		return false;
	names_of(name, &n);
	if (!attributes_find(&table->attributes, bytes_string(n.text),
			     &found.text))
		return false;
	found.stored_us = time_of(&table->attributes, n.time);
	if (out)
		*out = found;
	return true;
}

bool stored_recipe_next(const struct table *table, size_t *index,
			struct stored_recipe *out)
{
	const struct bytes prefix = BYTES_LITERAL(TEXT);
	const struct attributes *a = &table->attributes;
	size_t i;

	/* Others than these may have set attributes: what is no name of a
	 * recipe is passed over. */
	for (i = attributes_from(a, prefix) + *index;
	     i < a->count && bytes_starts_with(a->items[i].name, prefix); i++) {
		++*index;
		if (stored_recipe_find(
			    table, bytes_after(a->items[i].name, prefix.size),
			    out))
			return true;
	}
	return false;
}

/* Whether it is a recipe: 0, or why not. */
static int check(struct bytes name, struct bytes text)
{
	char told[STORE_FAMILY_NAME_MAX + 1];
	struct recipe *r;
	int err = recipe_new(&r);

	snprintf(told, sizeof(told), "%.*s", (int)name.size,
		 (const char *)name.data);
	if (!err)
		err = recipe_parse(r, text, told);
	if (!err)
		err = recipe_check(r);
	recipe_free(r);
	return err;
}

int stored_recipe_set(struct store *s, struct bytes table, struct bytes name,
		      struct bytes text, uint64_t now_us)
{
	struct attribute changes[2];
	struct names n;
	char us[24];
	int err = stored_recipe_check_name(name);

	if (!err)
		err = check(name, text);
	if (err)
		return err;
	names_of(name, &n);
	snprintf(us, sizeof(us), "%llu", (unsigned long long)now_us);
	changes[0] = (struct attribute){ bytes_string(n.text), text };
	changes[1] =
		(struct attribute){ bytes_string(n.time), bytes_string(us) };
	return store_set_attributes(s, table, changes, 2);
}

/* The recipe as it is now, with a reference to its schema, which is the
 * caller's to put back in any case. */
static int find(struct store *s, struct bytes table, struct bytes name,
		struct schema **schema, struct stored_recipe *out)
{
	const struct table *t;

	*schema = store_schema(s);
	t = schema_table(*schema, table);
	if (!t)
		return fail(ERR_no_table, "table \"%.*s\" not found",
			    (int)table.size, (const char *)table.data);
	return stored_recipe_find(t, name, out)
		       ? 0
		       : stored_recipe_missing(table, name);
}

int stored_recipe_stamp(struct store *s, struct bytes table, struct bytes name,
			uint64_t us)
{
	struct stored_recipe r;
	struct schema *schema;
	struct names n;
	char text[24];
	int err = find(s, table, name, &schema, &r);

	if (!err) {
		names_of(name, &n);
		snprintf(text, sizeof(text), "%llu", (unsigned long long)us);
		err = store_set_attribute(s, table, bytes_string(n.time),
					  bytes_string(text));
	}
	schema_put(schema);
	return err;
}

int stored_recipe_remove(struct store *s, struct bytes table, struct bytes name)
{
	struct attribute changes[2] = { { .name = BYTES_NONE } };
	struct stored_recipe r;
	struct schema *schema;
	struct names n;
	int err = find(s, table, name, &schema, &r);

	if (!err) {
		names_of(name, &n);
		changes[0].name = bytes_string(n.text);
		changes[1].name = bytes_string(n.time);
		err = store_set_attributes(s, table, changes, 2);
	}
	schema_put(schema);
	return err;
}

int stored_recipe_rename(struct store *s, struct bytes table, struct bytes from,
			 struct bytes to)
{
	struct attribute changes[4] = { { .name = BYTES_NONE } };
	struct names old, new;
	struct stored_recipe r;
	struct schema *schema;
	char us[24];
	int err = find(s, table, from, &schema, &r);

	if (!err)
		err = stored_recipe_check_name(to);
	if (!err && !bytes_equal(from, to)) {
		names_of(from, &old);
		names_of(to, &new);
		snprintf(us, sizeof(us), "%llu",
			 (unsigned long long)r.stored_us);
		changes[0].name = bytes_string(old.text);
		changes[1].name = bytes_string(old.time);
		changes[2] =
			(struct attribute){ bytes_string(new.text), r.text };
		changes[3] = (struct attribute){ bytes_string(new.time),
						 bytes_string(us) };
		err = store_set_attributes(s, table, changes, 4);
	}
	schema_put(schema);
	return err;
}

int stored_recipe_parse(struct store *s, struct bytes table, struct bytes name,
			struct recipe *r)
{
	char told[STORE_FAMILY_NAME_MAX + 1];
	struct stored_recipe found;
	struct schema *schema;
	int err = find(s, table, name, &schema, &found);

	if (!err) {
		snprintf(told, sizeof(told), "%.*s", (int)name.size,
			 (const char *)name.data);
		err = recipe_parse(r, found.text, told);
	}
	schema_put(schema);
	return err;
}
