#include <assert.h>

#include "store/base/err.h"
#include "store/engine/read/cursor_back.h"
#include "store/engine/read/cursor_state.h"

/* The row prefix of the last entry before target, visible or not, replaces
 * target: 1, 0 if there is none in range, or an error. */
static int row_before(struct cursor *c, struct buf *target)
{
	struct bytes found;
	size_t row_end;
	int err;

	if (!c->sources.iter)
		return 0;
	err = iter_before(c->sources.iter, buf_bytes(target));
	if (err <= 0)
		return err;
	found = c->sources.iter->key;
	if (bytes_compare(found, c->start) < 0)
		return 0;
	row_end = key_row_end(found);
	if (row_end == 0)
		return fail(ERR_key_malformed, "key without a row");
	err = buf_set(target, bytes_of(found.data, row_end));
	return err < 0 ? err : 1;
}

int cursor_row_at(struct cursor *c, struct bytes row, struct cell *cell)
{
	struct buf limit = BUF_INIT;
	int err = key_successor(row, &limit);

	if (err == 0) {
		/* A row without a visible cell must not lead into a walk over
		 * what comes after it. */
		c->limit = buf_bytes(&limit);
		err = cursor_seek(c, row, cell);
		c->limit = BYTES_NONE;
	}
	buf_release(&limit);
	return err;
}

/* Back from row to row, from target on, which is changed: whether one has a
 * visible cell is only known by reading it forwards. 1, 0 if none has, -EAGAIN
 * between two rows, or an error. */
static int search_back(struct cursor *c, struct buf *target, struct cell *cell)
{
	int err = 0;

	while (err == 0) {
		err = row_before(c, target);
		if (err <= 0)
			break;
		err = cursor_row_at(c, buf_bytes(target), cell);
		if (err == 0 && c->pause && c->pause())
			err = -EAGAIN;
	}
	return err;
}

int cursor_row_before(struct cursor *c, struct bytes key, struct cell *cell)
{
	struct buf target = BUF_INIT;
	int err = cursor_wake(c);

	if (err < 0)
		return err;
	if (key.size == 0 && c->paused)
		key = buf_bytes(&c->back);
	else if (key.size == 0 ||
		 (c->end.size > 0 && bytes_compare(key, c->end) >= 0))
		key = c->end;
	assert(key.size > 0);
	err = buf_add_bytes(&target, key);
	c->started = true;
	if (err == 0)
		err = search_back(c, &target, cell);
	/* Else the iterator may be anywhere, and cursor_next must not go on. */
	if (err <= 0)
		c->at = err == -EAGAIN ? 0 : err;
	buf_release(&c->back);
	c->paused = err == -EAGAIN;
	if (c->paused)
		c->back = target;
	else
		buf_release(&target);
	return err;
}
