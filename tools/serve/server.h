#ifndef TOOLS_SERVE_SERVER_H
#define TOOLS_SERVE_SERVER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "tools/serve/call.h"

/*
 * A server of gRPC on one address. A few threads move the frames of
 * connections, each those of its own: one thread does so for all that a
 * machine's clients ask, and a thread for each connection would be many where
 * they are idle. What takes longer runs on a bounded pool.
 *
 * What is waited for is bounded, and so is what a peer can have of memory: for
 * a call 64 KiB of its request, 128 KiB that its handler keeps, and of the
 * answer queue_max bytes or one message. All is counted in the store's memory,
 * account wire. A longer request is let in, and a handler has more, when that
 * has room for it; half of it is the most that one connection has.
 */
struct server;
struct listener;
struct memory;
struct requests;

/* What is to go wrong with a call, zeroed if nothing is. */
struct server_fault {
	unsigned int latency_ms; /* it waits first */
	enum call_status status; /* it ends so, without having run; or OK */
};

struct server_options {
	/* As listen_open takes it; or the socket itself, which server_new takes
	 * over in every case and leaves closed. */
	const char *listen;
	struct listener *listener;
	bool users_all; /* who is not uid may connect */
	bool insecure;  /* an address that other machines reach is allowed */
	uid_t uid;      /* whose connections are taken */
	unsigned int loops, workers;
	unsigned int connections_max;
	unsigned int others_max;    /* sockets of a loop that are told no, or
				       whose connection has ended; from 1 */
	unsigned int streams_max;   /* a connection */
	unsigned int queue_max;     /* bytes of answers a call, see call_send */
	unsigned int control_burst; /* frames without data or request, and */
	unsigned int control_rate;  /* how many of them a second */
	unsigned int resets_burst;  /* calls that are given up, and */
	unsigned int resets_rate;   /* how many of them a second */
	/* Milliseconds that are waited */
	unsigned int handshake_ms; /* for a connection's or a call's head */
	unsigned int request_ms;   /* for the next bytes of a request */
	unsigned int piece_ms;     /* for a MiB of it, if others wait for it */
	unsigned int idle_ms;      /* before a silent peer is asked, */
	unsigned int ping_ms;      /* and for its answer */
	unsigned int rest_ms;      /* before a blocked call should rest */
	unsigned int stall_ms;     /* for a peer to take an answer */
	unsigned int stop_ms;      /* for calls when the server stops */
	struct memory *memory;     /* borrowed */
	/* Counts calls, as kinds by their place in routes, from 1; borrowed.
	 * NULL: nobody does. */
	struct requests *calls;
	/* What is worth a line of a log. From any thread; NULL: nothing. */
	void (*log)(void *context, const char *line);
	void *log_context;
	/* Whether what the handlers read by now may be told: asked with their
	 * context for each message and for the end of a call, but of what was
	 * committed. 0, or negative, and then the call ends with UNAVAILABLE
	 * and err_detail(); without wait, for which nobody may, -EAGAIN while
	 * it is not known. From any thread; NULL: it always may. */
	int (*answerable)(void *context, bool wait);
	/* Draws what is to go wrong with a call of this path; from any thread.
	 * NULL: nothing. */
	void (*inject)(void *context, const char *path,
		       struct server_fault *out);
	void *inject_context;
};

/* What holds where nothing else is said, on memory; uid is the process's. */
void server_options_init(struct server_options *o, struct memory *memory);

/*
 * Opens the address; connections wait until server_start. routes, up to one
 * without path, and what o borrows stay until server_free; context is given to
 * the handlers. 0, or negative with a sentence by fail().
 */
int server_new(const struct server_options *o, const struct route *routes,
	       void *context, struct server **out);

/* The address, as clients write it: "127.0.0.1:8086", with the port that was
 * taken for 0; "unix:PATH". Valid until server_free. */
const char *server_address(const struct server *s);

/* Takes connections, by threads of its own. 0, -ENOMEM or -EAGAIN. */
int server_start(struct server *s);

/*
 * Takes no more connections and no more calls, tells the peers so, gives calls
 * stop_ms to end, ends those that are left with UNAVAILABLE, and waits until no
 * handler runs and nothing is parked. Not from a handler.
 */
void server_stop(struct server *s);

/* Stops it, if it was started. NULL is allowed. */
void server_free(struct server *s);

#endif
