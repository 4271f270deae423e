#ifndef TOOLS_SERVE_VERB_ROUTES_H
#define TOOLS_SERVE_VERB_ROUTES_H

#include "tools/serve/call.h"

/* All methods that are served; their context is a struct service. Ended by one
 * without path. */
extern const struct route routes[];

/* As server_options.answerable, of the store of a struct service. */
int routes_answerable(void *service, bool wait);

#endif
