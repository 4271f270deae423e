#ifndef TESTS_SIM_SIM_PAST_H
#define TESTS_SIM_SIM_PAST_H

#include "tests/sim/sim.h"

/*
 * The recent past beside the model: what the schema was at each sequence of the
 * store, so that at any moment that the store says it has all of it can be held
 * against the model: tables, families, types, policies and cells. sim_fail as
 * everywhere.
 */
#define SIM_PAST_HELD 2

struct sim_past_state {
	uint64_t engine_seq, naive_seq;
	uint64_t time_us; /* when it was there already */
	bool is_behind;   /* the clock was behind that */
	struct naive_schema schema;
};

struct sim_past {
	struct sim_past_state *states; /* ascending by engine_seq */
	size_t count, capacity;
	struct snapshot *held[SIM_PAST_HELD]; /* moments that stay open */
	uint64_t checked, gone;               /* moments read; given up */
	uint64_t seconds;                     /* looked for by their time */
	uint64_t latest_us;                   /* of GC, at any time */
	uint64_t files;                       /* the most history files */
	uint64_t purges, erased;              /* entries */
};

/* Has the store keep so much of history as the seed says. */
void sim_past_begin(struct sim *s);

/* After each operation: notes the state that it led to. */
void sim_past_note(struct sim *s);

/* The store is at this sequence again: what came later never was. */
void sim_past_rewind(struct sim *s, uint64_t engine_seq);

/* The least sequence of the model that a moment may see. */
uint64_t sim_past_oldest(struct sim *s);

/* Holds a moment against the model, one that is held or, if not, one of those
 * that there are. */
void sim_past_op(struct sim *s);

/* All moments that there are. */
void sim_past_compare_all(struct sim *s);

/* Purges rows of a table that is there, from the model, too: true if all that
 * is there now is durable then. Nothing of a moment is held afterwards. */
bool sim_past_purge(struct sim *s);

/* Ends what is held: before the store is closed. */
void sim_past_release(struct sim *s);

/* Frees all. */
void sim_past_end(struct sim *s);

#endif
