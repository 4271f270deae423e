#ifndef STORE_TEXT_PRINT_TEXT_STREAM_H
#define STORE_TEXT_PRINT_TEXT_STREAM_H

#include "store/base/buf.h"

/*
 * Text of a store that is made as it is taken, so that it needs neither memory
 * nor a file: a command writes it, a daemon answers reads with it. Embed it as
 * the first member of what makes it. One thread at a time uses a stream.
 */
struct text_stream {
	const char *doing; /* for messages: "Dumping" */
	/* Appends a piece, some 64 KiB and rarely more than 1 MiB: 1, 0 at the
	 * end, with nothing appended, or an error, after which only close is
	 * allowed. What was appended before an error is no whole text. */
	int (*next)(struct text_stream *t, struct buf *out);
	/* Ends t. */
	void (*close)(struct text_stream *t);
};

/* A stream hands on about so many bytes at once. */
#define TEXT_STREAM_PIECE ((size_t)64 << 10)

#endif
