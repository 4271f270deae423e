#ifndef STORE_TEXT_JSON_JSON_MUTATION_H
#define STORE_TEXT_JSON_JSON_MUTATION_H

#include "store/store.h"
#include "store/text/json/json.h"

/* Runs one JSON row mutation (the body of .row.jsonl, a line of .mutate) as one
 * atomic change. row, if not empty, is the row it is about: the key "row" may
 * then be absent or must match. -ERR_bad_line says what is wrong, and
 * -ERR_condition_failed that its "if" does not hold and there is no "else". */
int mutation_run_json(struct store *s, struct bytes table, struct bytes row,
		      struct bytes text, bool sync);

/*
 * A line as a row mutation: checked for its shape; *reads tells whether what it
 * does depends on what is there, so that it has to be added inside an update.
 */
int json_mutation_parse(struct json *j, struct bytes line,
			const struct json_node **body, bool *reads);

/* Adds it to w; on an error w is as before. */
int json_mutation_add(const struct json_context *c,
		      const struct json_node *body, struct write *w);

/* The same as an update of its own; *count, if not NULL, is how many mutations
 * that made. */
int json_mutation_update(const struct json_context *c,
			 const struct json_node *body, bool sync,
			 size_t *count);

#endif
