#include <assert.h>
#include <math.h>

#include "store/base/coding.h"
#include "store/format/hll.h"

/*
 * A sketch is sparse as long as it can be, so that which form it has follows
 * from the numbers alone. In the dense form a register has a byte where six
 * bits would do, so that merging is a loop over bytes.
 */
enum {
	VERSION = 1,
	SPARSE = 0,
	DENSE = 1,
	/* Of a hash whose bits behind the first HLL_PRECISION are all 0. */
	RANK_MAX = 64 - HLL_PRECISION + 1,
	HASH_SIZE = 8,
};

static_assert(HLL_SPARSE_MAX * HASH_SIZE <= HLL_REGISTERS,
	      "the sparse form is not the larger one");

/* Of a sketch. */
static bool is_dense(struct bytes sketch)
{
	return sketch.data[1] == DENSE;
}

/* Of a sparse sketch, as hash_at. */
static size_t hash_count(struct bytes sketch)
{
	return (sketch.size - HLL_HEAD_SIZE) / HASH_SIZE;
}

static uint64_t hash_at(struct bytes sketch, size_t i)
{
	return get_u64be(sketch.data + HLL_HEAD_SIZE + i * HASH_SIZE);
}

bool hll_is_sketch(struct bytes sketch)
{
	const uint8_t *registers = sketch.data + HLL_HEAD_SIZE;
	uint8_t greatest = 0;
	size_t i;

	if (sketch.size < HLL_HEAD_SIZE || sketch.data[0] != VERSION)
		return false;
	if (is_dense(sketch)) {
		if (sketch.size != HLL_HEAD_SIZE + HLL_REGISTERS)
			return false;
		/* To the end in any case, so that it takes vectors. */
		for (i = 0; i < HLL_REGISTERS; i++)
			greatest = greatest > registers[i] ? greatest
							   : registers[i];
		return greatest <= RANK_MAX;
	}
	if (sketch.data[1] != SPARSE ||
	    (sketch.size - HLL_HEAD_SIZE) % HASH_SIZE != 0 ||
	    hash_count(sketch) > HLL_SPARSE_MAX)
		return false;
	for (i = 1; i < hash_count(sketch); i++)
		if (hash_at(sketch, i - 1) >= hash_at(sketch, i))
			return false;
	return true;
}

/* SplitMix64's finalizer: every bit of the result depends on every bit of the
 * number, and no two numbers share one. Sketches on disk rest on it. */
static uint64_t hash_number(uint64_t n)
{
	n += UINT64_C(0x9e3779b97f4a7c15);
	n = (n ^ n >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	n = (n ^ n >> 27) * UINT64_C(0x94d049bb133111eb);
	return n ^ n >> 31;
}

static int begin(struct buf *out, uint8_t form)
{
	const uint8_t head[HLL_HEAD_SIZE] = { VERSION, form };

	return buf_add(out, head, sizeof(head));
}

int hll_of(int64_t number, struct buf *out)
{
	uint8_t hash[HASH_SIZE];
	int err = begin(out, SPARSE);

	put_u64be(hash, hash_number((uint64_t)number));
	return err < 0 ? err : buf_add(out, hash, sizeof(hash));
}

/* A register is the longest run of zeros, and one more, that the hashes of its
 * share had behind their first bits. The bit put behind the rest ends the run
 * of a hash that has zeros only, at RANK_MAX. */
static void note_hash(uint8_t *registers, uint64_t hash)
{
	uint64_t rest = hash << HLL_PRECISION | UINT64_C(1)
							<< (HLL_PRECISION - 1);
	uint8_t rank = (uint8_t)(__builtin_clzll(rest) + 1);
	uint8_t *r = &registers[hash >> (64 - HLL_PRECISION)];

	assert(rank >= 1 && rank <= RANK_MAX);
	if (rank > *r)
		*r = rank;
}

static void note_hashes(uint8_t *registers, struct bytes sparse)
{
	size_t i;

	for (i = 0; i < hash_count(sparse); i++)
		note_hash(registers, hash_at(sparse, i));
}

/* Makes the sketch in to, which is sparse, dense. */
static int make_dense(struct buf *to)
{
	struct buf dense = BUF_INIT;
	int err = buf_reserve(&dense, HLL_HEAD_SIZE + HLL_REGISTERS);

	if (err < 0)
		return err;
	assert(!is_dense(buf_bytes(to)));
	begin(&dense, DENSE);
	memset(dense.data + HLL_HEAD_SIZE, 0, HLL_REGISTERS);
	dense.size += HLL_REGISTERS;
	note_hashes(dense.data + HLL_HEAD_SIZE, buf_bytes(to));
	buf_release(to);
	*to = dense;
	return 0;
}

/* Puts a hash in its place among those of a sparse sketch. */
static int insert_hash(struct buf *to, uint64_t hash)
{
	size_t low = 0, high = hash_count(buf_bytes(to)), place;
	uint8_t bytes[HASH_SIZE];
	int err;

	while (low < high) {
		size_t middle = (low + high) / 2;
		uint64_t there = hash_at(buf_bytes(to), middle);

		if (there == hash)
			return 0;
		if (there < hash)
			low = middle + 1;
		else
			high = middle;
	}
	put_u64be(bytes, hash);
	place = HLL_HEAD_SIZE + low * HASH_SIZE;
	/* At the end, for the room; then those behind its place move. */
	err = buf_add(to, bytes, sizeof(bytes));
	if (err < 0)
		return err;
	memmove(to->data + place + HASH_SIZE, to->data + place,
		to->size - HASH_SIZE - place);
	memcpy(to->data + place, bytes, HASH_SIZE);
	return 0;
}

/* Adds the hashes of a sparse sketch. to may become dense on the way; then all
 * of them are noted, as those that were inserted make no difference. */
static int merge_sparse(struct buf *to, struct bytes sketch)
{
	size_t i, count = hash_count(sketch);
	int err = 0;

	for (i = 0; i < count && err == 0 && !is_dense(buf_bytes(to)); i++) {
		err = insert_hash(to, hash_at(sketch, i));
		if (err == 0 && hash_count(buf_bytes(to)) > HLL_SPARSE_MAX)
			err = make_dense(to);
	}
	if (err == 0 && is_dense(buf_bytes(to)))
		note_hashes(to->data + HLL_HEAD_SIZE, sketch);
	return err;
}

/* Each register becomes the greater of both. */
static void merge_registers(uint8_t *restrict to, const uint8_t *restrict from)
{
	size_t i;

	for (i = 0; i < HLL_REGISTERS; i++)
		to[i] = to[i] > from[i] ? to[i] : from[i];
}

int hll_merge(struct buf *to, struct bytes sketch)
{
	int err;

	assert(sketch.size >= HLL_HEAD_SIZE);
	if (to->size == 0)
		return buf_add_bytes(to, sketch);
	if (!is_dense(sketch))
		return merge_sparse(to, sketch);
	if (!is_dense(buf_bytes(to))) {
		err = make_dense(to);
		if (err < 0)
			return err;
	}
	merge_registers(to->data + HLL_HEAD_SIZE, sketch.data + HLL_HEAD_SIZE);
	return 0;
}

/* Ertl's sigma: what registers that are still 0 stand for, share of them x: the
 * series x + the sum of x^(2^k) 2^(k - 1) over k from 1 on, to where it does
 * not change a double any more. */
static double sigma(double x)
{
	double power = 1, sum = x, before;

	if (x == 1)
		return INFINITY;
	do {
		x *= x;
		before = sum;
		sum += x * power;
		power += power;
	} while (sum != before);
	return sum;
}

/* Ertl's tau: what registers that are full stand for, share of the others x: a
 * third of 1 - x - the sum of (1 - x^(2^-k))^2 2^-k over k from 1 on. */
static double tau(double x)
{
	double power = 1, sum = 1 - x, before;

	if (x == 0 || x == 1)
		return 0;
	do {
		x = sqrt(x);
		before = sum;
		power *= 0.5;
		sum -= (1 - x) * (1 - x) * power;
	} while (sum != before);
	return sum / 3;
}

/* Algorithm 6 of Ertl's paper: from how many registers have each value, without
 * cases for few and many. */
uint64_t hll_estimate(struct bytes sketch)
{
	const double m = HLL_REGISTERS;
	uint32_t counts[RANK_MAX + 1] = { 0 };
	double z, estimate;
	size_t i;

	if (!is_dense(sketch))
		return hash_count(sketch);
	for (i = HLL_HEAD_SIZE; i < sketch.size; i++)
		counts[sketch.data[i]]++;
	z = m * tau(1 - counts[RANK_MAX] / m);
	for (i = RANK_MAX - 1; i >= 1; i--)
		z = 0.5 * (z + counts[i]);
	z += m * sigma(counts[0] / m);
	/* Registers that are all full say that there is no end of numbers. */
	estimate = m * m / (2 * M_LN2 * z);
	return estimate < (double)INT64_MAX ? (uint64_t)llround(estimate)
					    : INT64_MAX;
}
