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
