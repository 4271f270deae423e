#ifndef STORE_HEAT_HEAT_WALK_H
#define STORE_HEAT_HEAT_WALK_H

#include "store/heat/heat_record.h"

/* A run of records, of any tables. */
struct heat_source {
	struct bytes records;
	uint64_t until_s; /* buckets that begin then or later do not count */
};

/*
 * Calls each with every bucket of a table, in the order of the records, and the
 * fences that it goes by, which are the same while number is. Ends with the
 * first record that is not whole; a bucket whose fences are missing is passed
 * over. A result of each other than 0 ends it and is returned. 0 or -ENOMEM.
 */
int heat_walk(const struct heat_source *source, uint32_t table,
	      int (*each)(void *context, const struct heat_fences *fences,
			  unsigned int number,
			  const struct heat_bucket *bucket),
	      void *context);

#endif
