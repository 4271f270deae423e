#ifndef STORE_TEXT_IMPORT_IMPORT_STATE_H
#define STORE_TEXT_IMPORT_IMPORT_STATE_H

#include "store/text/import/import.h"
#include "store/text/json/json.h"
#include "store/text/recipe/apply.h"
#include "store/text/track/cells_seen.h"
#include "store/text/track/import_position.h"

/*
 * What the files of import.c share. Bytes wait in `input` until they make a
 * whole record, from `start` on; what has been looked at in vain is not looked
 * at again (`at`). Records become mutations in one write, `w`, which is handed
 * on when it is large enough: to the log, or to a bulk load.
 *
 * Offsets of the present record are from `start`, for input may move while it
 * grows.
 */

/* A record that has not ended by then lacks a quote or is no text. The largest
 * value, 100 MiB, is 134 MiB in base64. */
#define IMPORT_RECORD_MAX (UINT32_C(512) << 20)

/* What waits for the end of its record in memory, else in a file; and how much
 * more than a record a feed may bring. */
#define IMPORT_INPUT_MAX ((size_t)1 << 20)
#define IMPORT_FEED_MAX ((size_t)64 << 20)

/* When a write is handed on: mutations, or bytes. */
#define IMPORT_BATCH_MUTATIONS 10000
#define IMPORT_BATCH_SIZE (1 << 20)

/* What one write may have in bytes, of which values that are large are none. */
#define IMPORT_WRITE_MAX (UINT32_C(256) << 20)
#define IMPORT_VALUE_LARGE (64 << 10)

/* Refused lines that are kept with their reasons; more are only counted. */
#define IMPORT_REFUSED_MAX 1000

/* An import goes by bulk load if it comes in pieces of so many bytes, or so
 * many bytes have come within a window of time; if fewer have come at the end
 * of a window, it goes by the log again. */
#define IMPORT_LOAD_FEED (64 << 10)
#define IMPORT_LOAD_RATE (UINT64_C(2) << 20)
#define IMPORT_LOAD_WINDOW_US 1000000

/* What was loaded is published after so many bytes, or so long. */
#define IMPORT_PUBLISH_SIZE (UINT64_C(256) << 20)
#define IMPORT_PUBLISH_US 30000000

/* CSV and TSV: which record comes next. */
enum import_header {
	HEADER_FAMILIES,
	HEADER_COLUMNS,
	HEADER_DONE, /* data */
};

/* Of CSV and TSV; both point into header_text, or family into the importer's
 * family. */
struct import_column {
	struct bytes family;
	struct bytes qualifier;
};

/* Where a CSV record that is not whole yet stands. */
enum csv_state {
	CSV_FIELD, /* before a field's first byte */
	CSV_PLAIN, /* in a field without quotes */
	CSV_QUOTED,
	CSV_QUOTE, /* after a quote in a quoted field */
	CSV_SKIP,  /* in a line that was refused, up to its end */
};

/* What is handed on of the present record as it stands in the file. */
enum raw_record {
	RAW_NONE,
	RAW_HEADER,
	RAW_REFUSED,
};

struct import_field {
	size_t offset; /* from input.data + start */
	size_t size;
	bool quoted;
};

/* Which cells were set, so that those replaced are counted: so many bytes are
 * for some six million of them. */
#define IMPORT_SEEN_MAX (64 << 20)

/* With a recipe. */
struct import_recipe {
	struct applier *applier; /* owned */
	struct schema *schema;   /* referenced; NULL with emit */
	const struct table *target;
	bool refuse_duplicates;
	const struct import_rejects *rejects; /* borrowed; or NULL */
	enum raw_record raw;
	struct buf raw_kept; /* see import_raw.c */
	bool rejects_failed; /* what was refused is not all kept */
	int (*emit)(void *context, struct bytes line);
	void *context;
	struct cells_seen seen;
	struct buf hashes;       /* uint64_t, of the cells that a record sets */
	struct recipe_rows rows; /* of the present record */

	/* The present file. */
	struct buf file;           /* its name */
	bool looked;               /* its first bytes were looked at */
	enum recipe_format format; /* RECIPE_UNSAID until its content tells */
	uint64_t line_base;        /* lines of the files before it */
	/* Of the present record: elements that are done, and with resume those
	 * of the next one that were in already. */
	uint64_t element, element_first;
	struct bytes *names; /* owned array; of header_text */
	size_t name_count;
	struct record_column *columns; /* owned; of the present record */
	size_t column_capacity;
	struct buf decoded; /* what was base64 */
	struct buf line;    /* a row as JSON */
	/* JSON: in the array that holds the records, or behind it; how deep,
	 * and whether in a string, scanning the present one has come. */
	bool in_array, has_records, array_ended, in_string, escaped;
	/* What came last in the array, on which the next separator depends.
	 * Anything may follow where another import ended. */
	enum { ARRAY_ANY, ARRAY_BEGIN, ARRAY_ELEMENT, ARRAY_COMMA } array_last;
	/* Of the array: the present record, from 1; 0 where it is not known,
	 * as behind what another import took. */
	uint64_t array_index;
	unsigned int depth;
	/* Where the array ends: its bracket, in the file, and that one's line.
	 * Who goes on later comes past it again. */
	uint64_t array_end, array_end_line;
};

/* Of an import with a name; see import_resume.c. */
struct import_resume {
	struct buf name; /* empty: it has none, and nothing else is used */
	bool by_marks;   /* importer_mark tells where rows come from */
	/* What was committed last; what goes with the rows in w; and what with
	 * those in load. */
	struct import_position saved, now, loaded;
	struct buf head;  /* the first bytes of the file */
	bool is_checked;  /* they are those of the first run */
	bool is_there;    /* what was in before is passed over */
	uint64_t base;    /* where in the file input begins */
	uint64_t dropped; /* of the present record, from before im->start */
	int (*hand_on)(void *context, const struct import_position *upto);
	void *context;
};

struct importer {
	struct store *store; /* borrowed */
	enum text_format format;
	struct buf table, family; /* of the options */
	bool value_timestamps, strict, is_blind;
	uint64_t now_us;                      /* of cells without a timestamp */
	struct write *w;                      /* owned; not handed on yet */
	struct import_result result;          /* for the user */
	uint64_t pending_rows, pending_cells; /* in w */
	struct bulk_load *load;               /* owned; NULL: by the log */
	uint64_t loaded_rows, loaded_cells;   /* in load, not published */
	uint64_t loaded_line;                 /* the last one in load */
	bool log_only;                    /* a line did more than set cells */
	size_t feed_size;                 /* of the piece fed last */
	uint64_t window_us, window_bytes; /* where the rate is counted from */
	uint64_t shown_us, shown_bytes;   /* when load began or was published */
	int failed;                       /* the error that ended the import */
	bool is_lost; /* of what was handed on, so the rest is not to go on */
	uint64_t noted_rows, noted_bytes, noted_refused; /* by the store */

	struct buf input;    /* owned, or the spill's */
	struct spill spill;  /* of a long record; without a file: not used */
	struct spill copied; /* of json */
	size_t counted;      /* of input, as MEMORY_REQUESTS */
	size_t start;        /* of the present record, in input */
	size_t at;           /* from start: scanning goes on here */
	bool marked;         /* a byte-order mark was looked for */
	uint64_t line;      /* line number of the record's first byte, from 1 */
	uint64_t line_next; /* and of the record after it */

	/* CSV and TSV */
	enum import_header header;
	struct buf header_text; /* families, then qualifiers, end to end */
	struct import_column *columns;
	size_t column_count; /* without that of row keys */
	size_t field_max;    /* fields kept; more are only counted */
	struct import_field *fields;
	size_t field_count;    /* of the present record */
	size_t field_capacity; /* of fields */

	/* CSV; of control, the two of lines */
	enum csv_state csv;
	int delimiter, quote, comment; /* -1: none */
	bool csv_doubled;              /* the field has quotes to undouble */
	size_t csv_begin;              /* of the field's content, from start */
	size_t csv_line_at;            /* of the present line, from start */
	uint64_t csv_lines;            /* line ends seen inside the record */

	/* JSON lines */
	struct json json;
	const struct json_node *body; /* of the present line */

	struct import_resume resume;

	struct recipe *recipe; /* borrowed; NULL: what is below is not used */
	struct import_recipe by;
	uint64_t pending_bytes; /* with pending_cells, of what was emitted */
};

#endif
