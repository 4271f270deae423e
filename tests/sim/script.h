#ifndef TESTS_SIM_SCRIPT_H
#define TESTS_SIM_SCRIPT_H

#include "store/store.h"
#include "tests/sim/volume_mem.h"

/*
 * A short script that uses what a store has: rows that are written, some
 * synced, flushes, compactions, scans. It goes on whatever fails and keeps
 * account of what was acknowledged, so that a store that was opened again after
 * a failure or a crash can be held against it.
 */
#define SCRIPT_ROWS 60

struct script {
	unsigned int begun;             /* rows whose commit was called */
	bool acknowledged[SCRIPT_ROWS]; /* the commit returned 0 */
	bool durable[SCRIPT_ROWS];      /* so did a sync after it */
	bool table;                     /* create table returned 0 */
	char problem[600];              /* the first that was found; or "" */
	bool closed;                    /* close returned 0 */
	/* Called before the store is closed; may be NULL. */
	void (*before_close)(struct script *r, struct store *s);
};

void script_run(struct volume *v, struct script *r);

/*
 * Opens what a run left behind, looks whether what must be there is, whole and
 * without holes, writes and closes. After a power cut only what was durable has
 * to be there. Ends v.
 */
void script_look(struct volume *v, struct script *r, bool power_cut);
/*
 * Takes over what a run, which goes on, has: opens v, looks whether what was
 * acknowledged is there, tells which rows are, and writes, so that nothing of
 * it is as it was. NULL, with a problem told, after a failure. script_end goes
 * on with it, looks once more, and ends it and v.
 */
struct store *script_take(struct volume *v, struct script *r, bool *seen);
void script_end(struct store *s, struct script *r);

/* Only opens, reads what can be read, and closes; everything may fail. */
void script_try(struct volume *v, struct script *r);

/* For before_close: nothing fails any more, so s must take writes and be able
 * to store what it could not, without being opened again. */
void script_must_go_on(struct script *r, struct store *s);

void script_complain(struct script *r, const char *what);

#endif
