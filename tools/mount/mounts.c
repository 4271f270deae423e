#include <assert.h>
#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "fs/kernel/served.h"
#include "store/base/place/place.h"
#include "tools/mount/mount_table.h"
#include "tools/mount/mounts.h"

/*
 * The mounts that this process sees, by the kernel's table, and for each what
 * the lock of its store says of the daemon.
 *
 * A mount whose daemon is stopped or hangs never answers, and a store may lie
 * on a disk that does the same. So a child process asks, and who waits for it
 * waits for ANSWER_MAX_MS only.
 */
#define ANSWER_MAX_MS 2000

/* What is known of a mount; goes through a pipe, so it holds no pointers. */
struct answer {
	int pid;         /* 0: why is in note */
	time_t since;    /* of pid */
	char note[1500]; /* for people */
};

static_assert(sizeof(struct answer) <= PIPE_BUF, "is written at once");

/* Whether m, or a mount of which it is a bind mount, is at the place that a
 * line in a lock file names. Such a line ends before a newline in the name. */
static bool is_at(const struct mount_list *list, const struct mount_entry *m,
		  const char *place)
{
	size_t n = strlen(place), i;

	for (i = 0; i < list->count; i++) {
		const struct mount_entry *other = &list->entries[i];

		if (!strcmp(other->device, m->device) &&
		    !strncmp(other->place, place, n) &&
		    (!other->place[n] || other->place[n] == '\n'))
			return true;
	}
	return false;
}

/* Milliseconds of a clock. */
static int64_t now_ms(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* When a process began, to the second; false if there is none of this pid. The
 * kernel counts its ticks from boot, CLOCK_BOOTTIME. */
static bool start_time(int pid, time_t *out)
{
	enum { NAME = 2, START = 22 }; /* fields of its stat, from 1 */
	char path[64], text[2048], *field;
	int64_t ticks;
	FILE *f;
	int i;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	f = fopen(path, "re");
	if (!f)
		return false;
	text[fread(text, 1, sizeof(text) - 1, f)] = '\0';
	fclose(f);
	/* The name is in parentheses and may hold any byte. */
	field = strrchr(text, ')');
	for (i = NAME; field && i < START; i++)
		field = strchr(field + 1, ' ');
	if (!field)
		return false;
	ticks = strtoll(field, NULL, 10);
	*out = (now_ms(CLOCK_REALTIME) - now_ms(CLOCK_BOOTTIME) +
		ticks * 1000 / sysconf(_SC_CLK_TCK)) /
	       1000;
	return true;
}

/* Whether a process has the lock file of a store open, as its holder must. A
 * pid that another pid namespace gave may be that of any process here. */
static bool holds(int pid, const char *store)
{
	char fds[64], *path = NULL;
	struct stat lock, st;
	struct dirent *entry;
	bool found = false;
	DIR *d;

	if (asprintf(&path, "%s/lock", store) < 0)
		path = NULL;
	snprintf(fds, sizeof(fds), "/proc/%d/fd", pid);
	d = opendir(fds);
	if (d && path && stat(path, &lock) == 0)
		while (!found && (entry = readdir(d)))
			found = !fstatat(dirfd(d), entry->d_name, &st, 0) &&
				st.st_dev == lock.st_dev &&
				st.st_ino == lock.st_ino;
	free(path);
	if (d)
		closedir(d);
	return found;
}

/* Asks the mount itself, which is what may take forever. The kernel lets in
 * only who mounted it, not even root: a child of root becomes that user. */
static bool is_dead(const struct mount_entry *m)
{
	struct statx st;

	if (geteuid() == 0 && m->uid != 0 &&
	    (setresgid(m->gid, m->gid, m->gid) ||
	     setresuid(m->uid, m->uid, m->uid)))
		return false;
	return statx(AT_FDCWD, m->place, AT_STATX_FORCE_SYNC | AT_NO_AUTOMOUNT,
		     STATX_TYPE, &st) < 0 &&
	       errno == ENOTCONN;
}

/* Sets the note, cut where it would be too long. */
__attribute__((format(printf, 2, 3))) static void note(struct answer *a,
						       const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	vsnprintf(a->note, sizeof(a->note), fmt, args);
	va_end(args);
}

/* The daemon of a mount that follows what is at its store's path by now, as it
 * says itself: no file of the store tells of it. 0 if it is none. */
static int follower_pid(const struct mount_entry *m)
{
	struct served served;
	int pid = 0;

	if (served_at(m->store, m->place, &served) != 1)
		return 0;
	if (served.follows && served_is_of(&served, m->store))
		pid = served_pid(m->place);
	served_release(&served);
	return pid;
}

/* The daemon of a mount that is in no line, with m's store; 0 if there is
 * none. got: as of volume_holder. */
static int reader_pid(const struct mount_entry *m, int got)
{
	int pid = got == 1 ? served_pid(m->place) : 0;

	return pid > 0 && holds(pid, m->store) ? pid : follower_pid(m);
}

/*
 * In the child. A line "pid N, mounted at PLACE", which is what
 * fs/kernel/mount.c writes, is about m only if the two agree on the place: a
 * daemon that died leaves a mount behind, while its store may be mounted again
 * elsewhere. A daemon that only reads or follows leaves no line, so it is asked
 * itself.
 */
static void ask(const struct mount_list *list, const struct mount_entry *m,
		struct answer *a)
{
	struct buf line = BUF_INIT;
	bool here;
	int got = volume_holder(m->store, &line, &here), pid, at = 0;
	int err = got < 0 ? got : buf_terminate(&line);
	char text[8192]; /* a path is 4,096 at most */

	/* What is asked next may fail, too, and what that says is not it. */
	snprintf(text, sizeof(text), "%s",
		 err ? verb_error_text(err) : (char *)line.data);
	buf_release(&line);
	if (!err && here &&
	    sscanf(text, "pid %d, mounted at %n", &pid, &at) == 1 && at > 0 &&
	    is_at(list, m, text + at) && holds(pid, m->store) &&
	    start_time(pid, &a->since))
		a->pid = pid;
	else if (is_dead(m))
		note(a, "its daemon is gone; fusermount3 -u '%s' removes it",
		     m->place);
	else if ((pid = reader_pid(m, got)) > 0 && start_time(pid, &a->since))
		a->pid = pid;
	else if (err < 0 && (pid = served_pid(m->place)) > 0)
		note(a, "%s; pid %d still serves it here", text, pid);
	else if (err < 0)
		note(a, "%s%s", text, err == -EACCES ? "; ask as root" : "");
	else
		note(a, "its store is in use by %s", text);
}

/* In the child: keeps no file of the parent's open, since whoever reads the
 * other end of one would wait for this process, too. */
static void answer(const struct mount_list *list, const struct mount_entry *m,
		   struct answer *a, int out)
{
	dup2(out, 0);
	close_range(1, ~0U, 0);
	ask(list, m, a);
	(void)!write(0, a, sizeof(*a));
	_exit(0);
}

/* Asks a child process and fills a, within ANSWER_MAX_MS. A child that hangs in
 * the kernel may outlive its SIGKILL, so nobody waits for its end; what is left
 * of it is init's when this process ends. */
static void ask_in_time(const struct mount_list *list,
			const struct mount_entry *m, struct answer *a)
{
	struct pollfd in = { .events = POLLIN };
	struct answer got;
	int ends[2], n;
	pid_t pid;

	assert(m->store);
	memset(a, 0, sizeof(*a));
	note(a, "no answer within %d ms; its daemon or its store's disk hangs",
	     ANSWER_MAX_MS);
	if (pipe2(ends, O_CLOEXEC) < 0) {
		note(a, "pipe: %s", strerror(errno));
		return;
	}
	pid = fork();
	if (pid == 0)
		answer(list, m, a, ends[1]);
	if (pid < 0)
		note(a, "fork: %s", strerror(errno));
	close(ends[1]);
	in.fd = ends[0];
	do {
		n = poll(&in, 1, ANSWER_MAX_MS);
	} while (n < 0 && errno == EINTR);
	if (n > 0 && read(ends[0], &got, sizeof(got)) == sizeof(got))
		*a = got;
	close(ends[0]);
	if (pid > 0) {
		kill(pid, SIGKILL);
		waitpid(pid, NULL, WNOHANG);
	}
}

/* Bytes below from, and what a terminal or a reader of columns would take for
 * something else, as \ooo. */
static void print_escaped(const char *text, int from, FILE *out)
{
	for (; *text; text++) {
		unsigned char byte = (unsigned char)*text;

		if (byte < from || byte == 0x7f || byte == '\\')
			fprintf(out, "\\%03o", byte);
		else
			fputc(byte, out);
	}
}

/* "2026-01-05T10:11:12+01:00" */
static void print_time(time_t t, FILE *out)
{
	char text[64];
	struct tm parts;
	size_t n;

	localtime_r(&t, &parts);
	n = strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%S%z", &parts);
	assert(n > 2);
	fprintf(out, "%.*s:%s", (int)n - 2, text, text + n - 2);
}

/* A line of what verb_mounts prints. */
static void print_mount(const struct mount_entry *m, const struct answer *a,
			FILE *out)
{
	print_escaped(m->store, ' ' + 1, out);
	fputc('\t', out);
	print_escaped(m->place, ' ' + 1, out);
	if (a->pid) {
		fprintf(out, "\t%d\t", a->pid);
		print_time(a->since, out);
	} else {
		fputs("\t-\t-\t", out);
		print_escaped(a->note, ' ', out);
	}
	fputc('\n', out);
}

int verb_mounts(struct verb_call *c)
{
	struct mount_list list;
	struct answer a;
	size_t i;
	int err;

	if (c->argc != 1)
		return verb_usage(c);
	err = mount_list_read(&list);
	for (i = 0; i < list.count && !err; i++) {
		if (!list.entries[i].store)
			continue;
		ask_in_time(&list, &list.entries[i], &a);
		print_mount(&list.entries[i], &a, c->out);
	}
	mount_list_release(&list);
	if (err)
		verb_wrong(c, "%s%s", verb_error_text(err),
			   err == -ENOENT ? "; mount /proc first" : "");
	return err ? 1 : 0;
}
