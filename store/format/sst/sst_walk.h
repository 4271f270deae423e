#ifndef STORE_FORMAT_SST_SST_WALK_H
#define STORE_FORMAT_SST_SST_WALK_H

#include "store/format/sst/rowdir.h"
#include "store/format/sst/sst.h"

/*
 * Looking at a file from its footer to its last entry: what it consists of,
 * where, and what is wrong. Unlike sst_verify it goes on behind what is wrong,
 * with all that can still be read. One block is in memory at a time. What calls
 * are given is valid during the call; a negative result of one ends the walk
 * and is returned.
 */
struct sst_walk {
	/* The footer was read: its version, and which features it names. */
	int (*format)(void *context, uint32_t version, uint32_t features);
	/* Of the file's parts each that there is. */
	int (*part)(void *context, const char *name, uint64_t offset,
		    uint64_t size);
	/* A whole block, such as "data block 3", size bytes as stored and
	 * raw_size in memory. What it holds is told next. */
	int (*block)(void *context, const char *name, uint64_t offset,
		     uint64_t size, uint64_t raw_size);
	int (*properties)(void *context, const struct sst_properties *p);
	int (*tombstone)(void *context, const struct tombstone *t);
	/* An entry of the data; key is whole. */
	int (*entry)(void *context, struct bytes key, struct bytes value);
	/* An entry of the row directory. */
	int (*row)(void *context, struct bytes prefix,
		   const struct row_summary *summary);
	/* Within these bytes, which are those of the part that name says. */
	int (*wrong)(void *context, const char *name, uint64_t offset,
		     uint64_t size, const char *what);
	void *context;
};

/* Whether a file ends as an sst does, of this format or of a newer one: 1, 0 or
 * an error of reading. */
int sst_is_one(struct reader *reader);

/* 0 however much is wrong; -ENOMEM, or what a call returned. reader stays the
 * caller's. */
int sst_walk(struct reader *reader, const struct sst_walk *to);

#endif
