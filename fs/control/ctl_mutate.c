#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fs/cells/notify.h"
#include "fs/cells/space.h"
#include "fs/cells/turn.h"
#include "fs/control/ctl_file.h"
#include "store/text/json/json_mutation.h"
#include "store/text/print/print_result.h"

/*
 * .mutate: JSON lines, each one atomic row mutation, run inside the write that
 * completes it. The first wrong line stops: the write takes the bytes before
 * it, and all that comes then fails, fsync and each close too, as nobody knows
 * which of them the writer looks at. A last line without newline runs at close,
 * if it parses; nothing may follow it. in holds the part of a line whose
 * newline has not come yet.
 *
 * Who opened it for reading, too, is told what each line came to: a read takes
 * what was told since the one before, wherever the file's offset is, and ends
 * there. It is in memory until then, and lines wait for it.
 */
#define UNREAD_MAX ((size_t)1 << 20)

/* An open .mutate: a ctl_file's state, guarded by its lock. */
struct mutate_file {
	bool ended;     /* a last line without newline was taken */
	int failed;     /* what ended it, which was told; every further call
			   fails so */
	uint64_t lines; /* that were taken, to tell the number of a wrong one */
	bool tells;     /* results are read, too */
	struct buf unread; /* of them, as text */
};

static int mutate_open(struct fs *fs, struct ctl_file *f)
{
	struct mutate_file *m;

	(void)fs;
	/* There is nothing to tell to who writes nothing. */
	if ((f->flags & O_ACCMODE) == O_RDONLY)
		return -EACCES;
	m = calloc(1, sizeof(*m));
	if (!m)
		return -ENOMEM;
	m->tells = (f->flags & O_ACCMODE) == O_RDWR;
	f->state = m;
	return 0;
}

/* Where the lines of a write go: the context of run_line. */
struct mutation_target {
	struct fs *fs;
	struct ctl_file *f;
	struct bytes table;
	bool turn;  /* one line may ask for a condition */
	bool wants; /* another one is to */
};

/* Runs a mutation and keeps what there is to tell of it. It is done, whatever
 * becomes of that. */
static int run_and_tell(const struct mutation_target *t, struct bytes line)
	NEEDS_SHARED(t->fs->tree)
{
	struct mutate_file *m = t->f->state;
	struct json_result result = JSON_RESULT_INIT;
	size_t size = m->unread.size;
	int err, told;

	if (size > UNREAD_MAX)
		return fail(ENOBUFS,
			    "more than %zu MiB about lines before are "
			    "unread: read them, or open it to be "
			    "written only",
			    UNREAD_MAX >> 20);
	err = ctl_run_mutation(t->fs, t->f, t->table, BYTES_NONE, line,
			       &result);
	told = err ? 0 : print_result_line(&result, m->lines + 1, &m->unread);
	if (told < 0) {
		m->unread.size = size;
		fs_log_error(t->fs, t->f->node, NULL, told);
	}
	json_result_release(&result);
	return err;
}

/* As ctl_lines.each: runs one mutation, durably with -o sync. An empty line is
 * none. An error's reason begins with the line's number. */
static int run_line(void *context, struct bytes line)
{
	struct mutation_target *t = context;
	struct mutate_file *m = t->f->state;
	char reason[600]; /* a copy: fail writes where it stands */
	bool asks;
	int err = 0;

	tree_assert_held(t->fs);
	/* Lines of some systems end with CR and LF. */
	if (line.size > 0 && line.data[line.size - 1] == '\r')
		line.size--;
	asks = mutation_may_ask(line);
	t->wants = asks && !t->turn;
	if (t->wants)
		return -EAGAIN;
	t->turn &= !asks;
	if (line.size > 0)
		err = m->tells ? run_and_tell(t, line)
			       : ctl_run_mutation(t->fs, t->f, t->table,
						  BYTES_NONE, line, NULL);
	if (err >= 0) {
		m->lines++;
		return err;
	}
	/* To who writes, ENOENT would be about the file. */
	if (err == -ERR_no_family)
		err = -EINVAL;
	snprintf(reason, sizeof(reason), "%s", err_detail());
	return fail(-err, "line %llu: %s", (unsigned long long)m->lines + 1,
		    reason[0] ? reason : err_text(err));
}

/* Tells the kernel of changes that are not those of a path. */
static void changed(struct fs *fs, struct ctl_file *f)
{
	fs_changed_outside(fs);
	fs_changed_in(fs, f->node);
}

/* After lines that ended with err: one that is wrong is the last. For want of
 * room, also for what it tells, or after a signal, the writer may come again
 * with the same line. */
static void settle(struct mutate_file *m, int err)
{
	assert(!m->failed);
	if (err_errno(err) != ENOSPC && err_errno(err) != ENOBUFS &&
	    err != -EINTR)
		m->failed = err;
}

/* As ctl_ops.read, of what is unread. */
static int mutate_read(struct fs *fs, struct ctl_file *f, uint64_t offset,
		       size_t size, struct buf *out)
{
	struct mutate_file *m = f->state;
	size_t n = m->unread.size < size ? m->unread.size : size;
	int err = buf_add(out, m->unread.data, n);

	(void)fs;
	(void)offset;
	if (err || n == 0)
		return err;
	memmove(m->unread.data, m->unread.data + n, m->unread.size - n);
	m->unread.size -= n;
	if (m->unread.size == 0)
		buf_release(&m->unread);
	return 0;
}

/* Before lines that add, as the first one tells: what only removes is how there
 * is room again, and waits for nobody. */
static void await_space(struct fs *fs, struct bytes data)
{
	const uint8_t *end =
		data.size > 0 ? memchr(data.data, '\n', data.size) : NULL;
	struct bytes line = { data.data,
			      end ? (size_t)(end - data.data) : data.size };

	if (!fs_has_space(fs, data.size) && mutation_adds(line))
		fs_await_space(fs, data.size);
}

/* ctl_take_lines. Each line that asks for a condition is in a place of its own,
 * with a turn. */
static size_t take_lines(struct fs *fs, struct ctl_file *f, struct bytes data,
			 int *err)
{
	struct mutation_target target = { fs, f, BYTES_NONE, false, false };
	const struct ctl_lines lines = { CTL_WRITTEN_MAX, EFBIG, run_line,
					 &target };
	size_t taken = 0;
	struct place place;
	bool turn = false;

	assert(f->in.size <= CTL_WRITTEN_MAX);
	for (;;) {
		target.turn = turn;
		target.wants = false;
		*err = place_enter(fs, f->node, &place);
		target.table = place.path.table;
		if (!*err)
			taken += ctl_take_lines(
				&f->in, bytes_after(data, taken), &lines, err);
		place_leave(fs, &place);
		if (turn)
			turn_give(fs);
		if (!target.wants)
			return taken;
		*err = turn_take(fs);
		if (*err)
			return taken;
		turn = true;
	}
}

static ssize_t mutate_write(struct fs *fs, struct ctl_file *f,
			    struct bytes data, uint64_t offset)
{
	struct mutate_file *m = f->state;
	size_t taken;
	int err;

	(void)offset;
	if (m->failed)
		return m->failed;
	if (m->ended)
		return fail(EINVAL,
			    "the last line was taken without a newline");
	await_space(fs, data);
	taken = take_lines(fs, f, data, &err);
	settle(m, err);
	if (taken > 0)
		changed(fs, f);
	/* A short write tells no reason, and the next one may never come. */
	if (err && taken > 0)
		fs_log_error(fs, f->node, NULL, err);
	return taken > 0 ? (ssize_t)taken : err;
}

/* As ctl_ops.flush: a last line needs no newline. */
static int mutate_flush(struct fs *fs, struct ctl_file *f, bool at_end)
{
	struct mutate_file *m = f->state;
	int err;

	if (m->failed || f->in.size == 0 || !at_end)
		return m->failed;
	assert(!m->ended);
	m->ended = true;
	(void)take_lines(fs, f, BYTES_LITERAL("\n"), &err);
	spill_cut(&f->in, 0);
	settle(m, err);
	changed(fs, f);
	return err;
}

/* As ctl_ops.sync. Complete lines are committed already; one that is not waits
 * for its newline or the close. */
static int mutate_sync(struct fs *fs, struct ctl_file *f)
{
	const struct mutate_file *m = f->state;

	return m->failed ? m->failed : store_sync(fs->store);
}

static void mutate_release(struct fs *fs, struct ctl_file *f)
{
	struct mutate_file *m = f->state;

	(void)fs;
	buf_release(&m->unread);
	free(m);
}

const struct ctl_ops ctl_mutate_ops = {
	.open = mutate_open,
	.read = mutate_read,
	.write = mutate_write,
	.flush = mutate_flush,
	.sync = mutate_sync,
	.release = mutate_release,
};
