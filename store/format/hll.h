#ifndef STORE_FORMAT_HLL_H
#define STORE_FORMAT_HLL_H

#include "store/base/buf.h"

/*
 * How many different numbers there were, about: HyperLogLog++ (Heule, Nunkesser
 * and Hall, "HyperLogLog in Practice", 2013) with 64-bit hashes and precision
 * 14, so 2^14 registers. In place of its tables of bias the estimate is that of
 * Ertl ("New cardinality estimation algorithms for HyperLogLog sketches",
 * 2017), which needs none. A sketch of up to HLL_SPARSE_MAX numbers keeps their
 * hashes and counts exactly, since different numbers have different hashes;
 * beyond, the standard error is 1.04 / sqrt(2^14) = 0.81 %, so that it is
 * within 2.5 % but once in 500 sketches.
 *
 * A sketch is bytes: u8 version 1 | u8 form, then
 *   form 0, sparse: u64be hash*, ascending
 *   form 1, dense: 2^14 registers of a byte
 * Equal sets of numbers make equal bytes, whatever the order of their merging.
 */
#define HLL_PRECISION 14 /* bits of a hash that choose its register */
#define HLL_REGISTERS (1 << HLL_PRECISION)
#define HLL_SPARSE_MAX 1024 /* hashes: half of the bytes of registers */
#define HLL_HEAD_SIZE 2     /* version, form */

/* Whether any bytes are a sketch. The other functions take sketches alone. */
bool hll_is_sketch(struct bytes sketch);

/* Appends the sketch of one number to out. 0 or -ENOMEM. */
int hll_of(int64_t number, struct buf *out);

/* Merges a sketch, which must not lie in to, into that in to, which may be
 * empty. 0, or -ENOMEM; then to may be no sketch. */
int hll_merge(struct buf *to, struct bytes sketch);

/* About how many numbers there were; up to HLL_SPARSE_MAX exactly. */
uint64_t hll_estimate(struct bytes sketch);

#endif
