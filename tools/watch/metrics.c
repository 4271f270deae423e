#include "store/text/watch/store_figures.h"
#include "tools/watch/metrics.h"

int verb_metrics(struct verb_call *c)
{
	struct buf text = BUF_INIT;
	struct figures f = { .out = &text };
	int err;

	if (c->argc > 2 || (c->argc == 2 && strcmp(c->argv[1], "ranges=yes")))
		return verb_usage(c);
	store_figures(c->store, &f);
	err = f.err;
	if (!err && c->argc == 2)
		err = store_hot_ranges(c->store, &text);
	if (!err)
		fwrite(text.data, 1, text.size, c->out);
	buf_release(&text);
	return err < 0 ? verb_failed(c, "Printing figures", err) : 0;
}
