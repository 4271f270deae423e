#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "store/base/lease/holder.h"

/* What /proc tells of a process; 0: it does not. */
struct proc_stat {
	char state;
	uint64_t threads;
	uint64_t start;
};

/* Places of words in /proc/PID/stat, from 1. */
enum {
	STAT_STATE = 3,
	STAT_THREADS = 20,
	STAT_START = 22,
};

/* The first bytes of a small file as a string; "" if it cannot be read. */
static void read_text(const char *path, char *text, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? 0 : read(fd, text, size - 1);

	text[n > 0 ? n : 0] = 0;
	if (fd >= 0)
		close(fd);
}

/* Where a process began is told in the time of who asks. In the first time
 * namespace, or without any, that is the same for all. */
#define FIRST_TIME_NAMESPACE 0xeffffffaU

static bool tells_start(void)
{
	struct stat st;

	return stat("/proc/self/ns/time", &st) < 0 ||
	       st.st_ino == FIRST_TIME_NAMESPACE;
}

/* Of a process that /proc does not show, or with a /proc of another namespace,
 * in which the pid is somebody else's: nothing. */
static struct proc_stat look_at(pid_t pid)
{
	struct proc_stat out = { 0 };
	char path[64], text[1024], *at;
	int word = STAT_STATE;
	ssize_t n;

	n = readlink("/proc/self", path, sizeof(path) - 1);
	path[n > 0 ? n : 0] = 0;
	if (strtol(path, NULL, 10) != getpid())
		return out;
	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	read_text(path, text, sizeof(text));
	/* The name before may have anything in it, brackets too. */
	at = strrchr(text, ')');
	while (at && (at = strchr(at, ' '))) {
		at++;
		if (word == STAT_STATE)
			out.state = *at;
		else if (word == STAT_THREADS)
			out.threads = strtoull(at, NULL, 10);
		else if (word == STAT_START && tells_start())
			out.start = strtoull(at, NULL, 10);
		word++;
	}
	return out;
}

/* Where this process is: the same for all of one boot and namespace. */
static void here(struct holder *out)
{
	struct stat st;

	*out = (struct holder){ 0 };
	read_text("/proc/sys/kernel/random/boot_id", out->boot,
		  sizeof(out->boot));
	out->boot[strcspn(out->boot, "\n ")] = 0;
	if (stat("/proc/self/ns/pid", &st) == 0)
		out->pid_namespace = st.st_ino;
}

void holder_self(struct holder *out)
{
	static atomic_uint_fast64_t calls;
	struct timespec now;

	here(out);
	out->pid = getpid();
	out->start = look_at(out->pid).start;
	if (getrandom(&out->nonce, sizeof(out->nonce), GRND_NONBLOCK) ==
	    sizeof(out->nonce))
		return;
	clock_gettime(CLOCK_REALTIME, &now);
	out->nonce = ((uint64_t)now.tv_sec << 30 ^ (uint64_t)now.tv_nsec) +
		     ((uint64_t)out->pid << 40) + atomic_fetch_add(&calls, 1);
}

/* "-" stands for a boot that is not known, so that there are five words. */
void holder_format(const struct holder *h, char *text)
{
	snprintf(text, HOLDER_TEXT_SIZE,
		 "%s %" PRIu64 " %d %" PRIu64 " %016" PRIx64,
		 h->boot[0] ? h->boot : "-", h->pid_namespace, (int)h->pid,
		 h->start, h->nonce);
}

bool holder_parse(const char *text, struct holder *out)
{
	struct holder h = { 0 };
	int pid, end = 0;

	*out = h;
	if (sscanf(text, "%36s %" SCNu64 " %d %" SCNu64 " %" SCNx64 "%n",
		   h.boot, &h.pid_namespace, &pid, &h.start, &h.nonce,
		   &end) != 5 ||
	    pid <= 0 || (text[end] && !isspace((unsigned char)text[end])))
		return false;
	if (strcmp(h.boot, "-") == 0)
		h.boot[0] = 0;
	h.pid = pid;
	*out = h;
	return true;
}

bool holder_is_here(const struct holder *h)
{
	struct holder me;

	here(&me);
	return me.boot[0] && strcmp(h->boot, me.boot) == 0 &&
	       me.pid_namespace > 0 && h->pid_namespace == me.pid_namespace;
}

/* A process whose first thread has ended looks like a zombie while the others
 * go on, but for their number. */
bool holder_is_dead(const struct holder *h)
{
	struct proc_stat now;

	if (h->pid <= 0 || !holder_is_here(h))
		return false;
	if (kill(h->pid, 0) < 0 && errno == ESRCH)
		return true;
	now = look_at(h->pid);
	if (now.state == 'Z' && now.threads <= 1)
		return true;
	return now.start > 0 && h->start > 0 && now.start != h->start;
}
