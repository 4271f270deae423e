#ifndef FS_QUERY_AS_OF_H
#define FS_QUERY_AS_OF_H

#include "fs/state/fs.h"

/*
 * Names of times in TABLE/.as-of and .tabletfs/as-of: a time as .at takes it,
 * which stands for the last moment of the store's history that is not after it;
 * how long ago, 5m; or oldest. The latter are links to a moment's own time, as
 * they are another one soon. From any thread; nothing is kept.
 */

/* The child called name of directory, which is one of these or, below the
 * latter, that of a time, where tables are: 1 with *out referenced, 0 or an
 * error; -ENOENT or -ERR_no_moment with a reason for a time that is none, or to
 * come, or not kept, or when there was no such table. */
int as_of_lookup(struct fs *fs, struct node *directory, struct bytes name,
		 struct node **out) EXCLUDES(fs->tree);

/* Appends what a link leads to, the name of a time beside it. -ERR_no_moment; 0
 * or another error. */
int as_of_target(struct fs *fs, const struct node *link, struct buf *out);

/* Adds the links that are listed: some, as far as history goes back. 0 or
 * -ENOMEM. */
int as_of_add_names(struct fs *fs, struct names *out);

#endif
