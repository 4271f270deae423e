#ifndef STORE_ENGINE_LOG_WAL_H
#define STORE_ENGINE_LOG_WAL_H

#include "store/base/volume/volume.h"

/*
 * The framing of the write-ahead log and of the manifest's edit log: records of
 * any size in 32 KiB blocks, each record a sequence of chunks
 *
 *   crc32c u32 | size u16 | type u8 | back u32 | payload
 *
 * crc32c covers the id of the log and the chunk's offset in it, which are not
 * written (wal_chunk.h), and all that follows it: so a chunk of another log, or
 * of another place in this one, is none here. type: 6 full, 7 first, 8 middle,
 * 9 last, 10 promise (no payload), 11 head (the id of the log, the first chunk
 * of it). back promises how far the log was known durable when the chunk was
 * written, in bytes before the chunk; 2^32 - 1 promises nothing. It is what
 * tells a torn tail, which is cut, from damage to acknowledged data, which is
 * refused (Pebble's walSync format). A block's last bytes, fewer than 23, are
 * zero.
 *
 * Logs of format 1, which are only read, have types 1 to 5 for 6 to 10, and
 *
 *   crc32c u32 | size u16 | type u8 | log_id u64 | synced u64 | payload
 *
 * A struct wal is a log that is written. One thread at a time appends, finishes
 * or abandons; wal_sync may run in any number of threads beside wal_append. The
 * log of an earlier life is only read, see wal_read.h.
 */
struct wal;

/* The log is a new one of v under this name, empty and not yet durable. log_id
 * counts in each chunk, so that bytes of another log are not taken for its own.
 * -EEXIST if the name is taken; -ENOMEM; errors of the volume. */
int wal_create(struct volume *v, const char *name, uint64_t log_id,
	       struct wal **out);

/* As wal_create, in the place of a piece of at least size bytes, of which so
 * many need no new space; -ENOSPC if none is held. */
int wal_from_spare(struct volume *v, const char *name, uint64_t log_id,
		   uint64_t size, struct wal **out);

/* Whether there is held room for one more record of so many bytes and the end
 * of the log. By the writer alone. */
bool wal_has_room(const struct wal *w, size_t record_size);

/* Holds room for one more record of so many bytes and the end of the log; if
 * that is not there yet, for more bytes besides. -ENOSPC: as before. By the
 * writer alone. */
int wal_reserve(struct wal *w, size_t record_size, uint64_t more);

/* One record of at least a byte, handed to the operating system before this
 * returns. After an error nothing of it counts, and it may be tried again
 * unless the log is broken. */
int wal_append(struct wal *w, struct bytes record);

/* All records appended before the call are durable when it returns 0. After
 * -ENOSPC it may be tried again; after another error the log is broken. */
int wal_sync(struct wal *w);

/* Whether an append or sync has failed in a way after which the end of the log
 * is not known. It must not be written again. */
bool wal_broken(const struct wal *w);

/* Bytes written so far, heads and zeros included. From any thread. */
uint64_t wal_size(const struct wal *w);

/* Syncs, appends a promise for the whole log, syncs. *size is the log's final
 * length, for the manifest, or 0 after an error. w stays open, and may go on to
 * be written unless the manifest was told. */
int wal_finish(struct wal *w, uint64_t *size);

/* Ends w without syncing: what is not durable may be lost with a power cut.
 * NULL is allowed. */
void wal_abandon(struct wal *w);

#endif
