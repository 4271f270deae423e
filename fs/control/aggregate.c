#include <assert.h>
#include <errno.h>
#include <fcntl.h>

#include "fs/cells/notify.h"
#include "fs/cells/space.h"
#include "fs/cells/cell.h"
#include "fs/control/ctl_file.h"
#include "store/text/value/number.h"

/*
 * A cell of an aggregate family as a file: it reads as its number in decimal
 * and a newline. Each complete line that is written is a number to be added to
 * the newest version, or to one of now if there is none; the lines of one write
 * are added together. A last line without newline is taken at close. A wrong
 * line stops: the write takes the bytes before it, and the next one fails; a
 * wrong line of which a part came earlier ends with the write that fails.
 *
 * in holds the part of a line whose newline has not come yet. state is not NULL
 * once a last line was taken without one: nothing may follow it.
 *
 * A file that was made lives in its node until its first number is added.
 */

/* A 64-bit number has 20 characters; the rest is room for space around it. */
#define LINE_SIZE_MAX 64
/* Lines of so many bytes take 30 us more than one. To hand the lead over takes
 * some 20, and would for each line of who writes them one by one. */
#define BRIEF_SIZE 4096

/* Puts the number, as text, in out: nothing for a file that was just made. */
static int file_open(struct fs *fs, struct ctl_file *f)
{
	struct buf memory = BUF_INIT;
	struct place place;
	const struct path *p = &place.path;
	struct cell cell;
	int err;

	if ((f->flags & O_ACCMODE) == O_WRONLY)
		return 0;
	err = place_enter(fs, f->node, &place);
	if (!err)
		err = store_get(fs->store, NULL, p->table, p->row, p->family,
				p->qualifier, &cell, &memory);
	place_leave(fs, &place);
	if (err == 1)
		err = cell_show(&cell, &f->out);
	buf_release(&memory);
	return err < 0 ? err : 0;
}

/* What a write adds, for decide. All is borrowed. */
struct addition {
	const struct path *path; /* of the cell */
	const int64_t *numbers;
	size_t count;
	uint64_t timestamp_us; /* of the version, once it is known */
};

/* As store_update calls it: adds the numbers, as one change. */
static int decide(void *context, struct write *w)
{
	struct addition *a = context;
	int err = write_row(w, a->path->table, a->path->row);

	return err ? err
		   : write_add_newest(w, a->path->family, a->path->qualifier,
				      a->numbers, a->count, &a->timestamp_us);
}

/* Commits the numbers (an array of int64_t), and tells the node and the kernel
 * that the cell has changed. */
static int add(struct fs *fs, struct ctl_file *f, const struct buf *numbers)
{
	struct place place;
	struct addition a = { &place.path,
			      (const int64_t *)(const void *)numbers->data,
			      numbers->size / sizeof(int64_t), 0 };
	uint64_t seq;
	int err;

	assert(numbers->size % sizeof(int64_t) == 0);
	if (a.count == 0)
		return 0;
	err = place_enter(fs, f->node, &place);
	/* Who adds to what was removed adds to nothing. */
	if (err || f->node->gone)
		goto leave;
	err = store_update_seq(fs->store, decide, &a, fs->options->sync, &seq);
	if (!err)
		fs_committed(fs, f->node, a.timestamp_us, seq);
leave:
	place_leave(fs, &place);
	return err;
}

/* As ctl_lines.each: appends the line's number to numbers, a buf of int64_t. An
 * empty line is none. -EINVAL with the line in the reason. */
static int take_line(void *numbers, struct bytes line)
{
	int64_t number;
	int found = int_parse_added(line, &number);

	if (found < 0)
		return fail(EINVAL,
			    "\"%.*s\" is no decimal 64-bit integer; what is "
			    "written here is added, a number a line",
			    (int)line.size, (const char *)line.data);
	return found ? buf_add(numbers, &number, sizeof(number)) : 0;
}

/* As ctl_ops.write. The numbers of all complete lines are one commit: if it
 * fails, none of the write was taken, and in is put back as it was. */
static ssize_t file_write(struct fs *fs, struct ctl_file *f, struct bytes data,
			  uint64_t offset)
{
	struct buf numbers = BUF_INIT;
	const struct ctl_lines lines = { LINE_SIZE_MAX, EINVAL, take_line,
					 &numbers };
	uint8_t partial[LINE_SIZE_MAX];
	size_t taken = 0, partial_size = f->in.size;
	int err = fs_check_space(fs, 0), failed;

	(void)offset;
	assert(partial_size <= sizeof(partial));
	if (partial_size > 0)
		memcpy(partial, spill_bytes(&f->in).data, partial_size);
	if (!err && f->state)
		err = fail(EINVAL, "the last line was taken without a newline");
	if (!err)
		taken = ctl_take_lines(&f->in, data, &lines, &err);
	/* The line began in an earlier write: what follows is another, or none
	 * would ever be right. */
	if (err == -EINVAL && !f->state)
		spill_cut(&f->in, 0);
	failed = add(fs, f, &numbers);
	buf_release(&numbers);
	if (failed) {
		/* Nothing was taken, so the same line goes on; without memory
		 * for it, it begins anew. */
		spill_cut(&f->in, 0);
		(void)!spill_add(&f->in, bytes_of(partial, partial_size));
		return failed;
	}
	/* A short write tells no reason, and the next one may never come. */
	if (err && taken > 0)
		fs_log_error(fs, f->node, NULL, err);
	return taken > 0 ? (ssize_t)taken : err;
}

/* As ctl_ops.flush: a last line needs no newline. */
static int file_flush(struct fs *fs, struct ctl_file *f, bool at_end)
{
	struct buf numbers = BUF_INIT;
	int err;

	if (f->in.size == 0 || !at_end)
		return 0;
	f->state = f; /* any pointer: nothing may follow */
	err = take_line(&numbers, spill_bytes(&f->in));
	spill_cut(&f->in, 0);
	if (!err)
		err = add(fs, f, &numbers);
	buf_release(&numbers);
	return err;
}

/* As ctl_ops.sync. Complete lines are committed already; one that is not waits
 * for its newline or the close. */
static int file_sync(struct fs *fs, struct ctl_file *f)
{
	(void)f;
	return store_sync(fs->store);
}

/* As ctl_ops.release. */
static void file_release(struct fs *fs, struct ctl_file *f)
{
	/* One that was made, and to which nothing was added, ends: there is no
	 * aggregate before its first number. */
	if (f->node->local) {
		node_detach(&fs->nodes, f->node);
		fs_changed_outside(fs);
	}
}

const struct ctl_ops ctl_aggregate_ops = {
	.open = file_open,
	.read = ctl_read_text,
	.write = file_write,
	.flush = file_flush,
	.sync = file_sync,
	.release = file_release,
	.brief_size = BRIEF_SIZE,
};
