#include <malloc.h>
#include <stdlib.h>
#include <sys/resource.h>

#include "fs/kernel/heap.h"
#include "store/base/memory.h"
#include "store/base/threads/trim.h"

/* How much must have been given back for a trim. */
#define GIVEN_MIN (UINT64_C(4) << 20)

void heap_init(void)
{
	struct rlimit files;

	/* Each thread's own heap would keep what it had at most: requests are
	 * answered by several, each for a while. */
	mallopt(M_ARENA_MAX, 1);
	trim_init();
	/* A cell that is open and has no room in memory is a file. */
	if (getrlimit(RLIMIT_NOFILE, &files) == 0) {
		files.rlim_cur = files.rlim_max;
		setrlimit(RLIMIT_NOFILE, &files);
	}
}

struct heap_watch {
	struct memory *memory; /* borrowed */
	struct trim *trim;
	uint64_t most; /* that was held since the last trim; its thread's */
};

/* What lies in the heap and comes and goes; memtables are mapped. */
static uint64_t held(const struct memory *m)
{
	uint64_t all = 0;
	int i;

	for (i = MEMORY_TOMBSTONES; i < MEMORY_ACCOUNTS; i++)
		all += memory_used(m, i);
	return all;
}

static bool is_due(void *context)
{
	struct heap_watch *w = context;
	uint64_t now = held(w->memory);

	if (now > w->most)
		w->most = now;
	if (w->most - now < GIVEN_MIN)
		return false;
	w->most = now;
	return true;
}

struct heap_watch *heap_watch(struct store *s)
{
	struct heap_watch *w = calloc(1, sizeof(*w));

	if (!w)
		return NULL;
	w->memory = store_memory(s);
	w->trim = trim_start(is_due, w);
	if (w->trim)
		return w;
	free(w);
	return NULL;
}

void heap_unwatch(struct heap_watch *w)
{
	if (!w)
		return;
	trim_stop(w->trim);
	free(w);
}
