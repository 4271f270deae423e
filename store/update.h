#ifndef STORE_UPDATE_H
#define STORE_UPDATE_H

#include "store/regex.h"
#include "store/write.h"

/*
 * Updates: writes that depend on what is there. An update reads and writes with
 * no other commit under way, so that what it has read still holds when it is
 * written; keep it short, as all writers wait for it.
 */
struct scan_range;
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

/*
 * Updates with a condition about one row, which may be long: it is asked with
 * no other commit under way for about a millisecond only. What takes longer is
 * asked anew while others write; if none of them has changed the row or a
 * schema by then, the answer is that of the commit. Else it is asked again, a
 * few times, and at last while others wait. What expires by its age meanwhile
 * was there when the asking began, for its own answer.
 *
 * The processor time that asking may take: CONDITION_LOCKED_NS while others
 * wait, of which regular expressions may take REGEX_LOCKED_NS; and beside
 * others CONDITION_ALL_NS, however often it is asked, or CONDITION_LOCKED_NS if
 * nobody can stop it. Beyond that: -ERR_bad_argument; or -EBUSY if the row has
 * changed meanwhile, without which it might have been enough.
 */
#define CONDITION_FIRST_NS UINT64_C(1000000)
#define CONDITION_LOCKED_NS UINT64_C(1000000000)
#define CONDITION_ALL_NS UINT64_C(10000000000)

/* Watches over the scans of an asking. Nobody looks into it. */
struct condition_watch {
	struct regex_watch regex;
	bool (*stop)(void *context);
	bool (*pause)(void *context);
	bool (*room)(void *context, uint64_t size);
	void *context; /* of all three */
	uint64_t limit_ns;
	uint64_t begun_ns; /* of the thread's processor time */
	bool late;
};

/* Before a scan is opened: it ends, with -EINTR, when its time is up or nobody
 * waits for it, and pauses where it may or has no room. */
void condition_watch(struct condition_watch *w, struct scan_range *range);

struct row_condition {
	struct bytes table, row;
	/* Asks, by scans that are watched over, which see what is committed: 1
	 * if it holds, 0 if not, or an error. -EAGAIN where a scan has paused,
	 * and the next call goes on with it. */
	int (*ask)(void *context, struct condition_watch *w);
	/* Fills w, in which the row is named already. */
	int (*decide)(void *context, bool holds, struct write *w);
	/* Each may be NULL. stop is asked before and after asking, and within
	 * about every millisecond; once it is true: -EINTR. pause is asked as
	 * often while nobody waits; once it is true, conditional_run returns.
	 * So it does when room says that there is none for a large value, as
	 * that of struct scan_range; it must not wait, nor take back what it
	 * gave. */
	bool (*stop)(void *context);
	bool (*pause)(void *context);
	bool (*room)(void *context, uint64_t size);
	void *context; /* of all */
};

/*
 * Such an update, from run to run; by one thread at a time, and not necessarily
 * the same. What c points to lives as long as it does; c is copied. run: 0
 * when it is committed, 1 when it has paused and is to be called again, or an
 * error.
 */
struct conditional;
int conditional_new(struct store *s, const struct row_condition *c,
		    struct conditional **out);
int conditional_run(struct conditional *c, bool sync);
void conditional_free(struct conditional *c);

/* The same at once; pause and room are NULL. */
int store_update_if(struct store *s, const struct row_condition *c, bool sync);

/* Bigtable's CheckAndMutateRow: what to ask of a row, and what to do then; an
 * update as above. */
struct row_check {
	struct bytes table, row;
	struct filter *filter; /* sees all versions; NULL passes all */
	/* Fill w, in which the row is named already. One of them may be NULL
	 * and changes nothing. */
	int (*if_true)(void *context, struct write *w);
	int (*if_false)(void *context, struct write *w);
	/* As in struct row_condition. */
	bool (*stop)(void *context);
	bool (*pause)(void *context);
	bool (*room)(void *context, uint64_t size);
	void *context; /* of all five */
};

/* If the filter lets any cell of the row pass, w is filled by if_true, else by
 * if_false; *matched tells which it was. -ERR_bad_argument if both are NULL.
 * pause and room are not asked. */
int store_check_and_mutate(struct store *s, const struct row_check *check,
			   bool sync, bool *matched);

/* The same from run to run: as conditional_new and the like. */
struct row_checking;
int row_checking_new(struct store *s, const struct row_check *check,
		     struct row_checking **out);
int row_checking_run(struct row_checking *c, bool sync, bool *matched);
void row_checking_free(struct row_checking *c);

/*
 * Bigtable's ReadModifyWriteRow: rules that append to columns of a row and add
 * to them, in order, all or none. Of each column one new version is made,
 * however many rules it has: at the time of the update or, if that is later, in
 * place of the newest. What is large is read and written before other commits
 * have to wait, unless they keep changing it.
 */
struct modify_rule {
	struct bytes family, qualifier;
	bool is_increment;
	struct bytes value; /* to append */
	int64_t amount;     /* to add: signed, 64 bits; it wraps around */
};

struct modify {
	struct bytes table, row;
	const struct modify_rule *rules;
	size_t count; /* from 1 to STORE_MUTATIONS_MAX */
	/* If not NULL, asked whether there is memory for new values of so many
	 * bytes in all, before any is made; it must not wait, and is asked
	 * again if there are others meanwhile. If not: -EAGAIN. */
	bool (*take)(void *context, uint64_t size);
	/* If not NULL, asked before each MiB that is read, and before the
	 * commit begins; once it is true: -EINTR. */
	bool (*stop)(void *context);
	void *context; /* of both */
};

/*
 * cells, room for count, is set to the new versions in scan order, one a
 * column, and their number is returned. Their values live in memory, whose
 * content they replace; the rest is as in the rules. -ERR_bad_argument without
 * rules, -ERR_batch_too_large of too many, or of new values beyond 256 MiB in
 * all, and what write_append and write_increment fail with; then nothing was
 * written.
 */
int store_modify_row(struct store *s, const struct modify *m, bool sync,
		     struct cell *cells, struct buf *memory);

/* The same with nobody to ask. */
static inline int store_modify(struct store *s, struct bytes table,
			       struct bytes row,
			       const struct modify_rule *rules, size_t count,
			       bool sync, struct cell *cells,
			       struct buf *memory)
{
	const struct modify m = {
		.table = table, .row = row, .rules = rules, .count = count
	};

	return store_modify_row(s, &m, sync, cells, memory);
}

#endif
