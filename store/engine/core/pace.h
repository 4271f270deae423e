#ifndef STORE_ENGINE_CORE_PACE_H
#define STORE_ENGINE_CORE_PACE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct engine;
struct version;

/*
 * How fast writers may go beside the background. Debt is how far that is
 * behind; from half of what stops writers on they pay for it, each by the bytes
 * that it writes, at a price that grows with the debt: at three quarters it is
 * what the background itself needs for a byte, at the whole four times that,
 * and beyond it each commit sleeps some milliseconds. So they slow down
 * smoothly to what can be sustained, and are stopped only by what bursts.
 * Without a background nobody pays, so the simulator has no use of the clock.
 */
#define PACE_STOP 1024 /* the debt at which writers are stopped, or nearly */

struct pace {
	_Atomic uint32_t debt;    /* of ssts */
	_Atomic uint32_t depth;   /* level0_depth, or the like; files */
	_Atomic uint32_t waiting; /* memtables for a flush */
	_Atomic uint64_t price;   /* ns of background work for a byte written,
				     in 1/1024; 0: not known yet */
	atomic_bool sync_wanted;  /* the memtable is nearly full */
	/* Of background work: protected by work. */
	uint64_t begin_ns; /* of what is under way; 0: nothing is */
	uint64_t work_ns;  /* since the last flush */
	uint64_t written;  /* counters.written_size then */
	/* Of writers: protected by commit. */
	uint64_t owed_ns;
	uint64_t sync_log;         /* the last of which a sync was wanted */
	unsigned int sync_count;   /* and how often */
	uint64_t slept_us, told_s; /* since the last line about it; when */
};

/* The debt of v: by how deep level 0 is, by what of it is garbage. */
uint32_t pace_debt(const struct engine *e, const struct version *v,
		   uint32_t depth);

/* v is the engine's from now on. */
void pace_version(struct engine *e, const struct version *v);

/* So many memtables wait. */
void pace_waiting(struct engine *e, size_t count);

/* A unit of background work began and ended. A flush may be one by itself or
 * lie within another, which is_inner says in the end. Both need work. */
bool pace_work_begin(struct engine *e);
void pace_work_end(struct engine *e, bool is_inner);
/* A memtable was flushed: what was done since the last one is its price. */
void pace_flushed(struct engine *e);

/* What a writer of so many bytes owes, in ns, if the memtable is filled so far,
 * in 1/1024. */
uint64_t pace_price(const struct engine *e, size_t size, uint32_t fill);

/* Lets the writer of size bytes sleep for what is owed. Needs commit. */
void pace_writer(struct engine *e, size_t size);

#endif
