#ifndef TOOLS_SERVE_GRPC_H
#define TOOLS_SERVE_GRPC_H

#include <stdbool.h>
#include <stdint.h>

#include "store/base/buf.h"

/*
 * What gRPC adds to HTTP/2, as pure functions over bytes. A message is a prefix
 * of five bytes, whether it is compressed and its size, big endian, and then
 * its bytes.
 */
#define GRPC_PREFIX_SIZE 5
/* The text of a status is cut after so many bytes. */
#define GRPC_TEXT_MAX 1023

/* Of a message that is not compressed. */
void grpc_prefix(uint8_t prefix[GRPC_PREFIX_SIZE], uint32_t size);
uint32_t grpc_prefix_size(const uint8_t prefix[GRPC_PREFIX_SIZE]);

/* "100m", the value of grpc-timeout: up to eight digits and a unit. 0 with
 * microseconds, less than one of them as one, or -EINVAL. */
int grpc_timeout(struct bytes text, uint64_t *us);

/* Whether a content type is gRPC's: "application/grpc", alone or with what
 * follows a '+' or ';'. */
bool grpc_content_type(struct bytes text);

/* Adds text, or as much of it as is sent, as grpc-message has it: what is not
 * printable ASCII, and '%', as %XX. 0 or -ENOMEM. */
int grpc_add_text(struct buf *b, struct bytes text);

#endif
