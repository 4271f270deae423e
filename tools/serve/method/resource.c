#include <stdio.h>

#include "tools/serve/method/attributes.h"
#include "tools/serve/method/resource.h"

int resource_parse(const char *field, struct bytes name, const char *pattern,
		   struct bytes parts[RESOURCE_PARTS_MAX])
{
	struct bytes rest = name;
	const char *p = pattern;
	size_t count = 0, size;

	for (; *p; p++) {
		if (*p != '*') {
			if (rest.size == 0 || rest.data[0] != (uint8_t)*p)
				break;
			rest = bytes_after(rest, 1);
			continue;
		}
		for (size = 0; size < rest.size && rest.data[size] != '/';)
			size++;
		if (size == 0)
			break;
		assert(count < RESOURCE_PARTS_MAX);
		parts[count++] = bytes_of(rest.data, size);
		rest = bytes_after(rest, size);
	}
	if (!*p && rest.size == 0)
		return 0;
	return fail(ERR_bad_argument,
		    "Error in field '%s' : \"%s\" is not of the form %s", field,
		    err_name(name), pattern);
}

bool resource_is_made(struct store *s, struct bytes instance)
{
	char name[sizeof(RECORD_INSTANCES) + STORE_INSTANCE_NAME_MAX];
	struct schema *schema;
	bool made;

	if (instance.size > STORE_INSTANCE_NAME_MAX)
		return false;
	snprintf(name, sizeof(name), RECORD_INSTANCES "%.*s",
		 (int)instance.size, (const char *)instance.data);
	schema = store_schema(s);
	made = schema_attribute(schema, BYTES_NONE, bytes_string(name), NULL);
	schema_put(schema);
	return made;
}

/* A name with a ~ is none of a client's: it would be in another instance. */
int resource_place(struct store *s, struct proto_arena *arena,
		   struct bytes instance, struct bytes table, struct bytes *out)
{
	size_t size = instance.size + 1 + table.size;
	int err = 0;
	uint8_t *p;

	if (memchr(table.data, '~', table.size))
		return fail(ERR_no_table, "table \"%s\" not found",
			    err_name(table));
	*out = table;
	if (!resource_is_made(s, instance))
		return 0;
	p = proto_alloc(arena, size, &err);
	if (!p)
		return err;
	memcpy(p, instance.data, instance.size);
	p[instance.size] = '~';
	memcpy(p + instance.size + 1, table.data, table.size);
	*out = bytes_of(p, size);
	return 0;
}

int resource_table(struct store *s, struct proto_arena *arena,
		   const char *field, struct bytes name, struct bytes *table)
{
	struct bytes parts[RESOURCE_PARTS_MAX];
	int err = resource_parse(field, name, RESOURCE_TABLE, parts);

	return err < 0 ? err
		       : resource_place(s, arena, parts[1], parts[2], table);
}
