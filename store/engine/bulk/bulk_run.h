#ifndef STORE_ENGINE_BULK_BULK_RUN_H
#define STORE_ENGINE_BULK_BULK_RUN_H

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

/* Writes such files one after another. Zeroed but for e and passing, none is
 * begun. */
struct run_writer {
	struct engine *e;
	bool passing; /* it will be merged: raw, and not read again here */
	struct sst_builder *builder; /* NULL: none begun */
	uint64_t admitted_size; /* bytes of builder that there is room for */
	struct run run;         /* of builder; owned until output_end */
	struct buf key;         /* the last one added, with its trailer */
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
/* Ends the file, if one was begun, reads it again unless it is passing, and
 * appends it to runs. After a failure there is no file. */
int run_writer_end(struct run_writer *o, struct run **runs, size_t *count);
/* Drops a file under way. */
void run_writer_release(struct run_writer *o);

#endif
