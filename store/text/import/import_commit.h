#ifndef STORE_TEXT_IMPORT_IMPORT_COMMIT_H
#define STORE_TEXT_IMPORT_IMPORT_COMMIT_H

#include "store/text/import/import_state.h"

/*
 * From the mutations of lines to the store, and what becomes of a line that
 * cannot go there. Errors that are returned end the import.
 */

/* Whether an error tells that the text of a line is to blame, so that others
 * can go on; else the store or the machine is. */
bool import_is_refusable(int err);

/* Puts the line of the present record, and by a recipe the file, before the
 * detail of an error; returns err. The second does so by a recipe alone. */
int import_point(const struct importer *im, int err);
int import_locate(const struct importer *im, int err);

/* After an error of the present line, whose detail still stands: notes its
 * refusal and returns 1; or returns err, if it is not the line's fault or the
 * import is strict. The caller sees to it that nothing of the line is in w. */
int import_refuse(struct importer *im, int err);

/*
 * Runs add, which puts the present record into im->w: 1, or the result of
 * import_refuse, with w as before. If the record does not fit beside the rows
 * already there, those are handed on and add is run once more.
 */
int import_add_row(struct importer *im, int (*add)(struct importer *im));

/* Hands the mutations collected so far on, to the bulk load or to the log, and
 * empties w. Not durable, and of a load not visible. */
int import_hand_on(struct importer *im);

/* Hands on what is whole, and ends a load whose input has become slow. */
int import_settle(struct importer *im);

/* Hands on what goes up to a mark. */
int import_hand_on_marked(struct importer *im);

/* Hands on, and ends a load, so that all good lines are in the store; durable
 * with sync. */
int import_commit(struct importer *im, bool sync);

#endif
