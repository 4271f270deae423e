#include <errno.h>
#include <fcntl.h>
#include <fuse_lowlevel.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * The ceiling: a filesystem of the same shape as a mounted store that answers
 * every request from arithmetic, with no store behind it.
 *
 *   nullfs MNT -o rows=N       /t/row00000000/f/q, N rows; q holds 5 bytes
 *
 * Whatever is made in /t or in /t/w/f is taken and at once forgotten.
 *
 * Options and replies are those of the real one: long timeouts, negative
 * entries, readdirplus with node ids for the first entries of a listing only.
 * It serves in the foreground with one thread until it is unmounted.
 */
#define TIMEOUT 3600.0
#define NODES_LISTED 4096
#define ROOT FUSE_ROOT_ID
#define TABLE 2
#define KIND_SHIFT 32
enum { KIND_ROW = 1, KIND_FAMILY, KIND_FILE, KIND_NEW_FILE, KIND_NEW };
/* The row w is not listed. */
#define SCRATCH_ROW 0xffffffff

static struct options {
	unsigned int rows;
} options = { .rows = 1000000 };

static const struct fuse_opt option_spec[] = {
	{ "rows=%u", offsetof(struct options, rows), 0 },
	FUSE_OPT_END,
};

static const char content[] = "value";

static fuse_ino_t node(unsigned int kind, unsigned long row)
{
	return (fuse_ino_t)kind << KIND_SHIFT | row;
}

static void fill_attr(fuse_ino_t ino, struct stat *st)
{
	memset(st, 0, sizeof(*st));
	st->st_ino = ino;
	st->st_nlink = 1;
	st->st_mtime = 1700000000;
	if (ino >> KIND_SHIFT == KIND_FILE ||
	    ino >> KIND_SHIFT == KIND_NEW_FILE) {
		st->st_mode = S_IFREG | 0644;
		st->st_size = sizeof(content) - 1;
	} else {
		st->st_mode = S_IFDIR | 0755;
	}
}

static fuse_ino_t find(fuse_ino_t parent, const char *name)
{
	unsigned long row = parent & 0xffffffff;
	char *end;

	if (parent == ROOT)
		return strcmp(name, "t") == 0 ? TABLE : 0;
	if (parent == TABLE) {
		if (strcmp(name, "w") == 0)
			return node(KIND_ROW, SCRATCH_ROW);
		if (strncmp(name, "row", 3) != 0)
			return 0;
		row = strtoul(name + 3, &end, 10);
		return *end == 0 && end == name + 11 && row < options.rows
			       ? node(KIND_ROW, row)
			       : 0;
	}
	if (parent >> KIND_SHIFT == KIND_ROW)
		return strcmp(name, "f") == 0 ? node(KIND_FAMILY, row) : 0;
	return strcmp(name, "q") == 0 && row != SCRATCH_ROW
		       ? node(KIND_FILE, row)
		       : 0;
}

static void null_lookup(fuse_req_t req, fuse_ino_t parent, const char *name)
{
	struct fuse_entry_param e = {
		.attr_timeout = TIMEOUT,
		.entry_timeout = TIMEOUT,
	};

	e.ino = find(parent, name);
	if (e.ino)
		fill_attr(e.ino, &e.attr);
	fuse_reply_entry(req, &e);
}

static void null_getattr(fuse_req_t req, fuse_ino_t ino,
			 struct fuse_file_info *fi)
{
	struct stat st;

	(void)fi;
	fill_attr(ino, &st);
	fuse_reply_attr(req, &st, TIMEOUT);
}

static void made(unsigned int kind, struct fuse_entry_param *e)
{
	static unsigned long count;

	memset(e, 0, sizeof(*e));
	e->attr_timeout = e->entry_timeout = TIMEOUT;
	e->ino = node(kind, ++count);
	fill_attr(e->ino, &e->attr);
}

static void null_create(fuse_req_t req, fuse_ino_t parent, const char *name,
			mode_t mode, struct fuse_file_info *fi)
{
	struct fuse_entry_param e;

	(void)parent;
	(void)name;
	(void)mode;
	made(KIND_NEW_FILE, &e);
	fi->keep_cache = 1;
	fuse_reply_create(req, &e, fi);
}

static void null_mkdir(fuse_req_t req, fuse_ino_t parent, const char *name,
		       mode_t mode)
{
	struct fuse_entry_param e;

	(void)parent;
	(void)name;
	(void)mode;
	made(KIND_NEW, &e);
	fuse_reply_entry(req, &e);
}

static void null_remove(fuse_req_t req, fuse_ino_t parent, const char *name)
{
	(void)parent;
	(void)name;
	fuse_reply_err(req, 0);
}

static void null_write(fuse_req_t req, fuse_ino_t ino, const char *data,
		       size_t size, off_t offset, struct fuse_file_info *fi)
{
	(void)ino;
	(void)data;
	(void)offset;
	(void)fi;
	fuse_reply_write(req, size);
}

static void null_close(fuse_req_t req, fuse_ino_t ino,
		       struct fuse_file_info *fi)
{
	(void)ino;
	(void)fi;
	fuse_reply_err(req, 0);
}

static void null_open(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
	(void)ino;
	fi->keep_cache = 1;
	fi->noflush = (fi->flags & O_ACCMODE) == O_RDONLY;
	fuse_reply_open(req, fi);
}

static void null_read(fuse_req_t req, fuse_ino_t ino, size_t size, off_t offset,
		      struct fuse_file_info *fi)
{
	size_t all = sizeof(content) - 1;

	(void)ino;
	(void)fi;
	if ((size_t)offset >= all)
		size = 0;
	else if (size > all - (size_t)offset)
		size = all - (size_t)offset;
	fuse_reply_buf(req, content + (size ? offset : 0), size);
}

static void null_opendir(fuse_req_t req, fuse_ino_t ino,
			 struct fuse_file_info *fi)
{
	(void)ino;
	fuse_reply_open(req, fi);
}

/* The name of the entry at offset, or 0 at the end. */
static fuse_ino_t entry(fuse_ino_t ino, off_t offset, char *name, size_t size)
{
	if (ino == TABLE) {
		if (offset >= (off_t)options.rows)
			return 0;
		snprintf(name, size, "row%08lu", (unsigned long)offset);
		return node(KIND_ROW, (unsigned long)offset);
	}
	if (offset > 0)
		return 0;
	strcpy(name, ino == ROOT                     ? "t"
		     : ino >> KIND_SHIFT == KIND_ROW ? "f"
						     : "q");
	return find(ino, name);
}

static void list(fuse_req_t req, fuse_ino_t ino, size_t size, off_t offset,
		 int plus)
{
	char *reply = malloc(size), name[32];
	size_t used = 0, n;
	fuse_ino_t child;

	if (!reply) {
		fuse_reply_err(req, ENOMEM);
		return;
	}
	while ((child = entry(ino, offset, name, sizeof(name))) != 0) {
		struct fuse_entry_param e = {
			.attr_timeout = TIMEOUT,
			.entry_timeout = TIMEOUT,
		};

		fill_attr(child, &e.attr);
		if (plus) {
			e.ino = offset < NODES_LISTED ? child : 0;
			n = fuse_add_direntry_plus(req, reply + used,
						   size - used, name, &e,
						   offset + 1);
		} else {
			n = fuse_add_direntry(req, reply + used, size - used,
					      name, &e.attr, offset + 1);
		}
		if (n > size - used)
			break;
		used += n;
		offset++;
	}
	fuse_reply_buf(req, reply, used);
	free(reply);
}

static void null_readdir(fuse_req_t req, fuse_ino_t ino, size_t size,
			 off_t offset, struct fuse_file_info *fi)
{
	(void)fi;
	list(req, ino, size, offset, 0);
}

static void null_readdirplus(fuse_req_t req, fuse_ino_t ino, size_t size,
			     off_t offset, struct fuse_file_info *fi)
{
	(void)fi;
	list(req, ino, size, offset, 1);
}

static const struct fuse_lowlevel_ops operations = {
	.lookup = null_lookup,
	.getattr = null_getattr,
	.mkdir = null_mkdir,
	.unlink = null_remove,
	.rmdir = null_remove,
	.create = null_create,
	.open = null_open,
	.write = null_write,
	.flush = null_close,
	.release = null_close,
	.read = null_read,
	.opendir = null_opendir,
	.readdir = null_readdir,
	.readdirplus = null_readdirplus,
};

int main(int argc, char **argv)
{
	struct fuse_args args = FUSE_ARGS_INIT(argc, argv);
	struct fuse_cmdline_opts cmdline;
	struct fuse_session *session;
	int err = 1;

	if (fuse_opt_parse(&args, &options, option_spec, NULL) != 0 ||
	    fuse_parse_cmdline(&args, &cmdline) != 0 || !cmdline.mountpoint)
		return 2;
	session =
		fuse_session_new(&args, &operations, sizeof(operations), NULL);
	if (!session)
		return 1;
	if (fuse_set_signal_handlers(session) == 0 &&
	    fuse_session_mount(session, cmdline.mountpoint) == 0) {
		err = fuse_session_loop(session);
		fuse_session_unmount(session);
	}
	fuse_session_destroy(session);
	free(cmdline.mountpoint);
	fuse_opt_free_args(&args);
	return err != 0;
}
