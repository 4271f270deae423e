#ifndef FS_QUERY_SIZED_H
#define FS_QUERY_SIZED_H

#include "fs/state/fs.h"

struct sized_user;

/*
 * Exports with a size: .scan/<steps>/export.csv, .tsv and .jsonl, the text of
 * .scan/<steps>/csv and so on for programs that go by st_size, seek or map. The
 * first lookup pins a moment and makes the text once, to count its bytes and to
 * keep where rows begin in it, about one in a MiB; a read begins at the last of
 * these before it. So it takes no space, and each byte is the same whoever
 * reads it when. As .at/now is, an export is shared until it was unused for a
 * minute, then the next lookup makes another under a new node, and after an
 * hour it ends, and what is open of it is ESTALE; so it is, and never a part of
 * itself, once something in it was dropped.
 *
 * The files of .keyviz, heat maps of the last hour, are exports as well, whose
 * text is kept in memory.
 *
 * SIZED_MAX of them are kept, those in use last; what they have in memory is
 * counted as MEMORY_EXPORTS. From any thread.
 */
#define SIZED_MAX 16
#define SIZED_SHARED_US UINT64_C(60000000)
#define SIZED_KEPT_US UINT64_C(3600000000)

/* Whether a name in the directory, .scan, a step's or .keyviz, is that of an
 * export. */
bool sized_is_name(const struct node *directory, struct bytes name);

/* The node of directory's export of this name: 1 with *out referenced, or an
 * error: -EFBIG beyond the mount's limit, -EBUSY if SIZED_MAX are open, -EINTR.
 * May take long, and hands the lead over then. */
int sized_lookup(struct fs *fs, struct node *directory, struct bytes name,
		 struct node **out) EXCLUDES(fs->tree);

/* Sets size, time and *timeout. -ESTALE if it has ended. */
int sized_attr(struct fs *fs, struct node *node, struct stat *st,
	       double *timeout);

/* An open export does not end before it is closed, as often as it was opened:
 * *out stands for what the caller's user (loop_uid) has of it. 0 or -ESTALE, or
 * -EBUSY if it were that user's ninth: who is neither root nor whose the mount
 * is may have half of all open, each counted once, whoever else has it. */
int sized_open(struct fs *fs, struct node *node, struct sized_user **out);
void sized_close(struct fs *fs, struct sized_user *user);

/* Appends the bytes from offset on, as many as there are up to size; or an
 * error: -ESTALE if they cannot be read any more. */
int sized_read(struct fs *fs, struct sized_user *user, uint64_t offset,
	       size_t size, struct buf *out) EXCLUDES(fs->tree);

/* Ends those that nobody can or may use any more, as of now_us; all, when no
 * request is served any more. */
void exports_sweep(struct fs *fs, uint64_t now_us);
void exports_release(struct fs *fs);

#endif
