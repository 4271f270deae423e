#include "store/engine/core/history_edit.h"
#include "store/engine/files/edit.h"

/* Those that end, and those that what is durable now has. Both lists ascend,
 * and moments become durable in their order. One that was given up may have
 * been noted again, as of a later time. */
static int add_moments(const struct manifest *m, const struct moments *now,
		       uint64_t durable_seq, struct edit *edit)
{
	size_t i = 0, j = 0;
	int err = 0;

	for (; i < m->moment_count && err == 0; i++) {
		if (j < now->count && now->items[j].seq == m->moments[i].seq &&
		    now->items[j].time_us == m->moments[i].time_us)
			j++;
		else
			err = edit_end_moment(edit, m->moments[i].seq);
	}
	for (; j < now->count && err == 0; j++) {
		if (now->items[j].seq > durable_seq)
			break;
		err = edit_add_moment(edit, &now->items[j]);
	}
	return err;
}

/* Says that up to now nothing came after the last moment, if that is so, it is
 * durable and the clock was not set since: flags are those of the next one. The
 * time comes first: what is not visible after it was not then. */
static int add_quiet(struct engine *e, const struct moments *now,
		     uint64_t flags, uint64_t durable_seq, struct edit *edit)
{
	const struct moment *last =
		now->count > 0 ? &now->items[now->count - 1] : NULL;
	uint64_t time_us = clock_now(e->options.clock);

	if (time_us < e->gc_time_us)
		time_us = e->gc_time_us;
	/* Before, logs may have more. */
	if (!e->is_recovered || (flags & MOMENT_AFTER_GAP))
		return 0;
	if (!last || last->seq > durable_seq || time_us <= last->time_us ||
	    atomic_load(&e->visible_seq) != last->seq)
		return 0;
	return edit_add_quiet(edit, last->seq, time_us);
}

int history_complete(struct engine *e, struct edit *edit)
{
	const struct manifest *m = e->manifest;
	uint64_t seq = atomic_load(&e->synced_seq), flags;
	struct moments *now;
	size_t i;
	int err;

	pthread_mutex_lock(&e->lock);
	now = moments_get(e->moments);
	flags = e->moment_flags;
	pthread_mutex_unlock(&e->lock);
	/* While opening, before what the manifest has was taken. */
	if (!now)
		return 0;
	seq = m->last_seq > seq ? m->last_seq : seq;
	seq = edit->last_seq > seq ? edit->last_seq : seq;
	err = add_moments(m, now, seq, edit);
	if (err == 0)
		err = add_quiet(e, now, flags, seq, edit);
	for (i = 0; i < m->current->past_count && err == 0; i++) {
		const struct past_facts *f = m->current->pasts[i]->facts;

		if (f->visible_seq < moments_first(now) &&
		    !edit_drops_past(edit, f->id))
			err = edit_drop_past(edit, f->id);
	}
	moments_put(now);
	return err;
}
