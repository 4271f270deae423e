#ifndef TOOLS_ADMIN_DUMP_H
#define TOOLS_ADMIN_DUMP_H

#include "tools/output/output_verb.h"

/*
 * dump [FILE]: all that the store shows, as text of the format in
 * store/text/dump/README.md. 1 if it could not all be written: FILE is then as
 * it was before.
 */
int verb_dump(struct verb_call *c);

/* The same of a store that is mounted: the daemon reads, this writes. */
int remote_dump(struct verb_call *c, const struct served *served);

/* In the daemon: what dump prints, without FILE. 0, or 1 after it said what is
 * wrong. */
int dump_stream(struct verb_call *c, bool (*stop)(void),
		struct text_stream **out);

/* load FILE DIR: makes DIR a store of a dump, built as DIR.partial/store. 1 if
 * FILE is no whole dump or DIR cannot be made; then nothing is left of it. */
int verb_load(struct verb_call *c);

#endif
