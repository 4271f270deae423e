#include <assert.h>
#include <errno.h>

#include "fs/state/marks.h"
#include "store/base/coding.h"

/*
 * In data each mark is, by ordinals
 *
 *   varint ordinal, less that before | varint run | varint shared |
 *   varint unshared | unshared bytes
 *
 * where shared counts the bytes of the place that it has in common with the
 * mark before. A run's first ordinal is always marked. Where a run is left for
 * another, the ordinal behind its last entry stays free for who comes back to
 * go on there, with a mark of run 0.
 */

/* A mark at hand. */
struct mark {
	const uint8_t *next; /* of data, behind it */
	uint64_t ordinal;
	uint32_t run;
};

void marks_release(struct marks *m)
{
	buf_release(&m->here);
	buf_release(&m->end);
	buf_release(&m->data);
	buf_release(&m->last);
	buf_release(&m->walked);
	buf_release(&m->found);
	buf_release(&m->until);
	buf_release(&m->join);
}

/* Goes to the mark behind at; before the first, at is zeroed. Whether there is
 * one, whose place is then in walked, which has room. */
static bool walk(struct marks *m, struct mark *at)
{
	const uint8_t *p = at->next ? at->next : m->data.data;
	const uint8_t *end = m->data.data + m->data.size;
	uint64_t delta = 0, run = 0, shared = 0, unshared = 0;

	if (p == end)
		return false;
	if (!at->next)
		buf_reset(&m->walked);
	p = get_varint(p, end, &delta);
	p = get_varint(p, end, &run);
	p = get_varint(p, end, &shared);
	p = get_varint(p, end, &unshared);
	assert(shared <= m->walked.size);
	m->walked.size = shared;
	(void)!buf_add(&m->walked, p, unshared);
	at->next = p + unshared;
	at->ordinal += delta;
	at->run = (uint32_t)run;
	return true;
}

/* Adds a mark behind all others. Those who walk need no memory then. 0 or
 * -ENOMEM. */
static int add(struct marks *m, uint64_t ordinal, uint32_t run,
	       struct bytes place)
{
	size_t shared = bytes_shared(buf_bytes(&m->last), place);
	size_t most = 4 * VARINT_MAX_SIZE + place.size - shared;
	uint8_t *p;

	assert(ordinal >= m->ordinal);
	m->walked.size = m->found.size = 0;
	if (buf_reserve(&m->walked, place.size) ||
	    buf_reserve(&m->found, place.size) ||
	    buf_reserve(&m->last, place.size) ||
	    buf_reserve(&m->here, place.size) || buf_reserve(&m->data, most))
		return -ENOMEM;
	p = m->data.data + m->data.size;
	p = put_varint(p, ordinal - m->ordinal);
	p = put_varint(p, run);
	p = put_varint(p, shared);
	p = put_varint(p, place.size - shared);
	m->data.size = (size_t)(p - m->data.data);
	(void)!buf_add_bytes(&m->data, bytes_after(place, shared));
	m->ordinal = ordinal;
	(void)!buf_set(&m->last, place);
	return 0;
}

/*
 * Every second mark goes. Where that is another run's than the mark before, who
 * looks for what it stood for finds that one, so this gets the place that is
 * before the other, and is of no snapshot. 0 or -ENOMEM, and all stay.
 */
static int halve(struct marks *m)
{
	struct marks half = { .stride = m->stride };
	struct mark at = { NULL, 0, 0 };
	struct buf kept = BUF_INIT;
	uint64_t ordinal;
	uint32_t run;
	int err = 0;

	while (!err && walk(m, &at)) {
		ordinal = at.ordinal;
		run = at.run;
		err = buf_set(&kept, buf_bytes(&m->walked));
		if (!err && walk(m, &at) && (run == 0 || at.run != run)) {
			run = 0;
			if (bytes_compare(buf_bytes(&m->walked),
					  buf_bytes(&kept)) < 0)
				err = buf_set(&kept, buf_bytes(&m->walked));
		}
		if (!err)
			err = add(&half, ordinal, run, buf_bytes(&kept));
	}
	buf_release(&kept);
	if (err) {
		marks_release(&half);
		return err;
	}
	buf_release(&m->data);
	buf_release(&m->last);
	m->data = half.data;
	m->last = half.last;
	m->ordinal = half.ordinal;
	half.data = half.last = (struct buf)BUF_INIT;
	marks_release(&half);
	m->stride *= 2;
	return 0;
}

int marks_thin(struct marks *m, size_t size)
{
	size_t before = m->data.size + 1;
	int err = 0;

	while (!err && m->data.size > size && m->data.size < before) {
		before = m->data.size;
		err = halve(m);
	}
	return err;
}

/* add, after which there are not too many. */
static int save(struct marks *m, uint64_t ordinal, uint32_t run,
		struct bytes place)
{
	int err = add(m, ordinal, run, place);

	if (!err && m->data.size > MARKS_SIZE_MAX)
		err = marks_thin(m, MARKS_SIZE_MAX / 2);
	return err;
}

int marks_begin(struct marks *m)
{
	m->next = m->limit = m->fresh = m->ordinal = 0;
	m->run = m->runs = m->first_run = 1;
	m->has_join = m->has_sought = false;
	m->stride = 1;
	buf_reset(&m->here);
	buf_reset(&m->end);
	buf_reset(&m->data);
	buf_reset(&m->last);
	return add(m, 0, m->run, BYTES_NONE);
}

void marks_renew(struct marks *m)
{
	m->first_run = m->runs + 1;
}

bool marks_ended(const struct marks *m)
{
	if (m->limit > 0)
		return m->next >= m->limit;
	return m->has_join && m->next == m->fresh &&
	       bytes_compare(buf_bytes(&m->here), buf_bytes(&m->join)) >= 0;
}

int marks_count(struct marks *m, struct bytes place)
{
	size_t size = bytes_shared(buf_bytes(&m->here), place) + 1;
	int err = 0;

	if (m->next >= m->ordinal + m->stride)
		err = save(m, m->next, m->run,
			   bytes_of(place.data,
				    size < place.size ? size : place.size));
	if (err || buf_reserve(&m->here, place.size + 1))
		return -ENOMEM;
	(void)!buf_set(&m->here, place);
	(void)!buf_add_byte(&m->here, 0);
	m->next++;
	if (m->next > m->fresh)
		m->fresh = m->next;
	return 0;
}

/* The last mark with this ordinal or a smaller one: its place is in found. Its
 * run goes on to before the ordinal *limit; 0: it has no end. */
static struct mark find(struct marks *m, uint64_t ordinal, uint64_t *limit)
{
	struct mark at = { NULL, 0, 0 }, result = at;

	*limit = 0;
	while (walk(m, &at)) {
		if (at.ordinal <= ordinal) {
			result = at;
			(void)!buf_set(&m->found, buf_bytes(&m->walked));
		} else if (at.run != result.run) {
			*limit = at.ordinal;
			break;
		}
	}
	return result;
}

/* The last mark before this place of a run of the present snapshot that has it.
 * Whether there is one. */
static bool find_place(struct marks *m, struct bytes place, uint64_t *ordinal)
{
	struct mark at = { NULL, 0, 0 };
	bool is_before = false;

	while (walk(m, &at)) {
		int order = bytes_compare(buf_bytes(&m->walked), place);

		if (is_before && order > 0)
			return true;
		is_before = at.run >= m->first_run && order <= 0;
		*ordinal = at.ordinal;
	}
	return is_before;
}

/* Sets join to where the next run of the present snapshot behind place begins.
 * 0 or -ENOMEM. */
static int find_join(struct marks *m, struct bytes place)
{
	struct mark at = { NULL, 0, 0 };
	uint32_t before = 0;
	int err = 0;

	m->has_join = false;
	for (; !err && walk(m, &at); before = at.run) {
		struct bytes start = buf_bytes(&m->walked);

		if (at.run == before || at.run < m->first_run ||
		    bytes_compare(start, place) <= 0 ||
		    (m->has_join &&
		     bytes_compare(start, buf_bytes(&m->join)) >= 0))
			continue;
		m->has_join = true;
		err = buf_set(&m->join, start);
	}
	return err;
}

/* A run at this place, which begins with fresh. follows: it is where the newest
 * one ends. 0 or -ENOMEM. */
static int begin_run(struct marks *m, struct bytes place, bool follows)
{
	int err = find_join(m, place);

	if (!err && !follows) {
		err = save(m, m->fresh, 0, buf_bytes(&m->end));
		m->fresh++;
	}
	if (!err)
		err = save(m, m->fresh, m->runs + 1, place);
	if (!err)
		m->runs++;
	return err;
}

int marks_seek(struct marks *m, uint64_t ordinal, struct marks_way *way)
{
	bool goes_on = ordinal == m->next;
	bool follows = goes_on && m->next == m->fresh;
	/* until has its place, whatever became of the way. */
	bool again = !goes_on && m->has_sought && ordinal == m->sought;
	uint64_t limit;
	struct mark mark;
	int err = 0;

	if (m->next == m->fresh)
		err = buf_set(&m->end, buf_bytes(&m->here));
	mark = find(m, ordinal, &limit);
	m->has_sought = goes_on || again || mark.ordinal == ordinal;
	m->sought = ordinal;
	way->by_place = m->has_sought || mark.run < m->first_run;
	if (!err && !again)
		err = buf_set(&m->until,
			      buf_bytes(goes_on ? &m->here : &m->found));
	if (!err)
		err = buf_reserve(&m->here, m->until.size);
	if (!err)
		err = buf_reserve(&m->found, m->until.size);
	if (err) {
		m->has_sought = false;
		return err;
	}
	way->until = buf_bytes(&m->until);
	if (goes_on || again || mark.run < m->first_run) {
		if (find_place(m, way->until, &ordinal)) {
			mark = find(m, ordinal, &limit);
		} else {
			err = begin_run(m, way->until, follows);
			if (err)
				return err;
			mark = (struct mark){ NULL, m->fresh, m->runs };
			limit = 0;
			(void)!buf_set(&m->found, way->until);
		}
	}
	m->next = mark.ordinal;
	m->run = mark.run;
	m->limit = limit;
	way->from = buf_bytes(&m->found);
	way->is_ahead = bytes_compare(buf_bytes(&m->here), way->from) <= 0;
	/* add has made room. */
	return buf_set(&m->here, way->from);
}
