#ifndef TOOLS_INPUT_INPUT_STATE_H
#define TOOLS_INPUT_INPUT_STATE_H

#include "tools/input/input.h"

/* What the files of input.c share: bytes of the file as they are stored, and
 * what undoes them. */

#define INPUT_BUFFER_SIZE (256 << 10)

struct input {
	const char *path; /* borrowed */
	int fd;
	bool ended;     /* of fd */
	int failed;     /* the error that every further call returns, */
	char why[512];  /* with this detail */
	uint64_t taken; /* of fd */
	uint8_t *buffer;
	size_t at, end; /* in buffer: what was read and not taken yet */
	const struct input_kind *kind;
	void *state;                   /* of the kind */
	int (*waiting)(void *context); /* or NULL */
	void *context;
};

/* How the bytes of a file are undone. */
struct input_kind {
	/* 0, or an error without any state. */
	int (*begin)(struct input *in);
	/* As input_read. */
	ssize_t (*read)(struct input *in, uint8_t *out, size_t size);
	void (*end)(struct input *in);
};

extern const struct input_kind input_gzip, input_lz4;
extern const struct input_kind input_bzip2, input_xz, input_zstd;

#endif
