#include <unistd.h>

#include "store/base/err.h"
#include "tools/serve/server.h"
#include "tools/serve/verb/beside.h"
#include "tools/serve/verb/routes.h"
#include "tools/serve/verb/serve_figures.h"

/* As mount_options.server_start: in the daemon. */
static int start(void *context, struct store *s, bool sync,
		 const struct mount_beside *mount)
{
	struct beside *b = context;
	struct server_options o;
	int err;

	server_options_init(&o, store_memory(s));
	o.listener = &b->listener;
	o.answerable = routes_answerable;
	b->told = *mount;
	o.log = b->told.log;
	o.log_context = b->told.context;
	b->service = (struct service){ .store = s,
				       .sync = sync,
				       .changed = b->told.changed,
				       .changed_context = b->told.context };
	serve_count(&b->service);
	o.calls = &b->service.calls;
	err = server_new(&o, routes, &b->service, &b->server);
	if (err < 0)
		return err;
	err = server_start(b->server);
	if (err < 0) {
		server_free(b->server);
		b->server = NULL;
	}
	return err;
}

/* As mount_options.server_stop. */
static void stop(void *context)
{
	struct beside *b = context;

	server_free(b->server);
	b->server = NULL;
}

/* As mount_options.server_figures. */
static void print_figures(void *context, struct figures *f)
{
	const struct beside *b = context;

	serve_print_calls(&b->service, f);
}

int beside_open(struct beside *b, struct mount_options *o)
{
	int err;

	*b = (struct beside){ .listener = { .fd = -1 } };
	if (!o->serve)
		return 0;
	err = listen_open(o->serve, false, false, &b->listener);
	/* Which a mount cannot be told to mean. */
	if (err < 0 && b->listener.remote)
		err = fail(ERR_bad_argument,
			   "%s is reached from other machines, where a mount "
			   "serves nobody: say 127.0.0.1 and have ssh forward "
			   "the port, or have tabletfs serve do it, with "
			   "insecure=yes",
			   b->listener.address);
	if (err < 0)
		return err;
	o->server = b;
	o->server_fd = b->listener.fd;
	o->server_start = start;
	o->server_stop = stop;
	o->server_figures = print_figures;
	return 0;
}

void beside_close(struct beside *b, bool served)
{
	if (served)
		b->listener.path[0] = '\0';
	listen_close(&b->listener);
}
