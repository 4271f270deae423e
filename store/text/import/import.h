#ifndef STORE_TEXT_IMPORT_IMPORT_H
#define STORE_TEXT_IMPORT_IMPORT_H

#include "store/store.h"
#include "store/text/track/import_position.h"
#include "store/text/recipe/recipe.h"
#include "store/text/value/text_format.h"

/*
 * Importers: bytes in, rows committed. Feed any pieces; complete lines (for
 * CSV records, which may span lines) are taken as they come, in batches, within
 * bounded memory. A line that is wrong is refused with its number and reason
 * and the rest goes on; a line is one row mutation and is whole or absent.
 *
 * TEXT_CSV and TEXT_TSV: cbt import's layout. Two header records, families
 * (a family covers the empty fields to its right) and qualifiers, both with an
 * empty first field; with options.family only the second. A data record is a
 * row key and values; an empty field is no cell. TSV escapes: \t \n \r \\.
 * TEXT_JSONL: one object a line, see fs/README.md.
 *
 * Long imports go by bulk load, whose rows are seen only when it is published:
 * by a flush, the finish, or before a line that reads. Cells without a
 * timestamp all have that of importer_new.
 *
 * With a recipe, see store/text/recipe/recipe.h, a file is one of records: CSV
 * and TSV with one header, JSON lines, a JSON array, or paragraphs of Debian's
 * control format; each becomes the rows that the recipe says, all of them or
 * none. importer_begin_file begins each of any number of files, which are one
 * import: they share its time, and a cell that a later record replaces is
 * counted. Its rows go to a store or, as JSON, to a function. If its first
 * 1,000 records are all refused it ends.
 *
 * One thread at a time uses an importer. An error that a call returns is final:
 * it ends the import, every later call returns it, and lines committed stay.
 */
struct importer;

/* Where an import by a recipe puts what it refuses. An error of these functions
 * ends it. Texts are borrowed during the call. */
struct import_rejects {
	/* "file:line: why", once for each refusal. */
	int (*reason)(void *context, struct bytes line);
	/* A file's header, as it stands there. None of JSON. */
	int (*header)(void *context, struct bytes text);
	/* A refused record as it stands there, perhaps in pieces; end tells the
	 * last. Of the elements of one all have the same. */
	int (*record)(void *context, struct bytes text, bool end);
	/* Before rows are committed: what was given so far is to outlive the
	 * process, as they do. */
	int (*flush)(void *context);
	void *context;
};

/* Borrowed during importer_new only. */
struct import_options {
	struct bytes table;
	struct bytes family;   /* CSV, TSV: the one family; or empty */
	bool value_timestamps; /* CSV, TSV: "@<us>" ends a value */
	/* The first wrong line is an error: what is before it is committed. */
	bool strict;
	bool is_blind; /* a condition of JSON lines ends it: -EACCES */

	/* What recipe_check took, and what follows with it; or NULL. Borrowed
	 * until importer_free. */
	struct recipe *recipe;
	bool refuse_duplicates; /* instead of replacing a cell of this import */
	size_t seen_max; /* bytes, by which replaced cells are counted; 0: as
			    many as are good for a process of its own */
	const struct import_rejects *rejects; /* or NULL; borrowed as recipe */
	/* If not NULL, takes each row as a line of JSON in place of the store;
	 * an error of it ends the import. */
	int (*emit)(void *context, struct bytes line);
	void *context;
	const struct table *target; /* with emit: what the rows are for */

	/* A name, or empty. With one, how far it came is committed together
	 * with the rows, and the next import of that name goes on behind it, by
	 * the same recipe and with the time of the first: each record is in
	 * exactly once, whatever happens between. It is of one file, of which
	 * bytes may come behind those that there were. */
	struct bytes resume;
	/* With emit: what is told each time that the rows that were emitted
	 * since the last time are to go on. They are of whole records: some
	 * 10,000 cells and a megabyte at most, or the rows of one. With resume
	 * upto is where they come up to, and position where the import stands,
	 * NULL at its beginning. */
	int (*hand_on)(void *context, const struct import_position *upto);
	const struct import_position *position;
};

struct import_result {
	uint64_t line_count;     /* lines read */
	uint64_t row_count;      /* row mutations committed */
	uint64_t cell_count;     /* mutations in them */
	uint64_t byte_count;     /* fed, whether taken yet or not */
	uint64_t committed_line; /* all good lines up to it are in */
	uint64_t refused_count;
	/* With a recipe: records that have not the array that explode names;
	 * records that it skips; those that come to no cell, as
	 * all fields that it names are absent; cells that a later record of
	 * the import replaced, all of them unless replaced_more; cells with a
	 * time of their own that their family's policy hides by its age. */
	uint64_t unexploded_count;
	uint64_t skipped_count, empty_count, replaced_count, hidden_count;
	bool replaced_more;
	/* With a recipe: the line that was taken for a header, which nothing
	 * asked for, of the first such file; 0: none. */
	uint64_t header_line;
	/* With resume: the last line, which had no end yet and was left; 0:
	 * none. If the record waits for the end of a quote, of which line and
	 * column that begins: left_quote is the column, else 0. */
	uint64_t left_line, left_quote;
	/* The first 1,000: "line N: reason\n"; with a recipe it begins with
	 * "FILE:N: ". */
	struct buf refused;
};

/* What is to be told of result->header_line, behind file and line. */
#define IMPORT_HEADER_TAKEN                                          \
	"was taken for the header; header=no makes a record of it, " \
	"header=yes says that it is one"

/* s is NULL with emit. With a recipe the format says nothing, and a family
 * that is not there or of another type is -ERR_no_family or
 * -ERR_type_mismatch. *out is to be freed; NULL after an error:
 * -ERR_bad_argument for TEXT_CBT, -ERR_no_table, -ENOMEM. */
int importer_new(struct store *s, enum text_format format,
		 const struct import_options *options, struct importer **out);

/* With a recipe: ends the file before, and begins one. by_name is the format
 * that its name tells; what it does not tell, the content does. As
 * importer_feed. */
int importer_begin_file(struct importer *im, struct bytes file,
			enum recipe_format by_name);

/* What the table is called from now on. 0 or -ENOMEM. */
int importer_rename(struct importer *im, struct bytes table);

/* Drops what is not committed. NULL is none. */
void importer_free(struct importer *im);

/* Takes the next piece of input, which is copied as far as it is needed later.
 * Errors: a bad header, a full disk, a read-only store, a line of more than 512
 * MiB; the result says how far it came. */
int importer_feed(struct importer *im, struct bytes data);

/* Commits what is whole and pending, or with emit hands it on, unless it goes
 * by bulk load, as a long import does: that is committed by the next flush or
 * finish, or here if little has come for a second. Whoever calls this each
 * second has nothing wait that comes slowly. */
int importer_settle(struct importer *im);

/* Of one with resume and without a recipe, whose rows belong together between
 * two marks: all that was fed goes up to a position, of which table and time
 * are as they were. Commits both or neither; of a bulk load later. */
int importer_mark(struct importer *im, const struct import_position *upto);

/* With resume: what was committed last. Valid until the next call. */
const struct import_position *importer_position(const struct importer *im);

/* Whether lines were taken that nobody sees before a flush. */
bool importer_has_unseen(const struct importer *im);

/* Bytes that were taken and are nowhere in the store: a record that has no end
 * yet, and rows that are not handed on. */
uint64_t importer_held_size(const struct importer *im);

/* Commits what is whole and pending; with sync, durably. */
int importer_flush(struct importer *im, bool sync);

/* Of one with a store, fed up to a newline: whether what waits to be a whole
 * record would be refused if nothing followed. 0, also where that is not known
 * yet of the first bytes; -ERR_bad_line, whose detail tells where and why; or
 * -ENOMEM. Nothing becomes of it, and the import goes on. */
int importer_rest(struct importer *im);

/* The end of input: takes a last line without newline, then flushes. A refused
 * line is no error here; look at the result. */
int importer_finish(struct importer *im, bool sync);

/* How far it is; also after an error. Valid until the next call. */
const struct import_result *importer_result(const struct importer *im);

#endif
