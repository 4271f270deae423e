#ifndef STORE_FORMAT_SST_SST_SALVAGE_H
#define STORE_FORMAT_SST_SST_SALVAGE_H

#include "store/format/sst/sst.h"

/*
 * Reading what is left of a file that is damaged: every entry whose block is
 * whole and every range tombstone, each in order; without footer or index,
 * those up to the first block that is damaged. A negative result of a call ends
 * it and is returned. Keys and values are valid during the call alone.
 */
struct salvage {
	int (*entry)(void *context, struct bytes key, struct bytes value);
	int (*tombstone)(void *context, const struct tombstone *t);

	/* What was between these keys cannot be read; an empty one is a bound
	 * that is not known. */
	int (*lost)(void *context, const char *problem, struct bytes after,
		    struct bytes before);

	/* Tombstones cannot be read, so what they deleted may be back. */
	int (*undeleted)(void *context, const char *problem);

	void *context;
};

/* Calls to with all that is left. reader stays the caller's. 0 however little
 * was left; -ENOMEM, -ERR_format_newer for a file that is not damaged but not
 * understood, and what a call returned. */
int sst_salvage(struct reader *reader, const struct salvage *to);

#endif
