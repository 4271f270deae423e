#include "store/base/hash.h"
#include "tools/serve/data/repeats.h"
#include "tools/serve/data/wire_mutation.h"

static bool has_server_time(const struct proto_mutate_entry *entries,
			    size_t count)
{
	size_t i, j;

	for (i = 0; i < count; i++) {
		const struct proto_mutation *m = entries[i].mutations.at;

		for (j = 0; j < entries[i].mutations.count; j++)
			if (m[j].mutation_case == nr_mutation_set_cell &&
			    m[j].set_cell->timestamp_micros == SERVER_TIME)
				return true;
	}
	return false;
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

/* The slot of the row, with the last entry of it that was seen plus 1, or 0.
 * Nobody knows where the slots are, so nobody can choose rows that meet. */
static size_t find(const struct proto_mutate_entry *entries,
		   const uint32_t *slots, size_t mask, struct bytes row)
{
	size_t i = XXH3_64bits_withSeed(row.data, row.size, (uintptr_t)slots) &
		   mask;

	while (slots[i] && !bytes_equal(entries[slots[i] - 1].row_key, row))
		i = (i + 1) & mask;
	return i;
}

int repeats_count(const struct proto_mutate_entry *entries, size_t count,
		  struct proto_arena *arena, uint32_t **out)
{
	size_t room = 2, i, slot;
	uint32_t *slots, *counts;
	bool repeated = false;
	int err = 0;

	*out = NULL;
	if (ascends(entries, count) || !has_server_time(entries, count))
		return 0;
	while (room < 2 * count)
		room *= 2;
	slots = proto_alloc(arena, room * sizeof(*slots), &err);
	counts = proto_alloc(arena, count * sizeof(*counts), &err);
	if (!slots || !counts)
		return err;
	for (i = 0; i < count; i++) {
		slot = find(entries, slots, room - 1, entries[i].row_key);
		if (slots[slot]) {
			counts[i] = counts[slots[slot] - 1] + 1;
			repeated = true;
		}
		slots[slot] = (uint32_t)i + 1;
	}
	if (repeated)
		*out = counts;
	return 0;
}
