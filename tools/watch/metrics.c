#include "store/text/watch/store_figures.h"
#include "tools/watch/metrics.h"

static void add_store(void *context, struct figures *f)
{
	store_figures(context, f);
}

int verb_metrics(struct verb_call *c)
{
	return store_print_figures(c->store, add_store, c->store, c->argc,
				   c->argv, c->out, c->err);
}
