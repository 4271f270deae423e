#include "store/heat/heat_map.h"

/*
 * A range is split if it has more than this share of the warmth: twice the mean
 * of as many as there may be. So a load on all of a table does not move the
 * fences any more once they are spread over it.
 */
#define SPLIT_SHARE (HEAT_FENCES / 2)
/* Splits in one second: each takes some microseconds. */
#define SPLITS_MAX 64
/* What is left and right of the keys that came is cut off if it is more than
 * this part of the range, by the bytes of the keys. */
#define TRIM_SHARE 4

void heat_map_init(struct heat_map *m)
{
	size_t i;

	m->count = m->prefix_size = 0;
	m->version = 1;
	m->edits_size = 0;
	m->is_warm = false;
	m->seed = UINT64_C(0x9E3779B97F4A7C15);
	for (i = 0; i < HEAT_FENCES; i++)
		m->order[i] = (uint8_t)i;
}

/* xorshift64. */
static uint64_t random_next(struct heat_map *m)
{
	m->seed ^= m->seed << 13;
	m->seed ^= m->seed >> 7;
	m->seed ^= m->seed << 17;
	return m->seed;
}

static struct heat_range *range_at(struct heat_map *m, size_t i)
{
	return &m->ranges[m->order[i]];
}

/* The first key that is no longer k's: the next one, or if k was cut, the first
 * that does not begin so. False: there is none. */
static bool key_next(const struct heat_key *k, struct heat_key *out)
{
	*out = *k;
	if (k->size < HEAT_FENCE_SIZE) {
		out->data[out->size++] = 0;
		return true;
	}
	while (out->size > 0 && out->data[out->size - 1] == 0xff)
		out->size--;
	if (out->size > 0)
		out->data[out->size - 1]++;
	return out->size > 0;
}

/* The range of a key without prefix: the last whose fence is no greater. */
static size_t find(const struct heat_map *m, struct bytes key)
{
	size_t low = 0, high = m->count;

	while (high - low > 1) {
		size_t middle = (low + high) / 2;
		const struct heat_key *fence =
			&m->ranges[m->order[middle]].fence;

		if (bytes_compare(heat_key_bytes(fence), key) <= 0)
			low = middle;
		else
			high = middle;
	}
	return low;
}

/* Notes that fence i has come, or goes; all of them if it is none. */
static void note_edit(struct heat_map *m, size_t i,
		      const struct heat_key *fence)
{
	struct bytes key = fence ? heat_key_bytes(fence) : BYTES_NONE;

	m->version++;
	if (i > 0 && m->edits_size < HEAT_EDITS_MAX - HEAT_EDIT_SIZE)
		m->edits_size = (size_t)(heat_put_edit(m->edits + m->edits_size,
						       i, fence ? &key : NULL) -
					 m->edits);
	else
		m->edits_size = HEAT_EDITS_MAX;
}

/* Takes range i into the one before it. */
static void merge(struct heat_map *m, size_t i)
{
	struct heat_range *to = range_at(m, i - 1), *from = range_at(m, i);
	uint8_t slot = m->order[i];
	int j;

	assert(i > 0 && i < m->count);
	for (j = 0; j < HEAT_METRICS; j++) {
		to->second[j] += from->second[j];
		to->minute[j] += from->minute[j];
	}
	to->warmth += from->warmth;
	to->recent += from->recent;
	if (from->sampled > 0 && to->sampled > 0) {
		to->samples[HEAT_GREATEST] = from->samples[HEAT_GREATEST];
		to->samples[HEAT_RANDOM + 1] = from->samples[HEAT_RANDOM];
	} else if (from->sampled > 0) {
		memcpy(to->samples, from->samples, sizeof(to->samples));
	}
	to->sampled += from->sampled;
	m->count--;
	memmove(m->order + i, m->order + i + 1, m->count - i);
	m->order[m->count] = slot;
	note_edit(m, i, NULL);
}

/* Makes the prefix size bytes long, which is less than it was: the fences begin
 * with the rest. Some may be equal then, since they are cut. */
static void shorten_prefix(struct heat_map *m, size_t size)
{
	size_t extra = m->prefix_size - size, i, j;

	for (i = 0; i < m->count; i++) {
		struct heat_range *r = range_at(m, i);
		uint8_t longer[HEAT_PREFIX_MAX + HEAT_FENCE_SIZE];

		memcpy(longer, m->prefix + size, extra);
		/* The first range has no bound; and no samples mean none. */
		for (j = i == 0 ? 1 : 0; j <= HEAT_SAMPLES; j++) {
			struct heat_key *k =
				j == 0 ? &r->fence : &r->samples[j - 1];

			if (j > 0 && r->sampled == 0)
				break;
			memcpy(longer + extra, k->data, k->size);
			heat_key_set(k, bytes_of(longer, extra + k->size));
		}
	}
	m->prefix_size = (uint16_t)size;
	note_edit(m, 0, NULL);
	for (i = m->count - (size_t)1; i > 0; i--)
		if (bytes_compare(heat_key_bytes(&range_at(m, i - 1)->fence),
				  heat_key_bytes(&range_at(m, i)->fence)) >= 0)
			merge(m, i);
}

/* All of the first key but a byte is the prefix, until others come: what is
 * behind the prefix is never empty, which is the fence that is no bound. */
static void begin_map(struct heat_map *m, struct bytes row)
{
	m->count = 1;
	m->prefix_size = (uint16_t)(row.size - 1);
	memcpy(m->prefix, row.data, m->prefix_size);
	memset(&m->ranges[m->order[0]], 0, sizeof(m->ranges[0]));
}

/* Keeps the least, the greatest and two of all. */
static void sample(struct heat_map *m, struct heat_range *r, struct bytes key)
{
	uint64_t place;

	if (r->sampled == 0 ||
	    bytes_compare(key, heat_key_bytes(&r->samples[HEAT_LEAST])) < 0)
		heat_key_set(&r->samples[HEAT_LEAST], key);
	if (r->sampled == 0 ||
	    bytes_compare(key, heat_key_bytes(&r->samples[HEAT_GREATEST])) > 0)
		heat_key_set(&r->samples[HEAT_GREATEST], key);
	place = r->sampled == 0 ? 0 : random_next(m) % (r->sampled + 1);
	if (place < 2)
		heat_key_set(&r->samples[HEAT_RANDOM + place], key);
	if (r->sampled == 0)
		r->samples[HEAT_RANDOM + 1] = r->samples[HEAT_RANDOM];
	r->sampled++;
}

void heat_map_add(struct heat_map *m, struct bytes row,
		  const uint64_t counts[HEAT_METRICS])
{
	struct bytes key;
	struct heat_range *r;
	size_t shared;
	int i;

	assert(row.size > 0 && row.size <= HEAT_PREFIX_MAX);
	if (m->count == 0)
		begin_map(m, row);
	shared = bytes_shared(row, bytes_of(m->prefix, m->prefix_size));
	shared -= shared == row.size;
	if (shared < m->prefix_size)
		shorten_prefix(m, shared);
	key = bytes_after(row, m->prefix_size);
	r = range_at(m, find(m, key));
	for (i = 0; i < HEAT_METRICS; i++)
		r->second[i] += counts[i];
	sample(m, r, key);
	m->is_warm = true;
}

/* A new range behind i from fence on, without anything in it; the keys lie in
 * between. There is room. */
static struct heat_range *cut(struct heat_map *m, size_t i,
			      const struct heat_key *fence)
{
	uint8_t slot = m->order[m->count];
	struct heat_range *r = &m->ranges[slot];

	assert(m->count < HEAT_FENCES);
	memset(r, 0, sizeof(*r));
	r->fence = *fence;
	memmove(m->order + i + 2, m->order + i + 1, m->count - i - 1);
	m->order[i + 1] = slot;
	m->count++;
	note_edit(m, i + 1, fence);
	return r;
}

/* Where key lies from low to high, 0 to 1, by the bytes behind those that both
 * share; without a bound above it, nothing is far from it. */
static double place_between(struct bytes key, struct bytes low,
			    struct bytes high)
{
	size_t shared = bytes_shared(low, high), i;
	struct bytes all[3] = { key, low, high };
	double at[3] = { 0, 0, 0 };
	int j;

	for (j = 0; j < 3; j++)
		for (i = shared + 6; i > shared; i--)
			at[j] = (at[j] +
				 (i <= all[j].size ? all[j].data[i - 1] : 0)) /
				256;
	return at[2] > at[1] ? (at[0] - at[1]) / (at[2] - at[1]) : 0;
}

/* The coldest two neighbours, neither of which is range *keep, become one, if
 * they are colder than half of it; *keep follows its range. */
static bool make_room(struct heat_map *m, size_t *keep)
{
	uint64_t least = range_at(m, *keep)->warmth / 2, warmth;
	size_t i, best = 0;

	if (m->count < HEAT_FENCES)
		return true;
	for (i = 1; i < m->count; i++) {
		warmth = range_at(m, i - 1)->warmth + range_at(m, i)->warmth;
		if (warmth < least && i != *keep && i - 1 != *keep) {
			least = warmth;
			best = i;
		}
	}
	if (best == 0)
		return false;
	merge(m, best);
	*keep -= best < *keep;
	return true;
}

/* Fences in from above: what is behind the keys that came goes to a range of
 * its own, which is empty. */
static void trim_above(struct heat_map *m, size_t *i)
{
	struct heat_range *r = range_at(m, *i);
	struct bytes fence = heat_key_bytes(&r->fence), end;
	struct heat_key high;

	if (!key_next(&r->samples[HEAT_GREATEST], &high))
		return;
	if (*i + (size_t)1 < m->count) {
		end = heat_key_bytes(&range_at(m, *i + 1)->fence);
		if (bytes_compare(heat_key_bytes(&high), end) >= 0 ||
		    place_between(heat_key_bytes(&high), fence, end) >
			    1 - 1.0 / TRIM_SHARE)
			return;
	}
	if (make_room(m, i))
		cut(m, *i, &high);
}

/* Fences in from below: the range, with all that it has, begins at the least
 * key that came. */
static void trim_below(struct heat_map *m, size_t *i)
{
	struct heat_range *r = range_at(m, *i), *rest;
	struct heat_key low = r->samples[HEAT_LEAST], fence = r->fence;
	struct bytes end = BYTES_NONE;

	if (bytes_compare(heat_key_bytes(&low), heat_key_bytes(&fence)) <= 0)
		return;
	if (*i + (size_t)1 < m->count)
		end = heat_key_bytes(&range_at(m, *i + 1)->fence);
	if (*i > 0 && end.size > 0 &&
	    place_between(heat_key_bytes(&low), heat_key_bytes(&fence), end) <
		    1.0 / TRIM_SHARE)
		return;
	if (!make_room(m, i))
		return;
	r = range_at(m, *i);
	rest = cut(m, *i, &low);
	*rest = *r;
	rest->fence = low;
	memset(r, 0, sizeof(*r));
	r->fence = fence;
	++*i;
}

/* Parts what range *i had in the minute, and its warmth, between it and a new
 * one from fence on, by how many in three of its keys were before that. */
static void part(struct heat_map *m, size_t i, const struct heat_key *fence,
		 unsigned int before)
{
	struct heat_range *r = range_at(m, i), *rest = cut(m, i, fence);
	int j;

	rest->warmth = r->warmth - r->warmth * before / 3;
	r->warmth -= rest->warmth;
	rest->recent = r->recent - r->recent * before / 3;
	r->recent -= rest->recent;
	for (j = 0; j < HEAT_METRICS; j++) {
		rest->minute[j] = r->minute[j] - r->minute[j] * before / 3;
		r->minute[j] -= rest->minute[j];
	}
}

/* Splits a range at a key that came, or where all that came is one row, behind
 * that. Without a key that parts it, it stays. */
static void split(struct heat_map *m, size_t i)
{
	struct heat_range *r = range_at(m, i);
	struct heat_key a = r->samples[HEAT_RANDOM],
			b = r->samples[HEAT_RANDOM + 1], next;
	int order = bytes_compare(heat_key_bytes(&a), heat_key_bytes(&b));

	if (!make_room(m, &i))
		return;
	if (order != 0) {
		part(m, i, order < 0 ? &b : &a, 2);
	} else if (bytes_compare(heat_key_bytes(&a),
				 heat_key_bytes(&r->fence)) > 0) {
		part(m, i, &a, 0);
	} else if (key_next(&a, &next) &&
		   (i + 1 == m->count ||
		    bytes_compare(heat_key_bytes(&next),
				  heat_key_bytes(&range_at(m, i + 1)->fence)) <
			    0)) {
		part(m, i, &next, 3);
	}
}

static uint64_t total_warmth(struct heat_map *m)
{
	uint64_t total = 0;
	size_t i;

	for (i = 0; i < m->count; i++)
		total += range_at(m, i)->warmth;
	return total;
}

/* Calls with each range that has more than its share of the warmth, and samples
 * of this second. */
#define EACH_HOT(m, i, total)                      \
	for ((i) = 0; (i) < (m)->count; (i)++)     \
		if (range_at(m, i)->sampled > 0 && \
		    range_at(m, i)->warmth > (total) / SPLIT_SHARE)

void heat_map_end(struct heat_map *m)
{
	uint64_t total, now;
	size_t i;

	for (i = 0; i < m->count; i++) {
		struct heat_range *r = range_at(m, i);

		now = 8 * (r->second[HEAT_READS] + r->second[HEAT_WRITES]);
		r->warmth -= r->warmth / 8;
		if (r->warmth < now)
			r->warmth = now;
		r->recent += now - r->recent / 8;
	}
	total = total_warmth(m);
	EACH_HOT(m, i, total)
	{
		trim_above(m, &i);
		trim_below(m, &i);
	}
}

void heat_map_begin(struct heat_map *m)
{
	uint64_t total = total_warmth(m);
	size_t i;
	int j, splits = 0;

	for (i = 0; i < m->count; i++)
		for (j = 0; j < HEAT_METRICS; j++) {
			struct heat_range *r = range_at(m, i);

			r->minute[j] += r->second[j];
			r->second[j] = 0;
		}
	EACH_HOT(m, i, total)
	if (splits++ < SPLITS_MAX)
		split(m, i);
	for (i = 0; i < m->count; i++)
		range_at(m, i)->sampled = 0;
	m->is_warm = false;
}

void heat_map_fences(const struct heat_map *m, struct heat_fences *out)
{
	size_t i;

	out->count = m->count;
	out->prefix = bytes_of(m->prefix, m->prefix_size);
	for (i = 0; i < m->count; i++)
		out->fences[i] = heat_key_bytes(&m->ranges[m->order[i]].fence);
}

/* A whole key: the fence behind the prefix. */
static int add_key(const struct heat_map *m, size_t i, struct buf *out)
{
	int err = buf_set(out, bytes_of(m->prefix, m->prefix_size));

	return err < 0 ? err
		       : buf_add_bytes(
				 out,
				 heat_key_bytes(&m->ranges[m->order[i]].fence));
}

int heat_map_hottest(const struct heat_map *m, struct buf *start,
		     struct buf *end, double *share)
{
	uint64_t total = 0, most = 0, recent;
	const struct heat_range *r;
	size_t i, best = 0;
	int err = 0;

	for (i = 0; i < m->count; i++) {
		r = &m->ranges[m->order[i]];
		recent = r->recent +
			 8 * (r->second[HEAT_READS] + r->second[HEAT_WRITES]);
		total += recent;
		if (recent > most) {
			most = recent;
			best = i;
		}
	}
	buf_reset(start);
	buf_reset(end);
	if (total == 0)
		return 0;
	*share = (double)most / (double)total;
	if (best > 0)
		err = add_key(m, best, start);
	if (!err && best + 1 < m->count)
		err = add_key(m, best + 1, end);
	return err < 0 ? err : 1;
}

void heat_map_second(const struct heat_map *m, struct heat_bucket *out)
{
	size_t i;
	int j;

	out->count = m->count;
	for (i = 0; i < m->count; i++)
		for (j = 0; j < HEAT_METRICS; j++)
			out->values[j][i] = m->ranges[m->order[i]].second[j];
}

void heat_map_minute(struct heat_map *m, struct heat_bucket *out)
{
	size_t i;
	int j;

	out->count = m->count;
	for (i = 0; i < m->count; i++)
		for (j = 0; j < HEAT_METRICS; j++) {
			out->values[j][i] = range_at(m, i)->minute[j];
			range_at(m, i)->minute[j] = 0;
		}
}
