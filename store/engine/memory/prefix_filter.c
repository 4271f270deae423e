#include <assert.h>
#include <errno.h>
#include <stdlib.h>

#include "store/base/hash.h"
#include "store/engine/memory/prefix_filter.h"

int prefix_filter_init(struct prefix_filter *f, size_t word_count)
{
	assert(word_count > 0 && word_count <= UINT32_MAX);
	f->words = calloc(word_count, sizeof(*f->words));
	f->count = word_count;
	return f->words ? 0 : -ENOMEM;
}

void prefix_filter_release(struct prefix_filter *f)
{
	free(f->words);
	*f = (struct prefix_filter){ NULL, 0 };
}

/* Four bits of a word, by 24 bits of the hash. All of a prefix in one word
 * costs some false hits more than spread bits would, and one cache miss, not
 * four. */
static uint64_t filter_bits(uint64_t hash)
{
	return UINT64_C(1) << (hash & 63) | UINT64_C(1) << (hash >> 6 & 63) |
	       UINT64_C(1) << (hash >> 12 & 63) |
	       UINT64_C(1) << (hash >> 18 & 63);
}

/* By the other half of the hash, scaled to the number of words. */
static _Atomic uint64_t *filter_word(const struct prefix_filter *f,
				     uint64_t hash)
{
	return &f->words[((hash >> 32) * f->count) >> 32];
}

bool prefix_filter_may_contain(const struct prefix_filter *f, uint64_t hash)
{
	uint64_t bits = filter_bits(hash);

	return (atomic_load_explicit(filter_word(f, hash),
				     memory_order_relaxed) &
		bits) == bits;
}

void prefix_pending_add(struct prefix_pending *p, struct prefix_filter *f,
			struct bytes prefix)
{
	uint64_t hash = hash64(prefix);

	assert(p->count < 2 * PREFIXES);
	p->add[p->count].word = filter_word(f, hash);
	p->add[p->count].bits = filter_bits(hash);
	__builtin_prefetch((const void *)p->add[p->count].word, 1);
	p->count++;
}

void prefix_pending_set(struct prefix_pending *p, unsigned int n)
{
	unsigned int i;

	assert(n <= p->count);
	/* Load and store, not one atomic step: there is one writer. */
	for (i = 0; i < n; i++) {
		_Atomic uint64_t *word = p->add[i].word;
		uint64_t old = atomic_load_explicit(word, memory_order_relaxed);

		atomic_store_explicit(word, old | p->add[i].bits,
				      memory_order_relaxed);
	}
	p->count -= n;
	memmove(p->add, p->add + n, p->count * sizeof(p->add[0]));
}
