#ifndef FS_STATE_METRICS_H
#define FS_STATE_METRICS_H

#include "store/text/watch/requests.h"

/* How long requests of the kernel took: kinds are its opcodes. */
void metrics_init(struct requests *r);

void metrics_print(const struct requests *r, struct figures *f);

#endif
