#include "store/base/hash.h"
#include "store/model/recent/recent.h"

static _Atomic uint64_t *slot(struct recent *r, struct bytes row)
{
	return &r->times_us[hash64(row) % RECENT_SLOTS];
}

void recent_note(struct recent *r, struct bytes row, uint64_t now_us)
{
	if (atomic_load_explicit(&r->wanted, memory_order_relaxed))
		atomic_store(slot(r, row), now_us);
}

uint64_t recent_get(struct recent *r, struct bytes row, uint64_t now_us)
{
	if (!atomic_load(&r->wanted) && !atomic_exchange(&r->wanted, true))
		return now_us;
	return atomic_load(slot(r, row));
}
