#ifndef STORE_ENGINE_READ_MOMENT_H
#define STORE_ENGINE_READ_MOMENT_H

#include "store/engine/read/snapshot.h"

/*
 * A snapshot of a moment of the recent past (history/moments.h): reads through
 * it see what was there then, of memtables, tree and history files. Unlike that
 * of now, it keeps no merge from dropping anything, since history has it; but
 * its moment stays one as long as it lives, whatever the cap. Only where
 * history has to give way for space it goes: reads are -ERR_moment_gone from
 * then on.
 */

/*
 * The last moment that is not after time_us, by the clock of GC. Its rules are
 * those of now until engine_moment_rules is called, which is good for reading
 * what no rules are about: the schema. To be released as any snapshot.
 * -ERR_no_moment names the oldest one, or with known both ends of a gap, of
 * which nobody knows what was there; -ENOMEM.
 */
int engine_moment(struct engine *e, uint64_t time_us, bool known,
		  struct engine_snapshot **out);

/* The time of the moment that engine_moment would find, and nothing else: 0 or
 * -ERR_no_moment. */
int engine_find_moment(struct engine *e, uint64_t time_us, uint64_t *found_us);

/* The rules of its moment, before anybody else has s: takes the reference over.
 */
void engine_moment_rules(struct engine_snapshot *s, struct gc_rules *rules);

/* Its time, in us. */
uint64_t engine_moment_time(const struct engine_snapshot *s);

#endif
