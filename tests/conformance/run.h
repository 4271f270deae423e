#ifndef TESTS_CONFORMANCE_RUN_H
#define TESTS_CONFORMANCE_RUN_H

#include <stdatomic.h>

#include "store/store.h"
#include "tests/conformance/case.h"
#include "tools/serve/call.h"
#include "tools/serve/proto/messages.h"

/*
 * One case being run on a store of its own in memory, with a clock that stands
 * still during an operation and then goes on by a millisecond. What the case
 * asks for are requests of Bigtable's API, which a target executes: the store
 * itself, or a server of it.
 */
struct symbol {
	const char *text; /* "now-2h" */
	uint64_t us;
};

struct target;
struct wire;

struct run {
	const struct target *target;
	struct wire *wire; /* the server's */
	struct store *store;
	struct clock clock;
	uint64_t base_us;          /* what "now" stands for */
	_Atomic uint64_t now_us;   /* the server's threads ask, too */
	struct symbol symbols[64]; /* symbolic times used so far */
	size_t symbol_count;
	struct list texts;        /* owned; symbols may point there */
	struct proto_arena arena; /* of the present operation */
	struct buf out;           /* its result lines */
	enum call_status status;  /* see target_status */
	const char *skip;         /* why it cannot be run */
};

/*
 * An operation returns 0 with its result in r->out, a negative error of the
 * target, RUN_SKIP with r->skip set, RUN_MALFORMED if the case is wrong, or
 * RUN_AGREES if the result is what the documents demand although the case,
 * which has no "=" lines there, says otherwise.
 */
enum {
	RUN_SKIP = 1,
	RUN_MALFORMED = 2,
	RUN_AGREES = 3,
};

typedef int operation_run(struct run *r, const struct operation *o);

/* By the operation's name; NULL if there is none. New operations are added to
 * the table in operations.c. */
operation_run *operation_find(const char *name);

operation_run run_scan, run_keys, run_hash, run_lookup, run_count;
operation_run run_set, run_delcol, run_delfam, run_delrow, run_mutate;
operation_run run_check, run_incr, run_append, run_rmw;
operation_run run_bulk, run_dropprefix, run_dropall, run_import;

int run_skip(struct run *r, const char *why);

/* Memory of the present operation, zeroed; NULL if there is none. */
void *run_alloc(struct run *r, size_t size);
/* A copy of b there, with a NUL behind it; its data is NULL if there is no
 * memory. */
struct bytes run_keep(struct run *r, struct bytes b);
/* The words of a line there. 0 or -ENOMEM. */
int run_words(struct run *r, const char *line, struct list *out);

/* The word at index i; "" if there are fewer. */
const char *word(const struct operation *o, size_t i);
/* The value of a word "key=value" from index first on; NULL if absent. */
const char *option(const struct operation *o, size_t first, const char *key);

/* A mutation in words: set F QUAL TS V | add F QUAL TS INT |
 * merge F QUAL TS V | delcol F QUAL [from=] [to=] | delfam F | delrow. */
bool parse_mutation(struct run *r, const struct operation *m,
		    struct proto_mutation *out);
/* The same of a line, whose mutation begins at its first-th word. */
bool parse_line(struct run *r, const char *line, size_t first,
		struct proto_mutation *out);

/* Tokens; false if they are malformed. What they refer to is r's memory. */
bool parse_bytes(struct run *r, const char *text, struct bytes *out);
bool parse_name(struct run *r, const char *text, struct bytes *out);
/* May be negative; -1 is the time of the commit. */
bool parse_time(struct run *r, const char *text, int64_t *us);
/* *out is the caller's. */
bool parse_gc(const char *text, struct gc_policy **out);
bool parse_type(const char *text, enum family_type *out);

/* "c FAMILY QUALIFIER TIME VALUE", without newline. */
int put_cell(const struct run *r, struct buf *out, const struct cell *cell);
int put_bytes(struct buf *out, struct bytes b);
int put_name(struct buf *out, struct bytes name);
int put_time(const struct run *r, struct buf *out, uint64_t us);

#endif
