#ifndef TOOLS_ADMIN_STREAMS_H
#define TOOLS_ADMIN_STREAMS_H

#include "store/store.h"
#include "store/text/print/text_stream.h"

#include <stdio.h>

/* What a daemon runs as mount_options.stream: dump and export, without the file
 * that they write to. */
int streams_open(struct store *s, int argc, char **argv, FILE *err,
		 bool (*stop)(void), struct text_stream **out);

#endif
