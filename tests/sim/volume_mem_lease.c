#include <stdio.h>

#include "store/base/err.h"
#include "tests/sim/volume_mem_state.h"

/* The lease of a volume in memory, of one process: how many share it is not
 * counted. */

int mem_lease_take(struct volume *volume, const char *holder)
{
	struct mem_volume *v = mem(volume);
	int err = mem_count_call(v, "lock", "lock");

	if (err < 0)
		return err;
	if (v->leased || v->shared)
		return fail(ERR_store_in_use, "memory: in use by %s",
			    v->leased ? v->holder : "a reader");
	v->leased = true;
	snprintf(v->holder, sizeof(v->holder), "%s", holder);
	return 0;
}

int mem_lease_describe(struct volume *volume, const char *holder)
{
	struct mem_volume *v = mem(volume);

	snprintf(v->holder, sizeof(v->holder), "%s", holder);
	return 0;
}

int mem_lease_share(struct volume *volume)
{
	struct mem_volume *v = mem(volume);
	int err = mem_count_call(v, "lock", "lock");

	if (err < 0)
		return err;
	if (v->leased)
		return fail(ERR_store_in_use, "memory: in use by %s",
			    v->holder);
	v->shared = true;
	return 0;
}

void mem_lease_release(struct volume *volume)
{
	mem(volume)->leased = mem(volume)->shared = false;
}

int mem_head_get(struct volume *volume, struct head *out)
{
	*out = mem(volume)->head;
	return mem_count_call(mem(volume), "read", "head");
}

int mem_head_set(struct volume *volume, const struct head *head)
{
	struct mem_volume *v = mem(volume);
	int failed = mem_count_call(v, "write", "head");

	if (failed && (failed == -ENOSPC || rng_one_in(&v->rng, 2)))
		return failed;
	v->head = *head;
	return failed;
}
