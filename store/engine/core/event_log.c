#include <assert.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "store/base/err.h"
#include "store/engine/core/event_log.h"

/* Bytes of lines that wait at most. */
#define PENDING_SIZE ((size_t)32 << 10)
/* Of one as it is formatted, and with all of it escaped, its level, a time,
 * quotes and a newline. */
#define LINE_SIZE 1000
#define LINE_ROOM (4 * LINE_SIZE + 64)
static_assert(PENDING_SIZE / 2 > 2 * LINE_ROOM, "half of it takes two lines");

/* Bytes of LOG: a 256th of the disk, within these. */
#define FILE_MIN (UINT64_C(64) << 10)
#define FILE_MAX (UINT64_C(4) << 20)
#define FILE_SHARE 256

int event_log_init(struct event_log *l, struct volume *v,
		   const struct clock *clock, bool on, int copy_fd)
{
	int err;

	l->volume = v;
	l->clock = clock;
	l->on = on;
	l->copy_fd = copy_fd;
	atomic_init(&l->level, EVENTS_MAIN);
	atomic_init(&l->slow_us, STORE_SLOW_US);
	pthread_mutex_init(&l->lock, NULL);
	pthread_mutex_init(&l->writing, NULL);
	if (!on)
		return 0;
	err = buf_reserve(&l->out, PENDING_SIZE);
	return err < 0 ? err : buf_reserve(&l->pending, PENDING_SIZE);
}

void event_log_release(struct event_log *l)
{
	buf_release(&l->pending);
	buf_release(&l->out);
	pthread_mutex_destroy(&l->lock);
	pthread_mutex_destroy(&l->writing);
}

/* Where the value begins that may have blanks, or the end. */
static const char *last_value(const char *text)
{
	const char *why = strstr(text, " why="), *by = strstr(text, " by=");

	if (why)
		return why + 5;
	return by ? by + 4 : text + strlen(text);
}

/* None of these asks for memory. */
static void add_quoted(struct buf *b, const char *text)
{
	buf_add_byte(b, '"');
	for (; *text; text++) {
		if (*text == '"' || *text == '\\')
			buf_add_byte(b, '\\');
		buf_add_visible(b, bytes_of(text, 1));
	}
	buf_add_byte(b, '"');
}

/* Appends a line with the present time. There is room. Needs lock. */
static void add_line(struct event_log *l, enum event_level level,
		     const char *text)
{
	const char *last = last_value(text);
	char time[CLOCK_TEXT_SIZE];

	clock_print(clock_now(l->clock), time, sizeof(time));
	buf_add_byte(&l->pending, (uint8_t)level);
	buf_add_string(&l->pending, time);
	buf_add_byte(&l->pending, ' ');
	buf_add_visible(&l->pending, bytes_of(text, (size_t)(last - text)));
	if (*last)
		add_quoted(&l->pending, last);
	buf_add_byte(&l->pending, '\n');
}

void event_add(struct event_log *l, enum event_level level, const char *fmt,
	       ...)
{
	char text[LINE_SIZE + 1], lost[64];
	bool due = level == EVENTS_ERRORS;
	va_list args;

	assert(level > EVENTS_OFF);
	if (!l->on || level > atomic_load(&l->level))
		return;
	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	pthread_mutex_lock(&l->lock);
	if (l->pending.capacity - l->pending.size < 2 * LINE_ROOM) {
		l->lost++;
	} else {
		if (l->lost > 0) {
			snprintf(lost, sizeof(lost), "lost lines=%llu",
				 (unsigned long long)l->lost);
			add_line(l, EVENTS_ERRORS, lost);
			l->lost = 0;
		}
		add_line(l, level, text);
	}
	due |= l->pending.size > PENDING_SIZE / 2;
	pthread_mutex_unlock(&l->lock);
	if (due && l->wake)
		l->wake(l->wake_context);
}

/* Takes what waits to out. Needs writing. */
static void take_pending(struct event_log *l)
{
	struct buf pending;

	pthread_mutex_lock(&l->lock);
	pending = l->pending;
	l->pending = l->out;
	l->out = pending;
	pthread_mutex_unlock(&l->lock);
}

/* Needs writing. */
static uint64_t file_size_max(struct event_log *l)
{
	struct volume_space space;

	if (l->size_max > 0)
		return l->size_max;
	if (l->volume->ops->space(l->volume, &space) < 0)
		return FILE_MIN;
	l->size_max = space.total_size / FILE_SHARE;
	if (l->size_max < FILE_MIN)
		l->size_max = FILE_MIN;
	if (l->size_max > FILE_MAX)
		l->size_max = FILE_MAX;
	return l->size_max;
}

/* Counts the lines of out as lost. Needs writing. */
static void lose(struct event_log *l)
{
	uint64_t count = 0;
	size_t i;

	for (i = 0; i < l->out.size; i++)
		count += l->out.data[i] == '\n';
	pthread_mutex_lock(&l->lock);
	l->lost += count;
	pthread_mutex_unlock(&l->lock);
}

/* A line with the mark by which systemd's journal knows how grave it is, see
 * sd-daemon(3). A pipe that is ready takes what is no longer than PIPE_BUF. */
static void copy_line(int fd, enum event_level level, struct bytes line)
{
	static const char *const marks[] = {
		[EVENTS_ERRORS] = "<3>",
		[EVENTS_MAIN] = "<6>",
		[EVENTS_ALL] = "<7>",
	};
	struct pollfd ready = { .fd = fd, .events = POLLOUT };
	char text[LINE_ROOM + 4];
	int size = snprintf(text, sizeof(text), "%s%.*s", marks[level],
			    (int)line.size, (const char *)line.data);

	if (poll(&ready, 1, 0) == 1 && ready.revents == POLLOUT)
		(void)!write(fd, text, (size_t)size);
}

/* Takes the levels out of out, and copies its lines. Needs writing. */
static void take_levels(struct event_log *l)
{
	struct bytes rest = buf_bytes(&l->out), line;
	uint8_t *to = l->out.data;
	enum event_level level;

	while (rest.size > 0) {
		level = rest.data[0];
		rest = bytes_after(rest, 1);
		line = rest;
		line.size = (size_t)((const uint8_t *)memchr(rest.data, '\n',
							     rest.size) +
				     1 - rest.data);
		if (l->copy_fd >= 0)
			copy_line(l->copy_fd, level, line);
		memmove(to, line.data, line.size);
		to += line.size;
		rest = bytes_after(rest, line.size);
	}
	l->out.size = (size_t)(to - l->out.data);
}

int event_log_check(struct event_log *l)
{
	int err = 0;

	pthread_mutex_lock(&l->writing);
	if (l->on)
		err = l->volume->ops->note(l->volume, BYTES_NONE,
					   file_size_max(l));
	pthread_mutex_unlock(&l->writing);
	return err;
}

int event_log_write(struct event_log *l)
{
	int err = 0;

	pthread_mutex_lock(&l->writing);
	assert(l->out.size == 0);
	take_pending(l);
	if (l->out.size > 0) {
		take_levels(l);
		err = l->volume->ops->note(l->volume, buf_bytes(&l->out),
					   file_size_max(l));
		if (err < 0)
			lose(l);
		buf_reset(&l->out);
	}
	pthread_mutex_unlock(&l->writing);
	return err;
}
