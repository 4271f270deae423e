#ifndef FS_CELLS_CELL_H
#define FS_CELLS_CELL_H

#include "fs/state/fs.h"

/*
 * Questions about cells that files ask: what is there, and how long may the
 * kernel believe it.
 */

/* Of one version, or of the first cell of a directory. */
struct cell_info {
	uint64_t timestamp_us;
	uint64_t seq;
	uint64_t size; /* of the value */
	/* Of a directory, by cell_first: not before this will age rules hide
	 * all that is in it; 0: not known, or there are none. */
	uint64_t expiry_us;
};

/* The bytes that a file shows of a cell whose value is at hand: the value, or
 * of an aggregate its number as a line; and how many, also of a large one. */
int cell_show(const struct cell *cell, struct buf *out);
uint64_t cell_shown_size(const struct cell *cell);

/* The newest versions of path's column, at most max: how many, or an error. */
int cell_newest(struct fs *fs, const struct path *path, struct cell_info *info,
		size_t max);

/* The newest version of path's column: 1, 0 or an error. Quicker than
 * cell_newest unless the value is large: size is what is known of that. */
#define CELL_SIZE_SMALL ((uint64_t)64 << 10)
int cell_stat(struct fs *fs, const struct path *path, uint64_t size,
	      struct cell_info *info);

/* The version of path's column with the timestamp that is path's leaf: 1, 0 or
 * an error; value, if not NULL, gets its bytes appended. */
int cell_version(struct fs *fs, const struct path *path, struct cell_info *info,
		 struct buf *value);

/* What of a table's schema decides about files. */
struct cell_rules {
	bool millis;     /* timestamps are multiples of 1000 */
	bool expires;    /* some family of the table has an age rule */
	bool has_family; /* the path's family is known */
	bool aggregate;
	struct table_access access;
};

/* -ERR_no_table. */
int cell_rules(struct fs *fs, const struct path *path,
	       struct cell_rules *rules);

/* The first cell of path's row, or of its family, but with the newest timestamp
 * of this many columns there: 1, 0 or an error. With the table's rules also
 * when those cells expire. */
int cell_first(struct fs *fs, const struct path *path, bool in_family,
	       unsigned int columns, const struct cell_rules *rules,
	       struct cell_info *info);

/* When the family's rule will hide a newest version with this timestamp;
 * UINT64_MAX: never. */
uint64_t cell_expiry(struct fs *fs, const struct path *path,
		     uint64_t timestamp_us);

#endif
