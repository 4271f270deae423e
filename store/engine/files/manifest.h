#ifndef STORE_ENGINE_FILES_MANIFEST_H
#define STORE_ENGINE_FILES_MANIFEST_H

#include "store/engine/files/manifest_name.h"
#include "store/engine/files/manifest_root.h"
#include "store/engine/files/version.h"
#include "store/engine/history/moments.h"

/*
 * The manifest: which files make up the store. The volume's root names an epoch
 * and the edit log of that epoch; the edit log (wal.h framing) holds edits, the
 * first of which is the whole state. Opening takes the next epoch, writes a new
 * edit log and swaps the root, so a former owner can no longer change anything
 * and names, which start with the epoch, are never used twice.
 *
 * It has no lock of its own: the caller serialises all calls on one manifest,
 * and reads of its fields with them (the engine does so by its lock `edits`).
 * Versions that were taken from it are free of that.
 */
struct manifest_file {
	uint32_t level;
	uint64_t id;
	uint64_t size; /* bytes */
	uint64_t seq;  /* of a bulk-loaded file; 0: each key has its own */
};

struct manifest_log {
	uint64_t id;
	uint64_t final_size; /* bytes; 0 while it is written */
};

/* Nothing came after the moment of this sequence until then. */
struct quiet {
	uint64_t seq, until_us;
};

/* One change; see edit.h. Arrays are owned; zeroed, it changes nothing. */
struct edit {
	struct manifest_file *added;
	size_t added_count;
	struct manifest_file *removed; /* level and id; the rest is 0 */
	size_t removed_count;
	struct manifest_log *logs; /* begun, or finished with a size */
	size_t log_count;
	struct manifest_log *blobs; /* blob files: begun, or finished */
	size_t blob_count;
	uint64_t *dropped_blobs; /* ids of blob files that are obsolete */
	size_t dropped_count;
	uint64_t oldest_log; /* logs before it are obsolete; 0: as is */
	uint64_t last_seq;   /* highest seq that was flushed; 0: as is */
	uint64_t gc_time_us; /* never goes back; 0: as is */
	uint64_t given_seq;  /* see struct manifest; 0: as is */
	/* Of the recent past: moments that can be read at, and sequences of
	 * those that cannot any more; what came after some of them; history
	 * files, and ids of those that are obsolete. */
	struct moment *moments;
	size_t moment_count;
	uint64_t *ended;
	size_t ended_count;
	struct quiet *quiets;
	size_t quiet_count;
	struct past_facts **pasts; /* each owned */
	size_t past_count;
	uint64_t *dropped_pasts;
	size_t dropped_past_count;
};

#define EDIT_INIT \
	{         \
		0 \
	}

struct manifest {
	struct volume *volume;    /* borrowed */
	struct cache *cache;      /* borrowed: for the ssts it opens */
	struct file_owner *owner; /* borrowed: told of files unused */
	struct identity identity; /* with an id, unless opened read-only */
	uint32_t epoch;           /* this life's; of the last one if opened
				     read-only */
	uint32_t next_number;     /* of files of this epoch */
	uint64_t root_version;    /* which begin_edits expects to replace */
	uint64_t edits_id;
	struct wal *edits;         /* NULL if opened read-only */
	uint64_t edits_begun_size; /* bytes of it that are its first edit */
	struct version *current;   /* referenced; never NULL */
	struct manifest_log *logs; /* live, oldest first */
	size_t log_count;
	uint64_t last_seq;   /* up to it, nothing is in logs alone */
	uint64_t given_seq;  /* of a bulk load that has gone with its files: it
				is not to be given again; 0: none */
	uint64_t gc_time_us; /* not before that of any merge; never goes back */
	struct moment *moments; /* that are durable; owned; ascending */
	size_t moment_count;
	bool broken; /* an edit may be durable or not: apply no more */
};

/*
 * Reads the root and replays the edits, opening every sst and blob file; with
 * create, a volume without a root becomes an empty store, else it is
 * -ERR_not_a_store. Then takes the next epoch, and an id if there is none. With
 * read_only it takes none and writes nothing: the manifest cannot be applied
 * to. v, cache and owner outlive
 * it. -EOVERFLOW after the last epoch that there is. Damage is
 * -ERR_manifest_damaged, -ERR_wal_damaged or what opening a file says; a later
 * format is -ERR_format_newer. *out is NULL after an error.
 */
int manifest_open(struct volume *v, struct cache *cache,
		  struct file_owner *owner, bool create, bool read_only,
		  struct manifest **out);

/* Writes nothing: what was applied is durable. NULL is allowed. */
void manifest_close(struct manifest *m);

/* An id that no file of the volume has or had. */
uint64_t manifest_new_id(struct manifest *m);

/*
 * Logs e durably, then makes it current: new ssts and blob files are opened,
 * removed ones marked obsolete. After a failure nothing of e has happened and
 * it may be tried again, unless m is broken, after which each call is refused
 * with -ERR_store_readonly, or it is -ERR_invariant: then e itself is wrong.
 * What e names must be durable on the volume before.
 */
int manifest_apply(struct manifest *m, const struct edit *e);

/* Begins an edit log with the whole state in the place of the present one, in
 * which keys stand that bounded files which have gone. After a failure that one
 * goes on, unless m is broken. */
int manifest_renew(struct manifest *m);

/* The whole state as one edit, which is to be released. 0 or -ENOMEM. */
int manifest_state(const struct manifest *m, struct edit *e);

/* What the root and the edit log of a volume say, without opening any other
 * file, since those may be missing. */
struct manifest_history {
	struct edit state;   /* and as removed and dropped, all files that an
				edit of this log took out */
	uint64_t edits_id;   /* of the edit log */
	uint64_t newest_log; /* that an edit names, or 0 */
	uint64_t cut_size;   /* bytes of an edit at its end that is not whole */
	struct identity identity;
};

/* -ENOENT without a root, -ERR_manifest_damaged, -ERR_wal_damaged. state is to
 * be released, also after an error, and holds what was read before it. */
int manifest_read(struct volume *v, struct manifest_history *h);

/* Makes a store of a volume that has the files of this state, all durable, and
 * no root. After a failure it may have an edit log, but it is no store, unless
 * it was the swap of the root that failed. */
int manifest_write(struct volume *to, const struct manifest_root *root,
		   const struct edit *state);

#endif
