#ifndef STORE_BASE_RADOS_OBJECT_POOL_VOLUME_H
#define STORE_BASE_RADOS_OBJECT_POOL_VOLUME_H

#include <pthread.h>
#include <rados/librados.h>
#include <stdatomic.h>

#include "store/base/bg.h"
#include "store/base/lease/holder.h"
#include "store/base/volume/volume.h"

/*
 * A volume in a pool of a Ceph cluster: rados:POOL/NAME. This room is a plugin,
 * the only code that needs librados; what it calls of the rest is the
 * program's.
 *
 * A store is the namespace NAME of the pool. It holds
 *
 *   root             content of the root, and its crc32c;
 *                    xattrs: "tabletfs", the format; "version" of the root;
 *                    "fence", the number of the last holder; "holder", its
 *                    line, and the same as holder.h has it;
 *                    omap: the registry of files, see pool_registry.h;
 *                    cls lock "lease": for writing exclusive, shared for
 *                    reading, of POOL_LEASE_MS, renewed as long as its holder
 *                    lives
 *   FILE.NONCE.PART  a part of a file, of a size that its kind has
 *   LOG, LOG.1       notes
 *   HEAT             the history of heat
 *
 * Numbers in xattrs and names are 16 hexadecimal digits, which compare as the
 * numbers do.
 *
 * A lease alone is not safe, for its holder may be stopped between looking at
 * it and writing. So each holder has a number, the fence, greater than those
 * before. All that changes the root does so on the condition that the fence
 * there is its own; parts of a log, and notes and heat, have the number of
 * their writer themselves, and whoever takes the lease writes a greater one to
 * each, from which on the former one's writes are refused by the OSD. Parts of
 * segments need none: nobody knows of them before the root does, and no two
 * writers have the same nonce.
 */
#define POOL_ROOT "root"
#define POOL_LOCK "lease"
#define POOL_FORMAT "tabletfs"
#define POOL_VERSION "version"
#define POOL_FENCE "fence"
#define POOL_HOLDER "holder"

/* Milliseconds for which a lock holds that is not renewed, and between two
 * renewals. */
#define POOL_LEASE_MS 5000
#define POOL_RENEW_MS 1000
/* So long reads wait for the cluster; what changes something waits on. */
#define POOL_PATIENCE_MS 30000

/* 16 digits and a NUL. */
#define POOL_NUMBER_SIZE 17

/* What a volume has of the lease. */
enum pool_lease {
	POOL_NEVER,  /* had, nor wanted */
	POOL_WRITES, /* the right to write */
	POOL_SHARES, /* the right to read */
	POOL_LEFT,   /* had either */
};

struct pool_garbage;
struct pool_log;
struct pool_window;

/* What keeps the parts of a file: embed as the second member of a reader. */
struct pool_reading {
	struct pool_reading *next;
	uint64_t nonce;
};

/* Held room: permission for so many bytes in a full pool. */
struct pool_spares {
	uint64_t items[VOLUME_SPARES_MAX];  /* largest first */
	uint64_t wanted[VOLUME_SPARES_MAX]; /* largest first */
	size_t count;
	size_t wanted_count;
};

/* Seconds that what is told of a pool's space may be old. */
#define POOL_SPACE_LAG 15

/* Bytes that were written in a second. */
struct pool_written {
	uint64_t second, size;
};

#define POOL_WINDOWS 32

struct pool_volume {
	struct volume volume; /* first, so that it can be cast */
	char *path;           /* "rados:POOL/NAME"; owned */
	rados_t cluster;
	rados_ioctx_t io; /* of the pool, in the namespace of the store */

	/* The lease; these are set by who takes and releases it alone. */
	char fence[POOL_NUMBER_SIZE]; /* its number; "": never had it. Of who
					 shares, what it was when it began */
	char cookie[HOLDER_TEXT_SIZE];
	void (*lost_call)(void *context);
	void *lost_context;
	struct bg *renewer; /* NULL: has no lease */
	_Atomic enum pool_lease lease;
	_Atomic bool lost;           /* another has taken it */
	_Atomic uint64_t sure_until; /* by pool_now_ms: the lock holds */
	_Atomic bool still;          /* for tests: does not renew */
	pthread_mutex_t telling;     /* of lost, and of release */

	pthread_mutex_t logging; /* of logs; taken before lock */
	struct pool_log *logs;   /* those that are open */

	pthread_mutex_t lock;          /* of what follows */
	struct pool_reading *readings; /* by readers that are open */
	struct pool_garbage *garbage;  /* what is to be removed */
	struct pool_spares spares;
	struct pool_window *windows; /* POOL_WINDOWS, or NULL: none yet */
	uint64_t window_clock;
	struct volume_space space;                   /* as it was told last */
	uint64_t space_ms;                           /* when; 0: never */
	struct pool_written written[POOL_SPACE_LAG]; /* by the second */

	_Atomic bool full; /* the pool has refused something */
};

/* v must be a volume of this kind. */
static inline struct pool_volume *pool(struct volume *v)
{
	return (struct pool_volume *)v;
}

#endif
