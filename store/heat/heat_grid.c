#include <errno.h>
#include <stdlib.h>

#include "store/heat/heat_grid.h"

/* Fences that are collected at most: then every other one goes. */
#define KEYS_MAX ((size_t)1 << 16)

/* Less than this of an operation is none. */
#define NOTHING 1e-6

struct grid_work {
	const struct heat_wanted *wanted;
	struct heat_grid *grid;
	bool has_prefix;       /* any fences were seen */
	struct heat_key *keys; /* owned; KEYS_MAX */
	size_t count;
	const struct heat_source *source; /* whose last fences were added */
	unsigned int number;
	double *sums; /* owned; differences from one key to the next */
	size_t width; /* of one row of sums: count + 1 */
};

static uint64_t end_of(const struct heat_wanted *w)
{
	return w->from_s + w->column_s * w->columns;
}

static bool is_wanted(const struct grid_work *w, const struct heat_bucket *b)
{
	return b->start_s < end_of(w->wanted) &&
	       b->start_s + b->seconds > w->wanted->from_s;
}

static int by_bytes(const void *a, const void *b)
{
	return bytes_compare(heat_key_bytes(a), heat_key_bytes(b));
}

/* What all fences begin with. */
static int find_prefix(void *context, const struct heat_fences *f,
		       unsigned int number, const struct heat_bucket *b)
{
	struct grid_work *w = context;
	struct buf *prefix = &w->grid->prefix;

	(void)number;
	if (f->count < 2 || !is_wanted(w, b))
		return 0;
	if (w->has_prefix)
		prefix->size = bytes_shared(buf_bytes(prefix), f->prefix);
	else if (buf_set(prefix, f->prefix) < 0)
		return -ENOMEM;
	w->has_prefix = true;
	return 0;
}

/* A fence as a key of the grid. */
static void fence_key(const struct grid_work *w, const struct heat_fences *f,
		      size_t i, struct heat_key *out)
{
	uint8_t joined[HEAT_PREFIX_MAX + HEAT_FENCE_SIZE];
	struct bytes more;

	out->size = 0;
	if (i == 0)
		return;
	more = bytes_after(f->prefix, w->grid->prefix.size);
	if (more.size > 0)
		memcpy(joined, more.data, more.size);
	if (f->fences[i].size > 0)
		memcpy(joined + more.size, f->fences[i].data,
		       f->fences[i].size);
	heat_key_set(out, bytes_of(joined, more.size + f->fences[i].size));
}

static void sort_keys(struct grid_work *w)
{
	size_t i, kept = 0;

	qsort(w->keys, w->count, sizeof(*w->keys), by_bytes);
	for (i = 0; i < w->count; i++)
		if (kept == 0 || by_bytes(&w->keys[kept - 1], &w->keys[i]) != 0)
			w->keys[kept++] = w->keys[i];
	w->count = kept;
}

static void add_key(struct grid_work *w, const struct heat_key *key)
{
	size_t i, kept = 0;

	if (w->count == KEYS_MAX) {
		sort_keys(w);
		for (i = 0; i < w->count && w->count > KEYS_MAX / 2; i += 2)
			w->keys[kept++] = w->keys[i];
		w->count = kept > 0 ? kept : w->count;
	}
	w->keys[w->count++] = *key;
}

static int collect_keys(void *context, const struct heat_fences *f,
			unsigned int number, const struct heat_bucket *b)
{
	struct grid_work *w = context;
	struct heat_key key;
	size_t i;

	if (!is_wanted(w, b) || number == w->number)
		return 0;
	w->number = number;
	for (i = 0; i < f->count; i++) {
		fence_key(w, f, i, &key);
		add_key(w, &key);
	}
	return 0;
}

/* The last key that is not greater. */
static size_t find_key(const struct grid_work *w, const struct heat_key *key)
{
	size_t low = 0, high = w->count;

	while (high - low > 1) {
		size_t middle = (low + high) / 2;

		if (by_bytes(&w->keys[middle], key) <= 0)
			low = middle;
		else
			high = middle;
	}
	return low;
}

/* The keys from *low on, before *high, that range i of f covers a part of. */
static void find_range(const struct grid_work *w, const struct heat_fences *f,
		       size_t i, size_t *low, size_t *high)
{
	struct heat_key key;

	fence_key(w, f, i, &key);
	*low = find_key(w, &key);
	*high = w->count;
	if (i + 1 < f->count) {
		fence_key(w, f, i + 1, &key);
		*high = find_key(w, &key);
		*high += by_bytes(&w->keys[*high], &key) < 0;
	}
	if (*high <= *low)
		*high = *low + 1;
}

/* Adds n to each of row's sums from low to high, as they are differences. */
static void spread(struct grid_work *w, size_t row, size_t low, size_t high,
		   double n)
{
	double *sums = w->sums + row * w->width;

	n /= (double)(high - low);
	sums[low] += n;
	sums[high] -= n;
}

/* Of all metrics and times together. */
static int add_total(void *context, const struct heat_fences *f,
		     unsigned int number, const struct heat_bucket *b)
{
	struct grid_work *w = context;
	size_t i, low, high;
	int m;

	(void)number;
	if (!is_wanted(w, b))
		return 0;
	for (i = 0; i < f->count; i++) {
		double n = 0;

		for (m = 0; m < w->wanted->metrics; m++)
			n += (double)b->values[(int)w->wanted->metric + m][i];
		if (n == 0)
			continue;
		find_range(w, f, i, &low, &high);
		spread(w, 0, low, high, n);
	}
	return 0;
}

/* Adds what came to keys from low to high to the columns that b lies in. */
static void add_columns(struct grid_work *w, const struct heat_bucket *b,
			size_t row, size_t low, size_t high, double n)
{
	const struct heat_wanted *q = w->wanted;
	uint64_t end = b->start_s + b->seconds, from, to;
	uint64_t start = b->start_s > q->from_s ? b->start_s : q->from_s;
	size_t column = (size_t)((start - q->from_s) / q->column_s);

	for (; column < q->columns; column++) {
		from = q->from_s + column * q->column_s;
		to = from + q->column_s;
		if (from >= end)
			break;
		from = from > b->start_s ? from : b->start_s;
		to = to < end ? to : end;
		spread(w, row + column, low, high,
		       n * (double)(to - from) / b->seconds);
	}
}

static int add_cells(void *context, const struct heat_fences *f,
		     unsigned int number, const struct heat_bucket *b)
{
	struct grid_work *w = context;
	size_t i, low, high;
	int m;

	(void)number;
	if (!is_wanted(w, b))
		return 0;
	for (i = 0; i < f->count; i++) {
		find_range(w, f, i, &low, &high);
		for (m = 0; m < w->wanted->metrics; m++) {
			int metric = (int)w->wanted->metric + m;

			if (b->values[metric][i] > 0)
				add_columns(w, b,
					    (size_t)m * w->wanted->columns, low,
					    high, (double)b->values[metric][i]);
		}
	}
	return 0;
}

static int walk_all(const struct heat_source *sources, size_t source_count,
		    struct grid_work *w,
		    int (*each)(void *, const struct heat_fences *,
				unsigned int, const struct heat_bucket *))
{
	size_t i;
	int err = 0;

	for (i = 0; i < source_count && err == 0; i++) {
		w->number = 0;
		err = heat_walk(&sources[i], w->wanted->table, each, w);
	}
	return err;
}

/* The rows of sums as the sums that they are of. What adding and taking away
 * leaves of nothing is nothing. */
static void sum_up(struct grid_work *w, size_t rows)
{
	double *sums, sum;
	size_t row, i;

	for (row = 0; row < rows; row++) {
		sums = w->sums + row * w->width;
		for (sum = 0, i = 0; i < w->count; i++) {
			sum += sums[i];
			sums[i] = sum > NOTHING ? sum : 0;
		}
	}
}

static int begin_sums(struct grid_work *w, size_t rows)
{
	free(w->sums);
	w->width = w->count + 1;
	w->sums = calloc(rows * w->width, sizeof(*w->sums));
	return w->sums ? 0 : -ENOMEM;
}

/* Takes intervals together until there are max: no two neighbours that are
 * colder together than an equal share of the heat, twice, remain. What is not
 * wanted lies outside of low and high, which stay. */
static void reduce(struct grid_work *w, const struct heat_key *low,
		   const struct heat_key *high)
{
	double share = 0, sum;
	size_t i, kept = 1;

	if (w->count <= w->wanted->max)
		return;
	for (i = 0; i < w->count; i++)
		share += w->sums[i];
	share = share * 2 / (double)(w->wanted->max - 4);
	for (sum = w->sums[0], i = 1; i < w->count; i++) {
		sum += w->sums[i];
		if (sum <= share && by_bytes(&w->keys[i], low) != 0 &&
		    by_bytes(&w->keys[i], high) != 0)
			continue;
		w->keys[kept++] = w->keys[i];
		sum = w->sums[i];
	}
	w->count = kept;
}

/* The bounds of the wanted rows as keys of the grid: false if all fences lie
 * outside. Empty: no bound. */
static bool find_bounds(const struct grid_work *w, struct heat_key *low,
			struct heat_key *high)
{
	struct bytes prefix = buf_bytes(&w->grid->prefix);
	struct bytes wanted = w->wanted->prefix;
	size_t shared = bytes_shared(prefix, wanted);

	low->size = high->size = 0;
	if (shared == wanted.size)
		return true;
	if (shared < prefix.size)
		return false;
	heat_key_set(low, bytes_after(wanted, shared));
	*high = *low;
	while (high->size > 0 && high->data[high->size - 1] == 0xff)
		high->size--;
	if (high->size > 0)
		high->data[high->size - 1]++;
	return true;
}

/* Hands over what lies within the bounds. */
static int give(struct grid_work *w, const struct heat_key *low,
		const struct heat_key *high, size_t rows)
{
	struct heat_grid *g = w->grid;
	size_t first = low->size > 0 ? find_key(w, low) : 0;
	size_t end = high->size > 0 ? find_key(w, high) : w->count, row;

	g->count = end > first ? end - first : 1;
	g->end = *high;
	memmove(w->keys, w->keys + first, g->count * sizeof(*w->keys));
	g->keys = w->keys;
	w->keys = NULL;
	for (row = 0; row < rows; row++)
		memmove(w->sums + row * g->count,
			w->sums + row * w->width + first,
			g->count * sizeof(*w->sums));
	g->cells = w->sums;
	w->sums = NULL;
	return 0;
}

int heat_grid_make(const struct heat_source *sources, size_t source_count,
		   const struct heat_wanted *wanted, struct heat_grid *g)
{
	struct grid_work w = { .wanted = wanted, .grid = g };
	size_t rows = wanted->columns * (size_t)wanted->metrics;
	struct heat_key low, high;
	int err;

	assert(wanted->column_s > 0 && wanted->max > 4);
	*g = (struct heat_grid){ .count = 0 };
	w.keys = malloc(KEYS_MAX * sizeof(*w.keys));
	if (!w.keys)
		return -ENOMEM;
	err = walk_all(sources, source_count, &w, find_prefix);
	if (err == 0)
		err = walk_all(sources, source_count, &w, collect_keys);
	if (err < 0 || w.count == 0 || !find_bounds(&w, &low, &high))
		goto release;
	if (low.size > 0)
		add_key(&w, &low);
	if (high.size > 0)
		add_key(&w, &high);
	sort_keys(&w);
	err = begin_sums(&w, 1);
	if (err == 0)
		err = walk_all(sources, source_count, &w, add_total);
	if (err == 0) {
		sum_up(&w, 1);
		reduce(&w, &low, &high);
		err = begin_sums(&w, rows);
	}
	if (err == 0)
		err = walk_all(sources, source_count, &w, add_cells);
	if (err == 0) {
		sum_up(&w, rows);
		err = give(&w, &low, &high, rows);
	}
release:
	free(w.keys);
	free(w.sums);
	return err;
}

void heat_grid_release(struct heat_grid *g)
{
	buf_release(&g->prefix);
	free(g->keys);
	free(g->cells);
	*g = (struct heat_grid){ .count = 0 };
}
