#ifndef FS_CONTROL_CTL_IMPORT_H
#define FS_CONTROL_CTL_IMPORT_H

#include "fs/control/ctl.h"

/* Whether a step of .import may have this value: 0, or -ENOENT with the reason.
 */
int imports_check_step(struct bytes name, struct bytes value);
int imports_new(struct imports **out);
void imports_free(struct imports *imports);

/* Appends the text of .import/last. */
int imports_print(struct fs *fs, struct bytes table, struct buf *out);

#endif
