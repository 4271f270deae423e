#include <malloc.h>
#include <stdlib.h>
#include <sys/resource.h>

#include "fs/kernel/heap.h"
#include "store/base/bg.h"
#include "store/base/memory.h"

/* Pieces from this size on are mapped each by itself, and gone when they are
 * freed. Chunks of large values, which come and go, are smaller. */
#define LARGE_PIECE (2 << 20)
/* How often is looked, and how much must have been given back since. */
#define LOOK_MS 1000
#define GIVEN_MIN (UINT64_C(4) << 20)

void heap_init(void)
{
	struct rlimit files;

	/* Each thread's own heap would keep what it had at most: requests are
	 * answered by several, each for a while. */
	mallopt(M_ARENA_MAX, 1);
	/* Set, it stays: else each large piece that was freed would have the
	 * next ones come from the heap, where one keeps all below it. */
	mallopt(M_MMAP_THRESHOLD, LARGE_PIECE);
	mallopt(M_TRIM_THRESHOLD, 2 * LARGE_PIECE);
	/* A cell that is open and has no room in memory is a file. */
	if (getrlimit(RLIMIT_NOFILE, &files) == 0) {
		files.rlim_cur = files.rlim_max;
		setrlimit(RLIMIT_NOFILE, &files);
	}
}

/* The ticker's alone, but for bg. */
struct heap_watch {
	struct memory *memory; /* borrowed */
	struct bg *bg;
	uint64_t most; /* that was held since the last trim */
};

/* All is done by the ticker. */
static int no_step(void *context)
{
	(void)context;
	return 0;
}

/* What lies in the heap and comes and goes; memtables are mapped. */
static uint64_t held(const struct memory *m)
{
	uint64_t all = 0;
	int i;

	for (i = MEMORY_TOMBSTONES; i < MEMORY_ACCOUNTS; i++)
		all += memory_used(m, i);
	return all;
}

static void look(void *context)
{
	struct heap_watch *w = context;
	uint64_t now = held(w->memory);

	if (now > w->most)
		w->most = now;
	if (w->most - now < GIVEN_MIN)
		return;
	malloc_trim(0);
	w->most = now;
}

struct heap_watch *heap_watch(struct store *s)
{
	struct heap_watch *w = calloc(1, sizeof(*w));

	if (!w)
		return NULL;
	w->memory = store_memory(s);
	if (bg_start(no_step, look, LOOK_MS, w, &w->bg) == 0)
		return w;
	free(w);
	return NULL;
}

void heap_unwatch(struct heap_watch *w)
{
	if (!w)
		return;
	bg_stop(w->bg);
	free(w);
}
