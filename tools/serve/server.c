#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "store/base/err.h"
#include "store/base/threads/trim.h"
#include "tools/serve/loop.h"
#include "tools/serve/server.h"

#define LOOPS_MAX 4
#define WORKERS_MAX 8
#define CONNECTIONS_MAX 256

struct server {
	struct server_options options;
	struct listener listener;
	struct pool *pool;
	atomic_uint connections;
	struct memory_token token;
	struct trim *trim;
	bool started;
	unsigned int count;
	struct loop *loops[];
};

/* The share of the descriptors, and no more than CONNECTIONS_MAX: the store
 * needs some for its files. */
static unsigned int descriptors_max(unsigned int share)
{
	struct rlimit files;

	if (getrlimit(RLIMIT_NOFILE, &files) < 0 ||
	    files.rlim_cur / share >= CONNECTIONS_MAX)
		return CONNECTIONS_MAX;
	return (unsigned int)files.rlim_cur / share;
}

void server_options_init(struct server_options *o, struct memory *memory)
{
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	unsigned int n = cpus < 2 ? 2 : (unsigned int)cpus;
	unsigned int loops = n < LOOPS_MAX ? n : LOOPS_MAX;

	*o = (struct server_options){ .uid = geteuid(),
				      .loops = loops,
				      .workers =
					      n < WORKERS_MAX ? n : WORKERS_MAX,
				      .connections_max = descriptors_max(4),
				      .others_max =
					      descriptors_max(4 * loops) + 1,
				      .streams_max = 100,
				      .queue_max = 256 << 10,
				      .control_burst = 10000,
				      .control_rate = 1000,
				      .resets_burst = 1000,
				      .resets_rate = 200,
				      .handshake_ms = 10000,
				      .request_ms = 30000,
				      .piece_ms = 2000,
				      .idle_ms = 60000,
				      .ping_ms = 20000,
				      .rest_ms = 1000,
				      .stall_ms = 300000,
				      .stop_ms = 5000,
				      .memory = memory };
}

int server_new(const struct server_options *o, const struct route *routes,
	       void *context, struct server **out)
{
	struct server *s = calloc(1, sizeof(*s) + o->loops * sizeof(*s->loops));
	struct transport t = { .routes = routes, .context = context };
	int err = 0;

	*out = NULL;
	if (!s) {
		if (o->listener)
			listen_close(o->listener);
		return -ENOMEM;
	}
	s->options = *o;
	s->listener.fd = -1;
	t.options = &s->options;
	t.token = &s->token;
	if (o->listener)
		listen_move(o->listener, &s->listener);
	else
		err = listen_open(o->listen, o->users_all, o->insecure,
				  &s->listener);
	if (err == 0)
		err = pool_new(o->workers, &s->pool);
	t.pool = s->pool;
	for (; err == 0 && s->count < o->loops; s->count++)
		err = loop_new(&t, &s->listener, &s->connections,
			       &s->loops[s->count]);
	if (err < 0)
		server_free(s);
	else
		*out = s;
	return err;
}

const char *server_address(const struct server *s)
{
	return s->listener.address;
}

/* Loops that did not start end nothing and are waited for by nobody. */
/* As trim_start has it. */
static bool was_given(void *context)
{
	return atomic_exchange((atomic_bool *)context, false);
}

int server_start(struct server *s)
{
	unsigned int i;
	int err = 0;

	s->started = true;
	trim_init();
	s->trim = trim_start(was_given, &s->token.given);
	for (i = 0; i < s->count && err == 0; i++)
		err = loop_start(s->loops[i]);
	if (err < 0)
		server_stop(s);
	return err;
}

void server_stop(struct server *s)
{
	unsigned int i;

	if (!s->started)
		return;
	for (i = 0; i < s->count; i++)
		loop_stop(s->loops[i]);
	listen_end(&s->listener);
	for (i = 0; i < s->count; i++)
		loop_join(s->loops[i]);
	listen_close(&s->listener);
	trim_stop(s->trim);
	s->started = false;
}

/* The workers before the loops whose inboxes they know. */
void server_free(struct server *s)
{
	unsigned int i;

	if (!s)
		return;
	server_stop(s);
	pool_free(s->pool);
	for (i = 0; i < s->count; i++)
		loop_free(s->loops[i]);
	listen_close(&s->listener);
	free(s);
}
