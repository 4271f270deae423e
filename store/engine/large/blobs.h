#ifndef STORE_ENGINE_LARGE_BLOBS_H
#define STORE_ENGINE_LARGE_BLOBS_H

#include <pthread.h>

#include "store/engine/core/engine.h"
#include "store/engine/files/version.h"

/*
 * Large values: their chunks are appended to the present blob file before the
 * commit that refers to them, and outside its lock. A blob file is a log of the
 * volume; it grows until it has its size, and is then finished and another one
 * begun. Nothing is synced by itself: whoever syncs the write-ahead log, or
 * applies an edit that refers to chunks, calls blob_sync before.
 *
 * Which chunks are garbage is not counted but follows from the ssts: each
 * tells which blob files it refers to. A finished file goes when no sst of the
 * present version refers to it, no commit that is not flushed yet did
 * (named_seq), and nobody holds it.
 *
 * A hold on a file keeps it from that, so that references to it can still be
 * committed. engine_write takes references to files that are there.
 *
 * The engine's lock is engine.lock; it comes after both locks here. Any thread
 * may call what follows, where nothing else is said.
 */
struct blobs {
	/* Taken in this order, after sync and before edits. */
	pthread_mutex_t syncing; /* syncing the log, replacing it */
	pthread_mutex_t lock;    /* appending to it */

	struct log *log;        /* NULL: none begun; changed under both */
	struct blob_file *file; /* of log; referenced; NULL with it */
	_Atomic uint64_t size;  /* of log, in bytes; changed under lock */
	uint64_t file_size;     /* that it is to have; protected by lock */
	uint64_t synced;        /* of them, durable; protected by syncing */
	bool broken;            /* an append failed, and left an end that is
				   not known; protected by lock */
};

/* 0 or -ENOMEM. No file is begun before the first append. */
int blobs_new(struct blobs **out);

/* Ends the log as if the process had died. NULL is allowed. */
void blobs_free(struct blobs *b);

/* Files that are held. Zeroed, it holds none. One thread at a time uses it. */
struct blob_holds {
	struct blob_file **files; /* each once, with a reference */
	size_t count;
};

/* Adds the files that list refers to. -ESTALE if one of them is no more; what
 * was held stays so, in h, which is to be released in any case. -ENOMEM. Takes
 * the engine's lock. */
int blob_hold(struct engine *e, struct blob_holds *h,
	      const struct blob_list *list);

/* Lets go of all; then h holds none. Takes the engine's lock. */
void blob_release(struct engine *e, struct blob_holds *h);

/*
 * Appends a chunk that holds raw, 1 to BLOB_CHUNK_SIZE_MAX bytes, holds its
 * file and fills *c. scratch is for speed. Nothing is durable yet; see
 * blob_sync. A failure to write leaves the store as it is: the next append
 * begins another file, unless it was for lack of space. -ENOSPC,
 * -ERR_store_readonly, -ENOMEM, and what beginning a file meets.
 */
int blob_append(struct engine *e, struct bytes raw, struct buf *scratch,
		struct blob_holds *h, struct blob_chunk *c);

/* Makes durable all that was appended before. What a failure means is the
 * caller's to tell, see engine_sync_failed. Nothing to do without a file. */
int blob_sync(struct engine *e);

/* Ends the present file, if there is one, so that it can be collected. */
int blob_finish(struct engine *e);
/* As blob_finish, but no other file begins until blob_resume, which is called
 * after a failure, too: until then every file is finished, so that no sst can
 * come to refer to one that is not. */
int blob_pause(struct engine *e);
void blob_resume(struct engine *e);

/* With the commit lock held: notes that a commit with this last sequence refers
 * to the files that batch does; -ESTALE if one is no more. Files noted before a
 * failure stay longer than they need to. */
int blob_name(struct engine *e, const struct batch *batch, uint64_t seq);

#endif
