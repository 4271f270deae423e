#include <malloc.h>
#include <stdlib.h>

#include "store/base/bg.h"
#include "store/base/threads/trim.h"

#define LOOK_MS 1000
/* Chunks of large values, which come and go, are smaller. */
#define LARGE_PIECE (2 << 20)

/* The ticker's alone, but for bg. */
struct trim {
	bool (*is_due)(void *context);
	void *context;
	struct bg *bg;
	bool due;
};

void trim_init(void)
{
	/* Set, they stay: else each large piece that was freed would have the
	 * next ones come from the heap, where one keeps all below it. */
	mallopt(M_MMAP_THRESHOLD, LARGE_PIECE);
	mallopt(M_TRIM_THRESHOLD, 2 * LARGE_PIECE);
}

/* All is done by the ticker. */
static int no_step(void *context)
{
	(void)context;
	return 0;
}

/* Memory is counted as given back shortly before or after it is freed: by the
 * next look it is. */
static void look(void *context)
{
	struct trim *t = context;

	if (t->due)
		malloc_trim(0);
	t->due = t->is_due(t->context);
}

struct trim *trim_start(bool (*is_due)(void *context), void *context)
{
	struct trim *t = calloc(1, sizeof(*t));

	if (!t)
		return NULL;
	t->is_due = is_due;
	t->context = context;
	if (bg_start(no_step, look, LOOK_MS, t, &t->bg) == 0)
		return t;
	free(t);
	return NULL;
}

void trim_stop(struct trim *t)
{
	if (!t)
		return;
	bg_stop(t->bg);
	free(t);
}
