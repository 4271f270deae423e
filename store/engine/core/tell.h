#ifndef STORE_ENGINE_CORE_TELL_H
#define STORE_ENGINE_CORE_TELL_H

#include "store/engine/core/state.h"

/*
 * Events that say more than one line of code does; store/README.md lists all.
 * start_us is event_now's, from when it began.
 */

/* "00000001-00000002": a file's name without its suffix. */
struct file_stem {
	char text[24];
};
struct file_stem file_stem(uint64_t id);

/* m was flushed by edit, which was applied. Needs work. */
void tell_flushed(struct engine *e, const struct memtable *m,
		  const struct edit *edit, uint64_t start_us);

/* c was run by edit, which was applied; why it was due is one word. c's files
 * are still referenced. Needs work. */
void tell_compacted(struct engine *e, const struct compaction *c,
		    const struct edit *edit, const char *why,
		    uint64_t start_us);

/* A store was opened. */
void tell_opened(struct engine *e, uint64_t start_us);

#endif
