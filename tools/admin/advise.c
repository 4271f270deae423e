#include "store/text/advice/advice.h"
#include "tools/admin/advise.h"

int verb_advise(struct verb_call *c)
{
	struct buf text = BUF_INIT;
	int err;

	if (c->argc != 2)
		return verb_usage(c);
	err = advice_print(c->store, bytes_string(c->argv[1]), NULL, &text);
	if (err == 0)
		fwrite(text.data, 1, text.size, c->out);
	buf_release(&text);
	return err < 0 ? verb_failed(c, "Looking at the table", err) : 0;
}
