#ifndef TOOLS_IMPORT_SETTLE_H
#define TOOLS_IMPORT_SETTLE_H

#include <time.h>

#include "store/text/import/import.h"
#include "tools/input/input.h"

/* What sees to it that rows of a slow input are in within a second, also while
 * it waits for more. */
struct settle {
	struct importer *importer; /* borrowed */
	struct timespec last;      /* CLOCK_MONOTONIC */
};

/* From now on reads of in, which is fed to im, settle. */
void settle_begin(struct settle *s, struct importer *im, struct input *in);

/* Of a struct settle, after each feed: settles if that is a second ago. 0 or an
 * error that ends the import. */
int settle_in_time(void *context);

#endif
