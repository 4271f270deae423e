#include <errno.h>
#include <stdlib.h>

#include "tests/sim/volume_mem_state.h"

/* What tests do to a volume in memory: failures, damage, looks inside. */

void volume_mem_keep(struct volume *v)
{
	mem(v)->kept++;
}

void volume_mem_forgetful(struct volume *v)
{
	mem(v)->own.volume.survives_kill = false;
}

void volume_mem_fail(struct volume *volume, uint64_t n, int error, bool forever,
		     uint64_t seed)
{
	struct mem_volume *v = mem(volume);

	v->fail_at = n ? v->calls + n : 0;
	v->fail_error = error;
	v->fail_forever = forever;
	v->fail_space_only = false;
	v->failed = false;
	v->rng.state = seed;
}

void volume_mem_fill(struct volume *volume, uint64_t n, uint64_t seed)
{
	volume_mem_fail(volume, n, ENOSPC, true, seed);
	mem(volume)->fail_space_only = n > 0;
}

void volume_mem_fill_suffix(struct volume *v, const char *suffix)
{
	mem(v)->full_suffix = suffix;
}

void volume_mem_no_room(struct volume *v)
{
	mem(v)->no_room = true;
}

bool volume_mem_failed(const struct volume *v)
{
	return ((const struct mem_handle *)v)->pool->failed;
}

uint64_t volume_mem_calls(const struct volume *v)
{
	return ((const struct mem_handle *)v)->pool->calls;
}

void volume_mem_hook(struct volume *volume,
		     void (*hook)(void *context, struct volume *v),
		     void *context)
{
	mem(volume)->hook = hook;
	mem(volume)->hook_context = context;
}

struct bytes volume_mem_file(struct volume *volume, const char *name)
{
	struct mem_volume *v = mem(volume);
	struct mem_file *f = mem_find(v, name);

	if (strcmp(name, "root") == 0)
		return buf_bytes(&v->root);
	if (strcmp(name, VOLUME_NOTES) == 0)
		return buf_bytes(&v->notes);
	if (strcmp(name, VOLUME_NOTES_OLD) == 0)
		return buf_bytes(&v->old_notes);
	return f ? buf_bytes(&f->content->data) : BYTES_NONE;
}

void volume_mem_truncate(struct volume *volume, const char *name, size_t size)
{
	struct mem_file *f = mem_find(mem(volume), name);

	if (f && size < f->content->data.size) {
		f->content->data.size = size;
		f->synced = size < f->synced ? size : f->synced;
	}
}

void volume_mem_forget(struct volume *volume)
{
	struct mem_file **at = &mem(volume)->files, *f;

	while ((f = *at)) {
		if (f->state == FILE_LIVE) {
			at = &f->next;
			continue;
		}
		*at = f->next;
		mem_content_put(f->content);
		free(f);
	}
}

size_t volume_mem_open_count(const struct volume *v)
{
	return ((const struct mem_handle *)v)->pool->open_count;
}
