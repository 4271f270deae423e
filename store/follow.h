#ifndef STORE_FOLLOW_H
#define STORE_FOLLOW_H

#include "store/base/bytes.h"

/*
 * A store that follows: it shows what another process, its owner, commits
 * meanwhile, and takes no lease (store_options.follow). What it shows is always
 * a prefix of what was committed, it never goes back, and it is no older than
 * staleness_ms: with a background it is looked for four times as often. Where
 * that cannot be done, reads fail with -ESTALE and the reason. Snapshots stay
 * what they are for as long as they are held, whatever the owner merges; but a
 * file that is opened late, as those of the past are, may have gone by then
 * (-ESTALE), unless the owner has a reader_grace. Whatever would change
 * something is -ERR_store_readonly.
 *
 * Owners may come and go, and there may be none. If what was shown is lost, as
 * an owner's machine lost power before it was durable, or another store is there
 * now, all that is read is -ESTALE for good.
 */
struct store;

/* Shows what has been committed by now: 0, or an error, and then what was shown
 * is shown on until it is too old. 0 of a store that does not follow. From any
 * thread; it waits for the volume. */
int store_refresh(struct store *s);

/* The same, if what is shown is too old by now: for the beginning of a request.
 * Fast if not. What keeps it from being refreshed is told by reads. */
bool store_is_behind(struct store *s);

/* changed is called by whatever thread refreshed s: when it shows something
 * new, and when it has become too old; it may not call s. To be set before
 * other threads use s, and NULL before context ends. */
void store_on_change(struct store *s, void (*changed)(void *context),
		     void *context);

#endif
