#include <signal.h>
#include <stdlib.h>
#include <systemd/sd-daemon.h>
#include <unistd.h>

#include "fs/cells/ending.h"
#include "fs/command/metrics_writer.h"
#include "fs/kernel/served.h"
#include "fs/state/options.h"
#include "store/base/bg.h"
#include "store/base/place/place.h"
#include "store/base/watch/histogram.h"
#include "tools/serve/listen.h"
#include "tools/serve/method/method.h"
#include "tools/serve/server.h"
#include "tools/serve/verb/announce.h"
#include "tools/serve/verb/commands.h"
#include "tools/serve/verb/inject.h"
#include "tools/serve/verb/routes.h"
#include "tools/serve/verb/serve.h"
#include "tools/serve/verb/serve_figures.h"

/* What the words of the command say. */
struct serving {
	struct verb_call *call;
	const char *directory;
	struct server_options server;
	struct service service;
	struct inject *inject; /* or NULL */
	uint64_t slow_us;      /* as store_set_slow takes it */
	int events_fd;         /* as in store.h */
	const char *metrics;   /* path of a file of figures; NULL: none */
	struct metrics_file *metrics_file; /* until it is written; or NULL */
	sigset_t signals;
};

/* yes or no; an argument that is not there is no. 0, or 1 after it said what is
 * wrong. */
static int parse_yes(struct verb_call *c, const char *key, const char *value,
		     bool *out)
{
	*out = value && !strcmp(value, "yes");
	if (!value || *out || !strcmp(value, "no"))
		return 0;
	return verb_wrong(c, "%s must be yes or no, not \"%s\"", key, value);
}

static int parse(struct verb_call *c, struct serving *s)
{
	enum {
		LISTEN,
		USERS,
		INSECURE,
		SYNC,
		INJECT,
		SLOW,
		METRICS,
		LOG_TO,
		COUNT
	};
	static const char *const keys[] = {
		"listen", "users",        "insecure", "sync", "inject",
		"slow",   "metrics-file", "log-to",   NULL
	};
	const char *values[COUNT] = { NULL };
	/* A word with a = is an argument, a path can begin with ./ . */
	bool has_path = c->argc > 1 && !strchr(c->argv[1], '=');
	int err;

	*s = (struct serving){
		.call = c,
		.directory = has_path ? c->argv[1] : getenv("TABLETFS_STORE"),
		.slow_us = STORE_SLOW_US,
	};
	if (!s->directory || s->directory[0] == '-')
		return verb_usage(c);
	if (verb_arguments(c, has_path ? 2 : 1, keys, values) ||
	    verb_once(c, has_path ? 2 : 1))
		return 1;
	server_options_init(&s->server, NULL);
	s->server.answerable = routes_answerable;
	s->server.listen = values[LISTEN];
	if (values[USERS] && strcmp(values[USERS], "all") &&
	    strcmp(values[USERS], "own"))
		return verb_wrong(c, "users must be own or all, not \"%s\"",
				  values[USERS]);
	s->server.users_all = values[USERS] && !strcmp(values[USERS], "all");
	if (parse_yes(c, "insecure", values[INSECURE], &s->server.insecure) ||
	    parse_yes(c, "sync", values[SYNC], &s->service.sync))
		return 1;
	if (values[SLOW] && slow_parse(values[SLOW], &s->slow_us) < 0)
		return verb_wrong(c, "%s", err_detail());
	s->metrics = values[METRICS];
	if (values[LOG_TO] && log_to_parse(values[LOG_TO]) < 0)
		return verb_wrong(c, "%s", err_detail());
	s->events_fd = values[LOG_TO] ? STDERR_FILENO : -1;
	if (!values[INJECT])
		return 0;
	err = inject_parse(values[INJECT], routes, &s->inject);
	s->server.inject = inject_draw;
	s->server.inject_context = s->inject;
	return err < 0 ? verb_wrong(c, "inject: %s", verb_error_text(err)) : 0;
}

/* From any thread of the server; a line of stdio is written whole. */
static void log_line(void *context, const char *line)
{
	struct verb_call *c = context;

	verb_wrong(c, "%s", line);
}

/* Only a directory has a place for a socket. */
static bool takes_commands(const struct serving *s)
{
	const struct volume_kind *kind;
	const char *place;

	return volume_place(s->directory, &kind, &place) == 0;
}

/* Opens the store and says, to whoever finds it in use, by whom. As verbs do,
 * it waits for a process that is about to end. */
static int open_store(struct verb_call *c, struct serving *s)
{
	struct store_options options;
	struct served served;
	char holder[64];
	int err;

	snprintf(holder, sizeof(holder), "tabletfs serve, pid %d%s",
		 (int)getpid(),
		 takes_commands(s) ? ", which " SERVED_BY_SOCKET : "");
	store_options_init(&options);
	options.beside = true;
	options.create = true;
	options.holder = holder;
	options.events_fd = s->events_fd;
	err = served_open(s->directory, &options, &s->service.store, &served);
	if (err == 1) {
		if (served.root < 0)
			verb_wrong(c, "%s is in use by %s", s->directory,
				   (char *)served.holder.data);
		else
			verb_wrong(c,
				   "%s is mounted at %s: mount it with "
				   "-o serve=ADDRESS to serve it there, too",
				   s->directory, (char *)served.place.data);
		served_release(&served);
		return 1;
	}
	if (err < 0)
		return verb_failed(c, "Opening the store", err);
	if (store_recovery_text(s->service.store)[0])
		verb_wrong(c, "%s", store_recovery_text(s->service.store));
	store_set_slow(s->service.store, s->slow_us);
	serve_count(&s->service);
	s->server.calls = &s->service.calls;
	s->server.memory = store_memory(s->service.store);
	s->server.log = log_line;
	s->server.log_context = c;
	return 0;
}

/* Opens the file of figures, if one is asked for. */
static int open_metrics(struct serving *s)
{
	char *store;
	int err;

	if (!s->metrics)
		return 0;
	store = realpath(s->directory, NULL);
	err = metrics_file_open(s->metrics, store ? store : s->directory,
				&s->metrics_file);
	free(store);
	return err;
}

/* As in struct metrics_source. */
static void print_metrics(void *context, struct figures *f)
{
	struct serving *s = context;

	serve_print_figures(&s->service, f);
}

/* A line of stdio is written whole. */
static void tell_metrics(void *context, int err)
{
	struct serving *s = context;

	(void)err;
	verb_wrong(s->call, "%s", err_detail());
}

/* Waits for a signal, and has the file written meanwhile. */
static void await_signal(struct serving *s, struct metrics_writer *writer)
{
	const struct timespec pause = { METRICS_FILE_US / 1000000, 0 };
	int got = -1;

	while (got <= 0) {
		metrics_writer_tick(writer, histogram_now_ns() / 1000);
		got = sigtimedwait(&s->signals, NULL, writer ? &pause : NULL);
	}
}

/* Takes the file of figures, if there is one. */
static void serve_until_signal(struct serving *s)
{
	const struct metrics_source source = { s->metrics, print_metrics,
					       tell_metrics, s };
	struct metrics_writer *writer = NULL;
	int err = s->metrics_file ? metrics_writer_start(s->metrics_file,
							 &source, &writer)
				  : 0;

	s->metrics_file = NULL;
	if (err < 0)
		verb_failed(s->call, "Writing figures", err);
	await_signal(s, writer);
	ending_begin();
	if (metrics_writer_stop(writer) < 0)
		verb_wrong(s->call, "%s", err_detail());
}

/* Until a signal comes. */
static int serve(struct verb_call *c, struct serving *s)
{
	struct commands *commands = NULL;
	struct server *server;
	int status;
	int err = server_new(&s->server, routes, &s->service, &server);

	if (!err && takes_commands(s))
		err = commands_open(s->directory, &s->service, &commands);
	if (!err)
		err = open_metrics(s);
	if (!err)
		err = server_start(server);
	if (err < 0) {
		metrics_file_close(s->metrics_file);
		server_free(server);
		commands_close(commands);
		return verb_failed(c, "Serving", err);
	}
	status = announce(c, server_address(server));
	if (!status) {
		sd_notifyf(0, "READY=1\nSTATUS=%s is served at %s",
			   s->directory, server_address(server));
		serve_until_signal(s);
	}
	sd_notify(0, "STOPPING=1");
	metrics_file_close(s->metrics_file);
	server_free(server);
	commands_close(commands);
	return status;
}

/* Signals are blocked before there are threads, which inherit that. */
static void block_signals(struct serving *s)
{
	bg_block_ending(&s->signals);
	signal(SIGPIPE, SIG_IGN);
}

/* Listens first: where that fails no store has been made. */
static int listen_and_serve(struct verb_call *c, struct serving *s)
{
	struct listener listener;
	int status, err;

	err = listen_open(s->server.listen, s->server.users_all,
			  s->server.insecure, &listener);
	if (err < 0)
		return verb_failed(c, "Listening", err);
	s->server.listener = &listener;
	if (open_store(c, s)) {
		listen_close(&listener);
		return 1;
	}
	err = ending_watch(s->service.store, &s->signals, s->directory);
	status = err < 0 ? verb_failed(c, "Serving", err) : serve(c, s);
	err = store_close(s->service.store);
	return err < 0 ? verb_failed(c, "Closing the store", err) : status;
}

int verb_serve_store(struct verb_call *c)
{
	struct serving s;
	int status;

	if (parse(c, &s))
		return 1;
	block_signals(&s);
	status = listen_and_serve(c, &s);
	inject_free(s.inject);
	return status;
}
