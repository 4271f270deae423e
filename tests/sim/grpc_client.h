#ifndef TESTS_SIM_GRPC_CLIENT_H
#define TESTS_SIM_GRPC_CLIENT_H

#include <nghttp2/nghttp2.h>
#include <stdbool.h>

#include "store/base/buf.h"

/*
 * A client of gRPC for tests, on one connection and in one thread: it sends and
 * receives only while it waits, and can do wrong what a client should not. What
 * cannot go wrong for it aborts.
 */
struct grpc_client {
	nghttp2_session *session;
	int fd;
	bool stalled;    /* opens no windows: what comes is not taken */
	bool gone;       /* the server has closed the connection */
	int32_t last;    /* of the GOAWAY that came, or -1 */
	uint32_t goaway; /* its error */
	char why[512];   /* and its text */
	unsigned int pongs;
};

/* One call. Zeroed but for what is said to be the caller's, before it starts;
 * it stays where it is until it is closed. */
struct grpc_call {
	/* The caller's, and stay until it is closed. */
	const char *path;
	struct bytes message;
	const char *timeout;      /* grpc-timeout, or NULL */
	const char *method;       /* NULL: POST */
	const char *content_type; /* NULL: gRPC's */
	const char *name, *value; /* of another header, or NULL */
	uint8_t compressed;       /* the prefix's first byte */
	size_t cut;               /* bytes at the end that are not sent */
	bool unfinished;          /* the stream is not ended */
	/* What the server answered. */
	int32_t stream;
	int http_status, status; /* -1: none */
	char text[2048];         /* grpc-message, as it came */
	char encoding[64];       /* grpc-accept-encoding */
	struct buf body;         /* all messages with their prefixes */
	unsigned int messages;   /* whole ones in body */
	bool closed;
	uint32_t error; /* of the reset, when closed */
	/* The client's. */
	size_t sent;
	size_t parsed; /* of body */
};

/* Connects to an address as server_address gives it. */
void grpc_open(struct grpc_client *c, const char *address);
/* The same if somebody listens there. */
bool grpc_try(struct grpc_client *c, const char *address);
/* Only the socket, for bytes of the caller's. */
int grpc_socket(const char *address);
void grpc_close(struct grpc_client *c);

void grpc_start(struct grpc_client *c, struct grpc_call *call);
void grpc_cancel(struct grpc_client *c, struct grpc_call *call);
void grpc_ping(struct grpc_client *c);

/* Sends what there is and takes what comes within so many milliseconds; false
 * if that was nothing, or the connection is gone. */
bool grpc_turn(struct grpc_client *c, int ms);

/* Until the call is closed; false if the connection is gone, or after two
 * minutes. */
bool grpc_wait(struct grpc_client *c, struct grpc_call *call);

/* Start and wait: the status, -1 without one. */
int grpc_do(struct grpc_client *c, struct grpc_call *call);

void grpc_release(struct grpc_call *call);

#endif
