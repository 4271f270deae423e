#include <string.h>

#include "store/text/value/duration.h"
#include "store/text/value/time.h"
#include "tools/verb/time.h"

int verb_parse_time(struct verb_call *c, const char *text, uint64_t *us)
{
	uint64_t ago, now = clock_now(&clock_real);
	int err;

	if (!text)
		return 0;
	if (duration_parse(bytes_string(text), &ago) == 0) {
		*us = ago < now ? now - ago : 1;
		return 0;
	}
	err = time_parse(bytes_string(text), us);
	if (err < 0)
		return verb_wrong(c,
				  "\"%s\": a time is like "
				  "2023-09-10T15:21:48Z, or 90m for 90 minutes "
				  "ago",
				  text);
	*us += *us == 0;
	return 0;
}

int verb_parse_moment(struct verb_call *c, const char *text, uint64_t *us)
{
	struct history h;
	uint64_t then;

	if (!text)
		return 0;
	if (!strcmp(text, "oldest")) {
		store_history(c->store, &h);
		/* Without one any time tells what there is. */
		*us = h.oldest_us + (h.oldest_us == 0);
		return 0;
	}
	if (verb_parse_time(c, text, &then))
		return 1;
	if (then > store_now(c->store))
		return verb_wrong(c, "%s is a time to come", text);
	*us = then;
	return 0;
}

int verb_moment(struct verb_call *c, const char *text, struct snapshot **out)
{
	uint64_t us;
	int err;

	*out = NULL;
	if (!text)
		return 0;
	if (verb_parse_moment(c, text, &us))
		return 1;
	err = store_moment(c->store, us, out);
	return err < 0 ? verb_wrong(c, "as-of=%s: %s", text,
				    verb_error_text(err))
		       : 0;
}
