#ifndef STORE_MODEL_WRITE_H
#define STORE_MODEL_WRITE_H

#include "store/engine/files/batch.h"
#include "store/engine/large/blobs.h"
#include "store/engine/run/pending.h"
#include "store/model/model.h"

/*
 * Writes are encoded as they are collected: a write is a batch, what has to be
 * patched into it at commit, and the schema it was checked against. If that
 * has changed by then, the records are checked once more.
 */
struct hidden_column {
	size_t start, size; /* of its column prefix in prefixes */
	bool ranked;        /* a rule hides versions by their rank */
};

struct write {
	struct store *s;
	struct schema *schema; /* referenced; what the adds were checked with */
	bool stale;            /* an earlier add was checked with another */
	struct batch batch;
	struct buf key; /* table and row prefix, then what the add needs */
	size_t row_end; /* 0: no row yet */
	uint32_t table_id;
	const struct table *table;    /* of schema */
	const struct family *family;  /* last used; of schema */
	struct buf now_places;        /* u64: offset << 1 | millis */
	struct buf prefixes;          /* of columns that lose versions */
	struct blob_holds holds;      /* what its large values refer to */
	struct buf references;        /* of one, encoded */
	struct hidden_column *hidden; /* see write_hidden */
	size_t hidden_count, hidden_room;
	/* Of an update: its time, else STORE_NOW; what write_view shows; the
	 * values of cells modified. */
	uint64_t now_us;
	struct pending pending;
	struct buf memory;
};

/* Puts the column's prefix into w->key and sets w->family; the second refuses
 * aggregate families. */
int write_column(struct write *w, struct bytes family, struct bytes qualifier);
int write_plain_column(struct write *w, struct bytes family,
		       struct bytes qualifier);
/* The time of an update as its present table takes it. */
uint64_t write_now(const struct write *w);

/*
 * Deleting a version would bring back one that max versions hides, if
 * compaction had not dropped that yet. So that answers do not depend on
 * compaction, what is hidden now is deleted in the same batch, before all else:
 * this adds that for the columns noted so far. With s->writing held.
 */
int write_hidden(struct write *w);

/* Commits with s->writing held, without syncing. seq as in store_update_seq. */
int commit_locked(struct store *s, struct write *w, uint64_t *seq);

/* With s->writing held: checks w against the schema of now and gives it its
 * time. The batch is w's. */
int write_settle(struct write *w, const struct batch **batch);

#endif
