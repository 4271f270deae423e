#ifndef STORE_MODEL_FILTER_FILTER_RUN_H
#define STORE_MODEL_FILTER_FILTER_RUN_H

#include "store/engine/read/cursor.h"
#include "store/filter.h"
#include "store/regex.h"

/*
 * Filters at work: a row's cells are shown to a tree of parts, in scan order,
 * and what comes out is taken. Nothing is kept of a row but counters, so a row
 * with a condition is read several times: conditions have levels, those of a
 * level rest only on those of lower levels, and pass n decides those of level
 * n. The last pass gives the cells. A run and its filter belong to one thread
 * at a time, and a filter to one run.
 *
 * Whoever drives a run, for each row:
 *
 *   filter_run_row
 *   while filter_run_decides: all cells by filter_run_cell; filter_run_again
 *   cells by filter_run_cell, after each filter_run_take until NULL
 *
 * and may step over cells as filter_run_step and filter_need allow.
 */
/* What a part passes; filter.h has the meaning of each. */
enum filter_kind {
	FILTER_PASS,         /* every cell */
	FILTER_BLOCK,        /* none */
	FILTER_SINK,         /* straight to the result */
	FILTER_STRIP,        /* all, without their values */
	FILTER_LABEL,        /* all, with name as their label */
	FILTER_SAMPLE,       /* of rows whose hash is below limit */
	FILTER_ROW,          /* of rows whose key regex matches */
	FILTER_FAMILY,       /* of families, by regex */
	FILTER_QUALIFIER,    /* of columns, by regex */
	FILTER_VALUE,        /* by a regex of the value */
	FILTER_COLUMNS,      /* of family name, qualifier in range */
	FILTER_VALUES,       /* value in range */
	FILTER_BITMASK,      /* value with all bits of name, and as long */
	FILTER_TIMESTAMPS,   /* from_us <= timestamp < to_us */
	FILTER_ROW_LIMIT,    /* the first limit cells of a row */
	FILTER_ROW_OFFSET,   /* all of a row but those */
	FILTER_COLUMN_LIMIT, /* the first limit cells of a column */
	FILTER_CHAIN,        /* what all parts pass, in turn */
	FILTER_INTERLEAVE,   /* what each part passes */
	FILTER_UNION,        /* what the first part does that passes it */
	FILTER_CONDITION,    /* parts[0] decides between the others */
};

/* A part of the tree, with the parts inside it. */
struct filter {
	/* What it does, set when it is made. */
	enum filter_kind kind;
	struct regex *regex;       /* owned; of the four that have one */
	struct buf name;           /* family of columns; label; mask */
	struct buf start, end;     /* memory of range */
	struct filter_range range; /* points to start and end */
	uint64_t from_us, to_us;   /* to is never 0 */
	uint64_t limit;            /* of cells; of a row's hash */
	struct filter **parts;     /* owned; of a condition three, the latter
					two of which may be NULL */
	size_t part_count;         /* direct ones */

	/* What is inside, for the bounds of filter.h. */
	unsigned int depth;  /* of composing filters */
	unsigned int size;   /* parts in all */
	unsigned int copies; /* of a cell, at most */
	unsigned int steps;  /* through parts, of a cell, at most */
	/* It has to see every cell: what it passes rests on cells of other
	 * columns, or goes past the parts after it. */
	bool counts;
	bool has_sink, has_label; /* inside */

	/* Where cells go, set when a run starts; none of it is owned. */
	struct filter *next;         /* gets what passes; NULL: the result */
	struct filter *decides;      /* or the condition of this predicate */
	struct filter *next_decided; /* list of all conditions */
	unsigned int level;          /* of a condition */
	unsigned int number;         /* in its tree */

	/* State of a run, good while epoch is the run's of its row, family or
	 * column; a condition's matched, of a row, is good without. */
	uint64_t epoch;
	uint64_t count; /* cells so far */
	bool matched;   /* the row, family, column; predicate */
	/* By which showing the count grew last, and what it was before this
	 * cell. */
	uint64_t counted, count_before;
	/* By which showing a regex of values answered, about the cell's value
	 * and about none: see filter_run_cell. */
	struct {
		uint64_t showing;
		bool matched;
	} answers[2];
};

/* A cell as it comes out. Its bytes are those of the cell shown, or the run's
 * load's; the label is the filter's. */
struct filter_cell {
	struct cell cell;
	struct bytes label; /* empty: none */
};

struct filter_run {
	struct filter *root;
	struct filter *conditions; /* list of all; NULL: none */
	unsigned int linked;       /* parts so far, which numbers them */
	unsigned int levels;       /* passes that decide */
	unsigned int level;        /* of the present pass; levels: the last */
	size_t undecided;          /* conditions that this pass has to decide */

	/* Counters that change when another row, family, column begins, so
	 * that parts need not be told. They never go back; 0 is none. */
	uint64_t row_epoch, family_epoch, column_epoch;
	/* Showings of cells, the present one and the first of its cell. */
	uint64_t showing, first_showing;
	bool paused; /* the cell is to be shown once more */

	struct buf row;               /* under way */
	struct buf family, qualifier; /* of the cell shown last */
	uint64_t timestamp_us;        /* of the cell shown last */

	/* Copies that came out of the cell shown last, of which so many were
	 * taken. */
	struct filter_cell *cells;
	size_t count, room, taken;

	/* Makes the value of the cell shown, which is large, one in memory. Its
	 * negative result ends the call that needed it. */
	int (*load)(void *context, struct cell *cell);
	void *load_context;
	struct regex_watch *watch; /* over all that is done; NULL: none */
	uint64_t work;             /* it was not told of yet, of this cell */
	uint64_t look_at;          /* with how much it is asked to stop */
};

/* Links the tree and begins; load and its context are the caller's to set. root
 * must outlive the run. */
void filter_run_start(struct filter_run *r, struct filter *root);

void filter_run_release(struct filter_run *r);

/* Another row begins, with the first pass. 0 or -ENOMEM. */
int filter_run_row(struct filter_run *r, struct bytes row);

/* Whether this pass is one that decides, and gives nothing. */
static inline bool filter_run_decides(const struct filter_run *r)
{
	return r->level < r->levels;
}

/* A pass that decides is at the row's end or was told to step there: the row is
 * shown again from its start. */
void filter_run_again(struct filter_run *r);

/* Shows the row's next cell, whose bytes must stay until its copies are taken;
 * in the last pass they are what filter_run_take gives. 0, -ENOMEM, and errors
 * of load and regex_match. After -EAGAIN, which is for the watch to say, the
 * same cell is to be shown again, before any other of its row: what was found
 * out about it is kept. */
int filter_run_cell(struct filter_run *r, const struct cell *cell);

/* The next copy, valid until the next cell is shown; NULL if there is none
 * left. */
const struct filter_cell *filter_run_take(struct filter_run *r);

/* How far one may step from the cell shown last without missing a cell that
 * matters. */
enum cursor_step filter_run_step(const struct filter_run *r);

/* Where all cells are that a filter has to be shown: others change nothing of
 * what it gives. All bytes are borrowed from the filter. */
struct filter_need {
	struct bytes row_head; /* in rows whose keys begin so */
	bool row_is_head;      /* in the row with that key */
	bool has_family;       /* in one family */
	bool has_qualifier;    /* with one qualifier; says something only if
				  has_family, too */
	struct bytes family, qualifier;
	uint64_t since_us; /* with no smaller timestamp */
};

struct filter_need filter_need(const struct filter *f);

#endif
