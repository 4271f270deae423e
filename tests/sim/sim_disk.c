#include <stdlib.h>

#include "store/engine/core/state.h"
#include "store/engine/run/dead.h"
#include "store/engine/run/rotate.h"
#include "store/engine/run/step.h"
#include "store/model/model.h"
#include "tests/sim/named.h"
#include "tests/sim/sim.h"

/* What the engine does with its files, a full disk among it. */

void sim_fill(struct sim *s)
{
	uint32_t n = 1 + rng_below(&s->rng, 1 << rng_below(&s->rng, 7));

	sim_log(s, "no space from call %u on", n);
	volume_mem_fill(s->volume, n, rng_next(&s->rng));
}

int sim_empty(struct sim *s, int err, bool *full)
{
	*full = err == -ENOSPC && volume_mem_failed(s->volume);
	volume_mem_fill(s->volume, 0, 0);
	s->counts.full += *full;
	return *full ? 0 : err;
}

static int work(struct sim *s, uint32_t kind, struct bytes table)
{
	struct engine *e = store_engine(s->store);
	uint32_t ticks = kind < 4 ? kind * 3 : 0;

	while (ticks-- > 0)
		engine_tick(e);
	/* As if the memtable was nearly full. */
	if (kind == 4)
		atomic_store(&e->pace.sync_wanted, true);
	if (kind < 8)
		return engine_step(e);
	return kind < 11 ? engine_flush(e) : store_compact(s->store, table);
}

void sim_background_op(struct sim *s)
{
	uint32_t kind = rng_below(&s->rng, s->lazy ? 8 : 12);
	bool fill = rng_one_in(&s->rng, 6), full = false;
	bool one = kind == 11 && rng_one_in(&s->rng, 2);
	struct bytes table = one ? sim_draw_table(s) : BYTES_NONE;
	int err, want = 0;

	if (one && !naive_table(&s->naive, table))
		want = -ERR_no_table;
	sim_log(s, kind < 8    ? "step"
		   : kind < 11 ? "flush"
		   : one       ? "compact one table"
			       : "compact all");
	if (fill)
		sim_fill(s);
	err = work(s, kind, table);
	if (fill)
		err = sim_empty(s, err, &full);
	if (full)
		err = work(s, kind, table);
	sim_want(s, "background work", err > 0 ? 0 : err, want);
}

struct search {
	struct sim *s;
	struct named named;
};

static int must_be_named(void *context, const char *file)
{
	struct search *search = context;

	if (named_has(&search->named, file))
		return 0;
	named_release(&search->named);
	sim_fail(search->s, "%s is there and no part of the store", file);
}

/* Blob files to which nothing refers. */
static void look_for_garbage(struct sim *s)
{
	struct version *v = engine_version(store_engine(s->store));
	uint64_t *live = calloc(v->blob_count + 1, sizeof(*live)), id = 0;
	size_t i;

	if (!live)
		abort();
	version_blob_live(v, live);
	for (i = 0; i < v->blob_count; i++)
		if (live[i] == 0 && atomic_load(&v->blobs[i]->size) > 0)
			id = v->blobs[i]->id;
	free(live);
	version_put(v);
	if (id > 0)
		sim_fail(s, "blob file %llx holds nothing but garbage",
			 (unsigned long long)id);
}

void sim_quiet_op(struct sim *s)
{
	struct search search = { .s = s };
	uint32_t steps = 0;
	int err;

	sim_log(s, "quiet");
	sim_close_scans(s);
	sim_release_snapshots(s);
	sim_drop_pending(s);
	sim_want(s, "flush", engine_flush(store_engine(s->store)), 0);
	while ((err = engine_step(store_engine(s->store))) > 0)
		if (++steps > 10000)
			sim_fail(s, "background work does not end");
	sim_want(s, "step", err, 0);
	engine_drop_next_log(store_engine(s->store));
	sim_want(s, "manifest", named_get(s->store, &search.named), 0);
	sim_want(s, "list",
		 s->volume->ops->list(s->volume, must_be_named, &search), 0);
	named_release(&search.named);
	look_for_garbage(s);
}
