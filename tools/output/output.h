#ifndef TOOLS_OUTPUT_OUTPUT_H
#define TOOLS_OUTPUT_OUTPUT_H

#include <stdio.h>

#include "store/base/bytes.h"
#include "store/text/print/text_stream.h"

/*
 * A file that a command makes, compressed by what its name ends in: .gz and
 * .lz4 here, .zst, .xz and .bz2 by their programs, which then have to be
 * installed. Where a regular file is to be or is none yet, it is written as
 * PATH.partial, which gets its name when it is whole and durable; anything
 * else, such as a pipe, is written to as it is. One thread at a time uses it.
 *
 * PATH.partial is locked by flock meanwhile, and has the sticky bit. One that
 * has it and is not locked was left by a command that was killed, and is
 * removed, with a word on standard error; any other stays.
 *
 * Errors name the file. From output_open on a pipe without a reader is an error
 * of a write and no signal, and so are SIGINT and SIGTERM, see
 * tools/verb/stop.h: they end the file as an error does.
 */
struct output;

/* NULL and "-" are standard output, never compressed. 0, or an error and *out
 * is NULL: -EEXIST if another command writes PATH.partial, which is named, or
 * that is no left-over; -EINVAL if path has the name of an archive, as of
 * .zip. */
int output_open(const char *path, struct output **out);

/* Whether a file of this name is compressed. */
bool output_compresses(const char *path);

/* All of it or an error, which stays. */
int output_write(struct output *o, struct bytes data);

/* Whether a write has failed. */
bool output_failed(const struct output *o);

/* Ends o in every case. On failure nothing of PATH has changed. */
int output_finish(struct output *o);

/* Ends o: what was written is no whole file. NULL is allowed. */
void output_abandon(struct output *o);

/* Writes all of t: 0 or an error, of either. */
int output_stream(struct output *o, struct text_stream *t);

/* A stream to print to, which is closed before o is ended; NULL without
 * memory. */
FILE *output_printed(struct output *o);

#endif
