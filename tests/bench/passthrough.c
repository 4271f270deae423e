#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fuse_lowlevel.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/*
 * What FUSE costs over a local filesystem: each request is the same call on a
 * directory below.
 *
 *   passthrough MNT -o source=DIRECTORY
 *
 * A node is an O_PATH descriptor, kept until the end, so it needs as many file
 * descriptors as it is asked for files. It serves in the foreground with one
 * thread, with the timeouts and options of the real one.
 */
#define TIMEOUT 3600.0

static struct options {
	char *source;
} options;

static const struct fuse_opt option_spec[] = {
	{ "source=%s", offsetof(struct options, source), 0 },
	FUSE_OPT_END,
};

static int root = -1;

/* Node ids are descriptors, but for the root's. */
static int fd_of(fuse_ino_t ino)
{
	return ino == FUSE_ROOT_ID ? root : (int)ino;
}

static int reopen(fuse_ino_t ino, int flags)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd_of(ino));
	return open(path, (flags & ~O_NOFOLLOW) | O_CLOEXEC);
}

static int enter(fuse_ino_t parent, const char *name,
		 struct fuse_entry_param *e)
{
	int fd = openat(fd_of(parent), name, O_PATH | O_NOFOLLOW | O_CLOEXEC);

	memset(e, 0, sizeof(*e));
	e->attr_timeout = e->entry_timeout = TIMEOUT;
	if (fd < 0)
		return errno == ENOENT ? 0 : errno;
	if (fstatat(fd, "", &e->attr, AT_EMPTY_PATH)) {
		close(fd);
		return errno;
	}
	e->ino = (fuse_ino_t)fd;
	return 0;
}

static void pass_lookup(fuse_req_t req, fuse_ino_t parent, const char *name)
{
	struct fuse_entry_param e;
	int err = enter(parent, name, &e);

	if (err)
		fuse_reply_err(req, err);
	else
		fuse_reply_entry(req, &e);
}

static void pass_forget(fuse_req_t req, fuse_ino_t ino, uint64_t count)
{
	(void)count;
	close((int)ino);
	fuse_reply_none(req);
}

static void pass_getattr(fuse_req_t req, fuse_ino_t ino,
			 struct fuse_file_info *fi)
{
	struct stat st;

	(void)fi;
	if (fstatat(fd_of(ino), "", &st, AT_EMPTY_PATH))
		fuse_reply_err(req, errno);
	else
		fuse_reply_attr(req, &st, TIMEOUT);
}

static void pass_setattr(fuse_req_t req, fuse_ino_t ino, struct stat *attr,
			 int to_set, struct fuse_file_info *fi)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd_of(ino));
	if (to_set & FUSE_SET_ATTR_SIZE && truncate(path, attr->st_size))
		fuse_reply_err(req, errno);
	else
		pass_getattr(req, ino, fi);
}

static void pass_mkdir(fuse_req_t req, fuse_ino_t parent, const char *name,
		       mode_t mode)
{
	if (mkdirat(fd_of(parent), name, mode))
		fuse_reply_err(req, errno);
	else
		pass_lookup(req, parent, name);
}

static void pass_unlink(fuse_req_t req, fuse_ino_t parent, const char *name)
{
	fuse_reply_err(req, unlinkat(fd_of(parent), name, 0) ? errno : 0);
}

static void pass_rmdir(fuse_req_t req, fuse_ino_t parent, const char *name)
{
	fuse_reply_err(req,
		       unlinkat(fd_of(parent), name, AT_REMOVEDIR) ? errno : 0);
}

static void pass_create(fuse_req_t req, fuse_ino_t parent, const char *name,
			mode_t mode, struct fuse_file_info *fi)
{
	struct fuse_entry_param e;
	int fd = openat(fd_of(parent), name,
			(fi->flags | O_CREAT | O_CLOEXEC) & ~O_NOFOLLOW, mode);
	int err = fd < 0 ? errno : enter(parent, name, &e);

	if (err) {
		fuse_reply_err(req, err);
		return;
	}
	fi->fh = (uint64_t)fd;
	fi->keep_cache = 1;
	fuse_reply_create(req, &e, fi);
}

static void pass_open(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
	int fd = reopen(ino, fi->flags);

	if (fd < 0) {
		fuse_reply_err(req, errno);
		return;
	}
	fi->fh = (uint64_t)fd;
	fi->keep_cache = 1;
	fi->noflush = (fi->flags & O_ACCMODE) == O_RDONLY;
	fuse_reply_open(req, fi);
}

static void pass_read(fuse_req_t req, fuse_ino_t ino, size_t size, off_t offset,
		      struct fuse_file_info *fi)
{
	char *data = malloc(size);
	ssize_t n = data ? pread((int)fi->fh, data, size, offset) : -1;

	(void)ino;
	if (n < 0)
		fuse_reply_err(req, data ? errno : ENOMEM);
	else
		fuse_reply_buf(req, data, (size_t)n);
	free(data);
}

static void pass_write(fuse_req_t req, fuse_ino_t ino, const char *data,
		       size_t size, off_t offset, struct fuse_file_info *fi)
{
	ssize_t n = pwrite((int)fi->fh, data, size, offset);

	(void)ino;
	if (n < 0)
		fuse_reply_err(req, errno);
	else
		fuse_reply_write(req, (size_t)n);
}

static void pass_flush(fuse_req_t req, fuse_ino_t ino,
		       struct fuse_file_info *fi)
{
	(void)ino;
	fuse_reply_err(req, close(dup((int)fi->fh)) ? errno : 0);
}

static void pass_release(fuse_req_t req, fuse_ino_t ino,
			 struct fuse_file_info *fi)
{
	(void)ino;
	close((int)fi->fh);
	fuse_reply_err(req, 0);
}

static void pass_opendir(fuse_req_t req, fuse_ino_t ino,
			 struct fuse_file_info *fi)
{
	int fd = reopen(ino, O_RDONLY | O_DIRECTORY);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);

	if (!dir) {
		fuse_reply_err(req, errno);
		return;
	}
	fi->fh = (uint64_t)(uintptr_t)dir;
	fi->cache_readdir = 1;
	fi->keep_cache = 1;
	fuse_reply_open(req, fi);
}

static void pass_readdir(fuse_req_t req, fuse_ino_t ino, size_t size,
			 off_t offset, struct fuse_file_info *fi)
{
	DIR *dir = (DIR *)(uintptr_t)fi->fh;
	char *reply = malloc(size);
	size_t used = 0;
	struct dirent *d;

	(void)ino;
	if (!reply) {
		fuse_reply_err(req, ENOMEM);
		return;
	}
	if (telldir(dir) != offset)
		seekdir(dir, offset);
	while ((d = readdir(dir)) != NULL) {
		struct stat st = {
			.st_ino = d->d_ino,
			.st_mode = (mode_t)d->d_type << 12,
		};
		size_t n = fuse_add_direntry(req, reply + used, size - used,
					     d->d_name, &st, d->d_off);

		if (n > size - used)
			break;
		used += n;
	}
	fuse_reply_buf(req, reply, used);
	free(reply);
}

static void pass_releasedir(fuse_req_t req, fuse_ino_t ino,
			    struct fuse_file_info *fi)
{
	(void)ino;
	closedir((DIR *)(uintptr_t)fi->fh);
	fuse_reply_err(req, 0);
}

static const struct fuse_lowlevel_ops operations = {
	.lookup = pass_lookup,
	.forget = pass_forget,
	.getattr = pass_getattr,
	.setattr = pass_setattr,
	.mkdir = pass_mkdir,
	.unlink = pass_unlink,
	.rmdir = pass_rmdir,
	.create = pass_create,
	.open = pass_open,
	.read = pass_read,
	.write = pass_write,
	.flush = pass_flush,
	.release = pass_release,
	.opendir = pass_opendir,
	.readdir = pass_readdir,
	.releasedir = pass_releasedir,
};

int main(int argc, char **argv)
{
	struct fuse_args args = FUSE_ARGS_INIT(argc, argv);
	struct fuse_cmdline_opts cmdline;
	struct fuse_session *session;
	int err = 1;

	if (fuse_opt_parse(&args, &options, option_spec, NULL) != 0 ||
	    fuse_parse_cmdline(&args, &cmdline) != 0 || !cmdline.mountpoint ||
	    !options.source)
		return 2;
	root = open(options.source, O_PATH | O_DIRECTORY | O_CLOEXEC);
	session = root < 0 ? NULL
			   : fuse_session_new(&args, &operations,
					      sizeof(operations), NULL);
	if (session && fuse_set_signal_handlers(session) == 0 &&
	    fuse_session_mount(session, cmdline.mountpoint) == 0) {
		err = fuse_session_loop(session) < 0;
		fuse_session_unmount(session);
	}
	if (session)
		fuse_session_destroy(session);
	free(cmdline.mountpoint);
	free(options.source);
	fuse_opt_free_args(&args);
	return err;
}
