#ifndef FS_CONTROL_CTL_H
#define FS_CONTROL_CTL_H

#include "fs/cells/cell.h"
#include "fs/state/fs.h"

/*
 * Control directories and files: names with a leading dot that are not data.
 * Listings of data do not show them.
 */
struct ctl_entry {
	enum node_kind parent;
	const char *name;
	enum node_kind kind;
	mode_t mode;
};

/* As entry_lookup, in a control directory, or a dotted name in one of data. */
int ctl_lookup(struct fs *fs, struct node *directory, struct bytes name,
	       struct fuse_entry_param *e);
int ctl_attr(struct fs *fs, struct node *node, struct stat *st,
	     double *timeout);

struct ctl_file;

/* What an open control file does; each may be NULL. lock is held. */
struct ctl_ops {
	int (*open)(struct fs *fs, struct ctl_file *f);
	/* Appends what stands at offset, at most size bytes, to out. */
	int (*read)(struct fs *fs, struct ctl_file *f, uint64_t offset,
		    size_t size, struct buf *out);
	/* How many bytes were taken, or an error. */
	ssize_t (*write)(struct fs *fs, struct ctl_file *f, struct bytes data,
			 uint64_t offset);
	int (*flush)(struct fs *fs, struct ctl_file *f);
	int (*sync)(struct fs *fs, struct ctl_file *f);
	void (*release)(struct fs *fs, struct ctl_file *f);
};

struct ctl_file {
	const struct ctl_ops *ops;
	pthread_mutex_t lock;
	struct node *node; /* referenced */
	struct path path;
	int flags;      /* of open */
	struct buf in;  /* text files: written, not yet taken */
	struct buf out; /* text files: to be read */
	void *state;
};

/* -EACCES if it is not to be read or written. */
int ctl_open(struct fs *fs, struct node *node, int flags,
	     struct ctl_file **out);
void ctl_close(struct fs *fs, struct ctl_file *f);

extern const struct ctl_ops ctl_aggregate_ops;
extern const struct ctl_ops ctl_text_ops;
extern const struct ctl_ops ctl_import_ops;
extern const struct ctl_ops ctl_mutate_ops;
extern const struct ctl_ops ctl_drop_ops;
extern const struct ctl_ops ctl_scan_ops;
extern const struct ctl_ops ctl_verb_ops;
extern const struct ctl_ops ctl_version_ops;

/* The last import into each table, for .import/last. */
struct imports;

/*
 * Files that take lines. Gives each the lines that data completes, after what
 * partial holds of the first, and keeps in partial what is left of the last.
 * Returns how many bytes were taken: all, or those before a line that each
 * refused, or that is longer than size_max (too_long, an errno); then *err is
 * that error, else 0, and the next call begins with the same line.
 */
struct ctl_lines {
	size_t size_max;
	int too_long;
	int (*each)(void *context, struct bytes line);
	void *context;
};

#endif
