#include <assert.h>
#include <stdlib.h>

#include "store/base/coding.h"
#include "store/base/err.h"
#include "store/gc_policy.h"

/*
 * Policies as trees, their bytes, and what they say of a version. A union drops
 * what either side drops, so it keeps what both keep; an intersection the other
 * way round. All walks are by recursion, of a bounded depth.
 */

struct gc_policy *gc_policy_leaf(enum gc_type type, uint64_t limit)
{
	struct gc_policy *p = calloc(1, sizeof(*p));

	assert(type >= GC_MAX_VERSIONS && type <= GC_INTERSECTION);
	if (!p)
		return NULL;
	p->type = type;
	p->limit = limit;
	return p;
}

struct gc_policy *gc_policy_pair(enum gc_type type, struct gc_policy *left,
				 struct gc_policy *right)
{
	struct gc_policy *p = gc_policy_leaf(type, 0);

	assert(left && right);
	if (!p) {
		gc_policy_free(left);
		gc_policy_free(right);
		return NULL;
	}
	p->left = left;
	p->right = right;
	return p;
}

void gc_policy_free(struct gc_policy *p)
{
	if (!p)
		return;
	gc_policy_free(p->left);
	gc_policy_free(p->right);
	free(p);
}

int gc_policy_copy(const struct gc_policy *p, struct gc_policy **out)
{
	struct gc_policy *copy;
	int err;

	*out = NULL;
	if (!p)
		return 0;
	copy = gc_policy_leaf(p->type, p->limit);
	if (!copy)
		return -ENOMEM;
	err = gc_policy_copy(p->left, &copy->left);
	if (err == 0)
		err = gc_policy_copy(p->right, &copy->right);
	if (err < 0) {
		gc_policy_free(copy);
		return err;
	}
	*out = copy;
	return 0;
}

bool gc_policy_equal(const struct gc_policy *a, const struct gc_policy *b)
{
	if (!a || !b)
		return a == b;
	return a->type == b->type && a->limit == b->limit &&
	       gc_policy_equal(a->left, b->left) &&
	       gc_policy_equal(a->right, b->right);
}

static bool is_leaf(enum gc_type type)
{
	return type == GC_MAX_VERSIONS || type == GC_MAX_AGE;
}

/* Nodes of a policy that is stored. A user's has GC_NODES_MAX; what reads
 * one allows for more. */
#define STORED_NODES_MAX (2 * GC_NODES_MAX)

static size_t node_count(const struct gc_policy *p)
{
	return p ? 1 + node_count(p->left) + node_count(p->right) : 0;
}

static int encode(const struct gc_policy *p, struct buf *out)
{
	int err;

	if (!p)
		return buf_add_byte(out, 0);
	err = buf_add_byte(out, (uint8_t)p->type);
	if (err < 0)
		return err;
	if (is_leaf(p->type))
		return buf_add_varint(out, p->limit);
	err = encode(p->left, out);
	return err < 0 ? err : encode(p->right, out);
}

/* A type of 0 is the policy that keeps all; it stands at the top only. Pairs
 * are no rules to who wrote them. */
int gc_policy_encode(const struct gc_policy *p, struct buf *out)
{
	if (node_count(p) > STORED_NODES_MAX)
		return fail(ERR_bad_argument,
			    "a GC policy of %zu rules, which may have %d",
			    (node_count(p) + 1) / 2, STORED_NODES_MAX / 2);
	return encode(p, out);
}

/* Of what is depth pairs deep, after count nodes. -ERR_schema_malformed also
 * where the depth would be too much for recursion; a pair has no side that
 * keeps all. */
static int decode(struct bytes *in, unsigned int depth, unsigned int *count,
		  struct gc_policy **out)
{
	struct gc_policy *left, *right;
	struct bytes type;
	uint64_t limit;
	int err;

	*out = NULL;
	if (depth > GC_DEPTH_MAX || ++*count > STORED_NODES_MAX ||
	    !take_bytes(in, 1, &type) || type.data[0] > GC_INTERSECTION)
		return fail(ERR_schema_malformed, "GC policy is malformed");
	if (type.data[0] == 0)
		return 0;
	if (is_leaf(type.data[0])) {
		if (!take_varint(in, &limit))
			return fail(ERR_schema_malformed,
				    "GC policy ends within a limit");
		*out = gc_policy_leaf(type.data[0], limit);
		return *out ? 0 : -ENOMEM;
	}
	err = decode(in, depth + 1, count, &left);
	if (err < 0)
		return err;
	/* On failure right is NULL. */
	err = decode(in, depth + 1, count, &right);
	if (err < 0 || !left || !right) {
		gc_policy_free(left);
		gc_policy_free(right);
		return err < 0 ? err
			       : fail(ERR_schema_malformed,
				      "GC policy lacks a branch");
	}
	*out = gc_policy_pair(type.data[0], left, right);
	return *out ? 0 : -ENOMEM;
}

int gc_policy_decode(struct bytes *in, struct gc_policy **out)
{
	unsigned int count = 0;

	return decode(in, 0, &count, out);
}

bool gc_keep(const struct gc_policy *p, uint64_t rank, uint64_t timestamp_us,
	     uint64_t now_us)
{
	if (!p)
		return true;
	switch (p->type) {
	case GC_MAX_VERSIONS:
		return rank < p->limit;
	case GC_MAX_AGE:
		/* The age is exact: at limit it stays. A clock that is behind
		 * must not make it wrap around. */
		return now_us <= p->limit || timestamp_us >= now_us - p->limit;
	case GC_UNION: /* drops what either drops */
		return gc_keep(p->left, rank, timestamp_us, now_us) &&
		       gc_keep(p->right, rank, timestamp_us, now_us);
	case GC_INTERSECTION: /* drops what both drop */
		return gc_keep(p->left, rank, timestamp_us, now_us) ||
		       gc_keep(p->right, rank, timestamp_us, now_us);
	}
	return true;
}

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

uint64_t gc_rank_limit(const struct gc_policy *p)
{
	if (!p)
		return UINT64_MAX;
	switch (p->type) {
	case GC_MAX_VERSIONS:
		return p->limit;
	case GC_MAX_AGE:
		return UINT64_MAX;
	case GC_UNION:
	case GC_INTERSECTION:
		return least(gc_rank_limit(p->left), gc_rank_limit(p->right));
	}
	return UINT64_MAX;
}

uint64_t gc_expiry(const struct gc_policy *p, uint64_t rank,
		   uint64_t timestamp_us)
{
	uint64_t left, right;

	if (!p)
		return UINT64_MAX;
	switch (p->type) {
	case GC_MAX_VERSIONS:
		return rank < p->limit ? UINT64_MAX : 0;
	case GC_MAX_AGE:
		return p->limit > UINT64_MAX - timestamp_us
			       ? UINT64_MAX
			       : timestamp_us + p->limit;
	case GC_UNION:
	case GC_INTERSECTION:
		left = gc_expiry(p->left, rank, timestamp_us);
		right = gc_expiry(p->right, rank, timestamp_us);
		/* It goes with the first of a union, the last of the other. */
		if (p->type == GC_UNION)
			return least(left, right);
		return left > right ? left : right;
	}
	return UINT64_MAX;
}
