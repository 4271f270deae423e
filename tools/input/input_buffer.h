#ifndef TOOLS_INPUT_INPUT_BUFFER_H
#define TOOLS_INPUT_INPUT_BUFFER_H

#include <poll.h>

#include "tools/input/input_state.h"

/* The bytes of a file as they are stored, for what undoes them. */

/* Reads until count bytes, INPUT_BUFFER_SIZE at most, wait in the buffer or the
 * file ends. 0 or an error. */
int input_fill(struct input *in, size_t count);

/* poll(2) of what a read waits for, which tells input_while_waiting. 0 or an
 * error. */
int input_poll(struct input *in, struct pollfd *ready, nfds_t count);

/* Makes an error, with its detail, that of every further call. */
void input_fail(struct input *in, int err);

/* An error at the first byte that waits. */
int input_damaged(const struct input *in, const char *what);

#endif
