#ifndef STORE_ENGINE_FOLLOW_FOLLOW_H
#define STORE_ENGINE_FOLLOW_FOLLOW_H

#include "store/engine/core/state.h"

/*
 * Following: an engine shows what another process, the owner, commits to the
 * same volume meanwhile. It takes no lease and changes nothing. Owners may come
 * and go, and there may be none; any number may follow.
 *
 * What it shows is always a prefix of what was committed, never less than
 * before, and all that had been committed when the last look began. A look
 * reads root, edits and logs, in this order, since each is written before what
 * follows from it: a log is named before it has a record, a blob file before it
 * has a chunk, and a bulk load before the log has its mark. So what the logs
 * have is never less than what the edits suppose, and the edits may lack what a
 * record supposes: then the look begins anew. A record counts if its sequence
 * goes on where the one before it ended; what the edits say to be flushed, the
 * records and the bulk loads are one run without a gap, and it is that run's
 * last sequence that is shown. Nothing is seen of a look before version,
 * memtables, sequence and rules change places with the former ones, together.
 *
 * A look that finds nothing new reads the root and the ends of edits and logs.
 * One that finds records applies them to the last memtable. Memtables begin
 * with logs, as the owner's do, so that an edit that flushes one of its takes
 * whole ones of the follower's; where it does not, and when another owner has
 * begun, all logs are read anew.
 *
 * A file that the owner removes stays readable to who has it open, on a volume
 * that has this from its file system; elsewhere, and for history files, which
 * are opened late, the owner has to keep it for a while: its reader_grace.
 *
 * One thread at a time calls these; readers take no part in it.
 */

/* While e is opened: makes it a follower with what there is now, without rules.
 * 0; -ERR_not_a_store, -ERR_format_newer; damage as in manifest_open; -ENOMEM,
 * or the volume's errors. */
int follow_begin(struct engine *e);

/* NULL is allowed. */
void follow_end(struct follower *f);

/*
 * Looks at the store: 1 with *fresh, a snapshot of what there is, which nobody
 * else sees yet, to be published or dropped; 0 if all is as it is shown, which
 * then is as new as this look; or an error, and what is shown grows old, which
 * engine_fresh tells. -ERR_store_lost, for good, if the volume has another
 * store by now, or has lost what was shown. With *schema, table 0 may have
 * changed.
 */
int follow_look(struct engine *e, struct engine_snapshot **fresh, bool *schema);

/* Shows what fresh has, by rules from then on, of which it takes a reference,
 * or, if they are NULL, as before. Ends fresh, also after -ENOMEM, when all is
 * as before. */
int follow_publish(struct engine *e, struct engine_snapshot *fresh,
		   struct gc_rules *rules);

/* The look that found fresh was in vain, because of err; the next one finds it
 * again. */
void follow_drop(struct engine *e, struct engine_snapshot *fresh, int err);

#endif
