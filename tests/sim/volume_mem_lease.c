#include <stdio.h>
#include <stdlib.h>

#include "store/base/err.h"
#include "tests/sim/volume_mem_state.h"

/* The lease of a volume in memory, of one process with several handles on it:
 * how many share it is not counted. */

int mem_guard(struct mem_handle *h)
{
	const struct mem_volume *v = h->pool;

	if (h->fence == 0 || (v->leased == h && v->fence == h->fence))
		return 0;
	if (!h->lost_told && h->lost) {
		h->lost_told = true;
		h->lost(h->lost_context);
	}
	return fail(ERR_store_lost, "memory: taken by %s", v->holder);
}

int mem_lease_take(struct volume *volume, const char *holder,
		   void (*lost)(void *context), void *context)
{
	struct mem_handle *h = mem_handle(volume);
	struct mem_volume *v = h->pool;
	int err = mem_count_call(v, "lock", "lock");

	if (err < 0)
		return err;
	if (v->shared || (v->leased && !v->expired && !holder_is_dead(&v->who)))
		return fail(ERR_store_in_use, "memory: in use by %s",
			    v->leased ? v->holder : "a reader");
	v->leased = h;
	v->expired = false;
	holder_self(&v->who);
	h->fence = ++v->fence;
	h->left = h->lost_told = false;
	h->lost = lost;
	h->lost_context = context;
	snprintf(v->holder, sizeof(v->holder), "%s", holder);
	return 0;
}

int mem_lease_check(struct volume *volume)
{
	struct mem_handle *h = mem_handle(volume);

	if (h->left)
		return fail(ERR_store_lost, "memory: lease was released");
	if (h->pool->silent && h->fence > 0)
		return fail(EAGAIN, "memory: it does not answer");
	return h->shares ? 0 : mem_guard(h);
}

uint64_t mem_lease_left(struct volume *volume)
{
	struct mem_volume *v = mem_handle(volume)->pool;

	return v->silent ? 0 : v->lease_ms > 0 ? v->lease_ms : UINT64_MAX;
}

int mem_lease_describe(struct volume *volume, const char *holder)
{
	struct mem_handle *h = mem_handle(volume);
	int err = mem_guard(h);

	if (err < 0)
		return err;
	if (h->fence == 0)
		return fail(EINVAL, "memory: lease is not held");
	snprintf(h->pool->holder, sizeof(h->pool->holder), "%s", holder);
	return 0;
}

int mem_lease_share(struct volume *volume)
{
	struct mem_handle *h = mem_handle(volume);
	struct mem_volume *v = h->pool;
	int err = mem_count_call(v, "lock", "lock");

	if (err < 0)
		return err;
	if (v->leased)
		return fail(ERR_store_in_use, "memory: in use by %s",
			    v->holder);
	v->shared = h;
	h->shares = true;
	h->left = false;
	return 0;
}

void mem_lease_release(struct volume *volume)
{
	struct mem_handle *h = mem_handle(volume);

	if (h->pool->leased == h)
		h->pool->leased = NULL;
	if (h->pool->shared == h)
		h->pool->shared = NULL;
	h->lost_told = true;
	h->left |= h->shares || h->fence > 0;
	h->shares = false;
}

int volume_mem_other(struct volume *v, struct volume **out)
{
	struct mem_handle *h = calloc(1, sizeof(*h));

	*out = NULL;
	if (!h)
		return -ENOMEM;
	h->volume = *v;
	h->pool = mem(v);
	h->next = h->pool->others;
	h->pool->others = h;
	*out = &h->volume;
	return 0;
}

void volume_mem_expire(struct volume *v)
{
	mem(v)->expired = true;
}

void volume_mem_held_by(struct volume *v, const struct holder *who)
{
	mem(v)->who = *who;
}

void volume_mem_lease_of(struct volume *v, uint64_t ms)
{
	mem(v)->lease_ms = ms;
}

void volume_mem_silence(struct volume *v, bool silent)
{
	mem(v)->silent = silent;
}
