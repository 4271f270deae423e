#include "store/text/watch/requests.h"

/* All kinds without a name share a place that has none. */
static unsigned int place_of(const struct requests *r, unsigned int kind)
{
	return kind < REQUESTS_KINDS && r->names[kind] ? kind : 0;
}

void requests_begin(struct requests *r, unsigned int kind)
{
	atomic_fetch_add_explicit(&r->running[place_of(r, kind)], 1,
				  memory_order_relaxed);
}

void requests_end(struct requests *r, unsigned int kind, uint64_t ns,
		  uint64_t busy_ns, const struct cost *cost)
{
	unsigned int place = place_of(r, kind);

	atomic_fetch_sub_explicit(&r->running[place], 1, memory_order_relaxed);
	histogram_add(&r->kinds[place], ns);
	if (r->taken && place > 0)
		r->taken(r->context, r->names[place], (busy_ns + 999) / 1000,
			 cost);
}

void requests_print(const struct requests *r, const struct requests_words *w,
		    struct figures *f)
{
	unsigned int i;

	figures_histogram(f, w->durations, w->durations_help);
	for (i = 0; i < REQUESTS_KINDS; i++)
		if (r->kinds[i].count > 0)
			figures_times(f, w->label,
				      i > 0 ? r->names[i] : "other",
				      &r->kinds[i]);
	figures_gauge(f, w->running, w->running_help);
	for (i = 0; i < REQUESTS_KINDS; i++)
		if (r->kinds[i].count > 0 || r->running[i] > 0)
			figures_add(f, (double)r->running[i], "%s=\"%s\"",
				    w->label, i > 0 ? r->names[i] : "other");
}
