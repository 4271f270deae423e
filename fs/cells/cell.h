#ifndef FS_CELLS_CELL_H
#define FS_CELLS_CELL_H

#include "fs/cells/place.h"

/*
 * Questions about cells that files ask: what is there, and how long may the
 * kernel believe it. Each reads the store as it is at that moment; nothing is
 * kept, except by cell_first for seen.h. From any thread, also inside
 * store_update. Paths are those of places, and only read. Unless it says
 * otherwise, a question about a table that is not there is answered by
 * -ERR_no_table.
 */

/* Of one version, or of the first cell of a directory. */
struct cell_info {
	uint64_t timestamp_us;
	uint64_t seq;  /* of the write that made it */
	uint64_t size; /* of the value, as a file shows it */
	/* Of a directory, by cell_first: not before this will age rules hide
	 * all that is in it; 0: not known, or there are none. */
	uint64_t expiry_us;
};

/* Appends the bytes that a file shows of a cell whose value is at hand: the
 * value, or of an aggregate its number as a line. 0 or -ENOMEM. */
int cell_show(const struct cell *cell, struct buf *out);
/* How many bytes cell_show would append, also if the value is not at hand. */
uint64_t cell_shown_size(const struct cell *cell);

/* What a file shows of a cell; released by cell_bytes_release. */
struct cell_bytes {
	struct buf text;     /* all of it, unless that is large */
	struct large *large; /* referenced: a large value, to be read in pieces;
				NULL: none */
};

void cell_bytes_release(struct cell_bytes *b);

/* Puts what a file shows of the cell that scan, with keep_large, gave last into
 * *out, which is empty. -ENOMEM, or -ESTALE as of scan_open_large. */
int cell_open(struct scan *scan, const struct cell *cell,
	      struct cell_bytes *out);

/* The newest versions of path's column, newest first, at most max, which is not
 * 0: how many, or an error. */
int cell_newest(struct fs *fs, const struct path *path, struct cell_info *info,
		size_t max) NEEDS_SHARED(fs->tree);

/* Up to this size, from which on values are stored in chunks, a value is copied
 * rather than a cursor opened. */
#define CELL_SIZE_SMALL ((uint64_t)64 << 10)

/* The newest version of path's column: 1, 0 or an error. Quicker than
 * cell_newest unless the value is large: size is what is known of that, 0 if
 * nothing is. */
int cell_stat(struct fs *fs, const struct path *path, uint64_t size,
	      struct cell_info *info) NEEDS_SHARED(fs->tree);

/* The timestamp that is a version's name: digits only, without leading zeros.
 * False if it is none. */
bool cell_timestamp(struct bytes name, uint64_t *timestamp_us);

/* The version of path's column with the timestamp that is path's leaf: 1, 0
 * (also if the leaf is no timestamp as a listing spells it) or an error; shown,
 * if not NULL, gets what cell_open gives, with its errors. */
int cell_version(struct fs *fs, const struct path *path, struct cell_info *info,
		 struct cell_bytes *shown) NEEDS_SHARED(fs->tree);

/* The same of the version with this timestamp. */
int cell_version_at(struct fs *fs, const struct path *path,
		    uint64_t timestamp_us, struct cell_info *info,
		    struct cell_bytes *shown) NEEDS_SHARED(fs->tree);

/* The first cell of path's row, or of its family, but with the newest timestamp
 * of this many columns there, which is not 0: 1, 0 or an error. place, that
 * of path, may be NULL; with it *info also says when those cells expire, and a
 * row's columns are kept for seen_find. */
int cell_first(struct fs *fs, const struct path *path, bool in_family,
	       unsigned int columns, const struct place *place,
	       struct cell_info *info) NEEDS_SHARED(fs->tree);

/* The first time after this one that a version can have; at the end of time
 * there is none, and it is the last one, so that what is written there takes
 * the place of what was. */
uint64_t cell_time_after(uint64_t timestamp_us, bool millis);

#endif
