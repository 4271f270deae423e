#ifndef STORE_ENGINE_READ_CURSOR_STATE_H
#define STORE_ENGINE_READ_CURSOR_STATE_H

#include "store/engine/read/cursor.h"
#include "store/engine/read/sources.h"
#include "store/engine/read/version_run.h"

/* A cursor's inside, for the files that make it up. */
struct cursor {
	struct sources sources;
	struct bytes start, end; /* in bounds; empty end: unbounded */
	size_t prefix_size;      /* of start, that files are asked for; 0 */
	uint64_t since_us;       /* as cursor_since was told; 0 */
	uint64_t until_us;       /* as cursor_until was; UINT64_MAX */
	struct buf column;       /* encoded prefix of the present column */
	struct key_parts parts;  /* where its parts end */
	struct buf row, family, qualifier; /* decoded, where escaped */
	/* What a cell shows: into column, or into the three above. */
	struct bytes row_part, family_part, qualifier_part;
	struct gc_column gc;          /* of the present column */
	const struct gc_table *table; /* NULL: dropped, or no rules */
	bool hidden;                  /* the column's family is dropped */
	bool version_seen;            /* last_timestamp is of this column */
	uint64_t last_timestamp;
	struct bytes limit;      /* settle goes no further; empty: no limit */
	int at;                  /* what the iterator returned last: 1 at an
				    entry, 0 at the end, or an error */
	struct aggregate merged; /* value of the present cell, if merged */
	bool (*stop)(void);      /* or NULL */
	bool (*pause)(void);     /* or NULL */
	unsigned int passed;     /* entries since they were asked */
	struct buf back;  /* of cursor_row_before that paused: goes on before */
	bool paused;      /* the iterator's entry is not looked at yet */
	bool ahead;       /* the iterator has left the present cell's entry */
	bool started;     /* the iterator has been placed */
	bool show_hidden; /* gives what the GC rule does not keep */
	bool rest_hidden; /* nor does it keep any older version of the column */
	bool too_new; /* the entry is newer than until_us, and not counted */
	struct gap_run run;        /* of entries that are not visible */
	struct version_run writes; /* of them, those of one version */
	uint8_t bounds[];          /* start, then end */
};

/* Before each use: finds the place of a cursor that rested. 0 or an error. */
int cursor_wake(struct cursor *c);

#endif
