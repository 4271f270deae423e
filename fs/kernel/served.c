#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

#include "fs/kernel/answer.h"
#include "fs/kernel/served.h"
#include "store/base/place/place.h"

/* How long to wait, for a daemon that does not know yet that its mount has gone
 * and for others; when to say so, and how often to look. */
#define UNAWARE_MAX_MS 2000
#define WAIT_MAX_MS 10000
#define SAY_AFTER_MS 1000
#define POLL_MS 5

/* How long a daemon may take to say that it lives. */
#define ANSWER_MAX_MS 60000
/* Of a store that is no directory, whose daemon loses it when it is stopped. */
#define ANSWER_ELSEWHERE_MS 1000

/* Of .tabletfs/stats, which is shorter. */
#define STATS_SIZE_MAX 4096

void served_release(struct served *served)
{
	if (served->root >= 0)
		close(served->root);
	buf_release(&served->place);
	buf_release(&served->holder);
	served->root = -1;
}

/* The number behind name at the beginning of a line of text; 0: there is none.
 */
static unsigned long long number_of(const char *text, const char *name)
{
	const char *at = strstr(text, name);

	while (at && at > text && at[-1] != '\n')
		at = strstr(at + 1, name);
	return at ? strtoull(at + strlen(name), NULL, 10) : 0;
}

/* Reads what the mount whose root is open tells of itself into text, of
 * STATS_SIZE_MAX bytes and a NUL: 1, 0 if it is none, or an error. */
static int read_stats(int root, char *text)
{
	struct statfs kind;
	ssize_t n;
	int fd;

	/* A directory of others, where a mount was, could say anything. */
	if (fstatfs(root, &kind) < 0 || kind.f_type != FUSE_SUPER_MAGIC)
		return 0;
	fd = openat(root, ".tabletfs/stats", O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	if (fd < 0)
		return errno == EACCES ? -EACCES : 0;
	n = read(fd, text, STATS_SIZE_MAX);
	close(fd);
	text[n > 0 ? n : 0] = '\0';
	return 1;
}

/* Whether the mount whose root is open serves this store: 1, 0 or an error. */
static int serves(int root, const struct volume_mark *mark)
{
	char text[STATS_SIZE_MAX + 1];
	int err = read_stats(root, text);

	return err <= 0 ? err
			: number_of(text, SERVED_DEVICE) == mark->place &&
				  number_of(text, SERVED_INODE) == mark->holder;
}

int served_pid(const char *place)
{
	int root = open(place, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	char text[STATS_SIZE_MAX + 1];
	int pid = 0;

	if (root < 0)
		return 0;
	if (read_stats(root, text) > 0)
		pid = (int)number_of(text, SERVED_PID);
	close(root);
	return pid;
}

void served_address(int directory, struct sockaddr_un *out)
{
	memset(out, 0, sizeof(*out));
	out->sun_family = AF_UNIX;
	snprintf(out->sun_path, sizeof(out->sun_path),
		 "/proc/self/fd/%d/" SERVED_SOCKET, directory);
}

int served_connect(const char *directory)
{
	int at = open(directory, O_PATH | O_DIRECTORY | O_CLOEXEC), err = 0;
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	struct sockaddr_un a;

	if (at < 0 || fd < 0)
		err = -errno;
	served_address(at, &a);
	if (!err && connect(fd, (struct sockaddr *)&a, sizeof(a)) < 0)
		err = -errno;
	if (at >= 0)
		close(at);
	if (err && fd >= 0)
		close(fd);
	return err ? err : fd;
}

/* Of a server that takes commands by its socket: as find. */
static int find_socket(const char *directory, struct served *served)
{
	int fd = served_connect(directory), err;

	/* It begins or ends just now. */
	if (fd == -ECONNREFUSED || fd == -ENOENT)
		return 0;
	if (fd < 0)
		return fail(-fd, "%s/" SERVED_SOCKET ", where %s", directory,
			    (char *)served->holder.data);
	close(fd);
	err = buf_printf(&served->place, "%s/" SERVED_SOCKET, directory);
	if (!err)
		err = buf_terminate(&served->place);
	return err ? err : 1;
}

/* Whether a store is in no directory. */
static bool is_elsewhere(const char *where)
{
	const struct volume_kind *kind;
	const char *place;

	return volume_place(where, &kind, &place) > 0;
}

/* Waits for the daemon that the holder's line names: 1 once it has answered, 0
 * if its store will be free without it, or an error. */
static int await_answer(const char *directory,
			const struct answer_teller *teller,
			struct served *served)
{
	bool elsewhere = is_elsewhere(directory);
	int ms = elsewhere ? ANSWER_ELSEWHERE_MS : ANSWER_MAX_MS;

	if (answer_at((char *)served->place.data, ms,
		      (char *)served->holder.data, teller) != -ETIMEDOUT)
		return 1;
	if (elsewhere) {
		buf_reset(&served->place);
		return 0;
	}
	return fail(ERR_store_in_use,
		    "%s: in use by %s, which has not answered for %d "
		    "s; if it is stopped, kill -CONT makes it go on, "
		    "else kill -KILL ends it, and what it took stays",
		    directory, (char *)served->holder.data,
		    ANSWER_MAX_MS / 1000);
}

/* Sets served to who has the store, and where: 1 if it is mounted there, 0 if
 * not, -ENOENT if nobody has it any more, or an error. */
static int find(const char *directory, const struct answer_teller *teller,
		struct served *served)
{
	struct volume_mark mark;
	const char *at;
	bool here;
	int err = volume_holder(directory, &served->holder, &here);

	if (err >= 0)
		err = buf_terminate(&served->holder);
	if (!err)
		err = volume_marked(directory, &mark);
	if (err)
		return err;
	buf_reset(&served->place);
	/* Of another container, too: a path that means nothing here leads to
	 * no mount that says it serves this store. */
	at = strstr((char *)served->holder.data, SERVED_AT);
	if (!at && strstr((char *)served->holder.data, SERVED_BY_SOCKET))
		return find_socket(directory, served);
	if (!at)
		return 0;
	err = buf_set(&served->place, bytes_string(at + strlen(SERVED_AT)));
	if (!err)
		err = buf_terminate(&served->place);
	if (err)
		return err;
	err = await_answer(directory, teller, served);
	if (err <= 0)
		return err;
	err = 0;
	served->root = open((char *)served->place.data,
			    O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (served->root >= 0)
		err = serves(served->root, &mark);
	else if (errno == EACCES)
		err = -EACCES;
	if (err == -EACCES)
		err = fail(
			EACCES,
			"in use by %s, where only the user who mounted it may "
			"look",
			(char *)served->holder.data);
	return err;
}

int served_find(const char *directory, const struct answer_teller *teller,
		struct served *served)
{
	int err;

	*served = (struct served){ .directory = directory, .root = -1 };
	err = find(directory, teller, served);
	if (err != 1)
		served_release(served);
	return err;
}

int served_at(const char *directory, const char *place, struct served *served)
{
	char text[STATS_SIZE_MAX + 1];
	int err;

	*served = (struct served){ .directory = directory, .root = -1 };
	err = answer_at(place, ANSWER_MAX_MS, place, NULL);
	if (err < 0)
		return err;
	served->root = open(place, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (served->root < 0)
		return fail(errno, "%s", place);
	err = read_stats(served->root, text);
	served->follows = err > 0 && strstr(text, "\nfollow_sequence ");
	served->pid = err > 0 ? (int)number_of(text, SERVED_PID) : 0;
	if (served->pid > 0) {
		err = buf_add_string(&served->place, place);
		if (!err)
			err = buf_terminate(&served->place);
		if (!err)
			return 1;
	}
	served_release(served);
	return err < 0 ? err : 0;
}

bool served_is_of(const struct served *served, const char *directory)
{
	struct volume_mark mark;

	return volume_marked(directory, &mark) == 0 &&
	       serves(served->root, &mark) == 1;
}

/* Milliseconds of a clock that nobody sets. */
static int64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

int served_open(const char *directory, const struct store_options *o,
		struct store **out, struct served *served)
{
	const struct timespec pause = { 0, POLL_MS * 1000000L };
	int64_t start = now_ms(), past;
	bool has_said = false;
	int err;

	*served = (struct served){ .directory = directory, .root = -1 };
	do {
		err = store_open_kept(directory, o, out);
		if (err != -ERR_store_in_use)
			break;
		served_release(served);
		err = find(directory, NULL, served);
		if (err == 1 || (err < 0 && err != -ENOENT))
			break;
		past = now_ms() - start;
		if (err == 0 && past >= SAY_AFTER_MS && !has_said) {
			fprintf(stderr,
				"tabletfs: waiting for the end of %s, which "
				"has store %s\n",
				(char *)served->holder.data, directory);
			has_said = true;
		}
		nanosleep(&pause, NULL);
		err = fail(ERR_store_in_use,
			   "%s: in use by %s%s; end that process first%s%s%s",
			   directory,
			   served->holder.size ? (char *)served->holder.data
					       : "another",
			   served->place.size ? ", where it is not to be found"
					      : "",
			   is_elsewhere(directory) ? "" : ", which fuser ",
			   is_elsewhere(directory) ? "" : directory,
			   is_elsewhere(directory) ? "" : "/lock names");
	} while (past < (served->place.size ? UNAWARE_MAX_MS : WAIT_MAX_MS));
	if (err != 1)
		served_release(served);
	return err;
}
