#ifndef STORE_TEXT_IMPORT_IMPORT_JSON_H
#define STORE_TEXT_IMPORT_IMPORT_JSON_H

#include "store/text/import/import_state.h"

/*
 * Takes one line, a row mutation as JSON, from the front of the input: 1 if it
 * did (or refused it, or skipped a blank one), 0 if it is not whole yet,
 * negative if the import has to end. With final, no more input comes.
 */
int import_take_json(struct importer *im, bool final);

/* The same of one paragraph of Debian's control format, with the empty line
 * behind it, or of a line between two. */
int import_take_control(struct importer *im, bool final);

/* What importer_rest says of paragraphs. */
int import_control_rest(struct importer *im);

#endif
