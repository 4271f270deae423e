#ifndef STORE_ENGINE_FILES_MANIFEST_REPLAY_H
#define STORE_ENGINE_FILES_MANIFEST_REPLAY_H

#include "store/engine/files/manifest.h"

/*
 * Edits that are read, one after the other, into what they come to: names and
 * numbers alone. No file is opened, since one that a later edit takes out may
 * have gone by now. One thread uses it at a time.
 */

/* Files while edits are replayed; ssts are opened once, at the end. */
struct manifest_replay {
	struct manifest *m;               /* whose numbers and logs it sets */
	struct edit files;                /* added: what is live; dropped: the
					     blob files that are no more */
	struct manifest_history *history; /* to be told, or NULL */
	bool any;                         /* there was an edit */
};

/* What an edit says besides ssts and blob files. After -ENOMEM, which only a
 * log or a moment that is new can meet, m lacks it. */
int manifest_apply_numbers(struct manifest *m, const struct edit *e);

/* One record of the edit log: for wal_replay, with a struct manifest_replay.
 * Files are judged by their names only; one that a later edit removes may be
 * gone already. */
int manifest_replay_edit(void *context, struct bytes record);

#endif
