#ifndef TESTS_SIM_SIM_H
#define TESTS_SIM_SIM_H

#include <setjmp.h>

#include "tests/sim/naive.h"
#include "tests/sim/volume_mem.h"

/*
 * One run of the simulator: a store on a crashable volume beside the naive
 * model, both driven by one seed. Whatever differs ends the run: sim_fail does
 * not return.
 */
#define SIM_SNAPSHOTS 3
#define SIM_SCANS 3
#define SIM_PENDING 2
#define SIM_MUTATIONS 12
#define SIM_TIMES 60

/* A state of the store that a crash may leave. */
struct sim_state {
	uint64_t engine_seq, naive_seq;
};

struct sim_states {
	struct sim_state *items; /* oldest first: what is durable */
	size_t count, capacity;
};

struct sim_snapshot {
	struct snapshot *snapshot;
	uint64_t seq, now_us;
	struct naive_schema schema; /* its policies hold; if there is one */
};

/* An open scan and the cells that it has to give, in order. */
struct sim_scan {
	struct scan *scan;
	struct scan_range range;
	struct naive_cell *cells;
	size_t count, at;
	bool started, row_ended;
	const struct sim_snapshot *snapshot; /* NULL: none */
	struct snapshot *own; /* of the scan alone; NULL: it has none */
	bool rested;
	bool restless; /* it was open at a drop, and has what was dropped */
};

enum sim_mutation_kind {
	SET,
	ADD,
	DELETE_CELLS,
	DELETE_COLUMN,
	DELETE_FAMILY,
	DELETE_ROW,
	DELETE_PREFIX,
};

struct sim_mutation {
	enum sim_mutation_kind kind;
	struct naive_match match;
	struct naive_cell cell;
	bool is_now, millis; /* the timestamp is the time of the commit */
	uint32_t number;     /* of what is added, below 64 */
	uint32_t times;      /* that it is added, at most SIM_TIMES */
	bool at_once;        /* as one change */
};

/* A write that was collected, and what it means. */
struct sim_write {
	struct write *w; /* NULL: there is none */
	uint32_t table;
	struct sim_mutation mutations[SIM_MUTATIONS];
	size_t count;
};

struct sim {
	uint64_t seed;
	unsigned int op; /* number of the operation under way */
	bool verbose;
	jmp_buf failed;
	char problem[2000];

	struct rng rng;
	uint64_t now_us;
	uint64_t gc_us;                /* never goes back; stamps have it */
	uint32_t row_count, first_row; /* which rows this run uses */
	uint32_t set_percent;          /* of mutations; others delete */
	bool imports;                  /* all that only sets comes in bulk */
	bool lazy;      /* nobody asks for a flush: logs become long */
	bool counter;   /* the write under way is about the run's counter */
	uint32_t loads; /* bulk loads yet to come on a disk without room for
			   the log */
	struct store_options options;
	struct volume *volume; /* the store's */
	struct store *store;
	struct naive naive;
	struct sim_states states;
	struct sim_snapshot snapshots[SIM_SNAPSHOTS];
	struct sim_scan scans[SIM_SCANS];
	struct sim_write pending[SIM_PENDING], update;
	uint32_t last_value;

	/* A crash on its way: after so many changes to the volume a clone is
	 * taken, and after that operation the run goes on with the clone. */
	uint32_t crash_in;
	bool crash_is_kill;
	struct volume *clone;
	struct sim_states clone_states;
	struct naive_schema clone_schema; /* as of before the operation */
	bool have_clone_schema;
	struct sim_past *past; /* see sim_past.h; NULL: no history is kept */
	bool buries;           /* the operation under way makes two steps */

	struct sim_counts {
		uint64_t writes, reads, cells; /* cells that were compared */
		uint64_t crashes, kills, reopens;
		uint64_t lost; /* crashes that lost what was not synced */
		uint64_t flushes, compactions, moves;
		uint64_t full, unmarked; /* operations on a full disk, loads of
					    which the log has no mark */
	} counts;
};

__attribute__((noreturn, format(printf, 2, 3))) void sim_fail(struct sim *s,
							      const char *fmt,
							      ...);
__attribute__((format(printf, 2, 3))) void sim_log(const struct sim *s,
						   const char *fmt, ...);
/* Fails unless err is what is wanted. */
void sim_want(struct sim *s, const char *what, int err, int want);

/* Opens an empty store with options drawn from the seed. */
void sim_start(struct sim *s, uint64_t seed);
/* Releases everything, after a failure too. */
void sim_end(struct sim *s);
/* One random operation, compared with the model. */
void sim_step(struct sim *s);
/* A crash will come at one of the next changes, if none will yet. */
void sim_arm_crash(struct sim *s);
/* Every table, compared cell by cell, and the files checked. */
void sim_compare_all(struct sim *s);

/* sim_disk.c */
/* The disk is full from some call on that needs space, which is drawn. */
void sim_fill(struct sim *s);
/* There is room again. Returns err, or 0 if it is for lack of space, which then
 * has happened: *full. */
int sim_empty(struct sim *s, int err, bool *full);
/* Background work that is done, also on a full disk. */
void sim_background_op(struct sim *s);
/* Nobody reads and all work is done: what is garbage has gone. */
void sim_quiet_op(struct sim *s);

/* sim_schema.c */
void sim_schema_op(struct sim *s);
/* Of a table that there is, or with an empty name of the store. */
void sim_compare_attributes(struct sim *s, struct bytes table);

/* sim_write.c */
void sim_write_op(struct sim *s);
void sim_drop_pending(struct sim *s);
struct bytes sim_draw_row(struct sim *s);
struct bytes sim_draw_family(struct sim *s);
struct bytes sim_draw_qualifier(struct sim *s);
struct bytes sim_draw_table(struct sim *s);

/* sim_read.c */
void sim_read_op(struct sim *s);
void sim_get(struct sim *s);
void sim_snapshot_op(struct sim *s);
void sim_close_scans(struct sim *s);
void sim_close_rested(struct sim *s); /* before a drop */
void sim_release_snapshots(struct sim *s);
void sim_compare_table(struct sim *s, const struct naive_table *t);

#endif
