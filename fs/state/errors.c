#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "fs/state/errors.h"
#include "store/base/err.h"

void errors_init(struct errors *e)
{
	memset(e, 0, sizeof(*e));
	pthread_mutex_init(&e->lock, NULL);
}

void errors_release(struct errors *e)
{
	size_t i;

	for (i = 0; i < e->kept; i++)
		free(e->lines[i].text);
	pthread_mutex_destroy(&e->lock);
}

/* Appends "TIME PATH: ERROR: DETAIL", as one string. TIME is in UTC, with
 * microseconds, so that lines can be put beside timestamps and other logs. */
static int print_line(struct bytes path, int err, struct buf *line)
{
	const char *detail = err_detail();
	struct timespec now;
	struct tm tm;
	const char *what = err_text(err);
	char text[32];
	int failed;

	clock_gettime(CLOCK_REALTIME, &now);
	gmtime_r(&now.tv_sec, &tm);
	strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%S", &tm);
	failed = buf_printf(line, "%s.%06ldZ ", text, now.tv_nsec / 1000);
	/* Names and what a detail repeats of input may be any bytes. */
	if (!failed)
		failed = buf_add_visible(line, path);
	/* Some details, which cbt's users know, begin with what it is. */
	if (strncmp(detail, what, strlen(what)) == 0)
		what = "";
	if (!failed)
		failed = buf_printf(line, ": %s%s", what,
				    *what && *detail ? ": " : "");
	if (!failed)
		failed = buf_add_visible(line, bytes_string(detail));
	if (!failed)
		failed = buf_add_byte(line, '\n');
	return failed ? failed : buf_terminate(line);
}

/* Drops the oldest line: of uid, if half of all are that user's, so that
 * nobody's flood pushes out what others have to read; else of all. Needs lock.
 */
static void drop_one(struct errors *e, uid_t uid)
{
	size_t own = 0, oldest = 0, i;

	assert(e->kept > 0);
	for (i = e->kept; i-- > 0;)
		if (e->lines[i].uid == uid) {
			own++;
			oldest = i;
		}
	if (own < e->kept / 2)
		oldest = 0;
	free(e->lines[oldest].text);
	e->kept--;
	memmove(&e->lines[oldest], &e->lines[oldest + 1],
		(e->kept - oldest) * sizeof(e->lines[0]));
}

void errors_add(struct errors *e, struct bytes path, int err, uid_t uid)
{
	struct buf line = BUF_INIT;

	assert(err < 0);
	/* Made without the lock: who prints all lines holds it for a while. */
	if (print_line(path, err, &line)) {
		buf_release(&line);
		return;
	}
	pthread_mutex_lock(&e->lock);
	if (e->kept == ERRORS_MAX)
		drop_one(e, uid);
	e->lines[e->kept++] = (struct error_line){ (char *)line.data, uid };
	e->count++;
	pthread_mutex_unlock(&e->lock);
}

int errors_print(struct errors *e, bool all, uid_t uid, struct buf *out)
{
	size_t i;
	int err = 0;

	pthread_mutex_lock(&e->lock);
	for (i = 0; i < e->kept && !err; i++)
		if (all || e->lines[i].uid == uid)
			err = buf_add_string(out, e->lines[i].text);
	pthread_mutex_unlock(&e->lock);
	return err;
}

uint64_t errors_count(struct errors *e)
{
	uint64_t count;

	pthread_mutex_lock(&e->lock);
	count = e->count;
	pthread_mutex_unlock(&e->lock);
	return count;
}
