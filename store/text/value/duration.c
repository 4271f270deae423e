#include <assert.h>

#include "store/text/value/duration.h"

/* Largest first, and the last divides everything: duration_print takes the
 * first that divides. */
static const struct unit {
	const char *name;
	uint64_t us;
} units[] = {
	{ "d", UINT64_C(86400000000) }, { "h", UINT64_C(3600000000) },
	{ "m", UINT64_C(60000000) },    { "s", UINT64_C(1000000) },
	{ "ms", UINT64_C(1000) },       { "us", UINT64_C(1) },
};

#define UNIT_COUNT (sizeof(units) / sizeof(units[0]))
/* What Go's time.Duration can hold: 2^63 - 1 nanoseconds. */
#define DURATION_MAX_US (INT64_MAX / 1000)

/* NULL if there is no unit of this name. */
static const struct unit *unit_find(struct bytes name)
{
	size_t i;

	for (i = 0; i < UNIT_COUNT; i++)
		if (bytes_equal(name, bytes_string(units[i].name)))
			return &units[i];
	return NULL;
}

/* Digits up to the first other character, the rest is the unit: cbt has one
 * pair of them only, unlike Go's time.ParseDuration. */
int duration_parse(struct bytes text, uint64_t *us)
{
	const struct unit *unit;
	uint64_t value = 0;
	bool over = false;
	size_t i;

	for (i = 0; i < text.size; i++) {
		uint8_t c = text.data[i];

		if (c < '0' || c > '9')
			break;
		/* All digits are read even if the value no longer fits: the
		 * message shows them. */
		over |= value > (UINT64_MAX - (c - '0')) / 10;
		value = value * 10 + (c - '0');
	}
	if (i == 0 || i == text.size)
		return fail(ERR_bad_gc_policy, "invalid duration \"%.*s\"",
			    (int)text.size, text.data);
	if (over)
		return fail(ERR_bad_gc_policy,
			    "invalid duration \"%.*s\": strconv.ParseUint: "
			    "parsing \"%.*s\": value out of range",
			    (int)text.size, text.data, (int)i, text.data);
	unit = unit_find(bytes_after(text, i));
	if (!unit)
		return fail(ERR_bad_gc_policy,
			    "unknown unit \"%.*s\" in duration \"%.*s\"",
			    (int)(text.size - i), text.data + i, (int)text.size,
			    text.data);
	if (value > DURATION_MAX_US / unit->us)
		return fail(ERR_bad_gc_policy,
			    "invalid duration \"%.*s\" overflows",
			    (int)text.size, text.data);
	*us = value * unit->us;
	return 0;
}

int duration_print(uint64_t us, struct buf *out)
{
	size_t i = 0;

	while (us % units[i].us)
		i++;
	assert(i < UNIT_COUNT);
	return buf_printf(out, "%llu%s", (unsigned long long)(us / units[i].us),
			  units[i].name);
}
