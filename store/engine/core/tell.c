#include <assert.h>
#include <stdio.h>

#include "store/engine/core/tell.h"

/* Of a list of files, the rest is told as a number. */
#define FILES_TOLD 8

struct file_stem file_stem(uint64_t id)
{
	struct file_stem s;

	snprintf(s.text, sizeof(s.text), "%08x-%08x", (unsigned int)(id >> 32),
		 (unsigned int)id);
	return s;
}

/* What a line says of several files. */
struct file_list {
	char text[FILES_TOLD * 18 + 16]; /* stems, between commas; "-": none */
	size_t count;
	uint64_t size;    /* bytes */
	uint64_t entries; /* deletions and range tombstones included */
};

static void list_add(struct file_list *l, uint64_t id, uint64_t size,
		     const struct sst *sst)
{
	const struct sst_properties *p = sst ? sst_properties(sst) : NULL;
	size_t at = strlen(l->text);

	if (l->count < FILES_TOLD)
		snprintf(l->text + at, sizeof(l->text) - at, "%s%s",
			 at > 0 ? "," : "", file_stem(id).text);
	l->count++;
	l->size += size;
	if (p)
		l->entries +=
			p->put_count + p->delete_count + p->tombstone_count;
}

static void list_end(struct file_list *l)
{
	size_t at = strlen(l->text);

	if (l->count == 0)
		snprintf(l->text, sizeof(l->text), "-");
	else if (l->count > FILES_TOLD)
		snprintf(l->text + at, sizeof(l->text) - at, ",+%zu",
			 l->count - FILES_TOLD);
}

static void list_inputs(const struct compaction *c, int side,
			struct file_list *out)
{
	size_t i;

	*out = (struct file_list){ .count = 0 };
	for (i = 0; i < c->input_count[side]; i++)
		list_add(out, c->inputs[side][i]->id, c->inputs[side][i]->size,
			 c->inputs[side][i]->sst);
	list_end(out);
}

/* The files that edit added, as they are now. */
static void list_added(struct engine *e, const struct edit *edit,
		       struct file_list *out)
{
	struct version *v;
	size_t i;

	pthread_mutex_lock(&e->lock);
	v = version_get(e->version);
	pthread_mutex_unlock(&e->lock);
	*out = (struct file_list){ .count = 0 };
	for (i = 0; i < edit->added_count; i++) {
		const struct sst_file *f = version_sst(v, edit->added[i].id);

		list_add(out, edit->added[i].id, edit->added[i].size,
			 f ? f->sst : NULL);
	}
	list_end(out);
	version_put(v);
}

void tell_flushed(struct engine *e, const struct memtable *m,
		  const struct edit *edit, uint64_t start_us)
{
	struct file_list made;

	list_added(e, edit, &made);
	event_add(&e->events, EVENTS_MAIN,
		  "flushed log=%s memtable_bytes=%zu to=%s level=0 bytes=%llu "
		  "entries=%llu us=%llu",
		  file_stem(m->log_id).text, arena_used(&m->arena), made.text,
		  (unsigned long long)made.size,
		  (unsigned long long)made.entries,
		  (unsigned long long)event_since(&e->events, start_us));
}

void tell_compacted(struct engine *e, const struct compaction *c,
		    const struct edit *edit, const char *why, uint64_t start_us)
{
	struct file_list from, with, made;
	uint64_t entries;

	list_inputs(c, 0, &from);
	list_inputs(c, 1, &with);
	list_added(e, edit, &made);
	if (c->trivial) {
		event_add(&e->events, EVENTS_MAIN,
			  "moved due=%s level=%u from=%s to_level=%u "
			  "bytes=%llu",
			  why, c->level, from.text, c->output_level,
			  (unsigned long long)from.size);
		return;
	}
	entries = from.entries + with.entries;
	event_add(&e->events, EVENTS_MAIN,
		  "compacted due=%s level=%u from=%s to_level=%u with=%s to=%s "
		  "files_in=%zu files_out=%zu bytes_in=%llu bytes_out=%llu "
		  "entries_in=%llu entries_out=%llu dropped=%llu us=%llu",
		  why, c->level, from.text, c->output_level, with.text,
		  made.text, from.count + with.count, made.count,
		  (unsigned long long)(from.size + with.size),
		  (unsigned long long)made.size, (unsigned long long)entries,
		  (unsigned long long)made.entries,
		  /* Range tombstones that are cut become more. */
		  (unsigned long long)(entries > made.entries
					       ? entries - made.entries
					       : 0),
		  (unsigned long long)event_since(&e->events, start_us));
}

/* Clocks that are set right by a service step by less. */
#define CLOCK_BEHIND_US UINT64_C(1000000)

void tell_opened(struct engine *e, uint64_t start_us)
{
	const struct engine_options *o = &e->options;
	const struct version *v = e->version;
	uint64_t now = clock_now(o->clock), seen = e->gc_time_us, size = 0;
	size_t files = 0;
	unsigned int i;

	for (i = 0; i < LEVEL_COUNT; i++) {
		files += v->levels[i].count;
		size += v->levels[i].size;
	}
	event_add(&e->events, EVENTS_MAIN,
		  "opened program=" TABLETFS_VERSION " format=%u epoch=%u "
		  "memtable=%zu cache=%zu file=%llu level0=%u,%u,%u "
		  "ssts=%zu level0_ssts=%zu bytes=%llu blobs=%zu seq=%llu "
		  "us=%llu by=%s",
		  MANIFEST_FORMAT, e->manifest->epoch, o->memtable_size,
		  o->cache_size, (unsigned long long)o->file_size,
		  o->level0_trigger, o->level0_slow, o->level0_stop, files,
		  v->levels[0].count, (unsigned long long)size, v->blob_count,
		  (unsigned long long)e->written_seq,
		  (unsigned long long)event_since(&e->events, start_us),
		  o->holder ? o->holder : "");
	if (seen > now + CLOCK_BEHIND_US)
		event_add(&e->events, EVENTS_ERRORS, "clock_behind us=%llu",
			  (unsigned long long)(seen - now));
}
