#ifndef STORE_PURGE_H
#define STORE_PURGE_H

#include "store/base/bytes.h"

/*
 * Erasing rows for good: those that are there are deleted, and no file of the
 * store has any of them afterwards, nor what names them: no sst, history file,
 * log, file of large values, edit of the manifest or piece of held room, nor
 * the history of heat, which loses the table. What else is written of a store
 * is not touched: backups, dumps, exports, copies; LOG, whose lines have no
 * keys but in the words of an error; what imports tell of refused lines in the
 * table _imports; and blocks of the disk that no file has. Who reads at a
 * moment or by a snapshot finds the rest as it was, and these rows no more.
 */
struct store;

/* Rows with start <= key < end; an empty end is none. */
struct purge_span {
	struct bytes start, end;
};

struct purge_result {
	uint64_t rows;       /* that were there, and were deleted */
	uint64_t entries;    /* writes and deletions erased from files */
	uint64_t files;      /* ssts, and */
	uint64_t past_files; /* of history, that were written anew or went */
	uint64_t blob_files; /* of large values, that went */
	uint64_t size;       /* bytes of all these */
};

/*
 * Who holds of rows what the store would get back, as open files do, is told of
 * a purge, by its thread: before rows are deleted, and when they are, or could
 * not be. In between, which is a commit's time without its sync, and afterwards
 * it gives the store nothing that came from them.
 */
struct purge_holder {
	void (*begin)(void *context, struct bytes table,
		      const struct purge_span *rows, size_t count);
	void (*end)(void *context);
	void *context;
};

/* The holder, copied, or NULL for none. To be set before other threads use s,
 * and NULL before its context ends. */
void store_on_purge(struct store *s, const struct purge_holder *holder);

/* How long it waits for who reads files that have gone. */
#define STORE_PURGE_WAIT_MS 10000

/*
 * Erases rows of a table, and of those that had its name before and were
 * dropped; it need not be there any more. rows, count of them, ascend and do
 * not overlap. Durable when it returns 0; what is written to the rows after
 * they were deleted stays. Waits wait_ms for who reads files that have gone.
 * *out is what was done, also after a failure.
 *
 * -EPERM if the table is protected; -ERR_no_table if neither the store nor its
 * history knows it; -EBUSY if files are still being read, with who does it:
 * then the rows are gone from the store, but not all bytes of theirs from the
 * disk; -ENOSPC if there is no room to write files anew. After any of the
 * latter two, and after a crash, the rows may be deleted and their past be
 * there still; the same call again ends it.
 */
int store_purge(struct store *s, struct bytes table,
		const struct purge_span *rows, size_t count,
		unsigned int wait_ms, struct purge_result *out);

#endif
