#ifndef FS_CONTROL_BATCH_FRAMES_H
#define FS_CONTROL_BATCH_FRAMES_H

#include "store/text/track/import_position.h"

/*
 * The frames that .import/resume/NAME/batch takes, one behind the other:
 *
 *   rows SIZE POSITION_SIZE\n
 *   SIZE bytes: lines of JSON
 *   POSITION_SIZE bytes: the text of a position, see import_position.h
 *
 * Sizes are decimal. A frame may come in any pieces; of its rows nothing is
 * held. A zeroed one stands before the first frame. One thread at a time.
 */
struct batch_frames {
	char head[64];
	size_t head_size;       /* bytes of the first line that came */
	bool in_frame;          /* that line is whole */
	uint64_t rows_left;     /* bytes */
	uint64_t position_left; /* bytes */
	struct buf position;
};

/* What batch_frames_take gives. */
enum { BATCH_ROWS = 1, BATCH_POSITION = 2 };

void batch_frames_release(struct batch_frames *b);

/* Takes from the front of data: BATCH_ROWS with some rows, borrowed from it;
 * BATCH_POSITION with the position at the end of a frame; 0 when all was taken;
 * or -ERR_bad_argument, -ENOMEM, after which it is only to be released. */
int batch_frames_take(struct batch_frames *b, struct bytes *data,
		      struct bytes *rows, struct import_position *upto);

#endif
