#ifndef STORE_HEAT_HEAT_MAP_H
#define STORE_HEAT_HEAT_MAP_H

#include "store/heat/heat_key.h"

/*
 * Where in one table operations happen: its row keys, parted by at most
 * HEAT_FENCES fences into ranges, each with counters and four of the keys that
 * came. Fences follow the load: at the end of each second the hottest ranges
 * are split at keys that came, and the coldest neighbours are merged. All is of
 * a fixed size. One thread at a time.
 *
 * All row keys but those of the first range share the prefix, which is
 * stripped. What of a key is longer than a fence is cut.
 */
enum heat_sample {
	HEAT_LEAST,
	HEAT_GREATEST,
	HEAT_RANDOM, /* and the one behind it */
	HEAT_SAMPLES = HEAT_RANDOM + 2,
};

struct heat_range {
	struct heat_key fence; /* its first key; empty: it has no first */
	/* Of this second; how many keys they are of. */
	struct heat_key samples[HEAT_SAMPLES];
	uint32_t sampled;
	uint64_t warmth; /* of this second and those before, eight times as
			    much as comes each second */
	uint64_t recent; /* a sum of the last seconds that fades, 64 times as
			    much as comes each second: warmth follows the most
			    that comes, so its shares are not those of what
			    came */
	uint64_t second[HEAT_METRICS]; /* since that began */
	uint64_t minute[HEAT_METRICS]; /* without this second */
};

#define HEAT_EDITS_MAX 1024

struct heat_map {
	uint16_t count; /* of ranges; 0: no key came yet */
	uint16_t prefix_size;
	bool is_warm;     /* anything came in this second */
	uint32_t version; /* of the fences, from 1: it grows when they change */
	/* How they changed since someone has emptied this, as heat_put_edit has
	 * it; HEAT_EDITS_MAX: so much that it was not kept. */
	size_t edits_size;
	uint8_t edits[HEAT_EDITS_MAX];
	uint64_t seed;              /* of what is random */
	uint8_t order[HEAT_FENCES]; /* of ranges, by their fences; behind
				       count, those not in use */
	struct heat_range ranges[HEAT_FENCES];
	uint8_t prefix[HEAT_PREFIX_MAX];
};

void heat_map_init(struct heat_map *m);

/* Counts an operation on row, of at most HEAT_PREFIX_MAX bytes, as so much. */
void heat_map_add(struct heat_map *m, struct bytes row,
		  const uint64_t counts[HEAT_METRICS]);

/* Ends a second. First what came is fenced in where it lies close together, so
 * that the counters say where it was and not where it may have been;
 * heat_map_second and heat_map_fences tell then. heat_map_begin begins the next
 * one, and parts what was hot. */
void heat_map_end(struct heat_map *m);
void heat_map_begin(struct heat_map *m);

/* The present fences, borrowed. */
void heat_map_fences(const struct heat_map *m, struct heat_fences *out);

/* The range to which the most came of late: its first key and that of the next,
 * empty if there is none, and its share. 1, 0 if nothing came, or -ENOMEM. */
int heat_map_hottest(const struct heat_map *m, struct buf *start,
		     struct buf *end, double *share);

/* The counters of the second, or of the minute, which then begins anew. */
void heat_map_second(const struct heat_map *m, struct heat_bucket *out);
void heat_map_minute(struct heat_map *m, struct heat_bucket *out);

#endif
