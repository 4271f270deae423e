#include <assert.h>

#include "fs/cells/cell.h"
#include "fs/cells/loop.h"
#include "fs/cells/notify.h"
#include "fs/tree/keep.h"

/*
 * Whether a family still has a cell after one was removed. A scan would tell,
 * but has to pass all that was removed before: emptying a directory would take
 * time that grows with the square of its size. So the family's node remembers a
 * column as its witness, which is looked up. It lies ahead of the first, by
 * twice as many each time, as who empties a directory mostly goes on with the
 * next; but as some begin at the end, it is not one of the last. Removed from
 * the first on, n columns take about log n scans, and a look each.
 *
 * The node keeps the witness's qualifier and how far ahead the scan went that
 * found it. Several threads may be at one family; who does not get the witness
 * makes its own.
 */
#define AHEAD_MIN 64                  /* columns, in the first scan */
#define AHEAD_MAX (UINT32_C(1) << 20) /* columns, in any scan */

static_assert(AHEAD_MAX % AHEAD_MIN == 0, "doubling leads from one to other");

/* Of at most ahead columns of path's family, the last whose number is a power
 * of two: 1, 0 if there is none, or an error. */
static int scan_columns(struct fs *fs, const struct path *path, uint32_t ahead,
			struct buf *qualifier)
{
	struct scan_range range = {
		.table = path->table,
		.row = path->row,
		.has_family = true,
		.family = path->family,
		.keep_large = true,
	};
	struct scan *scan;
	struct cell cell;
	uint32_t count = 0;
	int err = scan_open(fs->store, NULL, &range, &scan);

	if (err)
		return err;
	while (count < ahead) {
		err = scan_next(scan, CURSOR_COLUMN, &cell);
		if (err != 1)
			break;
		count++;
		/* Where the family ends is not known before, so each power of
		 * two is kept until there is another. */
		if (count & (count - 1))
			continue;
		buf_reset(qualifier);
		err = buf_add_bytes(qualifier, cell.qualifier);
		if (err)
			break;
	}
	scan_close(scan);
	return err < 0 ? err : count > 0;
}

/* Whether the witness, if there is one, is still there: 1, 0 or an error. Sets
 * path's qualifier to it. */
static int has_witness(struct fs *fs, struct path *path, struct buf *witness)
	NEEDS_SHARED(fs->tree)
{
	struct cell_info info;

	if (!witness->data)
		return 0;
	path->qualifier = buf_bytes(witness);
	return cell_newest(fs, path, &info, 1);
}

/* Whether the family has a cell: 1, 0 or an error. */
static int family_has_cell(struct fs *fs, struct node *family)
	NEEDS_SHARED(fs->tree)
{
	struct buf witness = BUF_INIT;
	uint32_t ahead;
	struct place place;
	int err = place_find(fs, family, &place);

	if (err)
		goto release_place;
	/* With an error the witness is lost, and the next time finds another.
	 */
	node_take_witness(&fs->nodes, family, &witness, &ahead);
	err = has_witness(fs, &place.path, &witness);
	if (err == 0) {
		if (ahead < AHEAD_MAX)
			ahead = ahead ? ahead * 2 : AHEAD_MIN;
		err = scan_columns(fs, &place.path, ahead, &witness);
	}
	/* It is empty: what comes next begins anew. */
	if (err == 0)
		ahead = 0;
	assert(ahead <= AHEAD_MAX);
	if (err >= 0)
		node_give_witness(&fs->nodes, family, &witness, ahead);
	buf_release(&witness);
release_place:
	place_release(&place);
	return err;
}

/* Whether the row has a cell in any family: 1, 0 or an error. A scan, but only
 * when one of its families has become empty. */
static int row_has_cell(struct fs *fs, struct node *row) NEEDS_SHARED(fs->tree)
{
	struct cell_info info;
	struct place place;
	int err = place_find(fs, row, &place);

	if (!err)
		err = cell_first(fs, &place.path, false, 1, NULL, &info);
	place_release(&place);
	return err;
}

/* The kernel still believes in what goes in its place. */
static void keep(struct fs *fs, struct node *directory)
{
	if (!node_keep(&fs->nodes, directory, loop_uid()))
		fs_changed_outside(fs);
}

int tree_keep_directories(struct fs *fs, struct node *family)
{
	int err;

	assert(family->kind == NODE_FAMILY && family->parent);
	err = family_has_cell(fs, family);
	if (err == 0) {
		keep(fs, family);
		err = row_has_cell(fs, family->parent);
		if (err == 0)
			keep(fs, family->parent);
	}
	return err < 0 ? err : 0;
}
