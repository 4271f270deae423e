#include <stdlib.h>

#include "store/base/err.h"
#include "tests/sim/volume_mem_state.h"

/* What a power cut or a kill leaves of a volume in memory. */
#define PAGE_SIZE 4096

/* Who has a log open goes on with what is left of it. */
void volume_mem_forget_unsynced(struct volume *v)
{
	struct mem_file *f;

	for (f = mem(v)->files; f; f = f->next) {
		if (!f->grows)
			continue;
		f->content->data.size = f->synced;
		if (f->state == FILE_LIVE && !f->name_synced)
			f->state = FILE_REMOVED;
	}
}

/* Copies a log; segments never change and are shared. */
static int clone_file(struct mem_volume *to, const struct mem_file *from)
{
	struct content *c = from->grows ? mem_content_new()
					: mem_content_get(from->content);
	struct mem_file *f;

	if (!c)
		return -ENOMEM;
	if (from->grows &&
	    buf_add_bytes(&c->data, buf_bytes(&from->content->data)) < 0) {
		mem_content_put(c);
		return -ENOMEM;
	}
	f = mem_add_file(to, from->name, c);
	if (!f) {
		mem_content_put(c);
		return -ENOMEM;
	}
	f->synced = from->synced;
	f->name_synced = from->name_synced;
	f->grows = from->grows;
	f->room = from->room;
	f->state = from->state;
	return 0;
}

int volume_mem_kill_clone(struct volume *volume, struct volume **out)
{
	struct mem_volume *v = mem(volume);
	struct mem_volume *to;
	struct mem_file *f;
	int err;

	err = volume_mem_new(out);
	if (err < 0)
		return err;
	to = mem(*out);
	to->root_version = v->root_version;
	memcpy(to->spares, v->spares, sizeof(v->spares));
	to->spare_count = v->spare_count;
	err = buf_set(&to->root, buf_bytes(&v->root));
	if (!err)
		err = buf_set(&to->notes, buf_bytes(&v->notes));
	if (!err)
		err = buf_set(&to->old_notes, buf_bytes(&v->old_notes));
	if (!err)
		err = buf_set(&to->heat, buf_bytes(&v->heat));
	for (f = v->files; f && !err; f = f->next)
		err = clone_file(to, f);
	to->own.volume.survives_kill = v->own.volume.survives_kill;
	if (err == 0 && !to->own.volume.survives_kill)
		volume_mem_forget_unsynced(*out);
	if (err < 0) {
		(*out)->ops->close(*out);
		*out = NULL;
	}
	return err;
}

/* What a power cut leaves of the tail that was not synced. */
static void tear(struct mem_file *f, struct rng *rng)
{
	struct buf *b = &f->content->data;
	uint32_t tail = (uint32_t)(b->size - f->synced);
	size_t at, page_end;
	uint32_t kind;

	if (tail == 0)
		return;
	switch (rng_below(rng, 5)) {
	case 0: /* nothing */
		b->size = f->synced;
		return;
	case 1: /* all */
		return;
	case 2: /* cut anywhere */
		b->size = f->synced + rng_below(rng, tail + 1);
		return;
	case 3: /* cut at a page */
		b->size = f->synced + rng_below(rng, tail + 1);
		b->size -= b->size % PAGE_SIZE;
		if (b->size < f->synced)
			b->size = f->synced;
		return;
	default: /* pages written in any order, or never */
		for (at = f->synced; at < b->size; at = page_end) {
			page_end = at - at % PAGE_SIZE + PAGE_SIZE;
			if (page_end > b->size)
				page_end = b->size;
			kind = rng_below(rng, 4);
			if (kind == 0)
				memset(b->data + at, 0, page_end - at);
			else if (kind == 1)
				memset(b->data + at, (int)rng_next(rng),
				       page_end - at);
		}
	}
}

int volume_mem_crash_clone(struct volume *volume, struct rng *rng,
			   struct volume **out)
{
	struct mem_file **place, *f;
	int err = volume_mem_kill_clone(volume, out);

	if (err < 0)
		return err;
	/* Of notes, and of heat, nothing is durable. */
	mem(*out)->notes.size =
		rng_below(rng, (uint32_t)mem(*out)->notes.size + 1);
	mem(*out)->heat.size =
		rng_below(rng, (uint32_t)mem(*out)->heat.size + 1);
	place = &mem(*out)->files;
	while ((f = *place)) {
		/* A name that is not durable stays or goes; a removal that is
		 * not durable holds mostly. Of a file that was removed, the
		 * name remains used. */
		if (f->state == FILE_REMOVED) {
			if (f->content->data.size > 0 && rng_one_in(rng, 4))
				f->state = FILE_LIVE;
		} else if (!f->name_synced && rng_one_in(rng, 2)) {
			*place = f->next;
			mem_content_put(f->content);
			free(f);
			continue;
		}
		tear(f, rng);
		f->synced = f->content->data.size;
		f->name_synced = true;
		place = &f->next;
	}
	return 0;
}
