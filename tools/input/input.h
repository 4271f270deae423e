#ifndef TOOLS_INPUT_INPUT_H
#define TOOLS_INPUT_INPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * A file to be imported, read from its first byte on. Its content tells whether
 * it is compressed: gzip and lz4 are undone here, zstd, xz and bzip2 by their
 * programs, which then have to be installed.
 *
 * One thread at a time uses an input.
 */
struct input;

/* path is borrowed until input_close; "-" is standard input. 0, or an error
 * with its detail, and *out is NULL. */
int input_open(const char *path, struct input **out);
/* NULL is none. */
void input_close(struct input *in);

/*
 * The next bytes, size at most: how many; 0 at the end; or an error, which is
 * final, and whose detail names the file and, but for a program's, the offset
 * in it. What is before it was given; changed bytes may be among that, for
 * checksums stand behind what they are of.
 */
ssize_t input_read(struct input *in, uint8_t *out, size_t size);

/* While a read waits for bytes each is called some times a second; an error of
 * it ends the input. */
void input_while_waiting(struct input *in, int (*each)(void *context),
			 void *context);

/* How far the file itself was read, in bytes, and its size; 0 of a pipe. */
uint64_t input_taken(const struct input *in);
uint64_t input_size(const char *path);

/* Whether the path ends with the suffix, in any case, perhaps before one of a
 * compression. */
bool input_has_suffix(const char *path, const char *suffix);

#endif
