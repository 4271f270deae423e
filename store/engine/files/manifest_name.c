#include <stdio.h>
#include <string.h>

#include "store/base/volume/volume.h"
#include "store/engine/files/manifest_name.h"

void manifest_name(uint64_t id, const char *suffix, char *name)
{
	snprintf(name, VOLUME_NAME_MAX + 1, "%08x-%08x.%s",
		 (unsigned int)(id >> 32), (unsigned int)id, suffix);
}

bool manifest_parse_name(const char *name, uint64_t *id, const char **suffix)
{
	char again[VOLUME_NAME_MAX + 1];
	unsigned int epoch, number;
	int end = 0;

	/* sscanf takes signs, blanks and upper case: the name that is made of
	 * what it found has to be the same. */
	if (sscanf(name, "%8x-%8x.%n", &epoch, &number, &end) != 2 || end == 0)
		return false;
	*id = (uint64_t)epoch << 32 | number;
	*suffix = name + end;
	manifest_name(*id, *suffix, again);
	return strcmp(name, again) == 0;
}
