#ifndef STORE_ENGINE_FILES_MANIFEST_NAME_H
#define STORE_ENGINE_FILES_MANIFEST_NAME_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Names of files in a volume: "<epoch>-<number>.<suffix>", eight hex digits
 * each, of a file's id, epoch << 32 | number. Suffixes are sst, log, blob and
 * edits. Names sort as ids do.
 */

/* name has VOLUME_NAME_MAX + 1 bytes. */
void manifest_name(uint64_t id, const char *suffix, char *name);

/* The parts of a file's name, *suffix being a part of it; false if it is none
 * that manifest_name makes. */
bool manifest_parse_name(const char *name, uint64_t *id, const char **suffix);

#endif
