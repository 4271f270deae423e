#ifndef STORE_MODEL_COMMIT_H
#define STORE_MODEL_COMMIT_H

#include "store/model/write.h"

/*
 * How a write that has been collected becomes one record of the log: checked
 * once more, given its time, and cleared of what its deletions would bring
 * back. store_commit does it under s->writing, which all of this needs.
 */

/*
 * Deleting a version would bring back one that max versions hides, if
 * compaction had not dropped that yet. So that answers do not depend on
 * compaction, what is hidden now is deleted in the same batch, before all else:
 * this adds that for the columns noted so far, and forgets them. If it is much,
 * it is written at once. The batch is another one afterwards: places in the old
 * one, such as marks and what pending has seen, are good no more.
 */
int write_hidden(struct write *w);

/* Commits without syncing; the caller empties w. seq, if not NULL, is set as in
 * store_update_seq. Errors of write_settle, write_hidden and engine_write; then
 * nothing that readers see has changed. */
int commit_locked(struct store *s, struct write *w, uint64_t *seq);

/* Ends s->writing, after commit_locked or instead, and what write_hidden holds
 * meanwhile. */
void commit_end(struct store *s, struct write *w);

/* What whoever says that a commit is done waits for, without s->writing: that
 * it is durable, with sync or where no less survives a kill of the process. */
int commit_wait(struct store *s, bool sync);

/* Checks w against the schema of now and gives it its time. The batch is w's.
 * -ERR_no_table, -ERR_no_family, -ERR_type_mismatch. May be called again on
 * what it was called on: the time is then a later one. */
int write_settle(struct write *w, const struct batch **batch);

#endif
