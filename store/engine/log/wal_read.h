#ifndef STORE_ENGINE_LOG_WAL_READ_H
#define STORE_ENGINE_LOG_WAL_READ_H

#include "store/base/volume/volume.h"

/*
 * Reading logs, whose framing wal.h has: to replay one, to find how far one was
 * durable, to salvage what is left of one that is damaged, and to look at one
 * wherever it lies. What a torn tail is and what is damage is decided here. One
 * thread reads a log at a time; none of it writes.
 */

/* What reading a log found. */
struct wal_replay {
	uint64_t record_count;
	uint64_t good_size; /* end of the last whole record, in bytes */
	uint64_t cut_size;  /* bytes after it that were dropped: torn tail */
	bool finished;      /* the log ends with its promise */
	bool is_old;        /* the record that each is called with is as format
			       1 has it, see batch_parse */
};

/*
 * Calls each with every record in order; a negative result of each ends the
 * replay and is returned, a positive one says that what the record refers to is
 * missing, which is judged like a record that is not whole. *result is kept up
 * to date meanwhile. final_size is the length the manifest holds for a
 * finished log, or 0 for the last log, whose tail may be torn. Anything wrong
 * in a finished log, or before the furthest promise, is -ERR_wal_damaged with
 * file and offset; after it, a torn tail, which is reported in *result and
 * ends the replay with success. Of a finished log, bytes after final_size are
 * not looked at. -ENOENT if there is no such log; -ENOMEM; errors of reading.
 * A record is valid until each returns.
 */
int wal_replay(struct volume *v, const char *name, uint64_t log_id,
	       uint64_t final_size,
	       int (*each)(void *context, struct bytes record), void *context,
	       struct wal_replay *result);

/* How far a log was read that another process may be writing; zeroed: to its
 * start. */
struct wal_place {
	uint64_t offset;       /* of what comes next */
	bool is_known, is_old; /* its format, and that it is 1 */
};

/*
 * Reads on from *place: calls each with every record that is whole, of the
 * format that place->is_old tells, and moves *place behind it. A result of each
 * other than 0 ends that before the record, and is returned. What is not whole
 * is under way, or a torn tail, and ends it with 0; but what the log says to
 * have been durable, or has by final_size, is -ERR_wal_damaged. Of a log that
 * is written meanwhile that may be so for a moment, as its blocks are read one
 * after the other: it is to be tried again. -ENOENT; -ENOMEM; errors of
 * reading.
 */
int wal_follow(struct volume *v, const char *name, uint64_t log_id,
	       uint64_t final_size,
	       int (*each)(void *context, struct bytes record), void *context,
	       struct wal_place *place);

/* How far a log is known to be durable by what is said in it, in bytes; all of
 * it, if it was finished. Reads the whole log otherwise. */
int wal_promised(struct volume *v, const char *name, uint64_t log_id,
		 uint64_t final_size, uint64_t *promised);

/*
 * Of a log that is damaged: calls each with every record that is whole,
 * whatever lies between them, and lost for each stretch that holds none. What
 * is left unfinished at the end of a log, after a crash, is such a stretch too;
 * and so is what a log lacks of the bytes that it was finished with. Negative
 * results of both end it and are returned. problem is one sentence with file
 * and offset. What cannot be read is taken for zeros. *result is kept up to
 * date meanwhile, without cut_size. The reader stays the caller's.
 */
int wal_salvage(struct reader *reader, uint64_t log_id, uint64_t final_size,
		int (*each)(void *context, struct bytes record),
		int (*lost)(void *context, const char *problem), void *context,
		struct wal_replay *result);

/* What looking at a log tells; a negative result of a call ends it and is
 * returned. */
struct wal_walk {
	/* A record, and where its first chunk is. It is valid until this
	 * returns. */
	int (*record)(void *context, uint64_t offset, struct bytes record);
	/* From offset to end there is no whole record, which is damage. */
	int (*damage)(void *context, uint64_t offset, uint64_t end,
		      const char *what);
	/* From offset on there is what recovery cuts, size bytes, or 0 for room
	 * that was held; nothing behind it is looked at. */
	int (*tail)(void *context, uint64_t offset, uint64_t size,
		    const char *what);
	void *context;
};

/* Tells of a log what is in it from its start on, and judges what is wrong as
 * wal_replay does, but goes on behind damage. *result as there. -ENOMEM; errors
 * of reading. The reader stays the caller's. */
int wal_walk(struct reader *reader, uint64_t log_id, uint64_t final_size,
	     const struct wal_walk *to, struct wal_replay *result);

/* The id that a log says itself that it has, by the chunk that it begins with,
 * or, of format 1, by a whole one in its first block or at the start of
 * another: 1, or 0 if there is none, or an error. */
int wal_find_id(struct reader *reader, uint64_t *id);

#endif
