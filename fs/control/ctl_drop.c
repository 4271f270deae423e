#include <assert.h>
#include <errno.h>

#include "fs/cells/loop.h"
#include "fs/cells/notify.h"
#include "fs/control/ctl_drop.h"
#include "fs/control/ctl_file.h"
#include "fs/query/query_steps.h"
#include "fs/state/name.h"
#include "store/base/hash.h"

/*
 * .drop/<range>/preview tells what is in a range of rows, with a token, and
 * apply takes that token to delete all of it by one tombstone. The token is a
 * digest of the range and of every version in it, so it holds exactly as long
 * as nothing there changes, also over a remount, and whatever the table is
 * called. It guards against mistakes, not against who can choose cells so that
 * digests are the same.
 *
 * To apply it, the range is read from a snapshot while others go on writing,
 * and the commit then checks that nothing at all was written since. On a busy
 * store that may fail again and again, so after TRIES_MAX the range is read
 * once more inside the commit, with all writers waiting.
 */
#define TOKEN_DIGITS 16 /* hexadecimal ones of 64 bits */
static_assert(TOKEN_DIGITS * 4 == 64, "a token is a digest in hexadecimal");

/* What apply may be sent: a token with space after it, and some room to be
 * wrong in. */
#define TOKEN_SIZE_MAX 64

/* Larger values are told apart by their sequence, not by their bytes, so that
 * what is looked at does not grow with them. */
#define VALUE_HASHED_MAX ((uint64_t)16 << 10)

/* How often to look without the writers waiting. */
#define TRIES_MAX 4

/* A range of rows and what was last seen in it. */
struct drop {
	struct fs *fs;
	const struct ctl_file *file; /* preview or apply */
	struct bytes table;          /* in decide_drop: its name; borrowed */
	struct bytes start; /* of rows; borrowed from the node of its value */
	struct buf end;     /* of rows, exclusive; empty: open */
	struct buf first, last; /* keys of rows, if there are any */
	uint64_t rows, cells;   /* cells: versions */
	uint64_t size;          /* bytes of their names and values */
	uint64_t digest;        /* of the range and all versions in it */
	uint64_t wanted;        /* the digest that may be applied */
	uint64_t seq;           /* of the snapshot that digest is of */
	bool locked;            /* the commit is to look once more itself */
};

/* The digest of what digest is of and part. The size is hashed too, so that
 * parts cannot run into one another. */
static uint64_t hash_more(uint64_t digest, struct bytes part)
{
	return XXH3_64bits_withSeed(part.data, part.size,
				    digest + part.size + 1);
}

/* Counts and hashes a version. Cells come in scan order. 0 or -ENOMEM. */
static int add_cell(struct drop *d, const struct cell *cell)
{
	uint64_t numbers[3] = { cell->timestamp_us, cell_size(cell), 0 };
	bool is_large = numbers[1] > VALUE_HASHED_MAX || cell->blob.size > 0;
	int err = 0;

	if (d->rows == 0 || !bytes_equal(cell->row, buf_bytes(&d->last))) {
		d->rows++;
		err = buf_set(&d->last, cell->row);
		if (!err && d->rows == 1)
			err = buf_set(&d->first, cell->row);
	}
	d->cells++;
	d->size += cell->row.size + cell->family.size + cell->qualifier.size +
		   cell_size(cell);
	/* Its sequence changes with every write and never else. */
	if (is_large)
		numbers[2] = cell->seq;
	d->digest = hash_more(d->digest, cell->row);
	d->digest = hash_more(d->digest, cell->family);
	d->digest = hash_more(d->digest, cell->qualifier);
	d->digest = hash_more(d->digest, bytes_of(numbers, sizeof(numbers)));
	if (!is_large)
		d->digest = hash_more(d->digest, cell->value);
	return err;
}

/* Whether the range, like b..a, can have no rows. */
static bool is_empty(const struct drop *d)
{
	return d->end.size > 0 &&
	       bytes_compare(d->start, buf_bytes(&d->end)) >= 0;
}

/* Opens a scan of the range, in the table of this name, as snapshot has it, or,
 * if that is NULL, as it is now. *scan is NULL if there can be no rows. */
static int open_range(struct drop *d, struct bytes table,
		      const struct snapshot *snapshot, struct scan **scan)
{
	struct scan_range range = {
		.table = table,
		.start = d->start,
		.end = buf_bytes(&d->end),
		.stop = loop_is_interrupted,
		.keep_large = true,
	};

	*scan = NULL;
	return is_empty(d) ? 0
			   : scan_open(d->fs->store, snapshot, &range, scan);
}

/* Counts and hashes all of the range anew, which scan, NULL for nothing, gives,
 * and closes that. 0 or an error; -EINTR if whoever asks has given up. */
static int look(struct drop *d, struct scan *scan)
{
	uint32_t id = d->file->table_id;
	struct cell cell;
	int err = 0;

	d->rows = d->cells = d->size = 0;
	d->digest =
		hash_more(hash_more(0, bytes_of(&id, sizeof(id))), d->start);
	d->digest = hash_more(d->digest, buf_bytes(&d->end));
	while (scan && (err = scan_next(scan, CURSOR_VERSION, &cell)) == 1) {
		err = add_cell(d, &cell);
		if (err)
			break;
	}
	scan_close(scan);
	return err;
}

/* Takes a snapshot, notes its sequence in d->seq, and looks at the range.
 * Renames do not wait for that. */
static int look_now(struct drop *d)
{
	struct snapshot *snapshot;
	struct scan *scan;
	struct place place;
	int err = store_snapshot(d->fs->store, &snapshot);

	if (err)
		return err;
	d->seq = store_snapshot_seq(snapshot);
	err = place_enter(d->fs, d->file->node, &place);
	if (!err)
		err = open_range(d, place.path.table, snapshot, &scan);
	place_leave(d->fs, &place);
	if (!err)
		err = look(d, scan);
	store_snapshot_release(d->fs->store, snapshot);
	return err;
}

/* Fills d, without looking, for f, a preview or apply. d borrows f and names of
 * its node's parents, and is to be closed only if this returns 0. */
static int drop_open(struct fs *fs, const struct ctl_file *f, struct drop *d)
{
	struct node *range = f->node->parent;
	int err;

	assert(range->kind == NODE_DROP_RANGE &&
	       range->parent->kind == NODE_DROP_STEP);
	memset(d, 0, sizeof(*d));
	d->fs = fs;
	d->file = f;
	err = query_step_rows(node_name(range->parent), node_name(range),
			      &d->start, &d->end);
	if (err)
		buf_release(&d->end);
	return err;
}

static void drop_close(struct drop *d)
{
	buf_release(&d->end);
	buf_release(&d->first);
	buf_release(&d->last);
}

/* A word and a row's name, uncut, as a line. */
static int print_row(const char *word, const struct buf *row, struct buf *out)
{
	int err = buf_printf(out, "%s ", word);

	if (!err)
		err = name_encode_whole(NAME_ROW, buf_bytes(row), out);
	return err ? err : buf_add_byte(out, '\n');
}

int drop_preview(struct fs *fs, const struct ctl_file *f, struct buf *out)
{
	struct drop d;
	int err = drop_open(fs, f, &d);

	if (err)
		return err;
	/* Opening makes the text, and who opens keeps the lead. */
	loop_hand_over();
	err = look_now(&d);
	if (!err)
		err = buf_printf(out, "rows %llu\n",
				 (unsigned long long)d.rows);
	if (!err && d.rows > 0)
		err = print_row("first", &d.first, out);
	if (!err && d.rows > 0)
		err = print_row("last", &d.last, out);
	if (!err)
		err = buf_printf(out, "cells %llu\nbytes %llu\ntoken %016llx\n",
				 (unsigned long long)d.cells,
				 (unsigned long long)d.size,
				 (unsigned long long)d.digest);
	drop_close(&d);
	return err;
}

/* As store_update calls it, with no other commit under way: the tombstone, if
 * the range is still what the token is of. -EAGAIN if it has to be looked at
 * again, -ESTALE if it has changed. */
static int decide_drop(void *context, struct write *w)
{
	struct drop *d = context;
	struct scan *scan;
	int err = 0;

	tree_assert_held(d->fs);
	if (store_seq(d->fs->store) != d->seq) {
		err = d->locked ? open_range(d, d->table, NULL, &scan)
				: -EAGAIN;
		if (!err)
			err = look(d, scan);
	}
	if (err)
		return err;
	if (d->digest != d->wanted)
		return fail(ESTALE, "the range is not what the token is of: "
				    "look at preview again");
	if (is_empty(d))
		return 0;
	return write_delete_range(w, d->table, d->start, buf_bytes(&d->end));
}

/* Deletes the range durably if its digest is d->wanted. */
static int apply(struct drop *d)
{
	struct place place;
	int err = -EAGAIN, tries;

	/* It ends: with locked set, decide_drop never asks for another try. */
	for (tries = 0; err == -EAGAIN; tries++) {
		d->locked = tries >= TRIES_MAX;
		err = look_now(d);
		if (err)
			return err;
		err = place_enter(d->fs, d->file->node, &place);
		d->table = place.path.table;
		if (!err)
			err = store_update(d->fs->store, decide_drop, d, true);
		place_leave(d->fs, &place);
	}
	return err;
}

/* As preview prints it: 16 lower-case digits, no fewer. */
static bool parse_token(struct bytes text, uint64_t *token)
{
	size_t i;

	*token = 0;
	if (text.size != TOKEN_DIGITS)
		return false;
	for (i = 0; i < text.size; i++) {
		const char *digits = "0123456789abcdef";
		const char *at = strchr(digits, text.data[i]);

		/* strchr finds a NUL, too. */
		if (!text.data[i] || !at)
			return false;
		*token = *token << 4 | (uint64_t)(at - digits);
	}
	return true;
}

/* As ctl_ops.write: keeps it for the close, wherever it is written to. */
static ssize_t drop_write(struct fs *fs, struct ctl_file *f, struct bytes data,
			  uint64_t offset)
{
	int err;

	(void)fs;
	(void)offset;
	assert(f->in.size <= TOKEN_SIZE_MAX);
	if (data.size > TOKEN_SIZE_MAX - f->in.size)
		return fail(EFBIG, "a token has %d digits", TOKEN_DIGITS);
	err = spill_add(&f->in, data);
	return err ? err : (ssize_t)data.size;
}

/* As ctl_ops.sync: applies the token that was written, which then is used up,
 * whether it was right or not. Without one nothing happens. */
static int drop_sync(struct fs *fs, struct ctl_file *f)
{
	struct bytes text = bytes_trim(spill_bytes(&f->in));
	uint64_t token;
	struct drop d;
	int err;

	if (text.size == 0)
		return 0;
	if (!parse_token(text, &token))
		err = fail(EINVAL, "not a token: preview has one of %d digits",
			   TOKEN_DIGITS);
	else
		err = drop_open(fs, f, &d);
	spill_cut(&f->in, 0);
	if (err)
		return err;
	d.wanted = token;
	err = apply(&d);
	drop_close(&d);
	if (!err) {
		fs_changed_outside(fs);
		fs_changed_in(fs, f->node);
	}
	return err;
}

/* As ctl_ops.flush. */
static int drop_flush(struct fs *fs, struct ctl_file *f, bool at_end)
{
	return at_end ? drop_sync(fs, f) : 0;
}

const struct ctl_ops ctl_drop_ops = {
	.write = drop_write,
	.flush = drop_flush,
	.sync = drop_sync,
};
