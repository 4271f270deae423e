#ifndef TESTS_SOAK_SOAK_H
#define TESTS_SOAK_SOAK_H

#include <setjmp.h>
#include <stdio.h>

#include "store/store.h"
#include "tests/sim/rng.h"

/*
 * A soak: a workload that goes on, and what must hold all the while of the
 * store beneath it: the space it takes, the files it keeps, memory, what it
 * has open, how long a commit and a read last, what remains after quiet. It
 * runs on a directory in real time, or on a volume in memory by a clock that
 * the seed moves, without threads, so that years pass in seconds; there another
 * store follows it all the while, of which the same must hold.
 *
 * How large each figure may be is in tests/soak/bounds.
 */
#define SOAK_SLOTS (1u << 18)

enum soak_figure {
	SOAK_SPACE,   /* percent of all bytes written that the files take
			 beyond twice what is live and the slack */
	SOAK_QUIET,   /* the same beyond 1.6 times, after a time of quiet */
	SOAK_FILES,   /* ms (turns by the clock of the seed) that a file is
			 there without being part of the store */
	SOAK_MEMORY,  /* KiB beyond what the options allow */
	SOAK_HANDLES, /* descriptors (objects of the volume) beyond
			 one a file */
	SOAK_COMMIT,  /* ms (calls of the volume) of the longest commit */
	SOAK_PROBE,   /* us of one thread (calls, and thousands of cells
			 passed) to read a cell and the first row */
	SOAK_TOMBS,   /* range tombstones of all files, which are in memory,
			 in a thousand of all cells written */
	SOAK_FIGURES,
};

extern const char *const soak_figure_names[SOAK_FIGURES];

/* A file that is not part of the store, and since when. */
struct soak_stray {
	char name[80];
	uint64_t since;
};

struct soak {
	const struct workload *workload;
	bool simulated;
	uint64_t seed;
	struct rng rng;
	jmp_buf failed;
	char problem[1000];

	uint64_t now_us;    /* by the clock of the seed */
	uint64_t span_us;   /* what a run lasts by it */
	uint64_t turns_max; /* and in turns */
	uint32_t rows, value_max, large_max;
	uint64_t max_age_us; /* of what expires */
	struct store_options options;
	char directory[64]; /* of the store, in real time */
	struct volume *volume;
	struct store *store;
	struct store *follower; /* NULL in real time */
	struct write *w;
	uint64_t turn;

	/* What is live, as the workload knows it. Of each slot the size of its
	 * value + 1 and its timestamp; 0: no cell. */
	uint32_t sizes[SOAK_SLOTS];
	uint64_t stamps[SOAK_SLOTS];
	uint64_t live, cells; /* bytes with SOAK_CELL each; count */
	uint64_t written;     /* bytes, in all */
	uint64_t cells_written;
	uint64_t head, tail; /* of a queue: its first, and behind its last */
	uint32_t phase;
	struct scan *scan;
	uint64_t scan_turn; /* in which it was opened */

	uint64_t figures[SOAK_FIGURES];
	uint64_t memory_at_start;
	struct soak_stray *strays;
	size_t stray_count;
	uint64_t *commits; /* us (calls) of each */
	size_t commit_count, commit_room;
};

/* Key and the rest of a cell that is not its value. */
#define SOAK_CELL 40

struct workload {
	const char *name;
	void (*start)(struct soak *k);
	void (*turn)(struct soak *k);
	/* Before the quiet at the end: nothing is live any more; or NULL. */
	void (*empty)(struct soak *k);
	const char *const *tables; /* NULL-terminated; NULL: "t" */
	bool expires;
};

extern const struct workload workloads[];
extern const size_t workload_count;

/* Does not return. */
__attribute__((noreturn, format(printf, 2, 3))) void soak_fail(struct soak *k,
							       const char *fmt,
							       ...);
/* Fails unless err is 0 or a count. */
void soak_must(struct soak *k, const char *what, int err);

/* Microseconds by the store's clock. */
uint64_t soak_now(struct soak *k);
/* Tells the model that a slot holds a value of this size, or, with size
 * SOAK_GONE, nothing. */
#define SOAK_GONE UINT32_MAX
void soak_slot(struct soak *k, uint64_t slot, uint32_t size);
/* Commits k->w, which is measured. */
void soak_commit(struct soak *k);
/* A value that does not compress; good until the next call. */
struct bytes soak_value(struct soak *k, uint32_t size);

/* look.c: what is there now, into the figures. */
void soak_look(struct soak *k);
/* How much of what was written is there beyond what may be. */
uint64_t soak_excess(struct soak *k, unsigned int tenths);
/* Bytes of memory that the process, or by its own word the store, has taken. */
uint64_t soak_memory(const struct soak *k, struct store *store);

/* bounds.c */
bool soak_bounds_read(const char *path);
uint64_t soak_bound(const char *form, const char *workload,
		    enum soak_figure figure);

/*
 * soak.c: runs a workload and prints its figures, those that are beyond their
 * bounds marked. Counts what held and what did not. form is the first word of
 * a line of the bounds.
 */
struct soak_count {
	unsigned int passed, failed;
};
void soak_run(struct soak *k, const char *form, uint64_t end_ms,
	      struct soak_count *count);

#endif
