#ifndef STORE_ENGINE_FOLLOW_FOLLOWER_H
#define STORE_ENGINE_FOLLOW_FOLLOWER_H

#include "store/engine/files/manifest_replay.h"
#include "store/engine/follow/follow.h"
#include "store/engine/log/wal_read.h"

/* The inside of a follower: how far it has read. None of it is seen by readers
 * but what was published. */

/* What a record supposes is not there yet, or not any more: look again. */
#define FOLLOW_MOVED 1

/* A log, and how far it was read. */
struct followed_log {
	uint64_t id;
	struct wal_place place;
};

struct follower {
	struct engine *e; /* borrowed */
	/* By the edits: numbers, and the version that was made last. */
	struct manifest *names;
	struct manifest_replay edits;
	struct wal_place edits_place;
	uint64_t edits_id;
	bool is_known; /* there was a root, and the edits are of it */
	bool is_new;   /* edits were read since that version was made */

	struct followed_log *logs; /* those that names has; owned */
	size_t log_count;
	struct memtable *tables[IMMUTABLES_MAX + 1]; /* oldest first; each
							 referenced */
	size_t table_count;
	uint64_t written_seq; /* the end of the run */
	uint64_t shown_log;   /* the newest log when that was shown last */
	char lost[512];       /* how what was shown was lost; "": it is not */
	bool schema;          /* table 0 may differ from what is shown */
};

/* -ERR_store_lost: an owner went on behind seq, and more was shown. */
int follow_fail_lost(const struct follower *f, uint64_t seq);

/* Reads what the logs that names has hold beyond written_seq. 0, FOLLOW_MOVED,
 * or an error. */
int follow_logs(struct follower *f);

/* The logs will be read from their starts, into new memtables. */
void follow_logs_anew(struct follower *f);

#endif
