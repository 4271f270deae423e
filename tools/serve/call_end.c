#include <stdarg.h>
#include <stdio.h>

#include "store/base/err.h"
#include "tools/serve/call_state.h"

/* What a call ends with, and whether it may be told. */

bool call_may_tell(const struct call *c, bool wait)
{
	const struct server_options *o = c->transport->options;
	int err = o->answerable && !c->committed
			  ? o->answerable(c->transport->context, wait)
			  : 0;

	if (err == -EAGAIN)
		fail(EAGAIN, "It is not known whether the store is still this "
			     "server's.");
	return err == 0;
}

void call_committed(struct call *c)
{
	c->committed = true;
}

void call_set_end(struct call *c, enum call_status status, const char *text)
{
	c->ended = true;
	c->status = status;
	buf_reset(&c->text);
	/* Without memory for the text the status has to do. */
	if (text)
		(void)grpc_add_text(&c->text, bytes_string(text));
}

static bool has_ended(struct call *c)
{
	bool ended;

	pthread_mutex_lock(&c->lock);
	ended = c->ended;
	pthread_mutex_unlock(&c->lock);
	return ended;
}

void call_refuse(struct call *c, enum call_status status, const char *text)
{
	pthread_mutex_lock(&c->lock);
	if (!c->ended)
		call_set_end(c, status, text);
	pthread_mutex_unlock(&c->lock);
}

/* A handler that is stopped by the deadline does not know it from others. */
void call_end(struct call *c, enum call_status status, const char *text)
{
	if (has_ended(c))
		return;
	if (status == CALL_CANCELLED && call_is_late(c))
		call_refuse(c, CALL_DEADLINE_EXCEEDED, CALL_TOO_LATE);
	else if (status == CALL_CANCELLED || call_may_tell(c, !c->is_inline))
		call_refuse(c, status, text);
	else
		call_refuse(c, CALL_UNAVAILABLE, err_detail());
}

void call_fail(struct call *c, enum call_status status, const char *fmt, ...)
{
	char text[GRPC_TEXT_MAX + 1];
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	call_end(c, status, text);
}
