#ifndef FS_COMMAND_COMMAND_H
#define FS_COMMAND_COMMAND_H

#include <stdio.h>

#include "store/base/buf.h"

/*
 * How a command comes to who has the store, and how its reply goes back, as
 * bytes: kernel/mount.h has the protocol. The file .tabletfs/ctl speaks it, and
 * the socket of a server without a mount.
 */
struct text_stream;

/* Words of one request: more than a command line may have. */
#define COMMAND_WORDS_MAX 4096

/* What of a request has come, in: 1 with *words if that is all of it, 0 if more
 * has to come, or an error. */
int command_find(struct bytes in, struct bytes *words);

/* Sets words, which has room for COMMAND_WORDS_MAX + 1, to those of a request,
 * each ended by NUL, and a NULL after the last. They point into request. Their
 * number, at least 1, or an error. */
int command_split(struct bytes request, char **words);

/* One of a command's two streams: what it prints becomes frames. */
struct command_stream {
	/* Takes bytes: whether it did. */
	bool (*write)(void *context, struct bytes data);
	void *context;
	char letter; /* of its frames: o or e */
};

/* A stream to print to, or NULL; s must live as long. */
FILE *command_open(struct command_stream *s);

/* Appends the next frame of a reply that is made as it is taken, and after the
 * last one the exit status; the stream is closed then, and NULL. 0 or -ENOMEM.
 */
int command_next(struct text_stream **stream, struct buf *out);

#endif
