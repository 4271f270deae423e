#include <errno.h>
#include <stdlib.h>

#include "store/base/bg.h"
#include "store/base/clock.h"
#include "store/base/volume/volume.h"
#include "store/engine/core/silence.h"

/* Between two looks. */
#define LOOK_MS 500

struct silence {
	struct volume *volume; /* borrowed */
	unsigned int wait_ms;
	uint64_t since_ms; /* it has not answered; 0: it does */
	void (*call)(void *context);
	void *context;
	struct bg *bg;
};

static void look(void *context)
{
	struct silence *s = context;
	uint64_t now = clock_now(&clock_steady) / 1000;

	if (s->volume->ops->lease_check(s->volume) != -EAGAIN)
		s->since_ms = 0;
	else if (s->since_ms == 0)
		s->since_ms = now;
	else if (now - s->since_ms >= s->wait_ms)
		s->call(s->context);
}

static int nothing(void *context)
{
	(void)context;
	return 0;
}

int silence_begin(struct volume *v, unsigned int wait_ms,
		  void (*call)(void *context), void *context,
		  struct silence **out)
{
	struct silence *s = calloc(1, sizeof(*s));
	int err;

	*out = NULL;
	if (!s)
		return -ENOMEM;
	s->volume = v;
	s->wait_ms = wait_ms;
	s->call = call;
	s->context = context;
	err = bg_start(nothing, look, LOOK_MS, s, &s->bg);
	if (err < 0)
		free(s);
	else
		*out = s;
	return err;
}

void silence_end(struct silence *s)
{
	if (!s)
		return;
	bg_stop(s->bg);
	free(s);
}
