#include <stdlib.h>

#include "store/base/buf.h"
#include "store/base/coding.h"
#include "store/base/err.h"
#include "store/engine/history/past_iter.h"
#include "store/format/key.h"

struct past_iter {
	struct iter base; /* first, so that it can be cast */
	struct iter *it;  /* owned */
	uint64_t seq;
	struct buf place; /* of an entry that is left backwards */
};

/* Shows the entry that it is at: 1, 0 if it is not to be seen, or an error. */
static int show(struct past_iter *p)
{
	uint64_t until;

	p->base.key = p->it->key;
	p->base.value = p->it->value;
	if (key_kind(p->it->key) != KEY_MERGE)
		return 1;
	if (!take_varint(&p->base.value, &until))
		return fail(ERR_sst_malformed,
			    "a history file's merge says not until when it is");
	return until == 0 || until > p->seq;
}

/* result is that of a step forwards: goes on to what is to be seen. */
static int settle(struct past_iter *p, int result)
{
	int shown = 0;

	while (result > 0 && (shown = show(p)) == 0)
		result = iter_next(p->it);
	return result > 0 ? shown : result;
}

static int past_seek(struct iter *it, struct bytes key)
{
	struct past_iter *p = (struct past_iter *)it;

	return settle(p, iter_seek(p->it, key));
}

static int past_next(struct iter *it)
{
	struct past_iter *p = (struct past_iter *)it;

	return settle(p, iter_next(p->it));
}

static int past_skip(struct iter *it, struct bytes key)
{
	struct past_iter *p = (struct past_iter *)it;

	return settle(p, iter_skip(p->it, key));
}

static int past_before(struct iter *it, struct bytes key)
{
	struct past_iter *p = (struct past_iter *)it;
	int result = iter_before(p->it, key), shown = 0, err;

	while (result > 0 && (shown = show(p)) == 0) {
		err = buf_set(&p->place, p->it->key);
		result = err < 0 ? err
				 : iter_before(p->it, buf_bytes(&p->place));
	}
	return result > 0 ? shown : result;
}

static void past_since(struct iter *it, uint64_t timestamp_us)
{
	iter_since(((struct past_iter *)it)->it, timestamp_us);
}

static void past_close(struct iter *it)
{
	struct past_iter *p = (struct past_iter *)it;

	iter_close(p->it);
	buf_release(&p->place);
	free(p);
}

static const struct iter_ops past_iter_ops = {
	.seek = past_seek,
	.next = past_next,
	.skip = past_skip,
	.before = past_before,
	.since = past_since,
	.close = past_close,
};

int past_iter_new(struct iter *cells, uint64_t seq, struct iter **out)
{
	struct past_iter *p = calloc(1, sizeof(*p));

	*out = NULL;
	if (!p) {
		iter_close(cells);
		return -ENOMEM;
	}
	p->base.ops = &past_iter_ops;
	p->it = cells;
	p->seq = seq;
	*out = &p->base;
	return 0;
}
