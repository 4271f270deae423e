#include "tools/import/settle.h"

void settle_begin(struct settle *s, struct importer *im, struct input *in)
{
	s->importer = im;
	clock_gettime(CLOCK_MONOTONIC, &s->last);
	input_while_waiting(in, settle_in_time, s);
}

int settle_in_time(void *context)
{
	struct settle *s = context;
	struct timespec now;
	int64_t ms;

	clock_gettime(CLOCK_MONOTONIC, &now);
	ms = (now.tv_sec - s->last.tv_sec) * 1000 +
	     (now.tv_nsec - s->last.tv_nsec) / 1000000;
	if (ms < 1000)
		return 0;
	s->last = now;
	return importer_settle(s->importer);
}
