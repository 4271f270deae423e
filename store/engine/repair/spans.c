#include <assert.h>
#include <string.h>

#include "store/engine/repair/spans.h"

struct span {
	uint64_t first, last;
};

/* How many begin before number: mostly all, so it is looked for from the end.
 */
static size_t count_before(const struct span *spans, size_t count,
			   uint64_t number)
{
	while (count > 0 && spans[count - 1].first >= number)
		count--;
	return count;
}

int spans_add(struct buf *set, uint64_t first, uint64_t last)
{
	struct span *spans = (struct span *)(void *)set->data;
	size_t count = set->size / sizeof(*spans), at;
	struct span span = { first, last };
	int err;

	assert(first <= last);
	at = count_before(spans, count, first);
	if ((at > 0 && spans[at - 1].last >= first) ||
	    (at < count && spans[at].first <= last))
		return 0;
	if (at > 0 && spans[at - 1].last + 1 == first) {
		spans[at - 1].last = last;
		return 1;
	}
	err = buf_add(set, &span, sizeof(span));
	if (err < 0)
		return err;
	spans = (struct span *)(void *)set->data;
	memmove(spans + at + 1, spans + at, (count - at) * sizeof(*spans));
	spans[at] = span;
	return 1;
}
