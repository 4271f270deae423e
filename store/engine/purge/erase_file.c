#include <errno.h>
#include <stdio.h>

#include "store/base/err.h"
#include "store/engine/compact/read_back.h"
#include "store/engine/purge/erase_file.h"
#include "store/engine/run/unit.h"
#include "store/format/key.h"
#include "store/format/sst/sst_build.h"
#include "store/format/sst/sst_iter.h"
#include "store/format/sst/sst_tombstones.h"

/* Whether any entry of one range goes. */
static int has_entry(const struct erasing *g, struct iter *it, size_t i)
{
	int at = iter_seek(it, g->ranges[i].start);

	while (at > 0 && bytes_compare(it->key, g->ranges[i].end) < 0) {
		if (key_seq(it->key) <= g->seq)
			return 1;
		at = iter_next(it);
	}
	return at < 0 ? at : 0;
}

static int has_entries(const struct erasing *g, struct sst *t)
{
	const struct sst_properties *p = sst_properties(t);
	size_t i = erasing_find(g, p->smallest);
	struct iter *it;
	int has = sst_iter_new(t, false, &it);

	if (has < 0)
		return has;
	for (; i < g->count && has == 0; i++) {
		if (bytes_compare(g->ranges[i].start, p->largest) > 0)
			break;
		has = has_entry(g, it, i);
	}
	iter_close(it);
	return has;
}

static int has_bounds(const struct erasing *g, struct sst *t)
{
	struct tombstone_reader reader;
	const struct tombstone *tombstone;
	int at;

	tombstone_reader_init(&reader, t);
	while ((at = tombstone_reader_next(&reader, &tombstone)) > 0)
		if (erasing_cuts(g, tombstone))
			break;
	tombstone_reader_release(&reader);
	return at;
}

int erase_is_in(const struct erasing *g, struct sst *t)
{
	const struct sst_properties *p = sst_properties(t);
	int has;

	if (!erasing_touches(g, p->smallest, p->largest) ||
	    p->smallest_seq > g->seq)
		return 0;
	has = has_bounds(g, t);
	return has == 0 ? has_entries(g, t) : has;
}

/* A file on its way. */
struct output {
	const struct erase_how *how;
	bool is_past;
	uint64_t id;
	struct sst_builder *builder; /* NULL: none begun */
	size_t unyielded;            /* bytes since flushes had their turn */
};

static int begin(struct output *o)
{
	struct engine *e = o->how->engine;
	unsigned int level = o->how->level;
	struct sst_options options = {
		.level = level,
		.filter_bits = o->is_past || level == LEVEL_COUNT - 1
				       ? SST_FILTER_BITS_BOTTOM
				       : SST_FILTER_BITS,
		.compress = true,
		.rows = e->options.rows,
	};
	struct segment_writer *writer;
	char name[VOLUME_NAME_MAX + 1];
	int err;

	if (o->builder)
		return 0;
	o->id = engine_new_id(e);
	manifest_name(o->id, "sst", name);
	err = e->volume->ops->segment_create(e->volume, name, &writer);
	if (err == 0)
		err = sst_build_new(writer, &options, &o->builder);
	if (err == 0 && o->is_past)
		sst_build_past(o->builder);
	return err;
}

static int add_entry(struct output *o, const struct iter *it)
{
	struct bytes value = it->value;
	int err = begin(o);

	if (err == 0 && o->how->move && key_kind(it->key) == KEY_BLOB)
		err = o->how->move(o->how->move_context, &value);
	if (err == 0)
		err = sst_build_add(o->builder, it->key, value);
	o->unyielded += it->key.size + it->value.size;
	if (err < 0 || o->unyielded < YIELD_BYTES)
		return err;
	o->unyielded = 0;
	return engine_yield(o->how->engine);
}

static int add_entries(struct output *o, struct sst *t)
{
	struct iter *it;
	int at = sst_iter_new(t, false, &it);

	if (at < 0)
		return at;
	for (at = iter_seek(it, BYTES_NONE); at > 0;) {
		int err = 0;

		if (erasing_takes(o->how->erasing, it->key))
			o->how->counts->entries++;
		else
			err = add_entry(o, it);
		at = err < 0 ? err : iter_next(it);
	}
	iter_close(it);
	return at;
}

static int add_tombstones(struct output *o, struct sst *t)
{
	struct tombstone_reader reader;
	const struct tombstone *next;
	struct tombstone kept;
	int at, err = 0;

	tombstone_reader_init(&reader, t);
	while ((at = tombstone_reader_next(&reader, &next)) > 0) {
		kept = *next;
		err = erasing_cut(o->how->erasing, &kept);
		o->how->counts->entries += err == 0;
		if (err > 0) {
			err = begin(o);
			if (err == 0)
				err = sst_build_tombstone(o->builder, &kept);
		}
		if (err < 0)
			break;
	}
	tombstone_reader_release(&reader);
	return err < 0 ? err : at;
}

static int finish(struct output *o, uint64_t *size)
{
	struct engine *e = o->how->engine;
	struct sst_builder *builder = o->builder;
	uint64_t digest;
	int err;

	if (!builder)
		return 0;
	o->builder = NULL;
	err = sst_build_finish(builder, &digest);
	if (err < 0)
		return err;
	err = compact_read_back(e->volume, o->id, digest, size);
	if (err < 0)
		engine_remove(e, o->id, "sst");
	return err;
}

int erase_file(const struct erase_how *how, struct sst *t, uint64_t *id,
	       uint64_t *size)
{
	struct output o = { .how = how, .is_past = sst_is_past(t) };
	char reason[512];
	int err;

	*id = *size = 0;
	err = add_entries(&o, t);
	if (err == 0)
		err = add_tombstones(&o, t);
	if (err == 0)
		err = finish(&o, size);
	if (err == 0) {
		*id = *size > 0 ? o.id : 0;
		return 0;
	}
	/* Cleaning up may fail in its turn and say so. */
	snprintf(reason, sizeof(reason), "%s", err_detail());
	sst_build_abandon(o.builder);
	return err == -ENOMEM ? err : fail(-err, "%s", reason);
}
