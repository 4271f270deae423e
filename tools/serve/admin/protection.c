#include "tools/serve/admin/protection.h"
#include "tools/serve/method/attributes.h"

int protection_check(const struct table *t)
{
	if (!attributes_find(&t->attributes, BYTES_LITERAL(TABLE_PROTECTED),
			     NULL))
		return 0;
	return fail(EPERM,
		    "The table %.*s is protected against deletion: set its "
		    "deletion_protection to false first.",
		    (int)t->name.size, (const char *)t->name.data);
}
