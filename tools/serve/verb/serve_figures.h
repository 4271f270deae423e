#ifndef TOOLS_SERVE_VERB_SERVE_FIGURES_H
#define TOOLS_SERVE_VERB_SERVE_FIGURES_H

#include "store/text/watch/figures.h"
#include "tools/serve/method/method.h"

/* What a server counts of its calls. */

/* Makes service ready to count those of routes[]; slow ones are told to its
 * store. Before the server has it, and for as long as that. */
void serve_count(struct service *service);

/* How long the calls took, and how many are under way. */
void serve_print_calls(const struct service *service, struct figures *f);

/* The same, behind the store's own figures: all that a server without a mount
 * tells. context is a struct service. */
void serve_print_figures(void *context, struct figures *f);

#endif
