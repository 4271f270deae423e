#ifndef FS_OPEN_DRAFT_H
#define FS_OPEN_DRAFT_H

#include "fs/cells/cell.h"
#include "fs/open/content.h"
#include "fs/state/fs.h"

/*
 * The content of an open cell, shared by all its handles: what they read and
 * write. It lives from the first open to the last close.
 *
 * It starts as the newest version's value, unless that is to be truncated; see
 * content.h. A session lasts as long as somebody has it open for writing; its
 * commits replace the version that the session wrote last, as long as that is
 * the column's newest, else they add one. When it commits is told in commit.h.
 *
 * Calls may come from any thread. Who has a handle or a reference may use a
 * draft; its node is referenced as long.
 */
struct draft {
	struct node *node;   /* referenced; for good */
	uint32_t references; /* handles and users; guarded by nodes.lock */
	struct draft *next;  /* of all drafts, guarded by nodes.lock */
	struct draft *previous;
	pthread_mutex_t lock; /* guards all that follows */
	uint32_t writers;     /* handles that are open for writing */
	bool loaded;          /* content is valid */
	bool dirty;           /* differs from what was committed */
	bool millis;          /* as the table's rules say */
	mode_t mode;    /* st_mode of its creation, until it is closed; or 0 */
	uint64_t maker; /* of a cell that is gone: who made it (makers.h) */
	bool has_pending; /* a time set by utimensat is to be committed */
	bool has_written; /* the session has committed, as session_us */
	uint64_t pending_us;
	uint64_t modified_us; /* time of the last change */
	uint64_t session_us;
	uint64_t base_us;    /* timestamp of the committed version */
	uint64_t stored_seq; /* of the version that the content came from, or
				became; 0: the store has had nothing of it;
				UINT64_MAX: not known, by a rename */
	uint64_t counted;    /* bytes of it in fs->uncommitted */
	struct content content;
};

enum draft_mode {
	DRAFT_READ,
	DRAFT_WRITE,
	DRAFT_TRUNCATE, /* write, from nothing */
	DRAFT_CREATE,   /* write, from nothing, of a new cell */
	DRAFT_STAMP,    /* only its lock and times are needed */
};

/* The draft of node, a cell that the caller refers to; made if there is none.
 * 0; 1 if the cell is of an aggregate family, of which there are no drafts, see
 * aggregate.c; -ENOENT if there is no version to start from, or another error
 * of the store. *out is set with 0 only. Close with the same mode. */
int draft_open(struct fs *fs, struct node *node, enum draft_mode mode,
	       struct draft **out) EXCLUDES(fs->tree);

/* Ends the session with its last writer, which commits what no flush has. There
 * is nobody to tell of a failure: it is logged, and a file that was never
 * committed is gone. */
void draft_close(struct fs *fs, struct draft *draft, enum draft_mode mode)
	EXCLUDES(fs->tree);

/* The draft that node has, or NULL; give it back with draft_put. */
struct draft *draft_get(struct fs *fs, struct node *node);
/* With the last reference the draft ends, and what is uncommitted with it. */
void draft_put(struct fs *fs, struct draft *draft);

/* A cell that was opened to be read, by open's request: if it is small and
 * nobody else has it open, the kernel gets its bytes now and asks for none. */
void draft_give(struct fs *fs, struct draft *draft);

/* Answers a read request with the bytes that are there, perhaps none, or with
 * the error of reading them. The draft must be loaded. */
void draft_reply(struct fs *fs, struct draft *draft, fuse_req_t req,
		 uint64_t offset, size_t size);

/* Writes at offset or, with append, at the end as it is now. The draft must be
 * loaded. -ERR_value_too_large past Bigtable's limit, or -ENOSPC past the
 * quota, for which all that a new version will hold counts, before anything is
 * changed; errors of content_write, which may have changed a part. */
int draft_write(struct fs *fs, struct draft *draft, struct bytes data,
		uint64_t offset, bool append);

/* As draft_write, to size bytes, of which new ones are 0. */
int draft_truncate(struct fs *fs, struct draft *draft, uint64_t size);

/* From now on nothing is committed of drafts in these rows whose content the
 * store has, or had: as if each had been unlinked. */
void drafts_forget(struct fs *fs, struct bytes table,
		   const struct purge_span *rows, size_t count) NEEDS(fs->tree);

/* At the end of the filesystem: frees drafts whose handles never closed, and
 * what is uncommitted with them. No other thread may use them. */
void drafts_release(struct fs *fs);

/* Commits all uncommitted drafts that were open when it began; goes on after an
 * error, logs each, and returns the first. With sync, all that was ever
 * committed is durable then. */
int fs_commit_all(struct fs *fs, bool sync) EXCLUDES(fs->tree);

#endif
