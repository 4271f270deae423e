#ifndef TOOLS_ADMIN_PARTIAL_H
#define TOOLS_ADMIN_PARTIAL_H

#include "store/base/lease/holder.h"
#include "store/store.h"

/*
 * A table that is not whole: on its way into a store by restore-from, or back
 * by undelete. Until it is whole it is NAME.partial, and has an attribute, the
 * mark, which says what name it is to have and which process brings it. So what
 * one that was killed has left is known from one that is under way.
 */
#define PARTIAL ".partial"
/* Of the name that it is to have, in bytes. */
#define PARTIAL_OF_MAX (STORE_TABLE_NAME_MAX - strlen(PARTIAL))

struct partial {
	char name[STORE_TABLE_NAME_MAX + 1]; /* NAME.partial */
	char value[STORE_TABLE_NAME_MAX + 1 + HOLDER_TEXT_SIZE];
	struct attribute mark; /* whose value is value; names and points into
				  it, so that it is not copied */
};

/* Of a table that is to be as, and that the process of this text brings, see
 * holder.h. Whether it can have such a name: it is one, and not too long. */
bool partial_init(struct partial *p, struct bytes as, const char *holder);

/* Without value, by which a table that is whole loses its mark. */
struct attribute partial_unmark(void);

/* Whether t has a mark: then *as is the name that it is to have. */
bool partial_is(const struct table *t, struct bytes *as);

/*
 * Drops what a process that is dead has left under the name of p. With own also
 * what this process has: the caller knows that nothing of it is under way. 0 if
 * the name is free now; -ERR_table_exists names the table and what to do about
 * it.
 */
int partial_drop_left(struct store *s, const struct partial *p, bool own);

#endif
