#include "store/text/watch/store_figures.h"
#include "tools/watch/metrics.h"

static void add_store(void *context, struct figures *f)
{
	store_figures(context, f);
}

int verb_metrics(struct verb_call *c)
{
	int err;

	if (c->argc > 2 || (c->argc == 2 && strcmp(c->argv[1], "ranges=yes")))
		return verb_usage(c);
	err = store_print_figures(c->store, add_store, c->store, c->argc == 2,
				  c->out);
	return err < 0 ? verb_failed(c, "Printing figures", err) : 0;
}
