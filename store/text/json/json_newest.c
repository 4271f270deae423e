#include "store/text/json/json_newest.h"

/* Whether a number of add, or one of a list, has no time of its own: it goes to
 * the newest version. */
static bool is_for_newest(const struct json *j, const struct json_node *n)
{
	if (n->type == JSON_OBJECT)
		return !json_find(j, n, "timestamp");
	if (n->type != JSON_ARRAY)
		return true;
	for (n = json_first(j, n); n; n = json_next(j, n))
		if (n->type != JSON_OBJECT || !json_find(j, n, "timestamp"))
			return true;
	return false;
}

bool json_adds_to_newest(const struct json *j, const struct json_node *n)
{
	const struct json_node *family, *value;

	if (n->type != JSON_OBJECT)
		return true;
	for (family = json_first(j, n); family; family = json_next(j, family)) {
		if (family->type != JSON_OBJECT)
			return true;
		for (value = json_first(j, family); value;
		     value = json_next(j, value))
			if (is_for_newest(j, value))
				return true;
	}
	return false;
}
