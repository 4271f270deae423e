#ifndef STORE_TEXT_VALUE_FOREIGN_H
#define STORE_TEXT_VALUE_FOREIGN_H

#include "store/base/bytes.h"

/* Files that are no text of records, by their first bytes: 512 tell all. */

/* What such a file is and what to do with it, for behind "it is "; or NULL. */
const char *foreign_kind(struct bytes in);

/* The command that undoes what a file was compressed by, or NULL. */
const char *foreign_undone_by(struct bytes in);

/* Whether a first line is that of a JSON object, or of an array of them. */
bool foreign_is_json(struct bytes line);

#endif
