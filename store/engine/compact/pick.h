#ifndef STORE_ENGINE_COMPACT_PICK_H
#define STORE_ENGINE_COMPACT_PICK_H

#include "store/engine/compact/compact.h"

/*
 * Choosing compactions. All are functions of the version alone (and of the
 * options), so a compaction that failed is chosen again, and tests need no
 * engine. Each returns 1 with *out filled, to be released; 0 with *out empty;
 * or -ENOMEM. The files in *out are borrowed from v.
 */

/* The most urgent compaction of v; 0 if none is due. Level 0 goes, group by
 * group, into the first level whose target is at most base_size, or that holds
 * files; targets follow the size of the lowest level. */
int compact_pick(const struct version *v, const struct compaction_options *o,
		 struct compaction *out);

/* The level that level 0 goes into. */
unsigned int compact_base(const struct version *v,
			  const struct compaction_options *o);

/* Everything overlapping [start, end) down to the lowest level, one step at a
 * time; 0 when it is all there. An empty end is unbounded. */
int compact_pick_range(const struct version *v, struct bytes start,
		       struct bytes end, struct compaction *out);

/* One file of the lowest level that overlaps [start, end) and has an id before
 * before_id, to be written anew without its garbage; 0 when there is none. For
 * use when compact_pick_range finds nothing more. */
int compact_pick_bottom(const struct version *v, struct bytes start,
			struct bytes end, uint64_t before_id,
			struct compaction *out);

/* One that rewrites an sst which refers to this blob file, from the lowest
 * level on; 0 when there is none. */
int compact_pick_blob(const struct version *v,
		      const struct compaction_options *o, uint64_t blob,
		      struct compaction *out);

/* The one that moves file i of a level down to another, with no files in
 * between; and with it those that share a column, or of level 0 those that
 * it overlaps there. */
int compact_pick_file(const struct version *v, unsigned int level, size_t i,
		      unsigned int output_level, struct compaction *out);

/* Adds f as an input, side 0: of c->level; 1: of c->output_level. 0 or -ENOMEM.
 */
int compact_add_input(struct compaction *c, int side, struct sst_file *f);

/* Of c's inputs of c->level that which begins first and that which ends last.
 */
void compact_bounds(const struct compaction *c, const struct sst_file **first,
		    const struct sst_file **last);

/* Frees what it owns; then it is empty. */
void compaction_release(struct compaction *c);

/* The least sequence of the files above c's inputs that overlap them and delete
 * something, and the earliest GC time of what they delete (sst_file.delete_us);
 * UINT64_MAX both if there are none. v is that of which c was chosen. */
void compact_above(const struct version *v, const struct compaction *c,
		   uint64_t *seq, uint64_t *us);

/* The earliest GC time of what c's inputs delete: delete_us of its outputs. */
uint64_t compact_delete_us(const struct compaction *c);

#endif
