#ifndef TESTS_SIM_OPERATIONS_H
#define TESTS_SIM_OPERATIONS_H

#include "store/store.h"

/*
 * Everything that changes a store, once each, on a small store that holds
 * something of everything. All of it is the same in every run.
 */
struct operation {
	const char *name;
	/* One of these: collects it for a commit, collects it inside an
	 * update, or does it, durably. */
	int (*add)(struct write *w);
	int (*update)(struct write *w);
	int (*call)(struct store *s);
};

extern const struct operation operations[];
extern const size_t operation_count;

/* Opens the store in v, made if there is none. */
int operations_open(struct volume *v, struct store **out);
/* Fills an empty one: tables t and u, rows in files, in the log, large ones. */
int operations_prepare(struct store *s);
/* Does it, durably. */
int operation_run(const struct operation *o, struct store *s);
/* Does it between two changes of the same batch, of which the latter fails:
 * nothing of it may remain, and an error is returned. Not for what is a
 * call. */
int operation_run_wrong(const struct operation *o, struct store *s);
/* Appends all of the store as a reader sees it, schema and cells, as text. */
int operations_dump(struct store *s, struct buf *out);

#endif
