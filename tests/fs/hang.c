#include <errno.h>
#include <fcntl.h>
#include <fuse.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

/*
 * A disk that hangs:
 *
 *	hang DIR MNT
 *
 * shows the files of DIR at MNT, without directories below it; kill -STOP makes
 * whoever uses it wait. It runs in the foreground until it is unmounted.
 */
static int base;

static const char *name_of(const char *path)
{
	return path[1] ? path + 1 : ".";
}

static int result(int n)
{
	return n < 0 ? -errno : 0;
}

static int get_attributes(const char *path, struct stat *st,
			  struct fuse_file_info *fi)
{
	(void)fi;
	return result(fstatat(base, name_of(path), st, AT_SYMLINK_NOFOLLOW));
}

static int set_mode(const char *path, mode_t mode, struct fuse_file_info *fi)
{
	(void)fi;
	return result(fchmodat(base, name_of(path), mode, 0));
}

static int open_file(const char *path, struct fuse_file_info *fi)
{
	int fd = openat(base, name_of(path), fi->flags | O_NOFOLLOW, 0600);

	fi->fh = (uint64_t)fd;
	return result(fd);
}

static int create_file(const char *path, mode_t mode, struct fuse_file_info *fi)
{
	(void)mode;
	fi->flags |= O_CREAT;
	return open_file(path, fi);
}

static int read_file(const char *path, char *data, size_t size, off_t offset,
		     struct fuse_file_info *fi)
{
	ssize_t n = pread((int)fi->fh, data, size, offset);

	(void)path;
	return n < 0 ? -errno : (int)n;
}

static int write_file(const char *path, const char *data, size_t size,
		      off_t offset, struct fuse_file_info *fi)
{
	ssize_t n = pwrite((int)fi->fh, data, size, offset);

	(void)path;
	return n < 0 ? -errno : (int)n;
}

static int close_file(const char *path, struct fuse_file_info *fi)
{
	(void)path;
	return result(close((int)fi->fh));
}

static int remove_file(const char *path)
{
	return result(unlinkat(base, name_of(path), 0));
}

static int rename_file(const char *from, const char *to, unsigned int flags)
{
	(void)flags;
	return result(renameat(base, name_of(from), base, name_of(to)));
}

int main(int argc, char **argv)
{
	static const struct fuse_operations operations = {
		.getattr = get_attributes,
		.chmod = set_mode,
		.open = open_file,
		.create = create_file,
		.read = read_file,
		.write = write_file,
		.release = close_file,
		.unlink = remove_file,
		.rename = rename_file,
	};
	char foreground[] = "-f", single[] = "-s";
	char *words[] = { argv[0], foreground, single, argv[argc - 1], NULL };

	base = argc == 3 ? open(argv[1], O_RDONLY | O_DIRECTORY) : -1;
	if (base < 0) {
		fputs("usage: hang DIR MNT\n", stderr);
		return 2;
	}
	return fuse_main(4, words, &operations, NULL);
}
