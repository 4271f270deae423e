#ifndef TESTS_SIM_NAIVE_H
#define TESTS_SIM_NAIVE_H

#include "store/engine/compact/gc.h"
#include "store/store.h"

/*
 * The naive model of the store: an array of all writes that ever were, each
 * with the sequence at which it came and the one at which it went. What a
 * reader sees is found by looking at all of them. Slow and simple, so that it
 * can be believed; the store has to give the same answers.
 *
 * Sequences are the model's own. Names point to memory that outlives the model.
 */
#define NAIVE_TABLES_MAX 4
#define NAIVE_FAMILIES_MAX 8
#define NAIVE_ATTRIBUTES 3

struct naive_family {
	struct bytes name;
	uint32_t id; /* another one after drop and create */
	enum family_type type;
	struct gc_policy *gc;
};

/* Of each of NAIVE_ATTRIBUTES names, what its value was made of; 0: none. */
struct naive_attributes {
	uint32_t numbers[NAIVE_ATTRIBUTES];
};

struct naive_table {
	struct bytes name;
	uint32_t id;
	bool millis;
	struct naive_attributes attributes;
	struct naive_family families[NAIVE_FAMILIES_MAX];
	size_t family_count;
};

struct naive_schema {
	struct naive_table tables[NAIVE_TABLES_MAX];
	size_t table_count;
	struct naive_attributes attributes; /* the store's own */
	uint32_t last_id;
};

struct naive_cell {
	uint32_t table, family_id;
	struct bytes row, family, qualifier;
	uint64_t timestamp_us;
	uint64_t seq;
	uint64_t dead_seq; /* deleted or overwritten; UINT64_MAX: alive */
	uint32_t value_id; /* see naive_value */
	uint32_t value_size;
	/* Of an aggregate: its number, or of hll the set of numbers below 64
	 * that were added. */
	enum aggregate_kind aggregate;
	int64_t number;
};

struct naive {
	struct naive_schema schema;
	struct naive_cell *cells;
	size_t count, capacity;
	uint64_t seq;
};

void naive_release(struct naive *n);
int naive_schema_copy(const struct naive_schema *from, struct naive_schema *to);
void naive_schema_release(struct naive_schema *s);

struct naive_table *naive_table(struct naive *n, struct bytes name);
struct naive_family *naive_family(struct naive_table *t, struct bytes name);

/* Schema: 0 or the error that the store has to give. */
int naive_create_table(struct naive *n, struct bytes name, bool millis);
int naive_drop_table(struct naive *n, struct bytes name);
int naive_rename_table(struct naive *n, struct bytes from, struct bytes to);
int naive_create_family(struct naive *n, struct bytes table,
			const struct family_spec *spec);
int naive_drop_family(struct naive *n, struct bytes table, struct bytes name);
/* What the old rule hides at now_us is gone. */
int naive_set_gc(struct naive *n, struct bytes table, struct bytes family,
		 const struct gc_policy *gc, uint64_t now_us);

/* Which cells a deletion means; empty members stand for all. */
struct naive_match {
	uint32_t table;
	struct bytes prefix; /* of rows */
	struct bytes row;
	bool has_row, has_family, has_qualifier;
	struct bytes family, qualifier;
	uint64_t from_us, to_us; /* to 0: unbounded */
};

/* Of an aggregate, cell's number is added to what is there. */
int naive_put(struct naive *n, const struct naive_cell *cell);
void naive_delete(struct naive *n, const struct naive_match *match);
/* Erases the rows of any table that match, as if they had never been. */
void naive_erase(struct naive *n, const struct naive_match *match);
/* What a rule hides now of the cells that match is gone for good. */
int naive_bury(struct naive *n, const struct naive_match *match,
	       uint64_t now_us);

/* Cells that a reader sees, in scan order; free items. */
struct naive_view {
	const struct naive_cell **items;
	size_t count;
};

int naive_view(const struct naive *n, const struct naive_table *t, uint64_t seq,
	       uint64_t now_us, struct naive_view *out);

/* As if nothing after seq had been written. */
void naive_rewind(struct naive *n, uint64_t seq);
/* Forgets what nobody sees who looks at seq or later. */
void naive_purge(struct naive *n, uint64_t seq);

/* The bytes of the cell's value: a function of its number and size, or the
 * state of an aggregate. */
int naive_value(const struct naive_cell *cell, struct buf *out);

#endif
