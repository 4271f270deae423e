#ifndef TESTS_SIM_RNG_H
#define TESTS_SIM_RNG_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Random numbers from a seed (splitmix64): a run is a function of its seed, so
 * a failure is replayed by giving the seed again.
 */
struct rng {
	uint64_t state;
};

static inline uint64_t rng_next(struct rng *r)
{
	uint64_t z = r->state += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return z ^ z >> 31;
}

/* 0 to n - 1; n must not be 0. */
static inline uint32_t rng_below(struct rng *r, uint32_t n)
{
	return (uint32_t)((rng_next(r) >> 32) * n >> 32);
}

/* True once in n times. */
static inline bool rng_one_in(struct rng *r, uint32_t n)
{
	return rng_below(r, n) == 0;
}

#endif
