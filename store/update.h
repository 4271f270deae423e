#ifndef STORE_UPDATE_H
#define STORE_UPDATE_H

#include "store/filter.h"
#include "store/write.h"

/*
 * Updates: writes that depend on what is there. An update reads and writes with
 * no other commit under way, so that what it has read still holds when it is
 * written; keep it short, as all writers wait for it.
 */
struct snapshot;

/*
 * Calls decide, which reads what it needs, fills w, and returns 0 to commit w
 * or a negative error, which is returned and commits nothing. decide must not
 * commit by itself, nor change the schema. STORE_NOW is one moment for all of
 * it. *seq, if not NULL, is set on success to the sequence of the last change
 * that was written, or to 0 if none was. sync is that of store_commit.
 */
int store_update_seq(struct store *s,
		     int (*decide)(void *context, struct write *w),
		     void *context, bool sync, uint64_t *seq);

static inline int store_update(struct store *s,
			       int (*decide)(void *context, struct write *w),
			       void *context, bool sync)
{
	return store_update_seq(s, decide, context, sync, NULL);
}

/*
 * For decide: a view shows the store as it will be with what w has collected.
 * It is w's and holds until the next call on w, after which also no earlier
 * write_mark is good any more. Reads that are given no snapshot see what is
 * there without w. -ERR_bad_argument outside of an update.
 */
int write_view(struct write *w, const struct snapshot **out);

/*
 * For decide: one more version of a column, made of its newest one as the view
 * shows it: at the time of the update or, if that is later, in place of the
 * newest. Older versions stay. A missing one is empty or 0. An increment takes
 * and makes a signed 64-bit big-endian value and wraps around. cell, if not
 * NULL, is the new version, its value w's until the next call on w. Errors as
 * of write_set, and -ERR_not_a_number if there is a value that is not 8 bytes.
 */
int write_append(struct write *w, struct bytes family, struct bytes qualifier,
		 struct bytes value, struct cell *cell);
int write_increment(struct write *w, struct bytes family,
		    struct bytes qualifier, int64_t amount, struct cell *cell);

/* As write_append, but a large value is not read, and of what it has only the
 * last chunk is written anew: *large is the new one, to be put, and cell->value
 * empty. Else *large is NULL. */
int write_append_large(struct write *w, struct bytes family,
		       struct bytes qualifier, struct bytes value,
		       struct cell *cell, struct large **large);

/* For decide: as write_add_all, to the column's newest version, or one at the
 * time of the update if there is none; *timestamp_us, if not NULL, is which. */
int write_add_newest(struct write *w, struct bytes family,
		     struct bytes qualifier, const int64_t *numbers,
		     size_t count, uint64_t *timestamp_us);

/* Bigtable's CheckAndMutateRow: what to ask of a row, and what to do then. As
 * every other commit waits, the filter's regular expressions may take 100 ms of
 * processor time in all; else -ERR_bad_argument. */
struct row_check {
	struct bytes table, row;
	struct filter *filter; /* sees all versions; NULL passes all */
	/* Fill w, in which the row is named already. One of them may be NULL
	 * and changes nothing. */
	int (*if_true)(void *context, struct write *w);
	int (*if_false)(void *context, struct write *w);
	void *context;
};

/* If the filter lets any cell of the row pass, w is filled by if_true, else by
 * if_false; *matched tells which it was. -ERR_bad_argument if both are NULL. */
int store_check_and_mutate(struct store *s, const struct row_check *check,
			   bool sync, bool *matched);

#endif
