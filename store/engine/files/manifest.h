#ifndef STORE_ENGINE_FILES_MANIFEST_H
#define STORE_ENGINE_FILES_MANIFEST_H

#include "store/engine/files/version.h"

/*
 * The manifest: which files make up the store. The volume's root names an epoch
 * and the edit log of that epoch; the edit log (wal.h framing) holds edits, the
 * first of which is the whole state. Opening takes the next epoch, writes a new
 * edit log and swaps the root, so a former owner can no longer change anything
 * and names, which start with the epoch, are never used twice.
 */
struct manifest_file {
	uint32_t level;
	uint64_t id;
	uint64_t size;
	uint64_t seq; /* of a bulk-loaded file; 0: each key has its own */
};

struct manifest_log {
	uint64_t id;
	uint64_t final_size; /* 0 while it is written */
};

struct edit {
	struct manifest_file *added;
	size_t added_count;
	struct manifest_file *removed; /* size is not used */
	size_t removed_count;
	struct manifest_log *logs; /* begun, or finished with a size */
	size_t log_count;
	struct manifest_log *blobs; /* blob files, likewise */
	size_t blob_count;
	uint64_t *dropped_blobs; /* ids of blob files that are obsolete */
	size_t dropped_count;
	uint64_t oldest_log; /* logs before it are obsolete; 0: as is */
	uint64_t last_seq;   /* highest seq in any sst; 0: as is */
	uint64_t gc_time_us; /* never goes back; 0: as is */
};

#define EDIT_INIT \
	{         \
		0 \
	}

struct manifest {
	struct volume *volume;
	struct cache *cache;
	struct file_owner *owner;
	uint32_t epoch;
	uint32_t next_number; /* of files of this epoch */
	uint64_t root_version;
	uint64_t edits_id;
	struct wal *edits;
	struct version *current;   /* referenced */
	struct manifest_log *logs; /* live, oldest first */
	size_t log_count;
	uint64_t last_seq;
	uint64_t gc_time_us;
	bool broken; /* an edit may be durable or not: apply no more */
};

/*
 * Reads the root and replays the edits, opening every sst; with create, a
 * volume without a root becomes an empty store, else it is -ERR_not_a_store.
 * Then takes the next epoch. With read_only it takes none and writes nothing:
 * the manifest cannot be applied to. The caller serialises all calls.
 */
int manifest_open(struct volume *v, struct cache *cache,
		  struct file_owner *owner, bool create, bool read_only,
		  struct manifest **out);
void manifest_close(struct manifest *m);

/* A fresh id for an sst or a log. */
uint64_t manifest_new_id(struct manifest *m);

/*
 * Logs e durably, then makes it current: new ssts and blob files are opened,
 * removed ones marked obsolete. After a failure nothing of e has happened and
 * it may be tried again, unless m is broken.
 */
int manifest_apply(struct manifest *m, const struct edit *e);

/* The whole state as one edit, which is to be released. */
int manifest_state(const struct manifest *m, struct edit *e);
/* That of a volume of which no other file is opened, since they may be missing,
 * and what its edits did. */
struct manifest_history {
	struct edit state;   /* also all ssts removed, all blob files dropped */
	uint64_t edits_id;   /* of the edit log */
	uint64_t newest_log; /* that an edit names, or 0 */
	uint64_t cut_size;   /* bytes of an edit at its end that is not whole */
};

/* -ENOENT without a root, -ERR_manifest_damaged, -ERR_wal_damaged. state is to
 * be released, also after an error. */
int manifest_read(struct volume *v, struct manifest_history *h);
/* Makes a store of a volume that has the files of this state and no root. */
int manifest_write(struct volume *to, uint32_t epoch, uint64_t edits_id,
		   const struct edit *state);

/* File names: "<epoch>-<number>.sst", eight hex digits each; also ".log",
 * ".blob", ".edits". name has VOLUME_NAME_MAX + 1 bytes. */
void manifest_name(uint64_t id, const char *suffix, char *name);
/* The reverse; false if it is no such name. */
bool manifest_parse_name(const char *name, uint64_t *id, const char **suffix);

#endif
