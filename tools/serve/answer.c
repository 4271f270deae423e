#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "tools/serve/answer.h"
#include "tools/serve/request.h"

#define HEADER(name, value, size)                             \
	((nghttp2_nv){ (uint8_t *)(name), (uint8_t *)(value), \
		       sizeof(name) - 1, (size), NGHTTP2_NV_FLAG_NONE })
#define HEADER_LITERAL(name, value) HEADER(name, value, sizeof(value) - 1)

#define HEAD_MAX 4
/* An answer that was cut off: how long the peer may take for the rest. */
#define CUT_MS 1000

/* The fields of the head; status_text is theirs. How many. */
static size_t make_head(const struct call *c, char status_text[4],
			nghttp2_nv *out)
{
	size_t n = 0;

	snprintf(status_text, 4, "%u", c->http_status % 1000);
	out[n++] = HEADER(":status", status_text, 3);
	out[n++] = HEADER_LITERAL("content-type", "application/grpc");
	out[n++] = HEADER_LITERAL("grpc-accept-encoding", "identity");
	if (c->http_status == 405)
		out[n++] = HEADER_LITERAL("allow", "POST");
	assert(n <= HEAD_MAX);
	return n;
}

/* The same of the trailers. The call has ended: nobody changes its text. */
static size_t make_trailers(const struct call *c, char status_text[4],
			    nghttp2_nv *out)
{
	size_t n = 0;

	snprintf(status_text, 4, "%u", (unsigned int)c->status % 1000);
	out[n++] = HEADER("grpc-status", status_text, strlen(status_text));
	if (c->text.size > 0)
		out[n++] = HEADER("grpc-message", c->text.data, c->text.size);
	return n;
}

/* What there is beside current. */
static void look(struct call *c, bool *queued, bool *ended)
{
	pthread_mutex_lock(&c->lock);
	*queued = c->first != NULL;
	*ended = c->ended;
	pthread_mutex_unlock(&c->lock);
}

static void resume_if_room(struct call *c)
{
	bool resume;

	pthread_mutex_lock(&c->lock);
	resume = c->complete && c->holder == HELD_BY_CONNECTION && !c->done &&
		 !c->is_short && c->queued <= c->resume_below;
	pthread_mutex_unlock(&c->lock);
	if (resume && !c->ready)
		call_run_later(c);
}

/* Copies what is left of the current message: how many bytes. */
static size_t copy_current(struct call *c, uint8_t *out, size_t room)
{
	struct message *m = c->current;
	struct bytes from = bytes_of(m->prefix, sizeof(m->prefix));

	if (c->sent < sizeof(m->prefix))
		from = bytes_after(from, c->sent);
	else
		from = bytes_after(buf_bytes(&m->bytes),
				   c->sent - sizeof(m->prefix));
	if (room > from.size)
		room = from.size;
	if (room > 0)
		memcpy(out, from.data, room);
	c->sent += room;
	if (c->sent == sizeof(m->prefix) + m->bytes.size) {
		c->current = NULL;
		call_message_free(c, m);
	}
	return room;
}

/* The end of an answer whose head went before. No window holds it up. */
static int send_trailers(nghttp2_session *session, struct call *c)
{
	char status_text[4];
	nghttp2_nv trailers[2];

	c->trailed = true;
	c->sending_ms = 0;
	return nghttp2_submit_trailer(session, c->stream, trailers,
				      make_trailers(c, status_text, trailers));
}

/* nghttp2 asks for what goes into the next frame. */
static ssize_t read_answer(nghttp2_session *session, int32_t stream,
			   uint8_t *out, size_t room, uint32_t *flags,
			   nghttp2_data_source *source, void *user)
{
	struct call *c = source->ptr;
	size_t size = 0, piece = c->sent / REQUEST_PIECE;
	bool queued, ended;

	(void)stream;
	(void)user;
	if (c->cut)
		return NGHTTP2_ERR_DEFERRED;
	while (size < room) {
		if (!c->current) {
			c->current = call_take_message(c);
			c->sent = piece = 0;
			if (!c->current)
				break;
			c->piece_ms = transport_ms();
		}
		size += copy_current(c, out + size, room - size);
	}
	if (size > 0) {
		c->sending_ms = transport_ms();
		if (c->sent / REQUEST_PIECE != piece)
			c->piece_ms = c->sending_ms;
		resume_if_room(c);
	}
	look(c, &queued, &ended);
	if (!queued && !c->current)
		c->sending_ms = 0;
	if (ended && !queued && !c->current) {
		*flags |=
			NGHTTP2_DATA_FLAG_EOF | NGHTTP2_DATA_FLAG_NO_END_STREAM;
		if (send_trailers(session, c) != 0)
			return NGHTTP2_ERR_CALLBACK_FAILURE;
	} else if (size == 0) {
		return NGHTTP2_ERR_DEFERRED;
	}
	return (ssize_t)size;
}

static int begin(nghttp2_session *session, struct call *c, bool queued)
{
	nghttp2_data_provider data = { { .ptr = c }, read_answer };
	char head_status[4], status[4];
	nghttp2_nv head[HEAD_MAX + 2];
	size_t n = make_head(c, head_status, head);

	if (!queued)
		n += make_trailers(c, status, head + n);
	c->trailed = !queued;
	c->answering = true;
	c->piece_ms = transport_ms();
	c->sending_ms = queued ? c->piece_ms : 0;
	return nghttp2_submit_response(session, c->stream, head, n,
				       queued ? &data : NULL);
}

int answer_attend(nghttp2_session *session, struct call *c)
{
	bool queued, ended;
	int err = 0;

	if (c->cut)
		return 0;
	look(c, &queued, &ended);
	if (!c->answering && (queued || ended)) {
		err = begin(session, c, queued);
	} else if (!c->trailed && (queued || ended)) {
		/* It is no error that it was not deferred. */
		err = nghttp2_session_resume_data(session, c->stream);
		if (err == 0)
			c->sending_ms = c->piece_ms = transport_ms();
		if (err == NGHTTP2_ERR_INVALID_ARGUMENT)
			err = 0;
	}
	resume_if_room(c);
	return err;
}

/* Between two messages the status goes out even if the peer takes none: then
 * nothing of what it has been sent is cut. */
int answer_abort(nghttp2_session *session, struct call *c,
		 enum call_status status, const char *text)
{
	c->complete = true;
	c->starved = false;
	call_cancel(c, status, text);
	if (!c->answering)
		return answer_attend(session, c);
	return c->trailed || c->current || c->cut ? 0
						  : send_trailers(session, c);
}

/* Not REFUSED_STREAM: by that a client is told that nothing was done, and may
 * do all again. Nor CANCEL: some take that for their own wish, and what they
 * have for all. The rest of the message is gone at once: a peer that reads
 * nothing takes no reset, either. */
int answer_reset(nghttp2_session *session, struct call *c)
{
	struct message *m = c->current;

	c->sending_ms = 0;
	c->cut = true;
	c->current = NULL;
	if (m)
		call_message_free(c, m);
	return nghttp2_submit_rst_stream(session, NGHTTP2_FLAG_NONE, c->stream,
					 NGHTTP2_INTERNAL_ERROR);
}

/* How long the peer has taken nothing of what there is. */
static uint64_t stalled_ms(const struct call *c, uint64_t now_ms)
{
	return c->sending_ms && now_ms > c->sending_ms ? now_ms - c->sending_ms
						       : 0;
}

int answer_cut(nghttp2_session *session, struct call *c, uint64_t now_ms)
{
	return stalled_ms(c, now_ms) < CUT_MS ? 0 : answer_reset(session, c);
}

int answer_end_greedy(nghttp2_session *session, struct call *c,
		      const char *text)
{
	atomic_store(&c->transport->token->wanted_ms, 0);
	return answer_abort(session, c, CALL_RESOURCE_EXHAUSTED, text);
}

/* Whether others wait for what the peer is too slow to take, or for what has
 * gone beyond the memory and it takes nothing of. */
static bool is_too_slow(struct call *c, uint64_t now_ms)
{
	const struct server_options *o = c->transport->options;
	uint64_t stalled = stalled_ms(c, now_ms);

	if (c->sending_ms && now_ms > c->piece_ms + o->piece_ms)
		return share_is_greedy(c);
	return stalled >= o->rest_ms && atomic_load(&c->large) &&
	       share_is_greedy(c);
}

/* Has the handler of a blocked call give back what others wait for, once. */
static void rest_handler(struct call *c)
{
	bool rest;

	pthread_mutex_lock(&c->lock);
	rest = c->holder == HELD_BY_CONNECTION && !c->done && c->complete &&
	       !c->is_short && c->queued > c->resume_below && c->route->rest &&
	       !c->rested;
	c->rest = rest;
	c->rested |= rest;
	pthread_mutex_unlock(&c->lock);
	if (rest)
		call_run_later(c);
}

/* A call that may be short of memory for its handler. While its peer still has
 * something to read, nobody else needs to have that. */
static int tick_short(nghttp2_session *session, struct call *c, uint64_t now_ms)
{
	if (!call_retry(c) || c->sending_ms)
		c->short_ms = 0;
	else if (!c->short_ms)
		c->short_ms = now_ms;
	else if (now_ms > c->short_ms + c->transport->options->request_ms)
		return answer_abort(session, c, CALL_RESOURCE_EXHAUSTED,
				    "There was no memory for this call.");
	return 0;
}

int answer_tick(nghttp2_session *session, struct call *c, uint64_t now_ms)
{
	const struct server_options *o = c->transport->options;
	uint64_t stalled = stalled_ms(c, now_ms);

	if (is_too_slow(c, now_ms))
		return answer_end_greedy(
			session, c,
			"Others waited for the memory of this answer, which "
			"was read too slowly.");
	if (stalled >= o->stall_ms)
		return answer_abort(session, c, CALL_UNAVAILABLE,
				    "The answer was not read for too long.");
	if (stalled >= o->rest_ms)
		rest_handler(c);
	return tick_short(session, c, now_ms);
}
