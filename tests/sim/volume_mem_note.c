#include "store/base/err.h"
#include "tests/sim/volume_mem_state.h"

/* The notes of a volume in memory, and its history of heat. */

/* What a failed call left of lines ends in the midst of one. */
static int end_line(struct mem_volume *v)
{
	return v->notes.size > 0 && v->notes.data[v->notes.size - 1] != '\n'
		       ? buf_add_byte(&v->notes, '\n')
		       : 0;
}

int mem_note(struct volume *volume, struct bytes lines, uint64_t size_max)
{
	struct mem_volume *v = mem(volume);
	int err = mem_guard(mem_handle(volume));

	if (err < 0)
		return err;
	if (v->leased != mem_handle(volume))
		return fail(EINVAL, "memory: lease is not held");
	err = end_line(v);
	if (err == 0 && v->notes.size > 0 &&
	    v->notes.size + lines.size > size_max) {
		buf_release(&v->old_notes);
		v->old_notes = v->notes;
		v->notes = (struct buf)BUF_INIT;
	}
	if (err == 0)
		err = mem_count_call(v, "write", VOLUME_NOTES);
	if (err == -ENOSPC)
		return err;
	if (err < 0) {
		/* A part of it. */
		lines.size = rng_below(&v->rng, (uint32_t)lines.size + 1);
		return buf_add_bytes(&v->notes, lines) < 0 ? -ENOMEM : err;
	}
	return buf_add_bytes(&v->notes, lines);
}

int mem_heat_read(struct volume *volume, struct buf *out)
{
	return buf_add_bytes(out, buf_bytes(&mem(volume)->heat));
}

int mem_heat_append(struct volume *volume, uint64_t size, struct bytes data)
{
	struct mem_volume *v = mem(volume);
	int err = mem_guard(mem_handle(volume));

	if (err < 0)
		return err;
	return v->heat.size == size ? buf_add_bytes(&v->heat, data) : -ESTALE;
}

int mem_heat_replace(struct volume *volume, struct bytes content)
{
	int err = mem_guard(mem_handle(volume));

	return err < 0 ? err : buf_set(&mem(volume)->heat, content);
}
