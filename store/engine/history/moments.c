#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "store/base/threads/reference.h"
#include "store/engine/history/moments.h"

#define SECOND_US UINT64_C(1000000)
/* So long each second has its moment; before, each minute. */
#define FINE_US (600 * SECOND_US)
#define MINUTE_US (60 * SECOND_US)
/* A longer time between two moments counts as none. */
#define GAP_US (86400 * SECOND_US)

static int list_new(size_t capacity, struct moments **out)
{
	struct moments *m =
		malloc(sizeof(*m) + capacity * sizeof(struct moment));

	*out = m;
	if (!m)
		return -ENOMEM;
	reference_init(&m->references);
	m->count = m->outlived = 0;
	return 0;
}

int moments_new(const struct moment *items, size_t count, struct moments **out)
{
	int err = list_new(count, out);

	if (err < 0)
		return err;
	if (count > 0)
		memcpy((*out)->items, items, count * sizeof(*items));
	(*out)->count = count;
	return 0;
}

struct moments *moments_get(struct moments *m)
{
	if (m)
		reference_take(&m->references);
	return m;
}

void moments_put(struct moments *m)
{
	if (m && reference_drop(&m->references))
		free(m);
}

const struct moment *moments_oldest(const struct moments *m)
{
	return m->outlived < m->count ? &m->items[m->outlived] : NULL;
}

const struct moment *moments_at(const struct moments *m, uint64_t time_us)
{
	size_t low = 0, high = m->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (m->items[middle].time_us <= time_us)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == 0 ||
	    (low <= m->outlived && m->items[low - 1].time_us != time_us))
		return NULL;
	return &m->items[low - 1];
}

const struct moment *moment_from(const struct moment *items, size_t count,
				 uint64_t seq)
{
	size_t low = 0, high = count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (items[middle].seq < seq)
			low = middle + 1;
		else
			high = middle;
	}
	return low < count ? &items[low] : NULL;
}

uint64_t moments_first(const struct moments *m)
{
	return m->count > 0 ? m->items[0].seq : UINT64_MAX;
}

static bool is_held(uint64_t seq, const uint64_t *held, size_t count)
{
	size_t i;

	for (i = 0; i < count; i++)
		if (held[i] == seq)
			return true;
	return false;
}

/* How much later than from it was at to, as far as that counts. */
static uint64_t between(uint64_t from_us, uint64_t to_us, bool passed)
{
	assert(to_us >= from_us);
	return to_us - from_us > GAP_US && !passed ? 0 : to_us - from_us;
}

static bool has_passed(uint64_t from_us, uint64_t to_us, uint64_t seen_us)
{
	return seen_us > 0 && seen_us >= (to_us - from_us) / 2;
}

/* How long it is from at to next, or to now_us if it is NULL. */
static uint64_t age_until(const struct moment *at, const struct moment *next,
			  uint64_t now_us, uint64_t seen_us)
{
	if (next)
		return between(at->time_us, next->time_us,
			       next->flags & MOMENT_PASSED);
	return between(at->time_us, now_us,
		       has_passed(at->time_us, now_us, seen_us));
}

/* Whether a and next, which follows it or is NULL, are in one minute, so that
 * the later one stands for both: not around a gap, whose ends stay. A minute
 * ends with its last second, which has the whole one's name. */
static bool stands_for(const struct moment *next, const struct moment *a)
{
	return next && a->flags == 0 && !(next->flags & MOMENT_AFTER_GAP) &&
	       (a->time_us - 1) / MINUTE_US == (next->time_us - 1) / MINUTE_US;
}

/* Leaves out of m, from its end on, what is not wanted at now_us. */
static void thin(struct moments *m, uint64_t now_us, uint64_t seen_us,
		 uint64_t window_us, const uint64_t *held, size_t held_count)
{
	struct moment *to = m->items + m->count, *next = NULL;
	uint64_t age = 0, next_age = 0;
	size_t i;

	m->outlived = 0;
	for (i = m->count; i-- > 0;) {
		struct moment *at = &m->items[i];

		age += age_until(at, next, now_us, seen_us);
		if (!next || is_held(at->seq, held, held_count) ||
		    (next_age <= window_us &&
		     (next_age <= FINE_US || !stands_for(next, at)))) {
			*--to = *at;
			m->outlived += next_age > window_us;
		}
		next = at;
		next_age = age;
	}
	m->count -= (size_t)(to - m->items);
	memmove(m->items, to, m->count * sizeof(*to));
}

int moments_next(struct moments *m, const struct moment *fresh, uint64_t now_us,
		 uint64_t seen_us, uint64_t window_us, const uint64_t *held,
		 size_t count, struct moments **out)
{
	const struct moment *last =
		m->count > 0 ? &m->items[m->count - 1] : NULL;
	struct moments *next;
	int err = list_new(m->count + 1, &next);

	if (err < 0)
		return err;
	memcpy(next->items, m->items, m->count * sizeof(*m->items));
	next->count = m->count;
	if (fresh) {
		assert(!last || (last->seq < fresh->seq &&
				 last->time_us <= fresh->time_us));
		next->items[next->count] = *fresh;
		if (last && fresh->time_us - last->time_us > GAP_US &&
		    has_passed(last->time_us, fresh->time_us, seen_us))
			next->items[next->count].flags |= MOMENT_PASSED;
		next->count++;
		seen_us = 0;
	}
	thin(next, now_us, seen_us, window_us, held, count);
	if (!fresh && next->count == m->count &&
	    next->outlived == m->outlived) {
		moments_put(next);
		next = moments_get(m);
	}
	*out = next;
	return 0;
}
