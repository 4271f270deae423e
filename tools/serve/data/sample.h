#ifndef TOOLS_SERVE_DATA_SAMPLE_H
#define TOOLS_SERVE_DATA_SAMPLE_H

#include "tools/serve/method/method.h"

/* SampleRowKeys and PingAndWarm. */
enum call_result sample_row_keys(struct call *c, void *context);
void sample_row_keys_release(void *state);
enum call_result ping_and_warm(struct call *c, void *context);

#endif
