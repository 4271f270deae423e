#include <stdlib.h>

#include "tests/sim/history.h"

static struct bytes copy(struct bytes b)
{
	uint8_t *data = malloc(b.size + 1);

	if (!data)
		abort();
	memcpy(data, b.data, b.size);
	return bytes_of(data, b.size);
}

static struct record *add(struct history *h)
{
	if (h->count == h->capacity) {
		h->capacity = h->capacity * 2 + 64;
		h->records =
			realloc(h->records, h->capacity * sizeof(*h->records));
		if (!h->records)
			abort();
	}
	return &h->records[h->count++];
}

void history_add_key(struct history *h, struct bytes key)
{
	*add(h) = (struct record){ copy(key), BYTES_NONE, key_seq(key) };
}

void history_add_range(struct history *h, struct bytes start, struct bytes end,
		       uint64_t seq)
{
	*add(h) = (struct record){ copy(start), copy(end), seq };
}

void history_release(struct history *h)
{
	size_t i;

	for (i = 0; i < h->count; i++) {
		free((void *)(uintptr_t)h->records[i].key.data);
		free((void *)(uintptr_t)h->records[i].end.data);
	}
	free(h->records);
	*h = (struct history){ NULL, 0, 0 };
}

static int compare(const void *a, const void *b)
{
	return bytes_compare(((const struct record *)a)->key,
			     ((const struct record *)b)->key);
}

static bool is_covered(const struct history *h, const struct record *r,
		       uint64_t seq)
{
	size_t i;

	for (i = 0; i < h->count; i++) {
		const struct record *range = &h->records[i];

		if (range->end.size > 0 && range->seq > r->seq &&
		    range->seq <= seq &&
		    bytes_compare(range->key, r->key) <= 0 &&
		    bytes_compare(r->key, range->end) < 0)
			return true;
	}
	return false;
}

static const struct gc_family *find_family(const struct gc_rules *rules,
					   struct bytes key)
{
	const struct gc_table *table = gc_rules_table(rules, key_table(key));
	struct buf scratch = BUF_INIT;
	const struct gc_family *family = NULL;
	struct bytes name;
	size_t end;

	if (table &&
	    key_part(key, key_row_end(key), &scratch, &name, &end) == 0)
		family = gc_table_family(table, name);
	buf_release(&scratch);
	return family;
}

static bool same_column(struct bytes a, struct bytes b)
{
	return a.size == b.size && memcmp(a.data, b.data, a.size - 16) == 0;
}

size_t history_visible(const struct history *h, const struct gc_rules *rules,
		       uint64_t seq, uint64_t now_us, struct bytes *out,
		       size_t max)
{
	struct record *sorted = malloc((h->count + 1) * sizeof(*sorted));
	const struct gc_family *family = NULL;
	struct bytes last = BYTES_NONE; /* newest write of a version */
	struct gc_column column;
	size_t count = 0, found = 0, i;

	if (!sorted)
		abort();
	for (i = 0; i < h->count; i++) {
		if (h->records[i].end.size == 0 && h->records[i].seq <= seq)
			sorted[count++] = h->records[i];
	}
	qsort(sorted, count, sizeof(*sorted), compare);
	for (i = 0; i < count; i++) {
		const struct record *r = &sorted[i];

		if (i == 0 || !same_column(r->key, sorted[i - 1].key)) {
			family = find_family(rules, r->key);
			if (family)
				gc_column_start(&column, family, now_us,
						now_us);
		}
		if (!family || r->seq < family->birth_seq)
			continue;
		if (last.size > 0 &&
		    bytes_equal(key_version(last), key_version(r->key)))
			continue;
		last = r->key;
		if (key_kind(r->key) == KEY_DELETE || is_covered(h, r, seq))
			continue;
		if (gc_column_keep(&column, key_timestamp(r->key)) &&
		    found < max)
			out[found++] = r->key;
	}
	free(sorted);
	return found;
}
