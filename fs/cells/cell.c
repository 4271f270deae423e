#include <assert.h>
#include <stdio.h>

#include "fs/cells/cell.h"
#include "fs/cells/seen.h"
#include "store/text/value/number.h"

int cell_show(const struct cell *cell, struct buf *out)
{
	int err;

	assert(cell->blob.size == 0);
	if (!cell->aggregate)
		return buf_add_bytes(out, cell->value);
	err = aggregate_print(cell, out);
	return err ? err : buf_add_byte(out, '\n');
}

int cell_open(struct scan *scan, const struct cell *cell,
	      struct cell_bytes *out)
{
	assert(out->text.size == 0 && !out->large);
	return cell->blob.size > 0 ? scan_open_large(scan, cell, &out->large)
				   : cell_show(cell, &out->text);
}

void cell_bytes_release(struct cell_bytes *b)
{
	buf_release(&b->text);
	large_put(b->large);
	b->large = NULL;
}

uint64_t cell_shown_size(const struct cell *cell)
{
	char text[32];

	if (!cell->aggregate)
		return cell_size(cell);
	/* 20 digits and a sign at most. */
	return (uint64_t)snprintf(
		text, sizeof(text), "%lld\n",
		(long long)aggregate_number(cell->aggregate, cell->value));
}

/* What a cell itself tells; its expiry takes the schema. */
static void describe(const struct cell *cell, struct cell_info *info)
{
	info->timestamp_us = cell->timestamp_us;
	info->seq = cell->seq;
	info->size = cell_shown_size(cell);
	info->expiry_us = 0;
}

/* All versions of path's column, whose large values are not read. */
static struct scan_range column_of(const struct path *path)
{
	return (struct scan_range){
		.table = path->table,
		.row = path->row,
		.has_family = true,
		.has_qualifier = true,
		.family = path->family,
		.qualifier = path->qualifier,
		.keep_large = true,
	};
}

int cell_newest(struct fs *fs, const struct path *path, struct cell_info *info,
		size_t max)
{
	const struct scan_range range = column_of(path);
	struct scan *scan;
	struct cell cell;
	size_t count = 0;
	int err = scan_open(fs->store, NULL, &range, &scan);

	assert(max > 0);
	if (err)
		return err;
	while (count < max) {
		err = scan_next(scan, CURSOR_VERSION, &cell);
		if (err <= 0)
			break;
		describe(&cell, &info[count++]);
	}
	scan_close(scan);
	return err < 0 ? err : (int)count;
}

int cell_stat(struct fs *fs, const struct path *path, uint64_t size,
	      struct cell_info *info)
{
	struct buf memory = BUF_INIT;
	struct large *large;
	struct cell cell;
	int err;

	/* What follows copies a value that is not large; a cursor does not, but
	 * costs more. */
	if (size > CELL_SIZE_SMALL)
		return cell_newest(fs, path, info, 1);
	err = store_get_large(fs->store, NULL, path->table, path->row,
			      path->family, path->qualifier, &cell, &memory,
			      &large);
	if (err == 1)
		describe(&cell, info);
	large_put(large);
	buf_release(&memory);
	return err;
}

/* So each timestamp has one name. INT64_MAX, the last one, has 19 digits. */
bool cell_timestamp(struct bytes name, uint64_t *timestamp_us)
{
	size_t i;

	*timestamp_us = 0;
	if (name.size == 0 || name.size > 19 ||
	    (name.data[0] == '0' && name.size > 1))
		return false;
	for (i = 0; i < name.size; i++) {
		if (name.data[i] < '0' || name.data[i] > '9')
			return false;
		*timestamp_us = *timestamp_us * 10 + (name.data[i] - '0');
	}
	return true;
}

int cell_version(struct fs *fs, const struct path *path, struct cell_info *info,
		 struct cell_bytes *shown)
{
	uint64_t timestamp_us;

	return cell_timestamp(path->leaf, &timestamp_us)
		       ? cell_version_at(fs, path, timestamp_us, info, shown)
		       : 0;
}

int cell_version_at(struct fs *fs, const struct path *path,
		    uint64_t timestamp_us, struct cell_info *info,
		    struct cell_bytes *shown)
{
	struct scan_range range = column_of(path);
	struct scan *scan;
	struct cell cell;
	int err;

	range.until_us = timestamp_us;
	err = scan_open(fs->store, NULL, &range, &scan);
	if (err)
		return err;
	/* Versions descend, so it is there or the first older one is. */
	do
		err = scan_next(scan, CURSOR_VERSION, &cell);
	while (err == 1 && cell.timestamp_us > timestamp_us);
	if (err == 1 && cell.timestamp_us != timestamp_us)
		err = 0;
	if (err == 1) {
		info->timestamp_us = cell.timestamp_us;
		info->seq = cell.seq;
		info->size = cell_shown_size(&cell);
		err = shown ? cell_open(scan, &cell, shown) : 0;
		err = err ? err : 1;
	}
	scan_close(scan);
	return err;
}

/* Of a directory, whose cells are told one after the other: it lasts as long as
 * the last of them. */
static void note_expiry(const struct place *place, const struct cell *cell,
			struct cell_info *info)
{
	uint64_t expiry = place_expiry(place, cell->family, cell->timestamp_us);

	if (info->expiry_us < expiry)
		info->expiry_us = expiry;
}

/*
 * Steps through at most that many columns of a scan for cell_first, and sums
 * them up in *info; tells each to seen, if that is not NULL. place, if not
 * NULL, says when they expire. 0 if these were all, 1 if there may be more, or
 * an error; *found is whether there was one.
 */
static int sum_up(struct scan *scan, unsigned int columns,
		  const struct place *place, struct seen *seen,
		  struct cell_info *info, int *found)
{
	struct cell_info column;
	struct cell cell;
	int err = 1;

	for (*found = 0; columns > 0; columns--) {
		err = scan_next(scan, CURSOR_COLUMN, &cell);
		if (err != 1)
			break;
		describe(&cell, &column);
		if (!*found)
			*info = column;
		*found = 1;
		if (column.timestamp_us > info->timestamp_us)
			info->timestamp_us = column.timestamp_us;
		if (place)
			note_expiry(place, &cell, info);
		if (seen)
			seen_add(seen, &cell, &column);
	}
	return err;
}

int cell_first(struct fs *fs, const struct path *path, bool in_family,
	       unsigned int columns, const struct place *place,
	       struct cell_info *info)
{
	struct scan_range range = {
		.table = path->table,
		.table_id = place ? place->table->id : 0,
		.row = path->row,
		.has_family = in_family,
		.family = path->family,
		.keep_large = true,
	};
	uint64_t seq = store_seq(fs->store);
	/* Rows of tables with an age rule are not kept for seen_find, as they
	 * change without a write. */
	bool expires = place && place->rules.expires;
	bool is_noted =
		!in_family && place && !expires && seen_begin(fs->seen, path);
	struct scan *scan;
	int found = 0, err = scan_open(fs->store, NULL, &range, &scan);

	assert(columns > 0);
	if (!err)
		err = sum_up(scan, columns, expires ? place : NULL,
			     is_noted ? fs->seen : NULL, info, &found);
	scan_close(scan);
	/* Without a write meanwhile, the scan saw just the writes up to seq. */
	if (is_noted)
		seen_end(fs->seen,
			 err == 0 && seq == store_seq(fs->store) ? seq : 0);
	return err < 0 ? err : found;
}

uint64_t cell_time_after(uint64_t timestamp_us, bool millis)
{
	uint64_t unit = millis ? 1000 : 1;
	uint64_t last = INT64_MAX / unit * unit;
	uint64_t after = timestamp_us / unit * unit;

	return after < last ? after + unit : last;
}
