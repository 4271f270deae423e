#ifndef STORE_MODEL_ADMIN_CHANGE_H
#define STORE_MODEL_ADMIN_CHANGE_H

#include "store/engine/files/batch.h"
#include "store/model/schema.h"

/*
 * Schema changes: copy the schema, change the copy, write the changed record,
 * install the copy. All under the writing lock, so that data and schema change
 * in one order: a commit is before a change or after it. Each public call is
 *
 *   change_begin: takes the lock, copies
 *   the change, on the copy; change_put and its like for its records
 *   change_end: writes, installs, unlocks and syncs; or only unlocks
 *
 * A change writes one batch, so that it is there or not after a crash, and
 * never half.
 */
struct change {
	struct store *s;
	struct schema *schema;  /* the copy; NULL if it could not be made */
	struct batch batch;     /* records; that of the changed table first */
	struct buf key, record; /* scratch, encoded */
	uint32_t next_table_id; /* the store's from the end on */
};

/* Takes s->writing, also if it fails: change_end follows in every case. */
int change_begin(struct store *s, struct change *c);

/* Adds the record of a table of the copy as it is now. Its first put has to be
 * the batch's first record. */
int change_put(struct change *c, struct table *table);

/* Adds the deletion of the record of the table with this name. Its cells stay:
 * no schema names their table id, so readers and compaction pass them over. */
int change_delete(struct change *c, struct bytes name);

/* Adds the record of the next table id, so that no id is ever used again, not
 * even that of a table whose record is gone. */
int change_put_next_id(struct change *c);

/* Adds the record of an attribute of the store's own, or its deletion. */
int change_put_attribute(struct change *c, const struct attribute *a);

/* Ends c in every case; with err 0 writes and installs it first. What can fail
 * comes before the write. The sync comes after the lock; if it fails, the
 * change is in force all the same and the store is read-only. */
int change_end(struct change *c, int err);

/* The common frame of changes to one table: fn changes it. If fn fails, so does
 * the change. */
int change_table(struct store *s, struct bytes name,
		 int (*fn)(struct store *s, struct table *t, void *arg),
		 void *arg);

/* Fails with -ERR_no_table; so that a caller may return it. */
int no_table(struct bytes name);

#endif
