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
 */

struct repair_report {
	/* One sentence about what cannot be read, and encoded keys between
	 * which entries are lost; an empty one is a bound that is not known. Or
	 * about a file that was left out. */
	int (*tell)(void *context, const char *problem, struct bytes after,
		    struct bytes before);
	void *context;
};

/*
 * from, whose lease is held if it can be written, is only read; to is empty and
 * its lease is held, too. 0 however little was left; -ENOMEM,
 * -ERR_format_newer, and errors of to.
 */
int engine_repair(struct volume *from, struct volume *to,
		  const struct engine_options *o,
		  const struct repair_report *report,
		  struct repair_result *result);

/* Calls each with every entry of an sst in [start, end) that is merged with
 * others of its version into an aggregate. A negative result of each ends it
 * and is returned. */
int engine_find_parts(struct engine *e, struct bytes start, struct bytes end,
		      int (*each)(void *context, struct bytes key,
				  struct bytes value),
		      void *context);

#endif
