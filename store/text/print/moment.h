#ifndef STORE_TEXT_PRINT_MOMENT_H
#define STORE_TEXT_PRINT_MOMENT_H

#include "store/store.h"

/* A moment of the store: what its tables were and held, whatever is renamed,
 * dropped or made since. */
struct moment {
	struct schema *schema;     /* referenced */
	struct snapshot *snapshot; /* owned */
};

/* Of a zeroed one the present; or that of the snapshot which it has, as of
 * store_moment, and takes over. To be released. 0 or an error, with nothing to
 * be released. */
int moment_take(struct store *s, struct moment *m);
/* Of a zeroed one, nothing. */
void moment_release(struct store *s, struct moment *m);

/* A scan of t, a table of m's schema. range has all but the table. */
int moment_scan(struct store *s, const struct moment *m, const struct table *t,
		struct scan_range *range, struct scan **out);

/* The same of a selection; how is that of select_open, but for the table. */
int moment_select(struct store *s, const struct moment *m,
		  const struct table *t, struct select *select,
		  struct scan_range *how, struct select_scan **out);

/* Whether t and all its families are still there, whatever their names. */
bool moment_is_present(struct store *s, const struct table *t);

#endif
