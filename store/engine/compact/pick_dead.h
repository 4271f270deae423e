#ifndef STORE_ENGINE_COMPACT_PICK_DEAD_H
#define STORE_ENGINE_COMPACT_PICK_DEAD_H

#include "store/engine/compact/pick.h"

/*
 * Choosing compactions for the space that they give back, though no level is
 * too large: what was deleted or has expired would else stay for as long as
 * nothing else is written. Each of the calls is a function of the version, the
 * rules and the time, with results as those of pick.h, or errors of reading.
 *
 * What a compaction gives back is reckoned from what files say of themselves,
 * of large values by looking for those that deletions hide (hidden.h), and it
 * is worth its while if that is at least an eighth of what it reads: so
 * at most an eighth of the data stays dead, and no byte is written eight times
 * for one that goes. (RocksDB and Pebble weigh files by their deletions, too,
 * but only for which of a level goes first.)
 */

#define DEAD_SHARE 8

/* Files of a level whose deletions hide enough of what lies below, or whose
 * large values may supersede enough of others. */
int compact_pick_deletions(const struct version *v, struct compaction *out);

/* A file above others, where it is a DEAD_SHARE of what is merged: it may
 * supersede as much of them, which nobody knows before. What is merged has most
 * bytes at most. For use when room is wanted: it may have been in vain. */
int compact_pick_upper(const struct version *v, uint64_t most,
		       struct compaction *out);

/* A file that may have kept what only readers saw that are gone, to be written
 * anew in its place, or of level 0 merged with what is below; the oldest
 * snapshot now is oldest_seq. Of one of which that is not known, if it is small
 * beside its large values. It has most bytes at most. For use when room is
 * wanted: it may have been in vain. What gives back less than a DEAD_SHARE so
 * is not to be tried again, or beside steady readers there would be no end. */
int compact_pick_held(const struct version *v, uint64_t oldest_seq,
		      uint64_t most, struct compaction *out);

/* A file of a sorted level to be written anew in its place, because a quarter
 * of it has expired by its age since it was made. Its timestamps are taken for
 * spread evenly. Merges go by the times of who sees an entry: held_us is the
 * least of a snapshot that sees anything up to held_seq, and none sees what is
 * newer; now_us is that of the present. */
int compact_pick_expired(const struct version *v, const struct gc_rules *rules,
			 uint64_t held_seq, uint64_t held_us, uint64_t now_us,
			 struct compaction *out);

#endif
