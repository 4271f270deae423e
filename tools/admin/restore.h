#ifndef TOOLS_ADMIN_RESTORE_H
#define TOOLS_ADMIN_RESTORE_H

#include "fs/kernel/served.h"
#include "tools/verb/verb.h"

/*
 * restore-from BACKUP STORE: makes STORE, which is not there yet, of a backup.
 * With table=T, a table of the backup becomes one of a store that is there,
 * which may be in use: it comes in pieces, each a command of its own, into a
 * table NAME.partial, which gets its name when it is whole.
 *
 * The statuses are 0, or 1 after it said what is wrong; then what there is of
 * the store or table is removed, unless that fails as well.
 */
int verb_restore_from(struct verb_call *c);

/* Whether it is about a table, so that the store is there, by c->argv[2]. */
bool restore_has_table(const struct verb_call *c);

/* A table, into a store that is mounted or served. */
int remote_restore_from(struct verb_call *c, const struct served *served);

/* restore-piece, which is for restore-from alone: "begin NAME HOLDER TEXT"
 * refuses a NAME that is taken, drops what one that was killed has left, makes
 * the table of which TEXT is a piece (dump.h), and prints its id, by which the
 * rest knows it, whatever has its name by then: "more ID TEXT" adds a piece,
 * "end ID NAME [FAMILY POLICY]..." sets policies and renames it, "drop ID"
 * drops it. */
int verb_restore_piece(struct verb_call *c);

#endif
