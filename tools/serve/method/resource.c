#include "tools/serve/method/resource.h"

/* Names in errors are cut to this. */
#define SHOWN_MAX 200

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
		    "Error in field '%s' : \"%.*s\" is not of the form %s",
		    field, (int)(name.size < SHOWN_MAX ? name.size : SHOWN_MAX),
		    (const char *)name.data, pattern);
}

int resource_table(const char *field, struct bytes name, struct bytes *table)
{
	struct bytes parts[RESOURCE_PARTS_MAX];
	int err = resource_parse(field, name, RESOURCE_TABLE, parts);

	if (err == 0)
		*table = parts[2];
	return err;
}
