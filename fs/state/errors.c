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

	for (i = 0; i < ERRORS_MAX; i++)
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

void errors_add(struct errors *e, struct bytes path, int err, uid_t uid)
{
	struct buf line = BUF_INIT;
	struct error_line *at;

	assert(err < 0);
	/* Made without the lock: who prints all lines holds it for a while. */
	if (print_line(path, err, &line)) {
		buf_release(&line);
		return;
	}
	pthread_mutex_lock(&e->lock);
	at = &e->lines[e->count++ % ERRORS_MAX];
	/* The oldest line, if the ring is full. */
	free(at->text);
	*at = (struct error_line){ (char *)line.data, uid };
	pthread_mutex_unlock(&e->lock);
}

int errors_print(struct errors *e, bool all, uid_t uid, struct buf *out)
{
	const struct error_line *line;
	uint64_t i;
	int err = 0;

	pthread_mutex_lock(&e->lock);
	i = e->count > ERRORS_MAX ? e->count - ERRORS_MAX : 0;
	for (; i < e->count && !err; i++) {
		line = &e->lines[i % ERRORS_MAX];
		if (all || line->uid == uid)
			err = buf_add_string(out, line->text);
	}
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
