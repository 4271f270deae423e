#include <fcntl.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/base/err.h"
#include "store/base/volume/volume_posix_file.h"
#include "store/base/volume/volume_posix_reader.h"

/*
 * Single blocks of a file are read by themselves: where all that comes from the
 * disk is random, more would be read for nothing. But once so many reads met in
 * one region that they took as long as all of it takes in one piece, the rest
 * is asked for, so no choice of reads costs more than twice what the best way
 * had cost (the rule of who rents skis and, at their price, buys them: Karlin
 * et al., Competitive snoopy caching, 1988). A region is asked for once, as a
 * page that has left memory since shows that there is no room for it.
 */
#define REGION_SIZE ((uint64_t)1 << 20)
#define REGION_READS 6
/* What one read takes of a readahead that nobody has set: more may be cut off
 * (Linux, mm/readahead.c, force_page_cache_ra). */
#define ASK_SIZE ((uint64_t)128 << 10)
/* All readers of a volume together ask for at most this part of the machine's
 * memory. */
#define MEMORY_PARTS 4

struct posix_reader {
	struct reader reader;        /* first, so that it can be cast */
	struct posix_volume *volume; /* borrowed */
	char *path;                  /* owned */
	int fd;
	size_t region_count;
	atomic_uint asked;       /* regions */
	_Atomic uint8_t reads[]; /* of each region, until it is asked for */
};

int posix_reader_open(struct posix_volume *v, const char *name,
		      struct reader **out)
{
	struct posix_reader *r;
	char *path = posix_path(v, name);
	size_t regions;
	struct stat st;
	int fd, err;

	*out = NULL;
	if (!path)
		return -ENOMEM;
	/* A pipe would wait for a writer. */
	fd = openat(v->directory, name,
		    O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (fd < 0 || fstat(fd, &st) < 0) {
		err = fail(errno, "%s: cannot open", path);
		goto close_file;
	}
	if (!S_ISREG(st.st_mode)) {
		err = fail(EIO, "%s: not a regular file", path);
		goto close_file;
	}
	regions = (size_t)((uint64_t)st.st_size / REGION_SIZE) + 1;
	r = calloc(1, sizeof(*r) + regions);
	if (!r) {
		err = -ENOMEM;
		goto close_file;
	}
	r->reader.ops = v->volume.ops;
	r->reader.size = (uint64_t)st.st_size;
	r->reader.path = r->path = path;
	r->volume = v;
	r->fd = fd;
	r->region_count = regions;
	*out = &r->reader;
	return 0;

close_file:
	if (fd >= 0)
		close(fd);
	free(path);
	return err;
}

/* Whether a region more may be asked for; then it is counted. */
static bool take_room(struct posix_reader *r)
{
	uint64_t limit = (uint64_t)sysconf(_SC_PHYS_PAGES) *
			 (uint64_t)sysconf(_SC_PAGESIZE) / MEMORY_PARTS;

	if (atomic_fetch_add(&r->volume->asked, REGION_SIZE) + REGION_SIZE <=
	    limit) {
		atomic_fetch_add(&r->asked, 1);
		return true;
	}
	atomic_fetch_sub(&r->volume->asked, REGION_SIZE);
	return false;
}

/* Counts a read, and asks for its region when it is time. That it fails costs
 * time alone. */
static void note_read(struct posix_reader *r, uint64_t offset)
{
	size_t region = (size_t)(offset / REGION_SIZE);
	uint64_t at = region * REGION_SIZE, end = at + REGION_SIZE;

	/* Many threads may come past it at once, and not 256 - REGION_READS. */
	if (region >= r->region_count ||
	    atomic_load_explicit(&r->reads[region], memory_order_relaxed) >=
		    REGION_READS ||
	    atomic_fetch_add(&r->reads[region], 1) + 1 != REGION_READS ||
	    !take_room(r))
		return;
	for (; at < end && at < r->reader.size; at += ASK_SIZE)
		posix_fadvise(r->fd, (off_t)at, (off_t)ASK_SIZE,
			      POSIX_FADV_WILLNEED);
}

/* pread moves no offset, so that one reader serves all threads. */
int posix_pread(struct reader *reader, uint64_t offset, void *data, size_t size)
{
	struct posix_reader *r = (struct posix_reader *)reader;
	size_t done = 0;

	while (done < size) {
		ssize_t n = pread(r->fd, (uint8_t *)data + done, size - done,
				  (off_t)(offset + done));

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return fail(errno, "%s: offset %llu: cannot read",
				    r->path,
				    (unsigned long long)(offset + done));
		if (n == 0)
			return fail(EIO,
				    "%s: ends at %llu, wanted %zu bytes at "
				    "%llu",
				    r->path,
				    (unsigned long long)(offset + done), size,
				    (unsigned long long)offset);
		done += (size_t)n;
	}
	note_read(r, offset);
	return 0;
}

void posix_reader_close(struct reader *reader)
{
	struct posix_reader *r = (struct posix_reader *)reader;

	atomic_fetch_sub(&r->volume->asked,
			 atomic_load(&r->asked) * REGION_SIZE);
	close(r->fd);
	free(r->path);
	free(r);
}
