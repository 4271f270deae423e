#ifndef STORE_ENGINE_READ_SNAPSHOT_H
#define STORE_ENGINE_READ_SNAPSHOT_H

#include "store/engine/core/engine.h"

/* The rules that cursors and compactions from now on go by. Takes a reference.
 * Until the first call nothing is hidden and nothing dropped. */
void engine_set_rules(struct engine *e, struct gc_rules *rules);

/* Called, with no lock held, whenever there may be work for engine_step. */
void engine_on_work(struct engine *e, void (*wake)(void *context),
		    void *context);

/* A moment: visible sequence and GC time. Release it. */
int engine_snapshot(struct engine *e, struct engine_snapshot **out);
void engine_snapshot_release(struct engine *e, struct engine_snapshot *s);
uint64_t engine_snapshot_seq(const struct engine_snapshot *s);

/* Reads everything and checks it: 0, or an error after each problem was told to
 * report, one sentence each: -ERR_check_failed, or what kept something from
 * being read, such as -EIO or -ENOMEM. */
int engine_verify(struct engine *e,
		  void (*report)(void *context, const char *problem),
		  void *context);
void engine_stats(struct engine *e, struct store_stats *out);

#endif
