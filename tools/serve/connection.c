#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <nghttp2/nghttp2.h>

#include "tools/serve/answer.h"
#include "tools/serve/connection.h"
#include "tools/serve/request.h"

/* How much is put together for one send. */
#define OUTPUT_SIZE 65536
/* What a connection keeps for the next. */
#define OUTPUT_FREE 4096
/* What a peer may send of all streams before it is told that it was taken,
 * which it is at once. */
#define WINDOW (1 << 20)
/* HTTP/2's own types are less. */
#define FRAME_TYPES_KNOWN 10
/* How long the calls of one read may run in this thread. */
#define INLINE_US 2000
/* How often one that sends no more is asked whether it is there. */
#define PROBE_MS 500

/* Of a frame of HTTP/2 that is a ping. */
#define PING_SIZE 17

/* For how many times rest_ms a peer that took nothing counts as stalled: its
 * next calls may do the same. */
#define STALLED_RESTS 10

/* Allows a burst, and then so many a second. */
struct allowance {
	uint64_t left; /* in thousandths */
	uint64_t at_ms;
};

struct connection {
	nghttp2_session *session;
	struct transport *transport;
	void *owner;
	struct share *share;
	struct call *calls; /* whose streams are open */
	struct call *ready, *last_ready;
	struct buf out; /* sent up to */
	size_t sent;
	size_t counted; /* of out's capacity, in the account */
	struct allowance control, resets;
	uint64_t head_ms;    /* since when a head is incomplete; 0: none is */
	int32_t head_stream; /* its stream; 0: the connection's own */
	uint64_t alive_ms;   /* the last bytes that came, or were taken */
	uint64_t taken;      /* so many were then */
	uint64_t pinged_ms;  /* 0, or an answer is waited for */
	uint64_t stalled_ms; /* when it last was; 0: never */
	bool refused, going;
	bool deaf;          /* the peer sends no more, */
	uint64_t probed_ms; /* and had something to take then */
};

/* The call of a stream that is open, or NULL. */
static struct call *find(const struct connection *c, int32_t stream)
{
	return nghttp2_session_get_stream_user_data(c->session, stream);
}

/* What is put together for a peer that may not take it is memory, too. */
static void count_output(struct connection *c)
{
	struct memory *m = c->transport->options->memory;
	size_t now = c->out.capacity > OUTPUT_FREE ? c->out.capacity : 0;

	if (now > c->counted)
		memory_hold(m, MEMORY_WIRE, now - c->counted);
	else if (now < c->counted)
		memory_give(m, MEMORY_WIRE, c->counted - now);
	c->counted = now;
}

/* Whether there is one left. */
static bool spend(struct allowance *a, uint64_t burst, uint64_t rate,
		  uint64_t now_ms)
{
	a->left += (now_ms - a->at_ms) * rate;
	a->at_ms = now_ms;
	if (a->left > burst * 1000)
		a->left = burst * 1000;
	if (a->left < 1000)
		return false;
	a->left -= 1000;
	return true;
}

/* The peer does more of something than is allowed. */
static void too_much(struct connection *c, bool allowed)
{
	if (!allowed)
		(void)nghttp2_session_terminate_session(
			c->session, NGHTTP2_ENHANCE_YOUR_CALM);
}

static void spend_control(struct connection *c)
{
	const struct server_options *o = c->transport->options;

	too_much(c, spend(&c->control, o->control_burst, o->control_rate,
			  transport_ms()));
}

/* A call without stream: frees it, unless a handler has it, or will. Who handed
 * it back put it into the inbox before, and nobody else does after: it is
 * looked at again when it is taken out. */
static void settle(struct call *call)
{
	if (request_over(call) && !call->ready &&
	    !inbox_has(&call->transport->inbox, &call->note))
		call_free(call);
}

/* The call's stream has ended. */
static void detach(struct connection *c, struct call *call)
{
	if (call->previous)
		call->previous->next = call->next;
	else
		c->calls = call->next;
	if (call->next)
		call->next->previous = call->previous;
	call->connection = NULL;
	call_cancel(call, CALL_CANCELLED, NULL);
	settle(call);
}

static int begin_headers(nghttp2_session *session, const nghttp2_frame *frame,
			 void *user)
{
	struct connection *c = user;
	struct call *call;

	if (frame->hd.type != NGHTTP2_HEADERS ||
	    frame->headers.cat != NGHTTP2_HCAT_REQUEST)
		return 0;
	call = call_new(c->transport, c, c->share, frame->hd.stream_id);
	if (!call)
		return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
	call->next = c->calls;
	if (c->calls)
		c->calls->previous = call;
	c->calls = call;
	c->head_ms = transport_ms();
	c->head_stream = frame->hd.stream_id;
	return nghttp2_session_set_stream_user_data(session,
						    frame->hd.stream_id, call);
}

/* A head that nghttp2 refuses, as of one stream too many: there is no call. */
static int take_invalid(nghttp2_session *session, const nghttp2_frame *frame,
			int error, void *user)
{
	(void)session;
	(void)error;
	if (frame->hd.type == NGHTTP2_HEADERS)
		spend_control(user);
	return 0;
}

static int take_header(nghttp2_session *session, const nghttp2_frame *frame,
		       const uint8_t *name, size_t name_size,
		       const uint8_t *value, size_t value_size, uint8_t flags,
		       void *user)
{
	struct call *call = find(user, frame->hd.stream_id);

	(void)session;
	(void)flags;
	/* Trailers of a request mean nothing. */
	if (call && frame->headers.cat == NGHTTP2_HCAT_REQUEST)
		request_header(call, bytes_of(name, name_size),
			       bytes_of(value, value_size));
	return 0;
}

/* What has come may have made a call complete, which it was not before: it can
 * be run, or was refused. To one that is complete nothing more comes here. */
static void look_ready(struct connection *c, struct call *call)
{
	if (!call->complete)
		return;
	call->ready = true;
	call->next_ready = NULL;
	if (c->ready)
		c->last_ready->next_ready = call;
	else
		c->ready = call;
	c->last_ready = call;
}

static int take_frame(nghttp2_session *session, const nghttp2_frame *frame,
		      void *user)
{
	struct connection *c = user;
	struct call *call = find(c, frame->hd.stream_id);
	bool request = false;

	(void)session;
	switch (frame->hd.type) {
	case NGHTTP2_HEADERS:
		c->head_ms = 0;
		c->head_stream = 0;
		request = frame->headers.cat == NGHTTP2_HCAT_REQUEST;
		break;
	case NGHTTP2_SETTINGS:
		if (c->head_stream == 0)
			c->head_ms = 0;
		spend_control(c);
		break;
	case NGHTTP2_DATA:
		/* Padding, and the byte that says how much, is no data. */
		if (frame->hd.length <= frame->data.padlen &&
		    !(frame->hd.flags & NGHTTP2_FLAG_END_STREAM))
			spend_control(c);
		break;
	case NGHTTP2_PING:
	case NGHTTP2_WINDOW_UPDATE:
		return 0;
	default:
		spend_control(c);
		return 0;
	}
	if (!call || call->complete)
		return 0;
	if (request)
		request_head(call);
	if (frame->hd.flags & NGHTTP2_FLAG_END_STREAM)
		request_end(call);
	look_ready(c, call);
	return 0;
}

static int take_data(nghttp2_session *session, uint8_t flags, int32_t stream,
		     const uint8_t *data, size_t size, void *user)
{
	struct connection *c = user;
	struct call *call = find(c, stream);
	uint32_t window;

	(void)flags;
	if (nghttp2_session_consume_connection(session, size) != 0)
		return NGHTTP2_ERR_CALLBACK_FAILURE;
	if (!call || call->complete)
		return 0;
	call->received_ms = c->alive_ms;
	request_data(call, bytes_of(data, size));
	look_ready(c, call);
	window = request_window(call);
	return window && nghttp2_session_set_local_window_size(
				 session, NGHTTP2_FLAG_NONE, stream,
				 (int32_t)window) != 0
		       ? NGHTTP2_ERR_CALLBACK_FAILURE
		       : 0;
}

/* A stream that ends before its answer was given up, by whomever. */
static int close_stream(nghttp2_session *session, int32_t stream,
			uint32_t error, void *user)
{
	struct connection *c = user;
	struct call *call = find(c, stream);
	const struct server_options *o = c->transport->options;

	(void)session;
	if (c->head_stream == stream)
		c->head_ms = 0;
	if (error != NGHTTP2_NO_ERROR)
		too_much(c, spend(&c->resets, o->resets_burst, o->resets_rate,
				  transport_ms()));
	if (call)
		detach(c, call);
	return 0;
}

/* An answer may end before its request has: the rest is not wanted. */
static int sent_frame(nghttp2_session *session, const nghttp2_frame *frame,
		      void *user)
{
	(void)user;
	if (frame->hd.type == NGHTTP2_HEADERS &&
	    frame->hd.flags & NGHTTP2_FLAG_END_STREAM &&
	    !nghttp2_session_get_stream_remote_close(session,
						     frame->hd.stream_id))
		return nghttp2_submit_rst_stream(session, NGHTTP2_FLAG_NONE,
						 frame->hd.stream_id,
						 NGHTTP2_NO_ERROR);
	return 0;
}

/* Frames of types that nobody knows are passed over; take_frame counts them. */
static int pass_over(nghttp2_session *session, void **payload,
		     const nghttp2_frame_hd *head, void *user)
{
	(void)session;
	(void)head;
	(void)user;
	*payload = NULL;
	return 0;
}

static int open_session(struct connection *c)
{
	unsigned int type;
	nghttp2_session_callbacks *callbacks = NULL;
	nghttp2_option *option = NULL;
	int err = -ENOMEM;

	if (nghttp2_session_callbacks_new(&callbacks) != 0 ||
	    nghttp2_option_new(&option) != 0)
		goto free_callbacks;
	nghttp2_option_set_no_auto_window_update(option, 1);
	nghttp2_option_set_no_closed_streams(option, 1);
	/* Of what a read brings all is answered before the next. */
	nghttp2_option_set_max_outbound_ack(option, CONNECTION_READ_MAX / 9);
	/* Counted here. */
	nghttp2_option_set_stream_reset_rate_limit(option, UINT32_MAX,
						   UINT32_MAX);
	for (type = FRAME_TYPES_KNOWN; type <= UINT8_MAX; type++)
		nghttp2_option_set_user_recv_extension_type(option,
							    (uint8_t)type);
	nghttp2_session_callbacks_set_unpack_extension_callback(callbacks,
								pass_over);
	nghttp2_session_callbacks_set_on_invalid_frame_recv_callback(
		callbacks, take_invalid);
	nghttp2_session_callbacks_set_on_begin_headers_callback(callbacks,
								begin_headers);
	nghttp2_session_callbacks_set_on_header_callback(callbacks,
							 take_header);
	nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks,
							     take_frame);
	nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks,
								  take_data);
	nghttp2_session_callbacks_set_on_stream_close_callback(callbacks,
							       close_stream);
	nghttp2_session_callbacks_set_on_frame_send_callback(callbacks,
							     sent_frame);
	if (nghttp2_session_server_new2(&c->session, callbacks, c, option) == 0)
		err = 0;
free_callbacks:
	nghttp2_option_del(option);
	nghttp2_session_callbacks_del(callbacks);
	return err;
}

int connection_new(struct transport *t, void *owner, struct connection **out)
{
	const struct server_options *o = t->options;
	nghttp2_settings_entry settings[] = {
		{ NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, o->streams_max },
		{ NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, REQUEST_WINDOW },
		{ NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, REQUEST_METADATA_MAX }
	};
	struct connection *c = calloc(1, sizeof(*c));

	*out = NULL;
	if (!c)
		return -ENOMEM;
	c->transport = t;
	c->owner = owner;
	c->share = share_new();
	c->alive_ms = c->head_ms = transport_ms();
	c->control =
		(struct allowance){ o->control_burst * 1000ull, c->head_ms };
	c->resets = (struct allowance){ o->resets_burst * 1000ull, c->head_ms };
	if (!c->share || open_session(c) < 0 ||
	    nghttp2_submit_settings(c->session, NGHTTP2_FLAG_NONE, settings,
				    sizeof(settings) / sizeof(*settings)) ||
	    nghttp2_session_set_local_window_size(c->session, NGHTTP2_FLAG_NONE,
						  0, WINDOW)) {
		nghttp2_session_del(c->session);
		share_put(c->share);
		free(c);
		return -ENOMEM;
	}
	*out = c;
	return 0;
}

void connection_free(struct connection *c)
{
	struct call *call;

	/* Those in the list of ready ones are freed from there. */
	while (c->calls)
		detach(c, c->calls);
	while ((call = c->ready)) {
		c->ready = call->next_ready;
		call->ready = false;
		settle(call);
	}
	nghttp2_session_del(c->session);
	share_put(c->share);
	buf_release(&c->out);
	count_output(c);
	free(c);
}

void *connection_owner(const struct connection *c)
{
	return c->owner;
}

/* Draws what is to go wrong with a call, once: whether it waits now. */
static bool inject(struct connection *c, struct call *call)
{
	const struct server_options *o = c->transport->options;
	struct server_fault fault = { .status = CALL_OK };

	if (!o->inject || call->injected || call->done)
		return false;
	call->injected = true;
	o->inject(o->inject_context, call->route->path, &fault);
	if (fault.status != CALL_OK) {
		call->done = true;
		call_refuse(call, fault.status, "This fault was injected.");
	}
	if (fault.latency_ms > 0)
		call->due_ms = transport_ms() + fault.latency_ms;
	return fault.latency_ms > 0;
}

/* Runs, or gives to workers, what is complete; answers what was refused. */
static int run_ready(struct connection *c)
{
	uint64_t until_us = c->ready ? transport_us() + INLINE_US : 0;
	struct call *call;
	int err = 0;

	while (err == 0 && (call = c->ready)) {
		const struct route *r = call->route;

		c->ready = call->next_ready;
		call->ready = false;
		if (!call->connection) {
			settle(call);
			continue;
		}
		if (inject(c, call))
			continue;
		if (!call->done) {
			if (call->request.size <= r->inline_max &&
			    r->inline_max > 0 && transport_us() < until_us &&
			    call_may_tell(call, false))
				call_run_inline(call, until_us);
			else
				call_run_later(call);
		}
		err = answer_attend(c->session, call);
	}
	return err ? -EPROTO : 0;
}

int connection_receive(struct connection *c, struct bytes data)
{
	ssize_t n;

	if (c->refused)
		return 0;
	c->alive_ms = transport_ms();
	c->pinged_ms = 0;
	n = nghttp2_session_mem_recv(c->session, data.data, data.size);
	/* A head in more pieces than nghttp2 takes ends it, without a word. */
	if (n == NGHTTP2_ERR_TOO_MANY_CONTINUATIONS)
		return connection_refuse(c, NGHTTP2_ENHANCE_YOUR_CALM,
					 "a head in too many frames");
	if (n < 0)
		return -EPROTO;
	return run_ready(c);
}

bool connection_end_input(struct connection *c)
{
	struct call *call;
	int err = 0;

	c->deaf = true;
	for (call = c->calls; call && err == 0; call = call->next)
		if (!call->complete)
			err = answer_abort(
				c->session, call, CALL_UNAVAILABLE,
				"The rest of the request did not come.");
	return err == 0 && !c->refused && c->calls;
}

int connection_output(struct connection *c, struct bytes *out)
{
	const uint8_t *data;
	ssize_t n;

	if (c->sent == c->out.size)
		c->sent = c->out.size = 0;
	while (c->out.size - c->sent < OUTPUT_SIZE) {
		n = nghttp2_session_mem_send(c->session, &data);
		if (n < 0 || buf_add(&c->out, data, (size_t)n) < 0)
			return -EPROTO;
		if (n == 0)
			break;
	}
	if (c->out.size == 0 && c->counted > 0)
		buf_release(&c->out);
	count_output(c);
	*out = bytes_after(buf_bytes(&c->out), c->sent);
	return 0;
}

void connection_sent(struct connection *c, size_t size)
{
	assert(size <= c->out.size - c->sent);
	c->sent += size;
}

/* A slow reader may have megabytes before it that were sent before the ping. Of
 * a peer whose process stands still the kernel takes the ping, all the same. */
void connection_taken(struct connection *c, uint64_t taken)
{
	if (taken <= c->taken + (c->pinged_ms ? PING_SIZE : 0))
		return;
	c->taken = taken;
	c->alive_ms = transport_ms();
	c->pinged_ms = 0;
}

/* The request that a call waits for. */
static int tick_request(struct connection *c, struct call *call,
			uint64_t now_ms)
{
	uint32_t window;

	if (request_is_too_slow(call, now_ms))
		return answer_end_greedy(
			c->session, call,
			"Others waited for the memory that this "
			"request came too slowly to use.");
	if (call->starved && request_retry(call)) {
		call->received_ms = call->piece_ms = now_ms;
		look_ready(c, call);
		window = request_window(call);
		return nghttp2_session_set_local_window_size(
			c->session, NGHTTP2_FLAG_NONE, call->stream,
			(int32_t)window);
	}
	if (now_ms - call->received_ms < c->transport->options->request_ms)
		return 0;
	if (call->starved)
		return answer_abort(
			c->session, call, CALL_RESOURCE_EXHAUSTED,
			"There was no memory for a request of this size.");
	return answer_abort(c->session, call, CALL_UNAVAILABLE,
			    "The rest of the request did not come.");
}

static int tick_call(struct connection *c, struct call *call, uint64_t now_ms)
{
	(void)request_over(call);
	if (atomic_load(&call->cancelled))
		return answer_cut(c->session, call, now_ms);
	if (call->deadline_us && now_ms >= call->deadline_us / 1000)
		return answer_abort(c->session, call, CALL_DEADLINE_EXCEEDED,
				    "The deadline has passed.");
	if (!call->complete && call->stream != c->head_stream)
		return tick_request(c, call, now_ms);
	if (call->due_ms && now_ms >= call->due_ms) {
		call->due_ms = 0;
		look_ready(c, call);
	}
	return answer_tick(c->session, call, now_ms);
}

/* All calls end; cut: those within a message are not waited for. */
static int end_calls(struct connection *c, const char *text, bool cut)
{
	struct call *call;
	int err = 0;

	for (call = c->calls; call && err == 0; call = call->next) {
		err = answer_abort(c->session, call, CALL_UNAVAILABLE, text);
		if (err == 0 && cut && call->current)
			err = answer_reset(c->session, call);
	}
	return err;
}

/* The peer is told, for which it has until the next tick. */
static int end_late(struct connection *c, const char *why)
{
	if (c->refused)
		return -ETIMEDOUT;
	if (end_calls(c, why, true))
		return -EPROTO;
	return connection_refuse(c, NGHTTP2_NO_ERROR, why);
}

int connection_tick(struct connection *c, uint64_t now_ms)
{
	const struct server_options *o = c->transport->options;
	struct call *call;
	int err = 0;

	if (c->head_ms && now_ms > c->head_ms + o->handshake_ms)
		return end_late(c, "The rest of a head did not come.");
	if (c->pinged_ms && now_ms > c->pinged_ms + o->ping_ms)
		return end_late(c, "A ping was not answered.");
	if (!c->pinged_ms && now_ms > c->alive_ms + o->idle_ms) {
		c->pinged_ms = now_ms;
		err = nghttp2_submit_ping(c->session, NGHTTP2_FLAG_NONE, NULL);
	}
	/* It says next to nothing, and needs no answer. */
	if (err == 0 && c->deaf && now_ms > c->probed_ms + PROBE_MS) {
		c->probed_ms = now_ms;
		err = nghttp2_submit_window_update(c->session,
						   NGHTTP2_FLAG_NONE, 0, 1);
	}
	for (call = c->calls; call && err == 0; call = call->next) {
		if (call->sending_ms && now_ms > call->sending_ms + o->rest_ms)
			c->stalled_ms = now_ms;
		err = tick_call(c, call, now_ms);
	}
	atomic_store(&c->share->stalled,
		     c->stalled_ms &&
			     now_ms < c->stalled_ms +
					      STALLED_RESTS * o->rest_ms);
	/* Those that had to wait. */
	return err ? -EPROTO : run_ready(c);
}

bool connection_is_over(const struct connection *c)
{
	return (c->refused || ((c->going || c->deaf) && !c->calls) ||
		!nghttp2_session_want_read(c->session)) &&
	       !nghttp2_session_want_write(c->session) &&
	       c->sent == c->out.size;
}

int connection_refuse(struct connection *c, uint32_t code, const char *text)
{
	struct bytes data = bytes_string(text);

	c->refused = true;
	return nghttp2_submit_goaway(
		       c->session, NGHTTP2_FLAG_NONE,
		       nghttp2_session_get_last_proc_stream_id(c->session),
		       code, data.data, data.size)
		       ? -EPROTO
		       : 0;
}

int connection_stop(struct connection *c, enum connection_stop how)
{
	int err = 0;

	switch (how) {
	case STOP_NOTICE:
		err = nghttp2_submit_shutdown_notice(c->session);
		break;
	case STOP_GOAWAY:
		c->going = true;
		err = nghttp2_submit_goaway(
			c->session, NGHTTP2_FLAG_NONE,
			nghttp2_session_get_last_proc_stream_id(c->session),
			NGHTTP2_NO_ERROR, NULL, 0);
		break;
	case STOP_CALLS:
	case STOP_CUT:
		err = end_calls(c, "The server stops.", how == STOP_CUT);
		break;
	}
	return err ? -EPROTO : 0;
}

int connection_settle(struct call *call, struct connection **out)
{
	struct connection *c = call->connection;

	*out = c;
	if (!c) {
		settle(call);
		return 0;
	}
	return answer_attend(c->session, call) ? -EPROTO : 0;
}
