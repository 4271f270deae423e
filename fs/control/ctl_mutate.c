#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "fs/cells/notify.h"
#include "fs/control/ctl.h"
#include "fs/control/ctl_file.h"
#include "store/text/json/json_mutation.h"

/*
 * .mutate: JSON lines, each one atomic row mutation, run inside the write that
 * completes it. The first wrong line stops: the write takes the bytes before
 * it, and the next one fails. A last line without newline runs at close, if it
 * parses; nothing may follow it.
 */
#define LINE_SIZE_MAX ((size_t)256 << 20)

struct mutate_file {
	bool ended;
	uint64_t lines; /* that were taken */
};

static int mutate_open(struct fs *fs, struct ctl_file *f)
{
	(void)fs;
	f->state = calloc(1, sizeof(struct mutate_file));
	return f->state ? 0 : -ENOMEM;
}

/* Where the lines of a write go. */
struct mutation_target {
	struct fs *fs;
	struct ctl_file *f;
};

static int run_line(void *context, struct bytes line)
{
	const struct mutation_target *t = context;
	struct mutate_file *m = t->f->state;
	char reason[600];
	int err = 0;

	if (line.size > 0 && line.data[line.size - 1] == '\r')
		line.size--;
	if (line.size > 0)
		err = mutation_run_json(t->fs->store, t->f->path.table,
					BYTES_NONE, line, t->fs->options->sync);
	if (err >= 0) {
		m->lines++;
		return err;
	}
	/* ENOENT would be about the file. */
	if (err == -ERR_no_family)
		err = -EINVAL;
	snprintf(reason, sizeof(reason), "%s", err_detail());
	return fail(-err, "line %llu: %s", (unsigned long long)m->lines + 1,
		    reason[0] ? reason : err_text(err));
}

static void changed(struct fs *fs, struct ctl_file *f)
{
	fs_changed_outside(fs);
	fs_changed_in(fs, f->node);
}

static ssize_t mutate_write(struct fs *fs, struct ctl_file *f,
			    struct bytes data, uint64_t offset)
{
	struct mutate_file *m = f->state;
	struct mutation_target target = { fs, f };
	const struct ctl_lines lines = { LINE_SIZE_MAX, EFBIG, run_line,
					 &target };
	size_t taken;
	int err;

	(void)offset;
	if (m->ended)
		return fail(EINVAL,
			    "the last line was taken without a newline");
	taken = ctl_take_lines(&f->in, data, &lines, &err);
	if (taken > 0)
		changed(fs, f);
	if (err && taken > 0)
		fs_log_error(fs, f->node, NULL, err);
	return taken > 0 ? (ssize_t)taken : err;
}

static int mutate_flush(struct fs *fs, struct ctl_file *f)
{
	struct mutate_file *m = f->state;
	struct mutation_target target = { fs, f };
	int err;

	if (f->in.size == 0)
		return 0;
	m->ended = true;
	err = run_line(&target, buf_bytes(&f->in));
	buf_reset(&f->in);
	changed(fs, f);
	return err;
}

static int mutate_sync(struct fs *fs, struct ctl_file *f)
{
	(void)f;
	return store_sync(fs->store);
}

static void mutate_release(struct fs *fs, struct ctl_file *f)
{
	(void)fs;
	free(f->state);
}

const struct ctl_ops ctl_mutate_ops = {
	.open = mutate_open,
	.write = mutate_write,
	.flush = mutate_flush,
	.sync = mutate_sync,
	.release = mutate_release,
};
