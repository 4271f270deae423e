#ifndef STORE_BASE_VOLUME_POSIX_VOLUME_H
#define STORE_BASE_VOLUME_POSIX_VOLUME_H

#include <pthread.h>
#include <stdatomic.h>

#include "store/base/lease/holder.h"
#include "store/base/volume/volume.h"

/*
 * What the files of the POSIX volume share: volume_posix.c has segments and
 * logs, volume_posix_own.c what is not named by the engine, volume_posix_note.c
 * notes, volume_posix_heat.c the heat, volume_posix_file.c what they do to
 * single files. The directory holds
 *
 *   tabletfs    the marker: says that this is a store, and of which format;
 *               locked as the lock file is, for that may be removed or replaced
 *               under its holder, while without a marker it is no store
 *   root        "tfsroot1" | u64 version | content | crc32c of all before
 *   root.spare  a former root, exchanged for the next
 *   lock        a write lock on it is the lease, a read lock a share of it;
 *               a line, who has or had it to write, and the same as holder.h
 *               has it
 *   <name>      a finished segment, or a log
 *   <name>.tmp  a file on its way; swept by whoever takes the lease
 *   <n>.spare   a piece of held room; what is in it means nothing
 *   LOG, LOG.1  notes
 *   HEAT        the history of heat
 *
 * A new file is written under its temporary name, synced, renamed, and then the
 * directory is synced. Logs are made under their own name, and the directory is
 * synced with their first sync. Nothing is read or written by its path after
 * the volume was opened, so it stays the same one if the directory is moved.
 */
#define POSIX_MARKER "tabletfs"
#define POSIX_ROOT "root"
#define POSIX_LOCK "lock"
#define POSIX_TMP ".tmp"
#define POSIX_SPARE ".spare"
/* A former root. It is overwritten and changes places with the present one,
 * which needs no new space. */
#define POSIX_ROOT_SPARE POSIX_ROOT POSIX_SPARE

/* A piece of held room: the file <number>.spare. */
struct posix_piece {
	uint64_t number;
	uint64_t size; /* bytes of its blocks */
};

/* All pieces, and what there should be; all but lock is protected by it. */
struct posix_spares {
	pthread_mutex_t lock;
	struct posix_piece items[VOLUME_SPARES_MAX]; /* largest first */
	size_t count;
	uint64_t next_number;
	uint64_t wanted[VOLUME_SPARES_MAX]; /* bytes; largest first */
	size_t wanted_count;
};

/* What a volume has of the lease. */
enum posix_lease {
	LEASE_NEVER,  /* had, nor wanted */
	LEASE_WRITES, /* the right to write */
	LEASE_SHARES, /* the right to read, with a lock file or without */
	LEASE_LEFT,   /* had either */
};

struct posix_volume {
	struct volume volume; /* first, so that it can be cast */
	char *path;           /* of the directory, for messages; owned */
	int directory;        /* open for reading; -1 only while opening */
	int lock;             /* the lock file while the lease is held, or -1;
				 set by those who take and release it alone */
	int share;            /* the lock file while the lease is shared, or -1;
				 set as lock is */
	int marked;           /* the marker, locked as the lock file is, or -1;
				 set as lock is */
	struct holder self;   /* while lock is held */
	struct holder former; /* who had the lease before; pid 0: not known */
	_Atomic enum posix_lease lease;
	_Atomic bool released; /* it had the lease to write, and has it no
				  more */
	struct posix_spares spares;
	_Atomic uint64_t asked; /* bytes of files that open readers have asked
				   for ahead */
	int notes; /* LOG, once something was noted, or -1; for one thread at a
		      time */
};

/* A name with POSIX_TMP behind it and a NUL. */
#define POSIX_TMP_NAME_SIZE (VOLUME_NAME_MAX + sizeof(POSIX_TMP))

/* v must be a volume of this kind. */
static inline struct posix_volume *posix(struct volume *v)
{
	return (struct posix_volume *)v;
}

#endif
