#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "tests/sim/grpc_client.h"
#include "tools/serve/grpc.h"

#define WAIT_S 120
#define HEADERS_MAX 8

static void must(bool condition)
{
	if (!condition)
		abort();
}

static void copy_text(char *out, size_t room, const uint8_t *data, size_t size)
{
	snprintf(out, room, "%.*s", (int)size, (const char *)data);
}

static int take_header(nghttp2_session *session, const nghttp2_frame *frame,
		       const uint8_t *name, size_t name_size,
		       const uint8_t *value, size_t value_size, uint8_t flags,
		       void *user)
{
	struct grpc_call *call = nghttp2_session_get_stream_user_data(
		session, frame->hd.stream_id);
	struct bytes key = bytes_of(name, name_size);
	char number[16];

	(void)flags;
	(void)user;
	if (!call)
		return 0;
	copy_text(number, sizeof(number), value, value_size);
	if (bytes_equal(key, BYTES_LITERAL(":status")))
		call->http_status = atoi(number);
	else if (bytes_equal(key, BYTES_LITERAL("grpc-status")))
		call->status = atoi(number);
	else if (bytes_equal(key, BYTES_LITERAL("grpc-message")))
		copy_text(call->text, sizeof(call->text), value, value_size);
	else if (bytes_equal(key, BYTES_LITERAL("grpc-accept-encoding")))
		copy_text(call->encoding, sizeof(call->encoding), value,
			  value_size);
	return 0;
}

static int take_data(nghttp2_session *session, uint8_t flags, int32_t stream,
		     const uint8_t *data, size_t size, void *user)
{
	struct grpc_call *call =
		nghttp2_session_get_stream_user_data(session, stream);
	struct grpc_client *c = user;
	uint32_t message;

	(void)flags;
	if (!c->stalled)
		must(nghttp2_session_consume(session, stream, size) == 0);
	if (!call)
		return 0;
	must(buf_add(&call->body, data, size) == 0);
	while (call->body.size >= call->parsed + GRPC_PREFIX_SIZE) {
		message = grpc_prefix_size(call->body.data + call->parsed);
		if (call->body.size - call->parsed - GRPC_PREFIX_SIZE < message)
			break;
		call->parsed += GRPC_PREFIX_SIZE + message;
		call->messages++;
	}
	return 0;
}

static int take_frame(nghttp2_session *session, const nghttp2_frame *frame,
		      void *user)
{
	struct grpc_client *c = user;

	(void)session;
	if (frame->hd.type == NGHTTP2_GOAWAY) {
		c->last = frame->goaway.last_stream_id;
		c->goaway = frame->goaway.error_code;
		copy_text(c->why, sizeof(c->why), frame->goaway.opaque_data,
			  frame->goaway.opaque_data_len);
	} else if (frame->hd.type == NGHTTP2_PING &&
		   frame->hd.flags & NGHTTP2_FLAG_ACK) {
		c->pongs++;
	}
	return 0;
}

static int close_stream(nghttp2_session *session, int32_t stream,
			uint32_t error, void *user)
{
	struct grpc_call *call =
		nghttp2_session_get_stream_user_data(session, stream);

	(void)user;
	if (call) {
		call->closed = true;
		call->error = error;
	}
	return 0;
}

/* The prefix, the message but what is cut, and then perhaps nothing. */
static ssize_t read_request(nghttp2_session *session, int32_t stream,
			    uint8_t *out, size_t room, uint32_t *flags,
			    nghttp2_data_source *source, void *user)
{
	struct grpc_call *call = source->ptr;
	uint8_t prefix[GRPC_PREFIX_SIZE];
	size_t size = sizeof(prefix) + call->message.size - call->cut, n = 0;

	(void)session;
	(void)stream;
	(void)user;
	grpc_prefix(prefix, (uint32_t)call->message.size);
	prefix[0] = call->compressed;
	for (; call->sent < sizeof(prefix) && call->sent < size && n < room;
	     n++)
		out[n] = prefix[call->sent++];
	if (call->sent >= sizeof(prefix) && call->sent < size && n < room) {
		size_t some = size - call->sent;

		if (some > room - n)
			some = room - n;
		memcpy(out + n,
		       call->message.data + call->sent - sizeof(prefix), some);
		call->sent += some;
		n += some;
	}
	if (call->sent < size)
		return (ssize_t)n;
	if (call->unfinished)
		return n ? (ssize_t)n : NGHTTP2_ERR_DEFERRED;
	*flags |= NGHTTP2_DATA_FLAG_EOF;
	return (ssize_t)n;
}

static int try_socket(const char *address)
{
	union {
		struct sockaddr any;
		struct sockaddr_in v4;
		struct sockaddr_un local;
	} a = { 0 };
	socklen_t size = sizeof(a.v4);
	int fd, one = 1;

	if (strncmp(address, "unix:", 5) == 0) {
		a.local.sun_family = AF_UNIX;
		strcpy(a.local.sun_path, address + 5);
		size = sizeof(a.local);
	} else {
		a.v4.sin_family = AF_INET;
		a.v4.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
		a.v4.sin_port =
			htons((uint16_t)atoi(strrchr(address, ':') + 1));
	}
	fd = socket(a.any.sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
	must(fd >= 0);
	if (connect(fd, &a.any, size) < 0) {
		close(fd);
		return -1;
	}
	/* On a unix socket it means nothing. */
	(void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	return fd;
}

int grpc_socket(const char *address)
{
	int fd = try_socket(address);

	must(fd >= 0);
	return fd;
}

void grpc_open(struct grpc_client *c, const char *address)
{
	must(grpc_try(c, address));
}

bool grpc_try(struct grpc_client *c, const char *address)
{
	nghttp2_session_callbacks *callbacks;
	nghttp2_option *option;

	memset(c, 0, sizeof(*c));
	c->last = -1;
	c->fd = try_socket(address);
	if (c->fd < 0)
		return false;
	must(fcntl(c->fd, F_SETFL, O_NONBLOCK) == 0);
	must(nghttp2_session_callbacks_new(&callbacks) == 0 &&
	     nghttp2_option_new(&option) == 0);
	nghttp2_option_set_no_auto_window_update(option, 1);
	nghttp2_session_callbacks_set_on_header_callback(callbacks,
							 take_header);
	nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks,
								  take_data);
	nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks,
							     take_frame);
	nghttp2_session_callbacks_set_on_stream_close_callback(callbacks,
							       close_stream);
	must(nghttp2_session_client_new2(&c->session, callbacks, c, option) ==
	     0);
	nghttp2_option_del(option);
	nghttp2_session_callbacks_del(callbacks);
	must(nghttp2_submit_settings(c->session, NGHTTP2_FLAG_NONE, NULL, 0) ==
	     0);
	return true;
}

void grpc_close(struct grpc_client *c)
{
	nghttp2_session_del(c->session);
	close(c->fd);
}

static void add_header(nghttp2_nv *headers, size_t *n, const char *name,
		       const char *value)
{
	headers[(*n)++] =
		(nghttp2_nv){ (uint8_t *)name, (uint8_t *)value, strlen(name),
			      strlen(value), NGHTTP2_NV_FLAG_NONE };
}

void grpc_start(struct grpc_client *c, struct grpc_call *call)
{
	nghttp2_data_provider data = { { .ptr = call }, read_request };
	nghttp2_nv headers[HEADERS_MAX];
	size_t n = 0;

	call->http_status = call->status = -1;
	add_header(headers, &n, ":method",
		   call->method ? call->method : "POST");
	add_header(headers, &n, ":scheme", "http");
	add_header(headers, &n, ":path", call->path);
	add_header(headers, &n, ":authority", "localhost");
	add_header(headers, &n, "content-type",
		   call->content_type ? call->content_type
				      : "application/grpc+proto");
	add_header(headers, &n, "te", "trailers");
	if (call->timeout)
		add_header(headers, &n, "grpc-timeout", call->timeout);
	if (call->name)
		add_header(headers, &n, call->name, call->value);
	call->stream = nghttp2_submit_request(c->session, NULL, headers, n,
					      &data, call);
	must(call->stream > 0);
}

void grpc_cancel(struct grpc_client *c, struct grpc_call *call)
{
	must(nghttp2_submit_rst_stream(c->session, NGHTTP2_FLAG_NONE,
				       call->stream, NGHTTP2_CANCEL) == 0);
}

void grpc_ping(struct grpc_client *c)
{
	must(nghttp2_submit_ping(c->session, NGHTTP2_FLAG_NONE, NULL) == 0);
}

static bool send_all(struct grpc_client *c)
{
	struct pollfd p = { .fd = c->fd, .events = POLLOUT };
	const uint8_t *data;
	ssize_t size, n;

	while ((size = nghttp2_session_mem_send(c->session, &data)) > 0) {
		for (; size > 0; size -= n, data += n) {
			n = send(c->fd, data, (size_t)size, MSG_NOSIGNAL);
			if (n < 0 && errno == EAGAIN) {
				poll(&p, 1, 1000);
				n = 0;
			}
			if (n < 0)
				return false;
		}
	}
	return size == 0;
}

bool grpc_turn(struct grpc_client *c, int ms)
{
	struct pollfd p = { .fd = c->fd, .events = POLLIN };
	uint8_t data[65536];
	ssize_t n;

	/* What came before the connection went is still to be read. */
	if (c->gone)
		return false;
	(void)send_all(c);
	if (poll(&p, 1, ms) <= 0)
		return false;
	n = recv(c->fd, data, sizeof(data), 0);
	if (n <= 0) {
		c->gone = n == 0 || errno != EAGAIN;
		return !c->gone;
	}
	if (nghttp2_session_mem_recv(c->session, data, (size_t)n) != n)
		c->gone = true;
	(void)send_all(c);
	return !c->gone;
}

bool grpc_wait(struct grpc_client *c, struct grpc_call *call)
{
	time_t until = time(NULL) + WAIT_S;

	while (!call->closed && !c->gone && time(NULL) < until)
		(void)grpc_turn(c, 100);
	return call->closed;
}

int grpc_do(struct grpc_client *c, struct grpc_call *call)
{
	grpc_start(c, call);
	(void)grpc_wait(c, call);
	return call->status;
}

void grpc_release(struct grpc_call *call)
{
	buf_release(&call->body);
}
