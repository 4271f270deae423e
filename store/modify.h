#ifndef STORE_MODIFY_H
#define STORE_MODIFY_H

#include "store/base/buf.h"
#include "store/cell.h"

/*
 * Bigtable's ReadModifyWriteRow: rules that append to columns of a row and add
 * to them, in order, all or none. Of each column one new version is made,
 * however many rules it has: at the time of the update or, if that is later, in
 * place of the newest. What is large is read and written before other commits
 * have to wait, unless they keep changing it.
 */
struct store;

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
