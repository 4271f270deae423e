#include "store/base/hash.h"
#include "tools/serve/data/repeats.h"
#include "tools/serve/data/wire_mutation.h"

/* A mutation that sets a cell at the time of the server. */
struct setting {
	size_t entry;
	const struct proto_set_cell *cell; /* NULL: the slot is free */
	uint32_t behind;                   /* entries behind that set it, too */
};

static const struct proto_set_cell *set_now(const struct proto_mutation *m)
{
	return m->mutation_case == nr_mutation_set_cell &&
			       m->set_cell->timestamp_micros == SERVER_TIME
		       ? m->set_cell
		       : NULL;
}

static size_t count_settings(const struct proto_mutate_entry *entries,
			     size_t count)
{
	size_t n = 0, i, j;

	for (i = 0; i < count; i++)
		for (j = 0; j < entries[i].mutations.count; j++)
			n += set_now(&entries[i].mutations.at[j]) != NULL;
	return n;
}

/* Most clients send rows in order: then none comes twice. */
static bool ascends(const struct proto_mutate_entry *entries, size_t count)
{
	size_t i;

	for (i = 1; i < count; i++)
		if (bytes_compare(entries[i - 1].row_key, entries[i].row_key) >=
		    0)
			return false;
	return true;
}

static bool is_of(const struct setting *s, struct bytes row,
		  const struct proto_mutate_entry *entries,
		  const struct proto_set_cell *cell)
{
	return bytes_equal(entries[s->entry].row_key, row) &&
	       bytes_equal(s->cell->family_name, cell->family_name) &&
	       bytes_equal(s->cell->column_qualifier, cell->column_qualifier);
}

/* The slot of the column, or a free one for it. Nobody knows where the slots
 * are, so nobody can choose columns that meet. */
static struct setting *find(const struct proto_mutate_entry *entries,
			    struct setting *slots, size_t mask,
			    struct bytes row, const struct proto_set_cell *cell)
{
	struct bytes q = cell->column_qualifier, f = cell->family_name;
	uint64_t h = XXH3_64bits_withSeed(row.data, row.size, (uintptr_t)slots);
	size_t i;

	h = XXH3_64bits_withSeed(f.data, f.size, h);
	i = XXH3_64bits_withSeed(q.data, q.size, h) & mask;
	while (slots[i].cell && !is_of(&slots[i], row, entries, cell))
		i = (i + 1) & mask;
	return &slots[i];
}

/* From the last entry to the first. slots has room for all settings, zeroed,
 * and counts for all mutations. Whether anything is set twice. */
static bool count_behind(const struct proto_mutate_entry *entries, size_t count,
			 struct setting *slots, size_t mask, uint32_t *counts,
			 size_t mutations)
{
	const struct proto_set_cell *cell;
	struct setting *slot;
	bool repeated = false;
	size_t i, j;

	for (i = count; i-- > 0;)
		for (j = entries[i].mutations.count; j-- > 0;) {
			mutations--;
			cell = set_now(&entries[i].mutations.at[j]);
			if (!cell)
				continue;
			slot = find(entries, slots, mask, entries[i].row_key,
				    cell);
			if (slot->cell && slot->entry != i) {
				slot->behind++;
				repeated = true;
			}
			slot->entry = i;
			slot->cell = cell;
			counts[mutations] = slot->behind;
		}
	return repeated;
}

int repeats_count(const struct proto_mutate_entry *entries, size_t count,
		  struct proto_arena *arena, const uint32_t **out)
{
	size_t settings, room = 2, mutations = 0, i;
	struct setting *slots;
	uint32_t *counts;
	int err = 0;

	*out = NULL;
	if (ascends(entries, count))
		return 0;
	settings = count_settings(entries, count);
	if (settings == 0)
		return 0;
	while (room < 2 * settings)
		room *= 2;
	for (i = 0; i < count; i++)
		mutations += entries[i].mutations.count;
	slots = proto_alloc(arena, room * sizeof(*slots), &err);
	counts = proto_alloc(arena, mutations * sizeof(*counts), &err);
	if (!slots || !counts)
		return err;
	if (count_behind(entries, count, slots, room - 1, counts, mutations))
		*out = counts;
	return 0;
}
