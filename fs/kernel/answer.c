#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/pidfd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fs/kernel/answer.h"
#include "store/base/err.h"

/* When to say who is waited for. */
#define SAY_AFTER_MS 3000

/* What the child ends with: this, or an errno, all of which are below. */
#define IS_MOUNT 255

/* In the child: keeps no file of the parent's open, since whoever reads the
 * other end of one would wait for this process, too. The kernel may know
 * attributes of a daemon that has gone, so it is told to ask. */
static void ask(const char *path)
{
	struct statx st;

	close_range(0, ~0U, 0);
	if (statx(AT_FDCWD, path, AT_NO_AUTOMOUNT | AT_STATX_FORCE_SYNC,
		  STATX_TYPE, &st))
		_exit(errno);
	if (!S_ISDIR(st.stx_mode))
		_exit(ENOTDIR);
	_exit(st.stx_attributes & STATX_ATTR_MOUNT_ROOT ? IS_MOUNT : 0);
}

/* Whether a child process ends within some time. */
static bool ends(int fd, int ms)
{
	struct pollfd end = { .fd = fd, .events = POLLIN };
	int n;

	do {
		n = poll(&end, 1, ms);
	} while (n < 0 && errno == EINTR);
	return n > 0;
}

static void tell_wait(const char *who, const struct answer_teller *teller)
{
	char line[PATH_MAX + 128];

	snprintf(line, sizeof(line),
		 "tabletfs: waiting for %s, which does not answer", who);
	if (teller)
		teller->tell(teller->context, line);
	else
		fprintf(stderr, "%s\n", line);
}

int answer_at(const char *path, int max_ms, const char *who,
	      const struct answer_teller *teller)
{
	int first = who && max_ms > SAY_AFTER_MS ? SAY_AFTER_MS : max_ms;
	int fd, status = 0;
	bool ended;
	pid_t pid = fork();

	if (pid == 0)
		ask(path);
	fd = pid < 0 ? -1 : pidfd_open(pid, 0);
	if (fd < 0)
		return fail(errno, "%s: a process to ask for it", path);
	ended = ends(fd, first);
	if (!ended && first < max_ms) {
		tell_wait(who, teller);
		ended = ends(fd, max_ms - first);
	}
	close(fd);
	if (!ended)
		kill(pid, SIGKILL);
	if (waitpid(pid, &status, ended ? 0 : WNOHANG) != pid ||
	    !WIFEXITED(status))
		return fail(ETIMEDOUT, "%s: no answer", path);
	status = WEXITSTATUS(status);
	if (status == IS_MOUNT)
		return 1;
	return status ? fail(status, "%s", path) : 0;
}
