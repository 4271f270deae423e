#include <stdlib.h>

#include "store/base/err.h"
#include "tests/sim/volume_mem_state.h"

/* Space and held room of a volume in memory: sizes alone. */

/* Whether the disk is full: no more room can be held. */
bool mem_is_full(const struct mem_volume *v)
{
	return v->fail_at > 0 && v->fail_error == ENOSPC && v->fail_forever &&
	       v->calls >= v->fail_at;
}

static void add_spare(struct mem_volume *v, uint64_t size)
{
	size_t i = v->spare_count++;

	for (; i > 0 && v->spares[i - 1] < size; i--)
		v->spares[i] = v->spares[i - 1];
	v->spares[i] = size;
}

/* As volume_posix: what is given up is a piece if one is missing. */
void mem_give_spare(struct mem_volume *v, uint64_t size)
{
	size_t i;

	if (v->spare_count == VOLUME_SPARES_MAX || size < 65536)
		return;
	for (i = 0; i < v->wanted_count; i++)
		if (i >= v->spare_count || v->spares[i] < v->wanted[i]) {
			add_spare(v, size);
			return;
		}
}

int mem_take_spare(struct mem_volume *v, const char *name, uint64_t size,
		   bool largest, uint64_t *room)
{
	size_t i = v->spare_count;

	while (i > 0 && v->spares[i - 1] < size)
		i--;
	if (i == 0 && !(largest && v->spare_count > 0))
		return fail(ENOSPC, "memory/%s: no room is held for it", name);
	i -= i > 0;
	*room = v->spares[i];
	v->spare_count--;
	for (; i < v->spare_count; i++)
		v->spares[i] = v->spares[i + 1];
	return 0;
}

/* qsort's. */
static int larger_first(const void *a, const void *b)
{
	uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;

	return left < right ? 1 : left > right ? -1 : 0;
}

int mem_spare_hold(struct volume *volume, const uint64_t *sizes, size_t count,
		   bool keep)
{
	struct mem_volume *v = mem(volume);
	int err = mem_guard(mem_handle(volume));
	size_t i;

	if (err < 0)
		return err;
	if (v->no_room)
		return 0;
	for (i = 0; i < count; i++)
		v->wanted[i] = sizes[i];
	qsort(v->wanted, count, sizeof(*sizes), larger_first);
	for (i = 0; keep && i < v->spare_count; i++) {
		if (i == count)
			v->wanted[count++] = 0;
		if (v->wanted[i] < v->spares[i])
			v->wanted[i] = v->spares[i];
	}
	v->wanted_count = count;
	if (v->spare_count > count)
		v->spare_count = count;
	for (i = 0; i < count && err == 0; i++) {
		/* What is much larger is cut, as volume_posix does. */
		if (i < v->spare_count && v->spares[i] >= v->wanted[i]) {
			if (v->spares[i] > v->wanted[i] + (1 << 20))
				v->spares[i] = v->wanted[i];
			continue;
		}
		err = mem_is_full(v) ? fail(ENOSPC, "memory: cannot hold room")
				     : mem_count_call(v, "write", "spare");
		if (err == 0 && i == v->spare_count)
			v->spare_count++;
		if (err == 0)
			v->spares[i] = v->wanted[i];
	}
	return err;
}

/* Pieces have no content here. */
int mem_spare_wipe(struct volume *volume)
{
	int err = mem_guard(mem_handle(volume));

	return err < 0 ? err : mem_count_call(mem(volume), "sync", "spare");
}

int mem_space(struct volume *volume, struct volume_space *out)
{
	uint64_t left = mem_is_full(mem(volume)) ? 0 : mem(volume)->available;

	*out = (struct volume_space){ 1 << 30, left, left };
	return 0;
}

void volume_mem_available(struct volume *v, uint64_t size)
{
	mem(v)->available = size;
}
