#ifndef STORE_MODEL_FILTER_FILTER_RUN_H
#define STORE_MODEL_FILTER_FILTER_RUN_H

#include "store/engine/read/cursor.h"
#include "store/filter.h"
#include "store/regex.h"

/*
 * Filters at work. Nothing is kept of a row but counters, so a row with a
 * condition is read several times: conditions have levels, those of a level
 * rest only on those of lower levels, and pass n decides those of level n. The
 * last pass gives the cells.
 */
enum filter_kind {
	FILTER_PASS,
	FILTER_BLOCK,
	FILTER_SINK,
	FILTER_STRIP,
	FILTER_LABEL,
	FILTER_SAMPLE,
	FILTER_ROW,
	FILTER_FAMILY,
	FILTER_QUALIFIER,
	FILTER_VALUE,
	FILTER_COLUMNS,
	FILTER_VALUES,
	FILTER_TIMESTAMPS,
	FILTER_ROW_LIMIT,
	FILTER_ROW_OFFSET,
	FILTER_COLUMN_LIMIT,
	FILTER_CHAIN,
	FILTER_INTERLEAVE,
	FILTER_CONDITION,
};

struct filter {
	enum filter_kind kind;
	struct regex *regex;
	struct buf name; /* family of columns; label */
	struct buf start, end;
	struct filter_range range;   /* points to start and end */
	uint64_t from_us, to_us;     /* to is never 0 */
	uint64_t limit;              /* of cells; of a row's hash */
	struct filter **parts;       /* of a condition three, or NULL */
	size_t part_count;           /* direct ones */
	unsigned int depth;          /* of composing filters */
	unsigned int size;           /* parts in all */
	unsigned int copies;         /* of a cell, at most */
	bool counts;                 /* what it passes rests on cells before */
	bool has_sink, has_label;    /* inside */
	struct filter *next;         /* gets what passes; NULL: the result */
	struct filter *decides;      /* or the condition of this predicate */
	struct filter *next_decided; /* list of all conditions */
	unsigned int level;          /* of a condition */
	unsigned int number;         /* in its tree */
	uint64_t epoch;              /* of the run, that state is about */
	uint64_t count;              /* cells so far */
	bool matched;                /* the row, family, column; predicate */
};

struct filter_cell {
	struct cell cell;
	struct bytes label;
};

struct filter_run {
	struct filter *root;
	struct filter *conditions;
	unsigned int linked; /* parts */
	unsigned int levels; /* passes that decide */
	unsigned int level;  /* of the present pass; levels: the last */
	size_t undecided;    /* conditions that this pass has to decide */
	/* Counters that change when another row, family, column begins. */
	uint64_t row_epoch, family_epoch, column_epoch;
	struct buf row, family, qualifier;
	uint64_t timestamp_us; /* of the cell shown last */
	struct filter_cell *cells;
	size_t count, room, taken;
	/* Makes the value of the cell shown, which is large, one in memory. */
	int (*load)(void *context, struct cell *cell);
	void *load_context;
};

void filter_run_start(struct filter_run *r, struct filter *root);
void filter_run_release(struct filter_run *r);

/* Another row begins, with the first pass. */
int filter_run_row(struct filter_run *r, struct bytes row);
static inline bool filter_run_decides(const struct filter_run *r)
{
	return r->level < r->levels;
}
/* A pass that decides is at the row's end or was told to step there: the row is
 * shown again from its start. */
void filter_run_again(struct filter_run *r);
/* Shows the row's next cell, whose bytes must stay until its copies are taken;
 * in the last pass they are what filter_run_take gives. */
int filter_run_cell(struct filter_run *r, const struct cell *cell);
/* The next copy; NULL if there is none left. */
const struct filter_cell *filter_run_take(struct filter_run *r);
/* How far one may step without missing a cell that matters. */
enum cursor_step filter_run_step(const struct filter_run *r);

/* Where all cells are that a filter has to be shown. */
struct filter_need {
	struct bytes row_head; /* in rows whose keys begin so */
	bool row_is_head;      /* in the row with that key */
	bool has_family, has_qualifier;
	struct bytes family, qualifier;
	uint64_t since_us; /* with no smaller timestamp */
};

struct filter_need filter_need(const struct filter *f);

#endif
