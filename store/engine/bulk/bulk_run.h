#ifndef STORE_ENGINE_BULK_BULK_RUN_H
#define STORE_ENGINE_BULK_BULK_RUN_H

#include "store/base/bg.h"
#include "store/engine/core/state.h"
#include "store/format/key.h"
#include "store/format/sst/sst_build.h"

/*
 * The sorted files of a bulk load while they are nobody's but the load's: in no
 * version and, if the process dies, swept by the next opening.
 */
/* One file. Its bounds are version keys. */
struct run {
	uint64_t id, size; /* size: 0 of one that is to be merged */
	struct buf smallest, middle,
		largest; /* middle: see run_writer_middle */
};

/* Frees the list and what its items own; the files stay. */
void runs_release(struct run *runs, size_t count);
/* Removes the files. */
void runs_remove(struct engine *e, const struct run *runs, size_t count);

/*
 * Writes such files one after another. Zeroed but for e, beside and passing,
 * none is begun. Each that is not to be merged is read again, and compared with
 * what was meant: beside what follows, as a volume elsewhere takes as long for
 * that as for the writing. Only then its size is known.
 */
struct run_writer {
	struct engine *e;
	bool beside;  /* there may be a thread for its own work */
	bool passing; /* it will be merged: raw, and not read again here */
	struct sst_builder *builder; /* NULL: none begun */
	uint64_t admitted_size; /* bytes of builder that there is room for */
	struct run run;         /* of builder; owned until run_writer_end */
	struct buf key;         /* the last one added, with its trailer */
	struct task reading; /* of ended, which is its while it is under way */
	bool is_unread;      /* ended was not found to be right yet */
	struct {
		uint64_t id, digest; /* digest: what was meant */
		uint64_t size;       /* by reading */
	} ended;                     /* the file ended last */
};

/* Adds a put, to a new file if none is begun; keys come in strictly ascending
 * order. */
int run_writer_add(struct run_writer *o, struct bytes version_key,
		   enum key_kind kind, struct bytes value);
/* Notes the key that about half of the puts of the file are before. 0 or
 * -ENOMEM. */
int run_writer_middle(struct run_writer *o, struct bytes version_key);
/* The version key added last; there must be one. */
struct bytes run_writer_last(const struct run_writer *o);
/* Ends the file, if one was begun, and appends it to runs, where the one before
 * is the last, as run_writer_settle leaves it. After a failure the file is not
 * there, or still under way. */
int run_writer_end(struct run_writer *o, struct run **runs, size_t *count);
/* Waits until the last of runs, if o ended it, was read again: has its size, or
 * an error, and then it may be tried again. */
int run_writer_settle(struct run_writer *o, struct run *runs, size_t count);
/* Drops a file under way. */
void run_writer_drop(struct run_writer *o);
/* That, too, and ends o. */
void run_writer_release(struct run_writer *o);

#endif
