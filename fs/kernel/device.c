#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "fs/kernel/device.h"
#include "fs/state/fs.h"

/* How long to look: to sleep and wake takes some 10 to 50 us, so what comes
 * within this is worth the wait, and what does not has cost no more. */
#define LOOK_NS 20000

/* After each look in vain twice as many waits pass without one: at most 1,024,
 * so that a client who comes back is soon noticed. */
#define MISSES_MAX 10
static_assert(MISSES_MAX < 32, "rest has 32 bits");

/*
 * Not read(2) and writev(2): those let a thread be cancelled, which none is,
 * and take locked instructions for that. But ThreadSanitizer learns from them
 * that a request comes after the answer that led to it.
 */
#ifndef __SANITIZE_THREAD__
#define read(fd, data, size) syscall(SYS_read, fd, data, size)
#define writev(fd, parts, count) syscall(SYS_writev, fd, parts, count)
#endif

/* As fuse_custom_io.writev. The kernel takes a message as a whole. */
static ssize_t write_all(int fd, struct iovec *parts, int count, void *fs)
{
	(void)fs;
	return writev(fd, parts, count);
}

/* All other flags of the descriptor are off, so none need be read first. */
static void set_blocking(int fd, bool blocks)
{
	fcntl(fd, F_SETFL, blocks ? O_RDWR : O_RDWR | O_NONBLOCK);
}

/* A request's size, or -1 with EAGAIN if none came in LOOK_NS. The clock is not
 * read if one was there already. */
static ssize_t look(struct device *d, int fd, void *data, size_t size)
{
	uint64_t end = 0;
	ssize_t n;

	while ((n = read(fd, data, size)) < 0 && errno == EAGAIN) {
		uint64_t now = histogram_now_ns();

		if (!end)
			end = now + LOOK_NS;
		else if (now > end)
			break;
	}
	/* From one that was there already nothing is learnt. */
	if (n >= 0 && end)
		d->misses = 0;
	return n;
}

/* As fuse_custom_io.read: returns with a request, or with EAGAIN, after which
 * the loop calls it again. */
static ssize_t wait_for_request(int fd, void *data, size_t size, void *context)
{
	struct fs *fs = context;
	struct device *d = fs->device;
	unsigned int rest = d->rest;
	ssize_t n;

	/* The descriptor blocks while rest > 0, else not. */
	if (rest > 0) {
		n = read(fd, data, size);
		d->rest = --rest;
		if (rest == 0)
			set_blocking(fd, false);
		return n;
	}
	n = look(d, fd, data, size);
	if (n >= 0 || errno != EAGAIN)
		return n;
	if (d->misses < MISSES_MAX)
		d->misses++;
	d->rest = 1U << d->misses;
	set_blocking(fd, true);
	return read(fd, data, size);
}

int device_use(struct fuse_session *session)
{
	const struct fuse_custom_io io = { .read = wait_for_request,
					   .writev = write_all };

	int fd = fuse_session_fd(session);

	set_blocking(fd, false);
	return fuse_session_custom_io(session, &io, fd);
}
