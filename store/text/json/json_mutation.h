#ifndef STORE_TEXT_JSON_JSON_MUTATION_H
#define STORE_TEXT_JSON_JSON_MUTATION_H

#include "store/store.h"
#include "store/text/json/json.h"
#include "store/text/json/json_result.h"

/*
 * A row mutation as JSON: the body of .row.jsonl, a line of .mutate or of an
 * import of JSON lines, an argument of mutate. fs/README.md describes it. It is
 * whole or absent.
 */

/* Where a mutation goes. Everything is borrowed. */
struct json_context {
	struct store *store;
	struct json *json; /* whose tree the mutation is */
	struct bytes table;
	/* If not empty, the row that it is about: its key "row" may then be
	 * absent, and must match if it is there. */
	struct bytes row;
	uint64_t now_us; /* of cells without a timestamp; or STORE_NOW */
	/* If not NULL, set to what the mutation came to, which is then also
	 * that its "if" does not hold and there is no "else". */
	struct json_result *result;
};

/*
 * Parses a text and runs it as one atomic change; with sync it is durable on
 * return. row and result are those of struct json_context. -ERR_bad_line says
 * what is wrong, -ERR_condition_failed that its "if" does not hold and there is
 * no "else"; else errors as those of the calls of store/write.h and
 * store/update.h.
 */
int mutation_run_json(struct store *s, struct bytes table, struct bytes row,
		      struct bytes text, bool sync, struct json_result *result);

/* Whether such a text does more than to delete; false also for what is none, as
 * running it tells. */
bool mutation_adds(struct bytes text);

/* Whether a text may have a condition, by its bytes alone: what may have one
 * perhaps has none. */
bool mutation_may_ask(struct bytes text);

/* Fails with -EACCES: the answer to a condition tells what is there, to who may
 * not read that. */
int json_may_not_ask(void);

/*
 * The parts of mutation_run_json, for who runs many lines. Parses one and
 * checks its keys, not yet its values: *body, which lives as long as j's tree;
 * *reads tells whether what it does depends on what is there, so that it has to
 * be run by json_mutation_update. -ERR_bad_line or -ENOMEM.
 */
int json_mutation_parse(struct json *j, struct bytes line,
			const struct json_node **body, bool *reads);

/* Adds a parsed body without "if" to w; on an error w is as before. One that
 * reads can be added inside an update only. */
int json_mutation_add(const struct json_context *c,
		      const struct json_node *body, struct write *w);

/* Runs a parsed body as an update of its own, durable with sync; *count, if not
 * NULL, is how many mutations that made. Its "if", which is a row_condition of
 * store/update.h, is not to be stopped. */
int json_mutation_update(const struct json_context *c,
			 const struct json_node *body, bool sync,
			 size_t *count);

#endif
