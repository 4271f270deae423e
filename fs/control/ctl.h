#ifndef FS_CONTROL_CTL_H
#define FS_CONTROL_CTL_H

#include "fs/cells/place.h"
#include "store/text/spill/spill.h"

/*
 * Control directories and files: names that are not data, all of them in or
 * below a name with a leading dot. Which names there are, and in which
 * directories, says ctl_table.h; what a path means, fs/README.md. Cells of
 * aggregate families are served here too, since writing to one adds to it.
 *
 * Calls may come from any thread. Of one open file, read, write, flush and sync
 * run one at a time, under its lock; the store's locks and nodes.lock come
 * after that. None is called with fs->tree held: who goes to the store enters
 * the file's place (place_enter) each time, as its row or table may have been
 * renamed. What these do may take long, so whoever calls them hands the lead
 * over first (loop_hand_over); open and lookup do it themselves where it pays.
 */

/*
 * Looks up any name in a control directory, or one with a leading dot in a
 * directory of data. 1 with *e filled and remembered for the kernel, 0 if there
 * is no such name, or an error, which has a reason where a step of a path is
 * wrong. *e is as lookup_missing leaves it; in control directories the kernel
 * is not to keep that a name is missing.
 */
int ctl_lookup(struct fs *fs, struct node *directory, struct bytes name,
	       struct fuse_entry_param *e) EXCLUDES(fs->tree);

/* Attributes of a control node, and for how many seconds the kernel may keep
 * them. Owner and permissions for others are as the table's access gives them.
 * -ENOENT if it mirrors data that has gone. */
int ctl_attr(struct fs *fs, struct node *node, struct stat *st, double *timeout)
	EXCLUDES(fs->tree);

struct ctl_file;

/*
 * What an open control file does; each may be NULL. Errors are negative.
 * offset is the file's, which those that stream ignore. lock is held but in
 * open and release, which have the file for themselves.
 */
struct ctl_ops {
	/* Sets state. After an error nothing else is called, so state must not
	 * own anything then; out is released for it. */
	int (*open)(struct fs *fs, struct ctl_file *f);
	/* Appends what stands at offset, at most size bytes, to out; nothing is
	 * the end of the file. NULL: it cannot be read. */
	int (*read)(struct fs *fs, struct ctl_file *f, uint64_t offset,
		    size_t size, struct buf *out);
	/* How many bytes were taken, or an error. NULL: it takes none. */
	ssize_t (*write)(struct fs *fs, struct ctl_file *f, struct bytes data,
			 uint64_t offset);
	/* At each close(2) of a descriptor, of which there may be several. At
	 * the end takes what is left, newline or not. */
	int (*flush)(struct fs *fs, struct ctl_file *f, bool at_end);
	/* fsync: takes what was written, and makes it durable. */
	int (*sync)(struct fs *fs, struct ctl_file *f);
	/* ftruncate. NULL: it means nothing. */
	void (*truncate)(struct ctl_file *f, uint64_t size);
	/* After the last close. Nobody hears of its errors. */
	void (*release)(struct fs *fs, struct ctl_file *f);
	/* A write of so many bytes, and flush, take no longer than the commit
	 * of a cell. 0: either may take long. */
	size_t brief_size;
};

/* Of what one may have that is not yet taken: as much as Bigtable lets a row
 * hold. */
#define CTL_WRITTEN_MAX ((size_t)256 << 20)

/* More than that is refused when a quota is used up. What only removes, and is
 * how there is room again, is seldom as long, and not known before its end. */
#define CTL_HELD_MAX ((size_t)1 << 20)

struct ctl_file {
	const struct ctl_ops *ops;
	pthread_mutex_t lock; /* guards all below up to flags */
	struct node *node;    /* referenced */
	uint32_t table_id;    /* of the table that node was in; 0: in none */
	int flags;            /* of open(2) */
	bool is_blind;        /* by who may write, and not read, in the table */
	struct spill in;      /* what was written and is not yet taken */
	uint64_t held_size;   /* of in, as fs->uncommitted has it */
	uint64_t writer;      /* who wrote last, as ctl_write is told */
	bool is_written;      /* and has not closed a descriptor since */
	struct buf out;       /* what is to be read, if it is made ahead */
	void *state;          /* of the ops, which free it in release */
};

/* Opens a control file, or a cell of an aggregate family, with the flags of
 * open(2). On 0 the caller owns *out, to be closed by ctl_close. -EACCES if it
 * is not to be read, or not to be written, by anybody; -EROFS in the past. */
int ctl_open(struct fs *fs, struct node *node, int flags, struct ctl_file **out)
	EXCLUDES(fs->tree);
void ctl_close(struct fs *fs, struct ctl_file *f) EXCLUDES(fs->tree);

/*
 * write(2) and close(2) of a descriptor of f. owner is whose: a number that the
 * kernel makes of a process' table of descriptors, its threads' too. The end of
 * what was written is a close by who wrote last, else the last of all, which
 * ctl_close is: a child that exits or execs closes what it inherited, and is
 * not to end what its parent goes on writing.
 */
ssize_t ctl_write(struct fs *fs, struct ctl_file *f, uint64_t owner,
		  struct bytes data, uint64_t offset) EXCLUDES(fs->tree);
int ctl_flush(struct fs *fs, struct ctl_file *f, uint64_t owner)
	EXCLUDES(fs->tree);

/* ftruncate(2) of a descriptor of f. */
void ctl_truncate(struct ctl_file *f, uint64_t size);

/* The kinds of control files, each in the .c file of its name. */
extern const struct ctl_ops ctl_aggregate_ops; /* aggregate.c: a cell */
extern const struct ctl_ops ctl_text_ops;      /* whole texts */
extern const struct ctl_ops ctl_row_ops;       /* ctl_text.c: .row.jsonl */
extern const struct ctl_ops ctl_version_ops;   /* ctl_text.c: past versions */
extern const struct ctl_ops ctl_import_ops;    /* .import/csv, tsv, jsonl */
extern const struct ctl_ops ctl_mutate_ops;    /* .mutate */
extern const struct ctl_ops ctl_recipe_ops;    /* .recipes/<name> */
extern const struct ctl_ops ctl_drop_ops;      /* .drop/.../apply */
extern const struct ctl_ops ctl_export_ops;    /* .scan/export.csv, ... */
extern const struct ctl_ops ctl_scan_ops;      /* files of .scan */
extern const struct ctl_ops ctl_verb_ops;      /* .tabletfs/ctl */

#endif
