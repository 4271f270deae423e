#include <assert.h>
#include <errno.h>
#include <stdlib.h>

#include "store/engine/purge/erasing.h"
#include "store/format/key.h"
#include "store/format/sst/sst_iter.h"

int erasing_init(struct erasing *g, const struct erase_range *ranges,
		 size_t count, uint64_t seq, const struct version *v)
{
	size_t i;

	*g = (struct erasing){
		.ranges = ranges, .count = count, .seq = seq, .version = v
	};
	for (i = 0; i < count; i++) {
		assert(ranges[i].end.size > 0);
		assert(bytes_compare(ranges[i].start, ranges[i].end) < 0);
		assert(i == 0 ||
		       bytes_compare(ranges[i - 1].end, ranges[i].start) <= 0);
	}
	g->edges = calloc(count + 1, sizeof(*g->edges));
	return g->edges ? 0 : -ENOMEM;
}

void erasing_release(struct erasing *g)
{
	size_t i;

	for (i = 0; g->edges && i < g->count; i++) {
		buf_release(&g->edges[i].before);
		buf_release(&g->edges[i].after);
	}
	free(g->edges);
	g->edges = NULL;
}

size_t erasing_find(const struct erasing *g, struct bytes key)
{
	size_t low = 0, high = g->count, middle;

	while (low < high) {
		middle = low + (high - low) / 2;
		if (bytes_compare(g->ranges[middle].end, key) <= 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* The range that key, or a bound, is in; count if it is in none. */
static size_t range_of(const struct erasing *g, struct bytes key)
{
	size_t i = erasing_find(g, key);

	return i < g->count && bytes_compare(g->ranges[i].start, key) <= 0
		       ? i
		       : g->count;
}

bool erasing_takes(const struct erasing *g, struct bytes key)
{
	return key_seq(key) <= g->seq && range_of(g, key) < g->count;
}

bool erasing_touches(const struct erasing *g, struct bytes smallest,
		     struct bytes largest)
{
	size_t i = erasing_find(g, smallest);

	return i < g->count && bytes_compare(g->ranges[i].start, largest) <= 0;
}

/* A source of edges: an sst, or a history file that is opened if need be. */
struct edge_file {
	struct bytes smallest, largest;
	struct sst *sst;        /* or */
	struct past_file *past; /* if sst is NULL */
};

static int edge_iter(const struct edge_file *f, struct iter **out)
{
	struct sst *sst = f->sst;
	int err = sst ? 0 : past_file_open(f->past, &sst);

	return err < 0 ? err : sst_iter_new(sst, false, out);
}

/* Sets out to where the row of key begins, or with behind to where it ends, if
 * that is nearer than what it has; key may be a bound that is in no row. */
static int take_edge(struct bytes key, bool behind, struct buf *out)
{
	size_t end = key_row_end(key);
	struct buf edge = BUF_INIT;
	int order, err;

	err = buf_set(&edge, end > 0 ? bytes_of(key.data, end) : key);
	if (err == 0 && behind && end > 0)
		edge.data[end - 1]++;
	order = err == 0 && out->size > 0
			? bytes_compare(buf_bytes(&edge), buf_bytes(out))
			: 0;
	if (err == 0 && (out->size == 0 || (behind ? order > 0 : order < 0)))
		err = buf_set(out, buf_bytes(&edge));
	buf_release(&edge);
	return err;
}

/* What f has behind the i-th range and in none. */
static int take_after(const struct erasing *g, const struct edge_file *f,
		      size_t i, struct buf *out)
{
	struct bytes end = g->ranges[i].end;
	struct iter *it;
	int at;

	if (bytes_compare(f->largest, end) <= 0)
		return 0;
	if (bytes_compare(f->smallest, end) >= 0 &&
	    range_of(g, f->smallest) == g->count)
		return take_edge(f->smallest, false, out);
	at = edge_iter(f, &it);
	if (at < 0)
		return at;
	at = iter_seek(it, end);
	while (at > 0 && range_of(g, it->key) < g->count)
		at = iter_seek(it, g->ranges[range_of(g, it->key)].end);
	if (at > 0)
		at = take_edge(it->key, false, out);
	iter_close(it);
	return at;
}

/* What f has before the i-th range and in none. */
static int take_before(const struct erasing *g, const struct edge_file *f,
		       size_t i, struct buf *out)
{
	struct bytes start = g->ranges[i].start;
	struct iter *it;
	int at;

	if (bytes_compare(f->smallest, start) >= 0)
		return 0;
	if (bytes_compare(f->largest, start) < 0 &&
	    range_of(g, f->largest) == g->count)
		return take_edge(f->largest, true, out);
	at = edge_iter(f, &it);
	if (at < 0)
		return at;
	at = iter_before(it, start);
	while (at > 0 && range_of(g, it->key) < g->count)
		at = iter_before(it, g->ranges[range_of(g, it->key)].start);
	if (at > 0)
		at = take_edge(it->key, true, out);
	iter_close(it);
	return at;
}

static int take_edges(struct erasing *g, const struct edge_file *f, size_t i)
{
	int err = take_before(g, f, i, &g->edges[i].before);

	return err < 0 ? err : take_after(g, f, i, &g->edges[i].after);
}

static int find_edges(struct erasing *g, size_t i)
{
	const struct version *v = g->version;
	unsigned int level;
	size_t j;
	int err = 0;

	if (g->edges[i].known)
		return 0;
	for (level = 0; level < LEVEL_COUNT; level++)
		for (j = 0; j < v->levels[level].count && err == 0; j++) {
			const struct sst_file *f = v->levels[level].files[j];

			err = take_edges(g,
					 &(struct edge_file){ f->smallest,
							      f->largest,
							      f->sst, NULL },
					 i);
		}
	for (j = 0; j < v->past_count && err == 0; j++) {
		struct past_file *f = v->pasts[j];

		err = take_edges(g,
				 &(struct edge_file){ f->facts->smallest,
						      f->facts->largest, NULL,
						      f },
				 i);
	}
	g->edges[i].known = err == 0;
	return err;
}

bool erasing_cuts(const struct erasing *g, const struct tombstone *t)
{
	return t->seq <= g->seq && (range_of(g, t->start) < g->count ||
				    range_of(g, t->end) < g->count);
}

int erasing_cut(struct erasing *g, struct tombstone *t)
{
	size_t start = range_of(g, t->start), end = range_of(g, t->end);
	int err = 0;

	if (!erasing_cuts(g, t))
		return 1;
	if (start < g->count)
		err = find_edges(g, start);
	if (err == 0 && end < g->count)
		err = find_edges(g, end);
	if (err < 0)
		return err;
	if (start < g->count)
		t->start = buf_bytes(&g->edges[start].after);
	if (end < g->count)
		t->end = buf_bytes(&g->edges[end].before);
	/* Without a row on that side there is nothing to hide there. */
	return t->start.size > 0 && bytes_compare(t->start, t->end) < 0;
}
