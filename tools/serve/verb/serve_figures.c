#include "store/text/watch/store_figures.h"
#include "tools/serve/verb/routes.h"
#include "tools/serve/verb/serve_figures.h"

/* "Bigtable/ReadRows" for each route, as the same method is in several
 * services; filled once, before there are calls. */
static const char *names[REQUESTS_KINDS];

static void tell_slow(void *context, const char *kind, uint64_t us,
		      const struct cost *cost)
{
	store_tell_request(context, kind, us, cost);
}

void serve_count(struct service *service)
{
	size_t i;

	for (i = 0; routes[i].path && i + 1 < REQUESTS_KINDS; i++)
		names[i + 1] = strrchr(routes[i].path, '.') + 1;
	service->calls.names = names;
	service->calls.taken = tell_slow;
	service->calls.context = service->store;
}

void serve_print_calls(const struct service *service, struct figures *f)
{
	static const struct requests_words words = {
		.durations = "call_duration_seconds",
		.durations_help = "Time from a call's first step to its last.",
		.running = "calls_running",
		.running_help = "Calls that are under way.",
		.label = "method",
	};

	requests_print(&service->calls, &words, f);
}

void serve_print_figures(void *context, struct figures *f)
{
	struct service *service = context;

	store_figures(service->store, f);
	serve_print_calls(service, f);
}
