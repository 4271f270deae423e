#include <assert.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "store/base/err.h"
#include "store/base/threads/reference.h"
#include "store/model/attributes.h"

/* The bytes of names and values lie behind the items. */
struct attributes_shared {
	atomic_uint references;
	struct attribute items[];
};

/* Names are copied out, as elements are of several types. */
size_t place_by_name(const void *elements, size_t count, size_t size,
		     struct bytes name, bool *found)
{
	size_t low = 0, high = count;

	*found = false;
	while (low < high) {
		size_t middle = (low + high) / 2;
		const uint8_t *element = elements;
		struct bytes there;
		int order;

		memcpy(&there, element + middle * size, sizeof(there));
		order = bytes_compare(there, name);
		if (order == 0) {
			*found = true;
			return middle;
		}
		if (order < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static_assert(offsetof(struct attribute, name) == 0,
	      "place_by_name reads it there");

bool attributes_find(const struct attributes *a, struct bytes name,
		     struct bytes *value)
{
	bool found;
	size_t i = place_by_name(a->items, a->count, sizeof(*a->items), name,
				 &found);

	if (found && value)
		*value = a->items[i].value;
	return found;
}

size_t attributes_from(const struct attributes *a, struct bytes name)
{
	bool found;

	return place_by_name(a->items, a->count, sizeof(*a->items), name,
			     &found);
}

struct attributes attributes_share(const struct attributes *a)
{
	if (a->shared)
		reference_take(&a->shared->references);
	return *a;
}

void attributes_release(struct attributes *a)
{
	if (a->shared && reference_drop(&a->shared->references))
		free(a->shared);
	*a = (struct attributes){ .count = 0 };
}

/* What count items count for. */
static size_t size_of(const struct attribute *items, size_t count)
{
	size_t size = count * STORE_ATTRIBUTE_COST, i;

	for (i = 0; i < count; i++)
		size += items[i].name.size + items[i].value.size;
	return size;
}

/* Copies from to *place, which goes on behind it. */
static struct bytes copy_to(uint8_t **place, struct bytes from)
{
	uint8_t *start = *place;

	if (from.size > 0)
		memcpy(start, from.data, from.size);
	*place = start + from.size;
	return bytes_of(start, from.size);
}

static_assert(sizeof(struct attribute) == STORE_ATTRIBUTE_COST,
	      "what counts is what is allocated");

int attributes_new(const struct attribute *items, size_t count,
		   struct attributes *out)
{
	size_t size = size_of(items, count), i;
	struct attributes_shared *shared;
	uint8_t *place;

	*out = (struct attributes){ .count = 0 };
	if (count == 0)
		return 0;
	shared = malloc(sizeof(*shared) + size);
	if (!shared)
		return -ENOMEM;
	reference_init(&shared->references);
	place = (uint8_t *)&shared->items[count];
	for (i = 0; i < count; i++) {
		assert(i == 0 ||
		       bytes_compare(items[i - 1].name, items[i].name) < 0);
		shared->items[i].name = copy_to(&place, items[i].name);
		shared->items[i].value = copy_to(&place, items[i].value);
	}
	*out = (struct attributes){ shared->items, count, size, shared };
	return 0;
}

/* Names can be shown, and told by a line of text, as they are. */
static int check_item(const struct attribute *a)
{
	size_t i;

	if (a->name.size == 0 || a->name.size > STORE_ATTRIBUTE_NAME_MAX)
		return fail(a->name.size == 0 ? ERR_bad_name
					      : ERR_name_too_long,
			    "an attribute's name has %zu bytes, must have 1 to "
			    "%d",
			    a->name.size, STORE_ATTRIBUTE_NAME_MAX);
	for (i = 0; i < a->name.size; i++)
		if (a->name.data[i] <= ' ' || a->name.data[i] > '~')
			return fail(ERR_bad_name,
				    "an attribute's name has only bytes from "
				    "! to ~, and its byte %zu is 0x%02x",
				    i, a->name.data[i]);
	if (a->value.size > STORE_ATTRIBUTE_VALUE_MAX)
		return fail(ERR_attribute_too_large,
			    "attribute \"%s\" has %zu bytes, may have %d",
			    err_name(a->name), a->value.size,
			    STORE_ATTRIBUTE_VALUE_MAX);
	return 0;
}

/* Applies one change to the *count sorted items, for one more of which there is
 * room. */
static void apply(struct attribute *items, size_t *count,
		  const struct attribute *change)
{
	bool found;
	size_t i = place_by_name(items, *count, sizeof(*items), change->name,
				 &found);

	if (found && !change->value.data) {
		--*count;
		memmove(&items[i], &items[i + 1],
			(*count - i) * sizeof(*items));
	} else if (change->value.data) {
		if (!found)
			memmove(&items[i + 1], &items[i],
				((*count)++ - i) * sizeof(*items));
		items[i] = *change;
	}
}

int attributes_change(struct attributes *a, const struct attribute *changes,
		      size_t count)
{
	struct attribute *items = calloc(a->count + count + 1, sizeof(*items));
	size_t have = a->count, size, i;
	struct attributes changed;
	int err = items ? 0 : -ENOMEM;

	if (!err && have > 0)
		memcpy(items, a->items, have * sizeof(*items));
	for (i = 0; i < count && !err; i++) {
		err = check_item(&changes[i]);
		if (!err)
			apply(items, &have, &changes[i]);
	}
	size = err ? 0 : size_of(items, have);
	/* What is too much already, by a limit that was higher, may shrink. */
	if (size > STORE_ATTRIBUTES_MAX && size > a->size)
		err = fail(ERR_attributes_full,
			   "attributes would count for %zu bytes, names and "
			   "%d for each included; %zu are the most",
			   size, STORE_ATTRIBUTE_COST, STORE_ATTRIBUTES_MAX);
	if (!err)
		err = attributes_new(items, have, &changed);
	free(items);
	if (err)
		return err;
	attributes_release(a);
	*a = changed;
	return 0;
}
