#ifndef TESTS_UNIT_TOMBSTONES_OF_H
#define TESTS_UNIT_TOMBSTONES_OF_H

#include "store/format/sst/sst_tombstones.h"
#include "tests/unit/suite.h"

/* All range tombstones of t, in pile, which is empty and the caller's to
 * release. */
static inline const struct tombstone *tombstones_of(struct sst *t,
						    struct tombstone_pile *pile,
						    size_t *count)
{
	struct tombstone_reader reader;
	const struct tombstone *item;
	int result;

	tombstone_reader_init(&reader, t);
	while ((result = tombstone_reader_next(&reader, &item)) > 0)
		ck_assert_int_eq(tombstone_pile_add(pile, item), 0);
	ck_assert_int_eq(result, 0);
	tombstone_reader_release(&reader);
	return tombstone_pile_take(pile, count);
}

#endif
