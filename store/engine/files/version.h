#ifndef STORE_ENGINE_FILES_VERSION_H
#define STORE_ENGINE_FILES_VERSION_H

#include <stdatomic.h>

#include "store/format/sst/sst.h"

/*
 * A version: the set of ssts that together hold what is not in a memtable, and
 * the blob files that these and the memtables may refer to.
 * Level 0 files may overlap and come newest first; on levels 1 to 6 files are
 * disjoint and sorted. Versions are immutable and counted by references; a
 * file's object is shared by all versions that hold it, and when the last one
 * lets go of an obsolete file, the file is handed to its owner for removal.
 */
#define LEVEL_COUNT 7

struct sst_file {
	uint64_t id; /* epoch << 32 | number */
	uint64_t size;
	uint64_t seq;          /* of all entries, if bulk-loaded; else 0 */
	struct sst *sst;       /* open as long as the file lives */
	struct bytes smallest; /* see sst_properties; in bounds */
	struct bytes largest;
	uint8_t *bounds;
	bool largest_exclusive;
	uint64_t smallest_seq, largest_seq;
	uint64_t max_timestamp;
	atomic_uint references;
	atomic_bool obsolete; /* remove with the last reference */
	struct file_owner *owner;
};

/* Told of an obsolete file that nobody uses any more; the file is closed. May
 * be called by any thread, so it only notes the id for later. */
struct file_owner {
	void (*unused)(struct file_owner *owner, uint64_t id);
	void (*unused_blob)(struct file_owner *owner, uint64_t id);
};

/* A file of large values' chunks; see blobs.h. */
struct blob_file {
	uint64_t id;
	_Atomic uint64_t size; /* 0 while it grows */
	struct reader *reader;
	atomic_uint references;
	atomic_bool obsolete; /* remove with the last reference */
	struct file_owner *owner;
	/* Protected by the engine's lock: */
	uint32_t holders;   /* who may yet commit references to it */
	uint64_t named_seq; /* the last commit that did */
	bool doomed;        /* on its way out: takes no holder any more */
	bool stuck;         /* a chunk could not be moved out of it */
};

struct level {
	struct sst_file **files;
	size_t count;
	uint64_t size; /* bytes of all files */
};

struct version {
	struct level levels[LEVEL_COUNT];
	size_t tombstone_count;   /* range tombstones of all files */
	struct blob_file **blobs; /* by id */
	size_t blob_count;
	atomic_uint references;
};

struct version *version_get(struct version *v);
void version_put(struct version *v);

/* A file object with one reference, which takes sst over; on failure the caller
 * still has it. seq is that of a bulk-loaded file, or 0. */
int sst_file_open(struct sst *sst, uint64_t id, uint64_t size, uint64_t seq,
		  struct file_owner *owner, struct sst_file **out);
struct sst_file *sst_file_get(struct sst_file *f);
void sst_file_put(struct sst_file *f);

/* While a version is made, not yet shared: an empty one, adding a file (takes a
 * reference), and at the end putting all levels in order. */
int version_new(struct version **out);
int version_add(struct version *v, unsigned int level, struct sst_file *f);
void version_sort(struct version *v);

/*
 * Whether a sorted version is one that may be named in a manifest: each file's
 * bounds are in order, and below level 0 each file ends before the next one
 * begins. 0 or -ERR_invariant. Compactions rely on it: of overlapping files
 * they would pass over some and so bring back what was deleted.
 */
int version_check(const struct version *v);

/* The highest sequence in any of its ssts; 0 if there is none. */
uint64_t version_largest_seq(const struct version *v);

/* A file object with one reference, which takes reader over; on failure the
 * caller still has it. size is 0 while it grows. */
int blob_file_open(struct reader *reader, uint64_t id, uint64_t size,
		   struct file_owner *owner, struct blob_file **out);
/* The same, whatever its header says. */
int blob_file_new(struct reader *reader, uint64_t id, uint64_t size,
		  struct file_owner *owner, struct blob_file **out);
struct blob_file *blob_file_get(struct blob_file *f);
void blob_file_put(struct blob_file *f);
/* Blob files are added in the order of their ids. */
int version_add_blob(struct version *v, struct blob_file *f);
/* NULL if v has none with this id. */
struct blob_file *version_blob(const struct version *v, uint64_t id);
/* For each blob file of v, how many of its bytes the ssts refer to; what two
 * columns or two ssts share is counted twice. */
void version_blob_live(const struct version *v, uint64_t *live);

/* Whether f may hold something in [start, end); an empty end is unbounded. */
bool sst_file_overlaps(const struct sst_file *f, struct bytes start,
		       struct bytes end);
/* Index of the first file of a sorted level whose largest is not before key;
 * level->count if there is none. */
size_t level_find(const struct level *level, struct bytes key);

/* One iterator over all files of a sorted level, each opened by open when it is
 * its turn. v must stay referenced. */
int level_iter_new(struct version *v, unsigned int level,
		   int (*open)(struct sst *t, struct iter **out),
		   struct iter **out);

#endif
