#ifndef STORE_UPDATE_H
#define STORE_UPDATE_H

#include "store/filter.h"
#include "store/write.h"

struct snapshot;

/*
 * Updates: what is written depends on what is there. store_update calls decide
 * with no other commit under way. It reads what it needs, fills w, and returns
 * 0 to commit w or a negative error, which is returned and commits nothing.
 * decide must not commit by itself. STORE_NOW is one moment for all of it.
 * *seq, if not NULL, is set to the sequence of what was written if that is one
 * record, else to 0.
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
 * The rest is for decide. A view shows the store as it will be with what w has
 * collected; it is w's and holds until the next call on w, after which also no
 * earlier write_mark is good any more. Reads without one see what is there
 * without w.
 */
int write_view(struct write *w, const struct snapshot **out);
/*
 * One more version of a column, made of its newest one as the view shows it: at
 * the time of the update or, if that is later, in place of the newest. Older
 * versions stay. A missing one is empty or 0. An increment takes and makes a
 * signed 64-bit big-endian value and wraps around. cell, if not NULL, is the
 * new version, its value w's until the next call on w. Errors as of write_set,
 * and -ERR_not_a_number if there is a value that is not 8 bytes.
 */
int write_append(struct write *w, struct bytes family, struct bytes qualifier,
		 struct bytes value, struct cell *cell);
int write_increment(struct write *w, struct bytes family,
		    struct bytes qualifier, int64_t amount, struct cell *cell);
/* As write_add, to the newest version, or one at the time of the update if
 * there is none. */
int write_add_newest(struct write *w, struct bytes family,
		     struct bytes qualifier, int64_t number);

/* Bigtable's ReadModifyWriteRow: the rules in order. */
struct modify_rule {
	struct bytes family, qualifier;
	bool is_increment;
	struct bytes value; /* to append */
	int64_t amount;     /* to add */
};

/* cells, room for count, is set to the new versions in scan order, and their
 * number is returned; their values live in memory, the rest is as in the rules.
 * -ERR_bad_argument without rules. */
int store_modify(struct store *s, struct bytes table, struct bytes row,
		 const struct modify_rule *rules, size_t count, bool sync,
		 struct cell *cells, struct buf *memory);

/*
 * Bigtable's CheckAndMutateRow: if the filter, NULL being one that passes all,
 * lets any cell of the row pass, w is filled by if_true, else by if_false; one
 * of them may be NULL and changes nothing. The row is named already. The filter
 * sees all versions. *matched tells which it was.
 */
struct row_check {
	struct bytes table, row;
	struct filter *filter;
	int (*if_true)(void *context, struct write *w);
	int (*if_false)(void *context, struct write *w);
	void *context;
};

int store_check_and_mutate(struct store *s, const struct row_check *check,
			   bool sync, bool *matched);

#endif
