#ifndef TOOLS_OUTPUT_OUTPUT_STATE_H
#define TOOLS_OUTPUT_OUTPUT_STATE_H

#include "store/base/buf.h"
#include "tools/output/output.h"

/* What the files of output.c share. */

struct output {
	const char *path; /* for messages; borrowed */
	int fd;           /* owned, but for standard output */
	char *place;      /* where it goes when it is whole; NULL: fd is it */
	char *partial;    /* until then */
	int failed;       /* the error that every further call returns, */
	char why[512];    /* with this detail */
	const struct output_kind *kind; /* NULL until it has begun */
	void *state;                    /* of the kind */
};

/* How the bytes of a file are made. Each is 0 or an error with its detail. */
struct output_kind {
	int (*begin)(struct output *o);
	int (*write)(struct output *o, struct bytes data);
	/* Hands on what is left, and the end. */
	int (*finish)(struct output *o);
	/* After finish or instead of it. */
	void (*end)(struct output *o);
};

extern const struct output_kind output_gzip, output_lz4;
extern const struct output_kind output_bzip2, output_xz, output_zstd;

#endif
