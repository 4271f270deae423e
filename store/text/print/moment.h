#ifndef STORE_TEXT_PRINT_MOMENT_H
#define STORE_TEXT_PRINT_MOMENT_H

#include "store/store.h"

/*
 * A moment of the store: what its tables were and held. What is dropped later
 * is not shown by any scan, which is no error of the scan; so who has to have
 * all of a table asks in the end whether it is still there.
 */
struct moment {
	struct schema *schema;     /* referenced */
	struct snapshot *snapshot; /* owned */
};

/* To be released. 0 or an error, with nothing to be released. */
int moment_take(struct store *s, struct moment *m);
/* Of a zeroed one, nothing. */
void moment_release(struct store *s, struct moment *m);

/* A scan of t, a table of m's schema, under the name that it has now. range has
 * all but the table. -ERR_no_table. */
int moment_scan(struct store *s, const struct moment *m, const struct table *t,
		struct scan_range *range, struct scan **out);

/* The same of a selection; how is that of select_open, but for the table. */
int moment_select(struct store *s, const struct moment *m,
		  const struct table *t, struct select *select,
		  struct scan_range *how, struct select_scan **out);

/* 0 if t and all its families are still there, whatever their names, so that
 * scans until now have missed nothing; else -ERR_no_table, with its name. */
int moment_check(struct store *s, const struct table *t);

#endif
