#ifndef STORE_TEXT_TRACK_IMPORT_POSITION_H
#define STORE_TEXT_TRACK_IMPORT_POSITION_H

#include "store/store.h"
#include "store/text/recipe/recipe.h"

/*
 * How far an import with a name has come. It is committed in the same batch or
 * bulk load as the rows, so that both are there or neither, as a cell like any
 * other: of the table _imports, the row with the import's name, the column
 * import:position.NUMBER of the table that it goes to, so that no table takes a
 * name from another. So every program can show it and delete it, it is in every
 * backup, and it costs a few hundred bytes for each. Its timestamp is when the
 * import first began, so there is one version. The table is made for who owns
 * the mount alone, since this tells of tables that others may not read.
 *
 * The cell's value is a text, "name number" lines in the order of the fields,
 * after "version 1".
 */
#define IMPORT_POSITIONS "_imports"

#define IMPORT_NAME_MAX 255

/* So much of the beginning of a file is compared when it comes again. */
#define IMPORT_HEAD_SIZE ((size_t)64 << 10)

struct import_position {
	uint64_t table; /* that rows go to: see import_table.h */
	/* Of the record that is next: its line, from 1, and where it begins in
	 * the file, undone of its compression; and of its elements, those that
	 * are done. 0: nothing was read yet. */
	uint64_t line, offset, elements;
	uint64_t time_us; /* of cells that have none of their own */
	uint64_t format;  /* enum recipe_format; 0: not known yet */
	uint64_t in_array;
	/* The first bytes before offset, IMPORT_HEAD_SIZE at most. */
	uint64_t head_size, head_hash;
	uint64_t recipe_hash;
};

bool import_position_equal(const struct import_position *a,
			   const struct import_position *b);

/* Appends the text. 0 or -ENOMEM. */
int import_position_print(const struct import_position *p, struct buf *out);

/* No byte is trusted. 0, or -ERR_bad_argument. */
int import_position_parse(struct bytes text, struct import_position *p);

/* Reads that of a name and a table's number: 1, 0 if there is none, or an
 * error. What an older program left as import:position is moved if it is of
 * this table, and is none if it is of another; of a table that is no more, or
 * is not known, it is 1 with that number. */
int import_position_load(struct store *s, struct bytes name, uint64_t table,
			 struct import_position *p);

/* Makes the table for them, unless it is there, for its owner alone. */
int import_position_prepare(struct store *s);

/* Adds that of p->table to w, after which another row has to be named. */
int import_position_add(struct write *w, struct bytes name,
			const struct import_position *p);

#endif
