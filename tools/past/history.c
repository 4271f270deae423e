#include "store/text/value/duration.h"
#include "store/text/value/number.h"
#include "tools/past/history.h"

static int show(struct verb_call *c)
{
	struct buf keep = BUF_INIT;
	char oldest[CLOCK_TEXT_SIZE] = "-";
	struct history h;
	int err;

	store_history(c->store, &h);
	if (h.keep_us == 0) {
		fputs("off\n", c->out);
		return 0;
	}
	err = duration_print(h.keep_us, &keep);
	if (err < 0)
		return verb_failed(c, "Showing history", err);
	fprintf(c->out, "keep %.*s\n", (int)keep.size, keep.data);
	buf_release(&keep);
	if (h.max_size > 0)
		fprintf(c->out, "max %llu\n", (unsigned long long)h.max_size);
	else
		fputs("max data\n", c->out);
	if (h.oldest_us > 0)
		clock_print(h.oldest_us, oldest, sizeof(oldest));
	fprintf(c->out, "bytes %llu\noldest %s\n", (unsigned long long)h.size,
		oldest);
	if (h.lost_us > 0) {
		clock_print(h.lost_us, oldest, sizeof(oldest));
		fprintf(c->out, "lost %s\n", oldest);
	}
	return 0;
}

/* 0 of off. 0, or 1 after it said what is wrong. */
static int parse_keep(struct verb_call *c, uint64_t *keep_us)
{
	*keep_us = 0;
	if (!strcmp(c->argv[1], "off"))
		return 0;
	if (duration_parse(bytes_string(c->argv[1]), keep_us) < 0 ||
	    *keep_us == 0)
		return verb_wrong(
			c,
			"\"%s\": history is kept for a time like 24h, "
			"or is off",
			c->argv[1]);
	return 0;
}

int verb_history(struct verb_call *c)
{
	static const char *const keys[] = { "max", NULL };
	const char *max = NULL;
	uint64_t keep_us, max_size = 0;
	int err = 0;

	if (c->argc == 1)
		return show(c);
	if (parse_keep(c, &keep_us) || verb_arguments(c, 2, keys, &max) ||
	    verb_once(c, 2))
		return 1;
	if (max)
		err = size_parse("max", max, &max_size);
	if (!err)
		err = store_set_history(c->store, keep_us, max_size);
	return err < 0 ? verb_failed(c, "Setting history", err) : 0;
}
