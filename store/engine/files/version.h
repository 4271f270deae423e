#ifndef STORE_ENGINE_FILES_VERSION_H
#define STORE_ENGINE_FILES_VERSION_H

#include <stdatomic.h>

#include "store/engine/history/past_file.h"
#include "store/format/sst/sst.h"

/*
 * A version: the set of ssts that together hold what is not in a memtable, and
 * the blob files that these and the memtables may refer to. (The idea is
 * LevelDB's: readers keep the set that they began with, whatever compactions
 * make of it meanwhile.)
 *
 * Level 0 files may overlap and come newest first; on levels 1 to 6 files are
 * disjoint and sorted. Of two writes of one version of a cell the older is
 * never on a smaller level than the newer. Readers take level 0 as sorted runs
 * (runs.h), each of which is as a level below.
 *
 * A version is made by one thread, with version_new, version_add,
 * version_add_blob and version_sort; from then on it is immutable and any
 * thread may read it. Versions and the objects of files count references, and
 * get and put may be called by any thread. A file's object is shared by all
 * versions that hold it; when the last one lets go of an obsolete file, the
 * file is handed to its owner for removal.
 */
#define LEVEL_COUNT 7

/* An sst that is open. Once it is made only references, obsolete and what is
 * reckoned of it change. */
struct sst_file {
	uint64_t id;           /* epoch << 32 | number */
	uint64_t size;         /* bytes on the volume */
	uint64_t seq;          /* of all entries, if bulk-loaded; else 0 */
	struct sst *sst;       /* open as long as the file lives; owned */
	struct bytes smallest; /* see sst_properties; in bounds */
	struct bytes largest;
	uint8_t *bounds; /* owned: both keys, one after the other */
	bool largest_exclusive;
	uint64_t smallest_seq, largest_seq; /* those of the entries as shown */
	uint64_t max_timestamp;             /* of puts and point deletes; us */
	struct file_owner *owner;           /* outlives the file */
	atomic_uint references;
	atomic_bool obsolete; /* remove with the last reference */
	/* Protected by the engine's lock work: about how many bytes stay of it
	 * without what range tombstones up to a sequence cover. */
	uint64_t rest_size;
	uint64_t rest_seq; /* 0: not reckoned yet */
	/* Protected by work, too: what expired before this time was dropped
	 * when it was written; 0: not known. */
	uint64_t gc_time_us;
	/* As well: none of what it deletes is of an earlier GC time; 0: not
	 * known, as after the store was opened. */
	uint64_t delete_us;
	/* As well: the newest snapshot, but for the visible sequence, that
	 * there was when it was written, for which it may have kept what nobody
	 * else sees; or it kept nothing so. 0 and false: not known. */
	uint64_t held_seq;
	bool is_clean;
	/* As well: what its deletions hide of large values; bytes. */
	uint64_t hidden_size;
	bool hidden_known;
};

/* A file of large values' chunks; see large/blobs.h. */
struct blob_file {
	uint64_t id;           /* as that of an sst */
	_Atomic uint64_t size; /* bytes when it was finished; 0: it grows */
	struct reader *reader; /* owned; also reads what is appended later */
	atomic_uint references;
	atomic_bool obsolete;     /* remove with the last reference */
	struct file_owner *owner; /* outlives the file */
	/* Protected by the engine's lock: */
	uint32_t holders;   /* who may yet commit references to it */
	uint64_t named_seq; /* the last commit that did */
	bool doomed;        /* on its way out: takes no holder any more */
	/* Protected by the engine's lock work: */
	bool stuck; /* a chunk could not be moved out of it */
};

struct level {
	struct sst_file **files; /* each with a reference of the version's */
	size_t count;
	uint64_t size;   /* bytes of all files */
	uint64_t *heads; /* owned; see level_index. NULL: there are none */
	size_t shared;   /* bytes that all largest keys begin with */
};

struct version {
	struct level levels[LEVEL_COUNT];
	struct level *runs; /* of level 0, newest first; files are borrowed */
	size_t run_count;
	size_t tombstone_count;   /* range tombstones of all files */
	struct blob_file **blobs; /* by id; each with a reference */
	size_t blob_count;
	struct past_file **pasts; /* of no level, by id; each with a
				     reference */
	size_t past_count;
	atomic_uint references;
	/* Protected by the engine's lock work: the turn of rules (see
	 * rules_seen), 0 at first, and the oldest snapshot's sequence, by
	 * which no file of it could be dropped. */
	uint64_t looked_turn, looked_seq;
};

/* Takes one more reference and returns v; NULL stays NULL. */
struct version *version_get(struct version *v);

/* With the last reference the version and its hold on its files end. NULL is
 * allowed. */
void version_put(struct version *v);

/* A file object with one reference, which takes sst over; on failure, which is
 * -ENOMEM, the caller still has it. seq is that of a bulk-loaded file, or 0. */
int sst_file_open(struct sst *sst, uint64_t id, uint64_t size, uint64_t seq,
		  struct file_owner *owner, struct sst_file **out);

/* f must not be NULL. */
struct sst_file *sst_file_get(struct sst_file *f);

/* The last reference closes the sst and, if the file is obsolete, tells its
 * owner. NULL is allowed. */
void sst_file_put(struct sst_file *f);

/* An empty version with one reference, to be filled by its maker alone. 0 or
 * -ENOMEM. */
int version_new(struct version **out);

/* Adds a file, with a reference of v's own, at the end of a level. 0 or
 * -ENOMEM. */
int version_add(struct version *v, unsigned int level, struct sst_file *f);

/* The last step of making v: puts the files of each level in order, and those
 * of level 0 in runs. 0 or -ENOMEM, and then v is only to be put. */
int version_sort(struct version *v);

/*
 * Whether a sorted version is one that may be named in a manifest: each file's
 * bounds are in order, and below level 0 each file ends before the next one
 * begins. If not, why, of so many bytes, says which file or files. Compactions
 * rely on it: of overlapping files they would pass over some and so bring back
 * what was deleted.
 */
#define VERSION_WHY_SIZE 200
bool version_in_order(const struct version *v, char *why);

/* NULL if v has none with this id. No reference is taken. A search through all
 * levels: for the few files of an edit. */
struct sst_file *version_sst(const struct version *v, uint64_t id);

/* The highest sequence in any of its ssts; 0 if there is none. */
uint64_t version_largest_seq(const struct version *v);

/* A file object with one reference, which takes reader over; on failure the
 * caller still has it. size is 0 while it grows. -ERR_blob_damaged if the file
 * is shorter than size or its header is not that of id; -ENOMEM; errors of
 * reading. */
int blob_file_open(struct reader *reader, uint64_t id, uint64_t size,
		   struct file_owner *owner, struct blob_file **out);

/* As blob_file_open, but the header is not looked at: for repair, which takes
 * what chunks there are. 0 or -ENOMEM. */
int blob_file_new(struct reader *reader, uint64_t id, uint64_t size,
		  struct file_owner *owner, struct blob_file **out);

/* f must not be NULL. */
struct blob_file *blob_file_get(struct blob_file *f);

/* The last reference closes the reader and, if the file is obsolete, tells its
 * owner. NULL is allowed. */
void blob_file_put(struct blob_file *f);

/* While v is made: adds a blob file, with a reference of v's own. They come in
 * the order of their ids: -ERR_manifest_damaged if not; -ENOMEM. */
int version_add_blob(struct version *v, struct blob_file *f);

/* The index of the blob file with this id, or blob_count. */
size_t version_blob_index(const struct version *v, uint64_t id);

/* NULL if v has none with this id. No reference is taken. */
struct blob_file *version_blob(const struct version *v, uint64_t id);

/* While v is made: adds a history file, with a reference of v's own. 0 or
 * -ENOMEM. */
int version_add_past(struct version *v, struct past_file *f);

/* The history file with this id of a version that is sorted, or NULL. No
 * reference is taken. */
struct past_file *version_past(const struct version *v, uint64_t id);

/* live has v->blob_count elements and gets, for each blob file of v, how many
 * of its bytes the ssts refer to, history files among them; what two columns or
 * two ssts share is counted twice. */
void version_blob_live(const struct version *v, uint64_t *live);

/* The same of the history files alone. */
void version_blob_past(const struct version *v, uint64_t *past);

/* Whether f holds deletions. */
static inline bool sst_file_deletes(const struct sst_file *f)
{
	const struct sst_properties *p = sst_properties(f->sst);

	return p->delete_count + p->tombstone_count > 0;
}

/* The bytes of large values that f refers to. */
uint64_t sst_file_blob_size(const struct sst_file *f);

/* Whether all of f comes before key. */
bool sst_file_before(const struct sst_file *f, struct bytes key);

/* Whether f may hold something in [start, end); an empty end is unbounded. */
bool sst_file_overlaps(const struct sst_file *f, struct bytes start,
		       struct bytes end);

/* Makes heads of a sorted level or run, in place of those that it has, so that
 * level_find takes less; until a file more comes. 0 or -ENOMEM. */
int level_index(struct level *level);

/* Index of the first file of a sorted level or run whose largest is not before
 * key; level->count if there is none. Not for level 0. */
size_t level_find(const struct level *level, struct bytes key);

/*
 * One iterator over all files of a sorted level or run, each opened by open
 * when it is its turn, so that one is open at a time. Its version must stay
 * referenced until it is closed. 0 or -ENOMEM; its steps return the errors of
 * open and of the files.
 */
int level_iter_new(const struct level *level,
		   int (*open)(struct sst *t, struct iter **out),
		   struct iter **out);

#endif
