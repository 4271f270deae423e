#ifndef STORE_TEXT_VALUE_BASE64_H
#define STORE_TEXT_VALUE_BASE64_H

#include "store/base/buf.h"

/* RFC 4648's base64 with padding, appended to out. 0 or -ENOMEM. */
int base64_encode(struct bytes in, struct buf *out);
/* The reverse; -ERR_bad_line if in is not exactly what base64_encode makes. */
int base64_decode(struct bytes in, struct buf *out);

#endif
