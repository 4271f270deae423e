#ifndef STORE_BASE_RADOS_POOL_STREAM_H
#define STORE_BASE_RADOS_POOL_STREAM_H

#include "store/base/rados/object/pool_registry.h"

/*
 * Bytes on their way into the parts of a file, in pieces of which several are
 * under way at once. Each is written at its own place, so that one that is sent
 * again does no harm, and is kept until it is known to be there.
 *
 * Parts of a log are made before they are written to, with the fence of their
 * writer, without which nothing is written to them; and as another may have
 * taken the lease meanwhile, the fence of the root is looked at after that.
 * Before the next part begins all of the former ones is there, so that a log is
 * never longer than it is whole.
 *
 * One thread hands over at a time; any may wait.
 */
struct pool_piece;

struct pool_stream {
	struct pool_volume *volume; /* borrowed */
	const char *name;           /* borrowed */
	uint64_t nonce;
	enum pool_state state;        /* POOL_SEGMENT or POOL_LOG */
	char fence[POOL_NUMBER_SIZE]; /* of its writer; "": has none */
	uint64_t parts;               /* that were made, of a log; of who hands
					 over */
	uint64_t room;                /* so many bytes also fit a full pool; as
					 well */
	uint64_t size;                /* handed over; as well */

	pthread_mutex_t lock; /* of what follows */
	pthread_cond_t moved;
	struct pool_piece *first, **end; /* not known to be there, in order */
	unsigned int under_way;
	uint64_t done; /* bytes from the start that are there */
	int err;       /* raw; for lack of space it may be sent again */
};

void pool_stream_init(struct pool_stream *s, struct pool_volume *v,
		      const char *name, uint64_t nonce, enum pool_state state);
/* Waits for what is under way, and drops what is not there. */
void pool_stream_release(struct pool_stream *s);

/* Hands over what is in data, which is empty then. Lack of space is told by
 * pool_stream_wait alone. 0 or an error, after which nothing more may be handed
 * over. */
int pool_stream_send(struct pool_stream *s, struct buf *data);

/* Waits until so many bytes are there: 0; -ENOSPC, and what is missing can be
 * sent again; -ERR_store_lost; or an error that stays. */
int pool_stream_wait(struct pool_stream *s, uint64_t size);

/* Sends again what has not found space; by who hands over. */
int pool_stream_again(struct pool_stream *s);

/* Waits until nothing is under way, whatever came of it. */
void pool_stream_settle(struct pool_stream *s);

/* Whether nothing is under way; and whether space was lacking. */
bool pool_stream_is_idle(struct pool_stream *s);
bool pool_stream_is_short(struct pool_stream *s);

#endif
