#ifndef TESTS_CONFORMANCE_SHA256_H
#define TESTS_CONFORMANCE_SHA256_H

#include "store/base/buf.h"

/* Appends the SHA-256 (FIPS 180-4) of in as 64 hexadecimal digits. */
int sha256_hex(struct bytes in, struct buf *out);

#endif
