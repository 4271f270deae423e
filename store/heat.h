#ifndef STORE_HEAT_H
#define STORE_HEAT_H

#include "store/base/buf.h"

/*
 * Heat: where in a table, and when, operations have reached the store, from
 * samples that it keeps of the last two weeks. Reads that the kernel answers
 * from its caches never reach it. Deleted rows stay in it, dropped tables do
 * not; a bulk load and a scan count a read or write for each 16 KiB.
 */
struct store;

/* What is counted: lookups and blocks of scans; changes and blocks of loads;
 * the bytes of both, keys and values. */
enum heat_metric { HEAT_READS, HEAT_WRITES, HEAT_BYTES, HEAT_METRICS };

#define HEAT_COLUMNS_MAX 480
#define HEAT_ROWS_MAX 256

struct heat_query {
	struct bytes table;
	enum heat_metric metric;
	uint64_t from_us, to_us; /* 0: from an hour before, or what there is of
				    that; until now */
	struct bytes prefix;     /* only rows that begin so */
	size_t columns, rows;    /* at most; 0: as many as there may be, 64 */
};

/* Rows from start on, before end, which if empty are no bounds; or if parts is
 * more than 1 one of as many about equal parts of these. */
struct heat_row {
	struct bytes start, end;
	unsigned int part, parts;
	double share; /* of the table's rows that it stands for, about */
};

/*
 * A picture: rows of keys, each for about as many of the table's rows, but
 * where so much comes to few of them that these have a row of their own;
 * columns of time. Values are per second. Nothing is left out: they add up to
 * what was counted.
 */
struct heat_picture {
	enum heat_metric metric;
	uint64_t from_s;   /* since 1970; where the first column begins */
	uint64_t column_s; /* seconds of one */
	size_t columns, rows;
	struct heat_row *row;
	double *values;    /* of row r, column c: r * columns + c */
	double peak, mean; /* of all values */
	struct heat_place {
		size_t row, column;
	} hottest; /* where the peak is */
};

/* How much of each has come to a table, about, since it had none for an hour or
 * the store was opened. False: nothing has. */
bool store_heat_counts(struct store *s, uint32_t table_id,
		       uint64_t counts[HEAT_METRICS]);

/* The range of a table's rows to which the most comes just now, in some ten
 * seconds: its bounds, as in struct heat_row, and which share of all reads and
 * writes of the table, 0 to 1. 1, 0 if nothing comes, or -ENOMEM. */
int store_heat_hottest(struct store *s, uint32_t table_id, struct buf *start,
		       struct buf *end, double *share);

/* 0, *out being the caller's to free; with no rows if there is no heat.
 * -ERR_no_table, -ERR_bad_argument if from is not before to. */
int store_heat(struct store *s, const struct heat_query *q,
	       struct heat_picture **out);
void heat_picture_free(struct heat_picture *p);

#endif
