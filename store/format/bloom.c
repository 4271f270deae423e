#include <assert.h>

#include "store/base/err.h"
#include "store/format/bloom.h"

enum {
	LINE_SIZE = 64,
	TAIL_SIZE = 2,  /* kind, probes */
	KIND_BLOOM = 1, /* no other is known */
	/* More would not fit the hash, and help little: with 20 bits, one in
	 * 2,000 lookups of an absent prefix gets through. */
	PROBES = 6,
	PROBES_MAX = 7, /* of 9 bits, that 64 have */
	PROBE_BITS = 9, /* choose one bit of a line */
};

static_assert(1 << PROBE_BITS == LINE_SIZE * 8, "a probe is a bit of a line");
static_assert(PROBES_MAX * PROBE_BITS <= 64, "a hash has all probes");

static size_t line_count(size_t count, uint32_t bits)
{
	return (count * bits + LINE_SIZE * 8 - 1) / (LINE_SIZE * 8);
}

size_t bloom_size(size_t count, uint32_t bits)
{
	return line_count(count, bits) * LINE_SIZE + TAIL_SIZE;
}

/* The upper half of the hash times lines, which has fewer than 2^32: without
 * the division that a remainder takes. */
static size_t line_of(uint64_t hash, size_t lines)
{
	return (size_t)(((hash >> 32) * lines) >> 32);
}

/* The line was chosen by the upper half of the hash. Multiplied by 2^64 over
 * the golden ratio, the lower half has a say in the top bits, from which the
 * probes are taken. */
static uint64_t probes_of(uint64_t hash)
{
	return hash * UINT64_C(0x9e3779b97f4a7c15);
}

int bloom_build(const uint64_t *hashes, size_t count, uint32_t bits,
		struct buf *out)
{
	size_t lines = line_count(count, bits), i;
	int err = buf_reserve(out, lines * LINE_SIZE + TAIL_SIZE);
	uint8_t *base;

	assert(bits > 0);
	if (err < 0)
		return err;
	base = out->data + out->size;
	memset(base, 0, lines * LINE_SIZE);
	for (i = 0; i < count; i++) {
		uint8_t *line = base + line_of(hashes[i], lines) * LINE_SIZE;
		uint64_t probes = probes_of(hashes[i]);
		int n;

		for (n = 0; n < PROBES; n++, probes <<= PROBE_BITS) {
			size_t bit = probes >> (64 - PROBE_BITS);

			line[bit / 8] |= (uint8_t)(1 << bit % 8);
		}
	}
	base[lines * LINE_SIZE] = KIND_BLOOM;
	base[lines * LINE_SIZE + 1] = PROBES;
	out->size += lines * LINE_SIZE + TAIL_SIZE;
	return 0;
}

int bloom_may_contain(struct bytes filter, uint64_t hash)
{
	size_t lines = filter.size / LINE_SIZE;
	uint64_t probes = probes_of(hash);
	const uint8_t *line;
	uint8_t count;

	if (filter.size % LINE_SIZE != TAIL_SIZE ||
	    filter.data[filter.size - 2] != KIND_BLOOM)
		return fail(ERR_block_malformed, "filter of %zu bytes",
			    filter.size);
	count = filter.data[filter.size - 1];
	if (count == 0 || count > PROBES_MAX)
		return fail(ERR_block_malformed, "filter of %u probes", count);
	/* The filter of no entries. */
	if (lines == 0)
		return 0;
	line = filter.data + line_of(hash, lines) * LINE_SIZE;
	for (; count > 0; count--, probes <<= PROBE_BITS) {
		size_t bit = probes >> (64 - PROBE_BITS);

		if (!(line[bit / 8] & 1 << bit % 8))
			return 0;
	}
	return 1;
}

void bloom_prefetch(struct bytes filter, uint64_t hash)
{
	size_t lines = filter.size / LINE_SIZE;

	__builtin_prefetch(filter.data + line_of(hash, lines) * LINE_SIZE);
}
