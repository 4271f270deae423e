#ifndef FS_CONTROL_CTL_IMPORT_H
#define FS_CONTROL_CTL_IMPORT_H

#include "fs/control/ctl.h"

/*
 * How the last import into each table of a mount goes or went, for
 * .import/last. It is kept until the unmount, for each table that was imported
 * into, by the table's id. A lock of its own guards it, so calls may come
 * from any thread; nothing else is locked under it.
 */
struct imports;

/* 0 or -ENOMEM. */
int imports_new(struct imports **out);
/* When no more requests come: ends the thread that looks after open imports,
 * while the session, which it tells of changes, is there, and commits durably
 * the lines of bulk loads that are still open. 0 or the first error. */
int imports_stop(struct imports *imports);
/* After imports_stop. No import file may be used after it. */
void imports_free(struct imports *imports);

/* Appends the text of .import/last of a table: nothing if there was no import
 * since the mount. 0 or -ENOMEM. */
int imports_print(struct fs *fs, uint32_t table_id, struct buf *out);

#endif
