#ifndef TESTS_CONFORMANCE_TARGET_H
#define TESTS_CONFORMANCE_TARGET_H

#include "tests/conformance/run.h"

/* Names in a run's memory. */
struct names {
	struct bytes *at;
	size_t count;
};

/* To whom cells are given, one by one; they are good for the call. A result
 * other than 0 ends it and is returned. */
struct taker {
	int (*take)(void *context, const struct cell *cell, struct bytes label);
	void *context;
};

/*
 * Who executes the requests of a case. Tables are named in them by their ids
 * alone. Each call returns 0 or a negative error, of which target_status gives
 * the code.
 */
struct target {
	/* What it needs beside r->store, which is open. */
	int (*begin)(struct run *r);
	void (*end)(struct run *r); /* also after begin has failed */

	int (*create_table)(struct run *r, const struct proto_create_table *q);
	int (*drop_table)(struct run *r, struct bytes table);
	/* Adds the names in any order. */
	int (*list_tables)(struct run *r, struct names *out);
	int (*list_families)(struct run *r, struct bytes table,
			     struct names *out);
	/* An update is of policy or type, not of both. */
	int (*change_family)(struct run *r, struct bytes table,
			     const struct family_change *change);
	int (*drop_rows)(struct run *r, const struct proto_drop_row_range *q);

	int (*mutate_row)(struct run *r, const struct proto_mutate_row *q);
	/* failed[i]: entry i has not been written. */
	int (*mutate_rows)(struct run *r, const struct proto_mutate_rows *q,
			   bool *failed);
	int (*check)(struct run *r, const struct proto_check_and_mutate_row *q,
		     bool *matched);
	/* Gives the new cells. */
	int (*modify)(struct run *r,
		      const struct proto_read_modify_write_row *q,
		      const struct taker *taker);
	int (*read_rows)(struct run *r, const struct proto_read_rows *q,
			 const struct taker *taker);
};

extern const struct target target_store, target_wire;

/* The code of gRPC that an error of the target has or would have. */
enum call_status target_status(const struct run *r, int err);
/* "NOT_FOUND" */
const char *target_status_name(enum call_status status);

#endif
