#ifndef STORE_ENGINE_REPAIR_REPAIR_H
#define STORE_ENGINE_REPAIR_REPAIR_H

#include "store/engine/core/engine.h"
#include "store/repair.h"

/*
 * Repair: makes a new store of all that can be read of a damaged one, which is
 * left as it is. Whole files are linked; of others what is whole is written
 * anew, entry by entry with its sequence, and so are logs. What a lost deletion
 * had hidden is back. With the manifest lost, every file that is there counts,
 * and the order of sequences alone decides; with its end lost, those that may
 * be part of what it lacks: see repair_find.c.
 *
 * One thread, no engine on either volume.
 */

struct repair_report {
	/* One sentence about what cannot be read, and encoded keys between
	 * which entries are lost; an empty one is a bound that is not known,
	 * and one entry alone is lost where both are the same key. Or about a
	 * file that was left out. All are valid during the call; a negative
	 * result ends the repair and is returned. */
	int (*tell)(void *context, const char *problem, struct bytes after,
		    struct bytes before);
	void *context;
};

/*
 * from, whose lease is held by the caller if it can be written, is only read;
 * to is empty and its lease is free: it is taken, and given back at the end. o
 * tells how to is written and must allow that. 0 however little was left;
 * -ERR_not_a_store if there is no sst and no log, -ENOMEM, -EMFILE, -ENFILE,
 * -ERR_format_newer, a result of tell, and errors of to, after which it is to
 * be thrown away. *result counts what was done, also then.
 */
int engine_repair(struct volume *from, struct volume *to,
		  const struct engine_options *o,
		  const struct repair_report *report,
		  struct repair_result *result);

/*
 * Calls each with every entry of an sst in [start, end), whose end must not be
 * empty, that is merged with others of its version into an aggregate, visible
 * or not; file by file, so in no order. A negative result of each ends it and
 * is returned.
 */
int engine_find_parts(struct engine *e, struct bytes start, struct bytes end,
		      int (*each)(void *context, struct bytes key,
				  struct bytes value),
		      void *context);

#endif
