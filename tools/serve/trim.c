#include <malloc.h>
#include <stdlib.h>

#include "store/base/bg.h"
#include "tools/serve/trim.h"

#define LOOK_MS 1000
/* Pieces from this size on are mapped each by itself, and gone when they are
 * freed; of a thread's heap twice as much may stay behind its last piece, where
 * malloc_trim does not look. Set, they stay: else each large piece that is
 * freed would raise both. */
#define LARGE_PIECE (2 << 20)

struct trim {
	atomic_bool *given;
	struct bg *bg;
	bool due; /* the ticker's */
};

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
	t->due = atomic_exchange(t->given, false);
}

struct trim *trim_start(atomic_bool *given)
{
	struct trim *t = calloc(1, sizeof(*t));

	mallopt(M_MMAP_THRESHOLD, LARGE_PIECE);
	mallopt(M_TRIM_THRESHOLD, 2 * LARGE_PIECE);
	if (!t)
		return NULL;
	t->given = given;
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
