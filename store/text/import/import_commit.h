#ifndef STORE_TEXT_IMPORT_IMPORT_COMMIT_H
#define STORE_TEXT_IMPORT_IMPORT_COMMIT_H

#include "store/text/import/import_state.h"

/* Whether the text of a line is to blame, so that others can go on. */
bool import_is_refusable(int err);

/* After an error of the present line: refuses it (1) or, if it is not the
 * line's fault or the import is strict, returns err. */
int import_refuse(struct importer *im, int err);

/* Runs add, which puts the present record into im->w; once more after a commit
 * if it did not fit beside the rows already there. */
int import_add_row(struct importer *im, int (*add)(struct importer *im));

/* Hands on the mutations collected so far, to the load or to the log. */
int import_hand_on(struct importer *im);
int import_commit(struct importer *im, bool sync);

#endif
