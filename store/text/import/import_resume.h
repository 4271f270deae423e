#ifndef STORE_TEXT_IMPORT_IMPORT_RESUME_H
#define STORE_TEXT_IMPORT_IMPORT_RESUME_H

#include "store/text/import/import_state.h"

/*
 * Imports with a name, which go on where the one of that name stopped. All of
 * these do nothing for one without. Errors end the import.
 */

/* Finds out how far it has come, and sets im->now_us to the time of its first
 * run. Before import_recipe_init. What it made is import_resume_release's to
 * free in any case. */
int import_resume_init(struct importer *im,
		       const struct import_options *options);
void import_resume_release(struct importer *im);

/* After import_recipe_init: whether the recipe is that of the first run. */
int import_resume_check_recipe(struct importer *im);

/* Of each piece fed, before it is consumed: 1, or 0 while there is not enough
 * of the file to know whether it begins as it did. */
int import_resume_look(struct importer *im, struct bytes data);

/* Passes over what is in already, once the header was read: 1 when that is
 * done, 0 if there is more. */
int import_resume_skip(struct importer *im);

/* Whether a last line without newline is one: of what may grow it is not. */
bool import_resume_takes_rest(const struct importer *im);

/* At the end of the file: refuses one that has become shorter, and tells what
 * is left of a last line. */
int import_resume_end(struct importer *im);

/* Whether the position will fit beside so many changes and bytes into a write:
 * 0 or -ERR_batch_too_large. */
int import_resume_room(const struct importer *im, uint64_t count,
		       uint64_t size);

/* What w holds goes up to here: adds that to w. */
int import_resume_add(struct importer *im);
/* w was committed, or is in the load. */
void import_resume_committed(struct importer *im);
void import_resume_loaded(struct importer *im);

/* Before im->load is published, adds to it how far it goes; and after that. */
int import_resume_publish(struct importer *im);
void import_resume_published(struct importer *im);

/* Commits the position alone, if it is another than what was committed. */
int import_resume_settle(struct importer *im);

/* Of any importer: what was emitted goes on, and its position with it. */
int import_resume_emitted(struct importer *im);

#endif
